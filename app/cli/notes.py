"""placeholder"""

from __future__ import annotations
import typer

group = typer.Typer()


@group.callback()
def _x() -> None: ...
@group.command()
def y() -> None: ...
