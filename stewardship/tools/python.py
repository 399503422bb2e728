"""A Python sandbox for arithmetic, dates and units: no network, no files, no processes, and an end to everything.

The code runs in a process of its own (`stewardship/tools/inside.py`), which gives up what it does not need before it
reads the code: resource limits, an empty folder and environment, a short list of modules, and Linux's system-call
filter that lets nothing through but memory, clocks, and reading and writing of the open pipes. Where there is no such
filter, nothing is run: an audit hook alone does not keep code from files.
"""

from __future__ import annotations

import contextlib
import os
import platform
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from pydantic import Field

from ground.errors import UsageError
from stewardship.tools.base import Arguments, ToolResult

__all__ = ["PythonArguments", "PythonTool"]

INSIDE = Path(__file__).with_name("inside.py")
OPTIONS = ("-s", "-S", "-P", "-B")  # isolated as by -I, but for the hash seed, which makes results repeatable
OUTPUT_BYTES = 16_000


class PythonArguments(Arguments):
    """Arguments of the Python sandbox."""

    code: str = Field(description="Python 3; what it prints, and the value of its last line, is the result")


class PythonTool:
    """Runs Python code; see the module's docstring.

    Attributes:
        seconds: of processor time and of waiting, at most.
        memory_mb: address space, at most.

    Raises:
        UsageError: this machine has no system-call filter.
    """

    name = "python"
    arguments = PythonArguments

    def __init__(self, *, seconds: int = 5, memory_mb: int = 512) -> None:
        if not filtered():
            raise UsageError(
                "the Python tool does not run on this machine",
                found=f"{sys.platform}, {platform.machine()}",
                expected="Linux on x86_64 or aarch64, whose system-call filter encloses the code",
                do="leave python out of --tools",
            )
        self.seconds = seconds
        self.memory_mb = memory_mb

    def describe(self) -> dict[str, Any]:
        """Return version, limits and what encloses the code."""
        return {
            "python": platform.python_version(),
            "seconds": self.seconds,
            "memory_mb": self.memory_mb,
            "enclosure": "system-call filter",
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
        with tempfile.TemporaryDirectory(prefix="sandbox-") as empty:
            command = [sys.executable, *OPTIONS, str(INSIDE), str(self.seconds), str(self.memory_mb)]
            with subprocess.Popen(
                command,
                cwd=empty,
                env={"PYTHONHASHSEED": "0", "PYTHONUTF8": "1"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            ) as process:
                try:
                    said, end = _talk(process, arguments.code.encode("utf-8", "replace"), self.seconds + 1)
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(process.pid, signal.SIGKILL)
                code = process.wait()
        text = said.decode("utf-8", "replace").rstrip()
        if end == "ended" and code == 0:
            return ToolResult(text or "(nothing was printed)")
        return ToolResult("\n".join(filter(None, (text, self._told(end, code)))), ok=False)

    def _told(self, end: str, code: int) -> str:
        if end == "too much":
            return f"[stopped: it printed more than {OUTPUT_BYTES:,} bytes]"
        if end == "too long" or -code in (signal.SIGXCPU, signal.SIGKILL):
            return f"[stopped: it ran longer than {self.seconds} s]"
        return "" if code == 1 else f"[stopped: the process ended with {code}]"


def _talk(process: subprocess.Popen[bytes], code: bytes, seconds: float) -> tuple[bytes, str]:
    """Send the code and read what is printed, until the end or a limit."""
    assert process.stdin is not None and process.stdout is not None
    until = time.monotonic() + seconds
    said = b""
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
                return said, "ended"
            said += part
            if len(said) > OUTPUT_BYTES:
                return said[:OUTPUT_BYTES], "too much"
    return said, "too long"


def filtered() -> bool:
    """Say whether this machine's kernel and processor have the system-call filter that is used here."""
    return sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
