"""``ontoground publish DATASET_DIR URL``."""

from __future__ import annotations

import time
from typing import Annotated, Any

from typer import Argument, Option

from ontoground.cli.app import VERBS, app
from ontoground.cli.options import BuiltDataset, Configured, Result, verb
from ontoground.cli.render import Blocks, number, unfolded

__all__ = ["publish"]


@verb(
    app,
    VERBS["publish"],
    "ontoground publish work/datasets/medieval s3://bucket/medieval",
)
def publish(
    dataset: BuiltDataset,
    url: Annotated[str, Argument(metavar="URL", help="Folder of an object store: s3://..., or another's URL")],
    options: Configured,
    replace: Annotated[bool, Option("--replace", help="Replace another dataset in this place")] = False,
) -> Result:
    """Copy a built dataset to object storage, with its manifest last: a folder with a manifest is complete.

    After a stop, run it again: files already sent are not sent again. Credentialed datasets go only to stores that the
    settings name (remote.allow_credentialed), with a reason. Credentials come from the environment (AWS_PROFILE, ...).
    """
    from ground.storage.publishing import publish
    from ground.storage.remote import place_of

    settings = options.open(needs_warehouse=False).settings.remote
    begin = time.perf_counter()
    done = publish(dataset, place_of(url), settings, replace=replace)
    return options.result(
        "publish",
        _blocks,
        dataset=str(dataset),
        seconds=round(time.perf_counter() - begin, 2),
        reason=settings.allow_reason if done.licence_tier != "open" else None,
        **done.as_dict(),
    )


def _blocks(payload: dict[str, Any]) -> Blocks:
    sent, kept, removed = (len(payload[key]) for key in ("sent", "kept", "removed"))
    yield f"{sent} files sent ({number(payload['bytes_sent'])} bytes), {kept} were there, {removed} removed"
    yield unfolded(f"{payload['licence_tier']} dataset: {payload['url']}")
    if payload["reason"]:
        yield unfolded(f"allowed because: {payload['reason']}")
