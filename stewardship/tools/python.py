"""A Python sandbox for arithmetic, dates and units: no network, no files, no processes, and an end to everything.

The code runs in a container of the user's (``steward.sandbox_image``), or else, where we are root on Linux, as an
unprivileged process in namespaces and an empty folder of its own (`stewardship/tools/inside.py`), with resource limits.
Where neither is to be had nothing is run.
"""

from __future__ import annotations

import contextlib
import os
import platform
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from pydantic import Field

from ground.errors import UsageError
from stewardship.tools.base import Arguments, ToolResult

__all__ = ["PythonArguments", "PythonTool"]

INSIDE = Path(__file__).with_name("inside.py").read_text(encoding="utf-8")
OPTIONS = ("-s", "-S", "-P", "-B")  # isolated as by -I, but for the hash seed, which makes results repeatable
ENVIRONMENT = {"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
RUNTIMES = ("docker", "podman")
CONTAINER = (
    *("run", "--rm", "--interactive", "--network=none", "--read-only", "--cap-drop=ALL", "--user=65534:65534"),
    *("--security-opt=no-new-privileges", "--pids-limit=16"),
    *(f"--env={name}={value}" for name, value in ENVIRONMENT.items()),
)
NAMESPACES = ("unshare", "--net", "--ipc", "--uts", "--pid", "--fork", "--kill-child")
OUTPUT_BYTES = 16_000
STARTING = 20
"""Seconds that a container may take to start, beyond the code's own."""
CPU_ENDED = (128 + signal.SIGXCPU, 128 + signal.SIGKILL)


class PythonArguments(Arguments):
    """Arguments of the Python sandbox."""

    code: str = Field(description="Python 3; what it prints, and the value of its last line, is the result")


class PythonTool:
    """Runs Python code; see the module's docstring.

    Attributes:
        seconds: of processor time and of waiting, at most.
        memory_mb: address space, at most.
        image: of the container; empty for an unprivileged process.

    Raises:
        UsageError: neither is to be had on this machine.
    """

    name = "python"
    arguments = PythonArguments

    def __init__(self, *, seconds: int = 5, memory_mb: int = 512, image: str = "") -> None:
        self.seconds, self.memory_mb, self.image = seconds, memory_mb, image
        self._runtime = next(filter(None, map(shutil.which, RUNTIMES)), None) if image else None
        # A first call shows whether code runs here, and as whom.
        trial = self._run("import os\nos.getuid()") if self._runtime or (not image and _is_root()) else None
        if trial is None or not trial.ok or trial.text in ("", "0"):
            raise UsageError(
                "the Python tool cannot run on this machine",
                found=trial.text if trial else "no docker or podman" if image else "no right to give up privileges",
                expected="a container of yours, or root on Linux, which can start a process without privileges",
                do="name an image with Python as steward.sandbox_image, or leave python out of --tools",
            )

    def describe(self) -> dict[str, Any]:
        """Return version, limits and what encloses the code."""
        return {
            "python": platform.python_version(),
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "enclosure": f"container {self.image}" if self.image else "unprivileged process",
        }

    def manual(self) -> str:
        """Return what the model is told."""
        return (
            "`python` runs Python 3 for arithmetic, dates and unit conversions and returns what the code prints and "
            "the value of its last line. The standard library's modules for numbers and dates can be imported; there "
            f"is no network, no file and no memory of earlier calls. Limit: {self.seconds} seconds."
        )

    def use(self, arguments: PythonArguments) -> ToolResult:
        """Run the code; an error of the code, or a limit that it met, is a result that is not ok."""
        return self._run(arguments.code)

    def _run(self, code: str) -> ToolResult:
        name = f"ontoground-{uuid.uuid4().hex}"
        with (
            tempfile.TemporaryDirectory(prefix="sandbox-") as empty,
            subprocess.Popen(
                self._command(name),
                cwd=empty,
                env={**ENVIRONMENT, "PATH": os.environ.get("PATH", os.defpath)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process,
        ):
            try:
                wait = self.seconds + (STARTING if self._runtime else 1)
                output, end = _talk(process, code.encode("utf-8", "replace"), wait)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                if self._runtime:
                    # A container outlives the client that was killed.
                    subprocess.run([self._runtime, "rm", "--force", name], capture_output=True, check=False)
            status = process.wait()
        text = output.decode("utf-8", "replace").rstrip()
        if end == "ended" and status == 0:
            return ToolResult(text or "(nothing was printed)")
        return ToolResult("\n".join(filter(None, (text, self._why(end, status)))), ok=False)

    def _command(self, name: str) -> list[str]:
        limits = [str(self.seconds), str(self.memory_mb)]
        if self._runtime is None:
            return [*NAMESPACES, sys.executable, *OPTIONS, "-c", INSIDE, *limits, "drop"]
        memory = [f"--memory={self.memory_mb}m", f"--memory-swap={self.memory_mb}m", f"--name={name}"]
        return [self._runtime, *CONTAINER, *memory, self.image, "python3", *OPTIONS, "-c", INSIDE, *limits]

    def _why(self, end: str, status: int) -> str:
        if end == "too much":
            return f"[stopped: it printed more than {OUTPUT_BYTES:,} bytes]"
        if end == "too long" or status in CPU_ENDED:
            return f"[stopped: it ran longer than {self.seconds} s]"
        return "" if status == 1 else f"[stopped: the process ended with {status}]"


def _is_root() -> bool:
    return sys.platform == "linux" and os.geteuid() == 0 and shutil.which(NAMESPACES[0]) is not None


def _talk(process: subprocess.Popen[bytes], code: bytes, seconds: float) -> tuple[bytes, str]:
    """Send the code and read what is printed, until the end or a limit."""
    assert process.stdin is not None and process.stdout is not None
    until = time.monotonic() + seconds
    output = b""
    # The code is short of a pipe's buffer or is read at once: the child reads all of it before it does anything.
    with contextlib.suppress(BrokenPipeError):
        process.stdin.write(code)
        process.stdin.close()
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not selector.select(left):
                break
            part = os.read(process.stdout.fileno(), 1 << 16)
            if not part:
                return output, "ended"
            output += part
            if len(output) > OUTPUT_BYTES:
                return output[:OUTPUT_BYTES], "too much"
    return output, "too long"
