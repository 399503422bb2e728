"""The top: the Python door (`open`, `read_text`), verbs (`cli`), stages in order (`flow`), what a workspace answers
(`views`), pages that show it (`pages`).

    import ontoground
    w = ontoground.open("work")
    w.sql("coverage_by_volume"); w.relations("lisinopril", "hypertension")

The rooms below are packages of their own with common names. Where the folder that Python starts in, or another
distribution, has a package of such a name, ours would be another one; so they are looked for before anything is done.
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ontoground.door import open_workspace as open
    from ontoground.door import read_text

_ROOT = Path(__file__).resolve().parents[1]
_ROOMS = ("ground", "kg", "ehr", "evaluation", "builders", "training", "stewardship", "openworld")


def _look_in_own_folder() -> None:
    """Put away the folder that ``python -m ontoground`` was started in: nothing of ours lies there by intent."""
    if sys.argv[:1] == ["-m"] and sys.path and Path(sys.path[0]).resolve() != _ROOT:
        del sys.path[0]
        if str(_ROOT) not in sys.path:
            sys.path.insert(0, str(_ROOT))


def _check_rooms() -> None:
    """Find each room in this installation.

    Raises:
        ImportError: another file or folder stands in the way, or a room is missing.
    """
    for room in _ROOMS:
        spec = find_spec(room) if room not in sys.modules else sys.modules[room].__spec__
        where = Path(spec.origin).resolve() if spec and spec.origin else None
        if where != _ROOT / room / "__init__.py":
            raise ImportError(
                f"ontoground cannot find its own package {room!r}\n"
                f"  found: {where or 'none'}\n"
                f"  expected: {_ROOT / room}\n"
                "  do: rename what stands in the way, or start Python from another folder; `python -m ontoground` "
                "and the command `ontoground` work there too",
                name=room,
            )


_look_in_own_folder()
_check_rooms()

from ground import __version__  # noqa: E402
from ground.errors import (  # noqa: E402
    InputError,
    OntogroundError,
    RefusedError,
    TrainingError,
    UsageError,
    WorkerError,
)

__all__ = [
    "InputError",
    "OntogroundError",
    "RefusedError",
    "TrainingError",
    "UsageError",
    "WorkerError",
    "__version__",
    "open",
    "read_text",
]


def __getattr__(name: str) -> Any:
    """Import the door when somebody asks for it: the command line starts without it."""
    if name in ("open", "read_text"):
        from ontoground import door

        return door.open_workspace if name == "open" else door.read_text
    raise AttributeError(f"module 'ontoground' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
