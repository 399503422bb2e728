"""Settings of object storage: which stores credentialed data may be read from and written to."""

from __future__ import annotations

from pydantic import Field

from ground.settings_base import Section

__all__ = ["RemoteSettings"]


class RemoteSettings(Section):
    """Which object storage (`s3://...`, any fsspec URL) credentialed data may be read from and written to."""

    allow_credentialed: tuple[str, ...] = Field(
        default=(), description="stores, named one by one, each with all that is below it, such as s3://bucket/folder"
    )
    allow_reason: str = Field(
        default="", description="why they may hold it, such as the agreement that covers them; publishing prints it"
    )
