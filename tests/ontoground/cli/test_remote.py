"""Object storage from the command line: `load` and `publish` with URLs, refusals, and their exit codes."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from ontoground.cli.main import invoke
from tests.ehr.mimic_files import write_mimic
from tests.ontoground.cli.schemas import checked
from tests.stores import Store

pytestmark = pytest.mark.xdist_group("object_storage")


def test_records_are_loaded_from_a_named_store(
    tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    url = store.put(write_mimic(tmp_path / "mimic"), store.bucket())
    workspace = tmp_path / "work"
    verb = ["load", "mimic", url, "--workspace", str(workspace), "--json"]
    assert invoke(verb) == 4
    assert "allow_credentialed" in json.loads(capsys.readouterr().out)["error"]["do"]
    assert not workspace.exists()
    workspace.mkdir()
    workspace.joinpath("ontoground.toml").write_text(
        f'[remote]\nallow_credentialed = ["{url}"]\nallow_reason = "our own bucket"\n'
    )
    assert invoke(verb) == 0
    payload = checked(capsys.readouterr().out, "load")
    assert {one["file"]: one["rows_read"] for one in payload["files"]}["note/discharge.csv.gz"] == 1


@pytest.mark.parametrize(
    ("url", "code"), [("s3://no-such-bucket-anywhere/mimic", 3), ("s3://key:secret@bucket/mimic", 2), ("nost://x", 2)]
)
def test_a_url_that_leads_nowhere_makes_no_workspace(
    tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str], url: str, code: int
) -> None:
    assert store.files is not None
    assert invoke(["run", "--mimic", url, "--umls", url, "--workspace", str(tmp_path / "work")]) == code
    assert "secret" not in capsys.readouterr().err
    assert not (tmp_path / "work").exists()


def test_a_dataset_is_published(tmp_path: Path, store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "medieval"
    (folder / "data").mkdir(parents=True)
    (folder / "data" / "train.parquet").write_bytes(b"rows")
    files = {"data/train.parquet": hashlib.sha256(b"rows").hexdigest()}
    (folder / "manifest.json").write_text(json.dumps({"licence_tier": "credentialed", "rows": {"files": files}}))
    url = f"{store.bucket()}/sets"
    verb = ["publish", str(folder), url, "--workspace", str(tmp_path / "work"), "--json"]
    assert invoke(verb) == 4
    capsys.readouterr()
    named = [f'--set=remote.allow_credentialed=["{url}"]', "--set=remote.allow_reason=our own bucket"]
    assert invoke([*verb, *named]) == 0
    payload = checked(capsys.readouterr().out, "publish")
    assert (payload["sent"], payload["reason"]) == (["data/train.parquet", "manifest.json"], "our own bucket")
    assert sorted(store.content(url)) == ["data/train.parquet", "manifest.json"]
    assert invoke([*verb[:-1], *named]) == 0
    assert "0 files sent" in capsys.readouterr().out
