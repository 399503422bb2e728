"""What gets out: modes of every file, connections of every verb, spellings of endpoints, redirects, queries."""

from __future__ import annotations

import http.server
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path

from benchmarks.attack.target import SECRET, Target, Tries, open_to_others
from ground.errors import OntogroundError
from ground.lm.client import LanguageModel
from ground.lm.privacy import destination
from ground.lm.results import Completion, Message
from ground.lm.settings import LmSettings

__all__ = ["connections", "gates", "modes", "queries"]

OTHER_HOSTS = (
    *("10.0.0.5", "192.168.1.2", "169.254.169.254", "0.0.0.0", "0", "1", "2130706434", "0xa000005", "012.0.0.1"),
    *("8.8.8.8", "127.0.0.1.nip.invalid", "localhost.invalid", "localhost.localdomain.invalid", "example.invalid"),
    *("[2001:db8::1]", "[::ffff:8.8.8.8]", "[::ffff:a00:5]", "[64:ff9b::7f00:1]", "[::]", "[fe80::1]", "[::2]"),
    *("127.0.0.1@8.8.8.8", "localhost:80@8.8.8.8", "8.8.8.8#@127.0.0.1", "8.8.8.8\\@127.0.0.1", "127.0.0.1%2e8.8.8.8"),
    *(
        "LOCALHOST.invalid",
        "loc\u0430lhost",
        "\uff11\uff12\uff18.0.0.1",
        "127\u30020\u30020\u30021.invalid",
        "127.0.0.1 ",
    ),
    *("127.0.0.1\t.invalid", "127.0.0.1\r\nhost: a.invalid", "", " ", ".", "..", "%31%32%37.0.0.1", "[::1", "::1]"),
)
SCHEMES = ("http", "https")
ODD_ENDPOINTS = (
    "file:///etc/passwd",
    "ftp://127.0.0.1/",
    "unix:///var/run/a.sock",
    "127.0.0.1:8000",
    "//8.8.8.8/v1",
    "",
)
# None of them may be answered: they write, read other files, reach out, change settings or look around.
DENIED = (
    *(
        "create table a (b int)",
        "drop table ground.load",
        "delete from ground.load",
        "insert into ground.load from ground.load",
    ),
    *("update ground.load set file = ''", "alter table ground.load add column a int", "truncate ground.load", "vacuum"),
    *(
        "checkpoint",
        "begin",
        "commit",
        "set threads = 1",
        "set enable_external_access = true",
        "reset all",
        "pragma version",
    ),
    *(
        "pragma database_list",
        "install httpfs",
        "load httpfs",
        "attach 'x.db'",
        "attach ':memory:' as x",
        "detach ground",
    ),
    *(
        "copy (select 1) to 'x.csv'",
        "copy ground.load from '/etc/passwd'",
        "export database 'x'",
        "import database 'x'",
    ),
    *(
        "use ground",
        "call pragma_version()",
        "prepare a as select 1",
        "execute a",
        "deallocate a",
        "explain analyze select 1",
    ),
    *(
        "create view a as select 1",
        "create macro a() as 1",
        "create secret (type s3)",
        "create schema a",
        "create temp table a (b int)",
    ),
    *(
        "select 1; drop table ground.load",
        "select 1; select 2",
        "/* */ drop table ground.load",
        "comment on table ground.load is 'a'",
    ),
    *(
        "from '/etc/passwd'",
        "from '/etc/hostname.csv'",
        "from read_csv('/etc/passwd')",
        "from read_text('/etc/passwd')",
    ),
    *("from read_blob('/etc/passwd')", "from read_text('*')", "from glob('/etc/*')", "from read_json('/etc/passwd')"),
    *(
        "from read_parquet('https://example.invalid/x')",
        "from read_csv('http://127.0.0.1:1/x')",
        "from 's3://a/b.parquet'",
    ),
    *("from read_csv('/proc/self/environ')", "from read_text('ontoground.toml')", "from sniff_csv('/etc/passwd')"),
    *(
        "from parquet_metadata('/etc/passwd')",
        "select * from query('drop table ground.load')",
        "from read_duckdb('x.db')",
    ),
    *("with a as (delete from ground.load returning *) from a", "select getenv('HOME')", "from duckdb_secrets()", ""),
)


def modes(target: Target) -> Tries:
    """Yield a try for the workspace and for what each verb writes elsewhere, under a umask that lets others read."""
    yield "all of the workspace", lambda: _closed(target.work)
    outside: dict[str, tuple[str, ...]] = {
        "sql, CSV": ("sql", "-c", "select 1", "--format", "csv", "-o"),
        "sql, Parquet": ("sql", "-c", "select 1", "--format", "parquet", "-o"),
        "graph export": ("graph", "export", "-o"),
    }

    def attempt(arguments: tuple[str, ...]) -> str | None:
        folder = target.scratch("modes")
        made = folder / "made"
        command = [sys.executable, "-m", "ontoground", *arguments, str(made), "--workspace", str(target.work)]
        subprocess.run(command, cwd=folder, capture_output=True, check=False, umask=0)
        return _closed(made) if made.exists() else "nothing was written"

    for name, arguments in outside.items():
        yield name, partial(attempt, arguments)


def _closed(path: Path) -> str | None:
    found = open_to_others(path)
    return f"others may read {found[0]}" if found else None


@cache
def watching() -> tuple[str, ...]:
    """Return the command that writes down connections, or takes the network away; nothing where neither can be had."""
    for command in (("strace", "-f", "-qq", "-e", "trace=connect,sendto,sendmsg"), ("unshare", "--net")):
        if (
            shutil.which(command[0])
            and not subprocess.run([*command, "true"], capture_output=True, check=False).returncode
        ):
            return command
    return ()


def connections(target: Target) -> Tries:
    """Yield a try for each verb: under strace none may connect; without a network each ends as it does with one."""
    world, work = target.world, str(target.work)
    fresh = ("--workspace", "fresh")
    verbs: dict[str, tuple[str, ...]] = {
        "load umls": ("load", "umls", str(world.meta), *fresh),
        "load mimic": ("load", "mimic", str(world.mimic), *fresh),
        "graph show": ("graph", "show", "C9900001", "--workspace", work),
        "notes mentions": ("notes", "mentions", "--workspace", work),
        "status": ("status", "--workspace", work),
        "sql": ("sql", "-c", "from read_csv('https://example.invalid/x.csv')", "--workspace", work),
        "validate": ("validate", str(target.work / "datasets" / "medieval"), "--workspace", work),
        "build medhal": (
            "build",
            "medhal",
            "--sources",
            "mimic",
            "--workspace",
            str(target.folder / "tries" / "medhal" / "work"),
        ),
        "run": ("run", *target.sources(), *fresh),
    }
    if not watching():
        return
    yield "a connection is seen, or cannot be made", partial(_seen, target)
    for name, arguments in verbs.items():
        yield name, partial(_reached, target, name, arguments)


def _watch(log: Path) -> list[str]:
    command = list(watching())
    return [*command, "-o", str(log)] if command[0] == "strace" else command


def _connected(log: Path) -> list[str]:
    """Return what strace wrote down of connections; without it none is possible."""
    return [line for line in log.read_text(errors="replace").splitlines() if "AF_INET" in line] if log.exists() else []


def _seen(target: Target) -> str | None:
    """Return what is wrong with the watch itself."""
    log = target.scratch("seen") / "log"
    connecting = "import socket; socket.create_connection(('127.0.0.1', 9))"
    done = subprocess.run([*_watch(log), sys.executable, "-c", connecting], capture_output=True, check=False)
    return None if done.returncode and (_connected(log) or not log.exists()) else "it was not"


def _reached(target: Target, name: str, arguments: tuple[str, ...]) -> str | None:
    if name == "build medhal":
        target.copy("medhal")
    folder = target.scratch("connections")
    done = target.call(*arguments, folder=folder, before=_watch(folder / "log"))
    reached = _connected(folder / "log")
    return f"connected: {reached[0][:120]}" if reached else target.bad_manners(done)


def gates(_target: Target) -> Tries:
    """Yield spellings of endpoints that are not this machine, and redirects of one that is."""
    for host in OTHER_HOSTS:
        for scheme in SCHEMES:
            yield f"{scheme}://{host!r}", partial(_refused, f"{scheme}://{host}:8000/v1")
    for url in ODD_ENDPOINTS:
        yield f"endpoint {url!r}", partial(_refused, url)
    for code in (301, 302, 303, 307, 308):
        for place in (
            "http://localhost:{port}/other",
            "http://[::1]:{port}/v1",
            "http://8.8.8.8/v1",
            "//8.8.8.8/",
            "file:///etc/passwd",
        ):
            yield f"redirect {code} to {place}", partial(_diverted, code, place)


def _refused(url: str) -> str | None:
    try:
        allowed = destination(LmSettings(model="m", endpoint=url), "credentialed")
    except OntogroundError:
        return None
    return (
        None
        if allowed.loopback and allowed.base_url.split("/")[2].startswith(("127.", "localhost"))
        else f"taken as {allowed.base_url}"
    )


def _diverted(code: int, place: str) -> str | None:
    with _redirecting(code, place) as (port, asked), tempfile.TemporaryDirectory() as folder:
        settings = LmSettings(model="m", endpoint=f"http://127.0.0.1:{port}/v1", max_retries=0)
        with LanguageModel(settings, Path(folder), "credentialed") as model:
            answer = model.complete([Message(role="user", content=SECRET)])
    if any(path.startswith("/other") for path in asked):
        return "the redirect was followed"
    return "an answer came" if isinstance(answer, Completion) else None


@contextmanager
def _redirecting(code: int, place: str) -> Iterator[tuple[int, list[str]]]:
    asked: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            asked.append(self.path)
            self.send_response(code)
            self.send_header("Location", place.format(port=self.server.server_port))  # type: ignore[attr-defined]
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_port, asked
        finally:
            server.shutdown()


def queries(target: Target) -> Tries:
    """Yield queries that must not be answered; none may change a byte of the workspace or leave a file."""

    def attempt(query: str) -> str | None:
        folder = target.scratch("query")
        before = {path: path.stat().st_mtime_ns for path in target.work.glob("*")}
        done = target.call("sql", "-c", query, "--format", "csv", "--workspace", str(target.work), folder=folder)
        changed = [path.name for path in target.work.glob("*.duckdb*") if before.get(path) != path.stat().st_mtime_ns]
        changed += [path.name for path in folder.iterdir()]
        if changed:
            return f"something was written: {', '.join(changed)}"
        if done.code == 0 and done.out.strip().count("\n"):
            return f"answered: {len(done.out)} characters"
        return target.bad_manners(done)

    for query in DENIED:
        yield query or "nothing", partial(attempt, query)
