"""``ontoground export physionet``: sections, data, Croissant and checksums of a folder that could be sent."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from builders.cards import LICENCE, croissant_of
from ground.contracts.dictionary import columns_of
from ground.contracts.rows import MEDIEVAL_SCHEMA
from ground.flow.manifest import LicenceTier, manifest_of
from tests.ontoground.cli.schemas import answer_to
from tests.ontoground.conftest import Demo

SECTIONS = "Abstract, Background, Methods, Data Description, Usage Notes, Release Notes, Ethics, Parent Projects"
FOR_AUTHORS = ["Background", "Ethics", "Acknowledgements", "Conflicts of Interest", "References"]


def export(dataset: Path, folder: Path, *more: str) -> dict[str, Any]:
    return answer_to("export", "physionet", dataset, folder, "--json", *more).payload("export-physionet")


def module_of(file: Path) -> Any:
    module = ModuleType(file.stem)
    module.__file__ = str(file)
    # Dataclasses ask for the module that they are of.
    with patch.dict(sys.modules, {file.stem: module}):
        exec(compile(file.read_text(), file, "exec"), vars(module))
    return module


def rows_of(folder: Path) -> pl.DataFrame:
    return pl.concat([pl.read_parquet(file) for file in sorted((folder / "data").glob("*.parquet"))])


def section(readme: str, name: str) -> str:
    return readme.split(f"\n## {name}\n\n")[1].split("\n## ", maxsplit=1)[0]


def test_the_folder_holds_what_physionet_asks_for(demo: Demo, tmp_path: Path) -> None:
    dataset, folder = demo.workspace / "datasets" / "medieval", tmp_path / "upload"
    done = export(dataset, folder)
    readme = (folder / "README.md").read_text()
    assert re.findall(r"(?m)^## (.+)", readme)[:8] == SECTIONS.split(", ")
    assert re.fullmatch(r"# [\w -]{1,200}", readme.splitlines()[0])
    assert 50 < len(section(readme, "Abstract").split()) <= 250
    for name in SECTIONS.split(", "):
        assert len(section(readme, name).partition("AUTHORS:")[0].split()) >= 7, name
    told = re.findall(r"(?m)^\| `([\w.]+)` \| [^|]+ \| (?:yes|no) \| .+ \|$", section(readme, "Data Description"))
    assert told == [*columns_of("medieval"), *columns_of("medieval_statements")]
    assert done["to_write"] == FOR_AUTHORS == [one for one in FOR_AUTHORS if "AUTHORS:" in section(readme, one)]
    sums = {line[65:]: line[:64] for line in (folder / "SHA256SUMS.txt").read_text().splitlines()}
    there = {one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file()}
    assert sums.keys() == there - {"SHA256SUMS.txt"} == {*done["files"]} - {"SHA256SUMS.txt"}
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in sums.items())
    for name in ("manifest.json", "statements.parquet"):
        assert (folder / name).read_bytes() == (dataset / name).read_bytes()
    assert rows_of(folder).equals(rows_of(dataset))


def test_a_harness_has_all_it_needs_in_one_folder(demo: Demo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, folder = demo.workspace / "datasets" / "medieval", tmp_path / "task"
    done = answer_to("export", "lm-eval", source, folder, "--split", "train", "--json").payload("export-lm-eval")
    rows = pl.read_parquet(folder / "rows.parquet")
    assert done["rows"] == rows.height == pl.scan_parquet(source / "data" / "train-*").select(pl.len()).collect().item()
    task = (folder / "ontoground_medieval.yaml").read_text()
    texts = "\n".join(file.read_text() for file in folder.glob("*.py"))
    assert not re.search(r"(?m)^ *(?:from|import) (?:ground|training|evaluation)", texts)
    for name in ("answers", "scoring"):
        monkeypatch.setitem(sys.modules, name, module_of(folder / f"{name}.py"))
    module = module_of(folder / "ontoground_medieval.py")
    row = rows.row(0, named=True)
    assert module.process_results(row, ["Label: **q2**"])["accuracy"] == (row["target"], "Q2")
    metrics = dict(re.findall(r"- metric: (\w+)\n +aggregation: !function (\S+)\n", task))
    assert metrics == {name: f"ontoground_medieval.{name}" for name in module.process_results(row, ["?"])}
    assert module.accuracy([("Q1", "Q1"), ("Q2", None)]) == 0.5
    done = answer_to("export", "inspect", source, tmp_path / "other", "--split", "train", "--json").payload(
        "export-inspect"
    )
    assert sum(done["labels"].values()) == rows.height
    program = (tmp_path / "other" / "ontoground_medieval.py").read_text()
    assert compile(program, "ontoground_medieval.py", "exec") and 'rates("quadrants", pairs)' in program


def test_what_is_synthetic_says_so(demo: Demo, tmp_path: Path) -> None:
    folder = tmp_path / "upload"
    assert export(demo.workspace / "datasets" / "medieval", folder)["title"].startswith("Synthetic MediEval ")
    readme, licence = ((folder / name).read_text() for name in ("README.md", "LICENSE.txt"))
    assert section(readme, "Abstract").startswith("Synthetic") and section(readme, "Methods").startswith("Synthetic")
    assert "Apache-2.0" in licence and "text sets" not in readme and "as in MIMIC-IV" not in readme
    described = json.loads((folder / "croissant.json").read_text())
    manifest = json.loads((folder / "manifest.json").read_text())
    assert described["version"] in readme and described["version"].endswith(manifest["provenance_sha256"][:12])
    sums = {one["contentUrl"]: one["sha256"] for one in described["distribution"] if "sha256" in one}
    assert sums == manifest["rows"]["files"]


def test_by_cui_no_name_of_the_release_is_left(demo: Demo, tmp_path: Path) -> None:
    dataset, folder = demo.workspace / "datasets" / "medieval", tmp_path / "upload"
    done = export(dataset, folder, "--cui-only")
    ours, theirs = rows_of(dataset), rows_of(folder)
    named = ["head_name", "tail_name", "statement"]
    assert theirs.drop(named).equals(ours.drop(named))
    assert theirs["head_name"].equals(theirs["head_cui"].alias("head_name"))
    assert theirs["statement"].str.contains(r"^C\d{7} [a-z -]+ C\d{7}$").all()
    assert done["cui_only"] and "statements.parquet" not in done["files"]
    manifest = json.loads((folder / "manifest.json").read_text())
    assert manifest["cui_only"] and set(manifest["rows"]["files"]) == {n for n in done["files"] if n[-8:] == ".parquet"}


def test_what_derives_from_mimic_says_so(demo: Demo, tmp_path: Path) -> None:
    dataset = shutil.copytree(demo.workspace / "datasets" / "medieval", tmp_path / "medieval")
    manifest = json.loads((dataset / "manifest.json").read_text())
    for one in manifest["inputs"]:
        one["release"] = {"mimic": "3.1", "umls": "2026AA", "rxnorm": "RXNORM_2026"}[one["source"]]
    (dataset / "manifest.json").write_text(json.dumps(manifest))
    done = export(dataset, tmp_path / "upload")
    assert done["title"].startswith("MIMIC-IV-Ext-MediEval ") and done["licence_tier"] == "credentialed"
    readme, licence = ((tmp_path / "upload" / name).read_text() for name in ("README.md", "LICENSE.txt"))
    assert "3.1" in section(readme, "Parent Projects") and "2026AA" in section(readme, "Parent Projects")
    assert "Credentialed Health Data License" in licence and "invented" not in readme
    payload = json.loads((tmp_path / "upload" / "croissant.json").read_text())
    assert payload["usageInfo"]["odrl:prohibition"]["odrl:action"]["@id"] == "odrl:distribute"
    refused = answer_to("export", "physionet", dataset, tmp_path / "again", "--title", "MIMIC statements")
    assert refused.code == 2 and not (tmp_path / "again").exists()


def test_what_cannot_be_exported_is_refused(demo: Demo, tmp_path: Path) -> None:
    dataset = shutil.copytree(demo.workspace / "datasets" / "medieval", tmp_path / "medieval")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    verb = ("export", "physionet", dataset)
    assert answer_to(*verb, tmp_path / "full").code == 3
    assert answer_to(*verb, tmp_path / "new", "--title", "The: best").code == 2
    assert answer_to(*verb, dataset / "upload").code == 2
    with next((dataset / "data").glob("*.parquet")).open("ab") as file:
        file.write(b"more")
    changed = answer_to(*verb, tmp_path / "new")
    assert changed.code == 3 and "not the one that was built" in changed.err
    manifest = json.loads((dataset / "manifest.json").read_text())
    (dataset / "manifest.json").write_text(json.dumps({**manifest, "dataset": "medhal"}))
    assert answer_to(*verb, tmp_path / "new", "--cui-only").code == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["full", "medieval"]


@pytest.mark.parametrize("tier", ["open", "credentialed"])
@pytest.mark.parametrize("name", ["medieval", "medhal", "medval"])
def test_croissant_with_its_conditions_is_valid(name: str, tier: LicenceTier, tmp_path: Path) -> None:
    pytest.importorskip("mlcroissant")
    file = {"source": "mimic", "file": "discharge.csv.gz", "release": "OPENWORLD" if tier == "open" else "3.1"}
    rows = {"files": {"data/train-00000-of-00001.parquet": "0" * 64}}
    manifest = manifest_of(name, inputs=[file], settings={}, seed=42, kept=rows, dropped={}, tier=tier)
    described = croissant_of(manifest, "Rows.", {"data": MEDIEVAL_SCHEMA}, LICENCE[tier])
    (tmp_path / "croissant.json").write_text(json.dumps(described))
    metadata = import_module("mlcroissant").Dataset(jsonld=tmp_path / "croissant.json").metadata
    assert not metadata.ctx.issues.errors and metadata.ctx.is_v1_1()
    (lacking,) = metadata.ctx.issues.warnings
    assert "datePublished" in lacking  # No manifest has a time in it.
    read = metadata.to_json()
    said = {key for key in described if key.startswith("rai:")}
    assert len(said) > 8 and said <= read.keys()
    assert read["usageInfo"]["odrl:permission"]


def test_the_exported_croissant_reads_the_exported_rows(demo: Demo, tmp_path: Path) -> None:
    croissant = pytest.importorskip("mlcroissant")
    export(demo.workspace / "datasets" / "medieval", tmp_path / "upload", "--cui-only")
    dataset = croissant.Dataset(jsonld=tmp_path / "upload" / "croissant.json")
    ids = {row["rows/id"].decode() for row in dataset.records("rows")}
    assert ids == set(rows_of(tmp_path / "upload")["id"])
    whole = demo.workspace / "datasets" / "medieval"
    said = croissant.Dataset(jsonld=whole / "croissant.json").records("statements")
    assert len([*said]) == pl.read_parquet(whole / "statements.parquet").height
