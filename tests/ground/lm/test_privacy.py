"""The privacy gate: what counts as this machine, what is refused, and that nothing is diverted."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from ground.errors import InputError, RefusedError, UsageError
from ground.lm.client import LanguageModel
from ground.lm.privacy import destination
from ground.lm.results import Completion, Failure, Message
from ground.lm.settings import LmSettings
from tests.ground.lm.server import Reply, completion, scripted_server


def settings(endpoint: str, **others: Any) -> LmSettings:
    return LmSettings(model="m", endpoint=endpoint, **others)


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://127.0.0.1:8000/v1",
        "http://127.8.9.1/v1",
        "http://localhost:11434/v1",
        "http://[::1]:8000/v1",
        "http://[::ffff:127.0.0.1]:8000/v1",
        "https://127.0.0.1:8443/v1",
    ],
)
def test_this_machine_may_have_credentialed_text(endpoint: str) -> None:
    assert destination(settings(endpoint), "credentialed").loopback


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://api.openai.com/v1",
        "http://10.0.0.5:8000/v1",
        "http://192.168.1.2:8000/v1",
        "http://0.0.0.0:8000/v1",
        "http://169.254.169.254/v1",
        "http://[2001:db8::1]:8000/v1",
        "http://127.0.0.1.nip.example:8000/v1",
        "http://nowhere.invalid/v1",
    ],
)
@pytest.mark.parametrize("tier", ["credentialed", "unknown", ""])
def test_another_machine_is_refused_whatever_is_not_called_open(endpoint: str, tier: str) -> None:
    with pytest.raises(RefusedError) as refused:
        destination(settings(endpoint), tier)
    assert refused.value.exit_code == 4
    said = str(refused.value)
    assert "PhysioNet (24 September 2025)" in said
    assert "allow_remote_credentialed" in said and "allow_remote_reason" in said


def test_open_text_may_go_anywhere() -> None:
    assert destination(settings("https://api.openai.com/v1"), "open").base_url == "https://api.openai.com/v1"


def test_a_named_host_needs_a_reason_too_and_other_hosts_stay_refused() -> None:
    named: dict[str, Any] = {"allow_remote_credentialed": ("gpu.hospital.example",)}
    with pytest.raises(RefusedError, match="no reason is given"):
        destination(settings("https://gpu.hospital.example/v1", **named), "credentialed")
    reason = {"allow_remote_reason": "data processing agreement 12/2026"}
    allowed = destination(settings("https://gpu.hospital.example/v1", **named, **reason), "credentialed")
    assert not allowed.loopback
    with pytest.raises(RefusedError):
        destination(settings("https://api.openai.com/v1", **named, **reason), "credentialed")


def test_a_name_that_resolves_to_this_machine_is_replaced_by_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    addresses = {"gpubox": "127.0.1.1", "mixed": "127.0.0.1"}

    def resolve(host: str, *_: object, **__: object) -> list[tuple[Any, ...]]:
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (addresses[host], 0))]
        return found + ([(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("10.0.0.1", 0))] if host == "mixed" else [])

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    assert destination(settings("http://gpubox:8000/v1"), "credentialed").base_url == "http://127.0.1.1:8000/v1"
    with pytest.raises(RefusedError):
        destination(settings("http://mixed:8000/v1"), "credentialed")


def test_a_name_under_https_is_not_this_machine_whatever_it_resolves_to_now(monkeypatch: pytest.MonkeyPatch) -> None:
    here = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: here)
    with pytest.raises(RefusedError):
        destination(settings("https://rebinds.example/v1"), "credentialed")
    assert destination(settings("https://localhost/v1"), "credentialed").loopback


def test_no_proxy_reads_credentialed_text_on_its_way_to_a_named_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named: dict[str, Any] = {"allow_remote_credentialed": ("203.0.113.5",), "allow_remote_reason": "agreement 12"}
    hurried: dict[str, Any] = {"max_retries": 0, "timeout_s": 0.5}
    with scripted_server(lambda *_: completion("the proxy")) as proxy:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        asked = settings("http://203.0.113.5/v1", **named, **hurried)
        # What answers at an address of documentation, if anything, is not looked at.
        with LanguageModel(asked, tmp_path, "credentialed") as model, suppress(InputError):
            model.complete([Message(role="user", content="a private note")])
    assert proxy.bodies == []


def test_a_cloud_model_is_known_by_what_ollama_says_of_it_under_any_name(tmp_path: Path) -> None:
    tags = [{"name": "mine:latest", "remote_host": "https://ollama.com:443", "remote_model": "x"}]
    question = [Message(role="user", content="a private note")]
    with scripted_server(lambda *_: completion("fine"), lists={"/api/tags": {"models": tags}}) as server:
        for name in ("mine", "mine:latest"):
            asked = LmSettings(model=name, endpoint=server.url)
            with (
                LanguageModel(asked, tmp_path, "credentialed") as model,
                pytest.raises(RefusedError),
            ):
                model.complete(question)
        assert server.bodies == []
        with LanguageModel(LmSettings(model="own", endpoint=server.url), tmp_path, "credentialed") as model:
            assert isinstance(model.complete(question), Completion)


def test_a_cloud_model_behind_a_local_server_is_refused() -> None:
    cloud = LmSettings(model="gpt-oss:120b-cloud", endpoint="http://127.0.0.1:11434/v1")
    with pytest.raises(RefusedError, match="other servers"):
        destination(cloud, "credentialed")
    assert destination(cloud, "open").loopback


@pytest.mark.parametrize("endpoint", ["127.0.0.1:8000", "ftp://127.0.0.1/v1", "http://", "http://127.0.0.1:99999/v1"])
def test_what_is_no_url_is_refused(endpoint: str) -> None:
    with pytest.raises(UsageError, match="no URL"):
        destination(settings(endpoint), "open")


def test_a_password_in_the_url_is_refused_and_not_repeated() -> None:
    with pytest.raises(UsageError) as error:
        destination(settings("http://user:hunter2@127.0.0.1/v1"), "open")
    assert "hunter2" not in str(error.value)


def test_a_key_put_where_its_name_belongs_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        LanguageModel(settings("http://127.0.0.1:1/v1", api_key_env="sk-hunter2"), tmp_path, "open")
    assert "hunter2" not in str(error.value) and "api_key_env" in str(error.value)


def test_refusal_leaves_no_cache_behind(tmp_path: Path) -> None:
    with pytest.raises(RefusedError):
        LanguageModel(settings("https://api.openai.com/v1"), tmp_path / "work", "credentialed")
    assert not (tmp_path / "work").exists()


def test_neither_proxy_nor_redirect_nor_openai_variables_divert_what_is_meant_for_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = [Message(role="user", content="a private note")]
    with scripted_server(lambda *_: completion("elsewhere")) as elsewhere:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.setenv("OPENAI_BASE_URL", elsewhere.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
        monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
        monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")
        redirect = Reply(status=307, headers={"Location": f"{elsewhere.url}/chat/completions"})

        def reply(place: int, _: dict[str, Any]) -> Reply:
            return completion("here") if place == 0 else redirect

        with scripted_server(reply) as here:
            with LanguageModel(settings(here.url, max_retries=0), tmp_path, "credentialed") as model:
                answer = model.complete(question)
                redirected = model.complete([*question, Message(role="user", content="more")])
            sent = " ".join(f"{name} {value}" for name, value in here.headers[0].items())
    assert isinstance(answer, Completion) and answer.text == "here"
    assert isinstance(redirected, Failure)
    assert elsewhere.bodies == []
    assert "mine" not in sent.lower()
