"""A real S3 server (moto's) on a loopback port, and folders put into it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

__all__ = ["Store", "serving_store"]


@dataclass
class Store:
    """The running server; buckets are made as they are asked for."""

    files: Any
    buckets: int = 0

    def bucket(self) -> str:
        """Make an empty bucket and return its URL."""
        self.buckets += 1
        self.files.mkdir(f"bucket-{self.buckets}")
        return f"s3://bucket-{self.buckets}"

    def put(self, folder: Path, url: str) -> str:
        """Copy all files below a folder to a URL."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.files.put_file(str(path), f"{url}/{path.relative_to(folder).as_posix()}")
        return url

    def content(self, url: str) -> dict[str, bytes]:
        """Return the files below a URL by name."""
        self.files.invalidate_cache()
        root = url.removeprefix("s3://")
        return {key.removeprefix(f"{root}/"): self.files.cat_file(key) for key in self.files.find(root)}


@contextmanager
def serving_store() -> Iterator[Store]:
    """Start the server, and point the environment at it as a user's would point at a store."""
    fsspec = pytest.importorskip("fsspec")
    server_module = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    settings = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "nobody",
        "AWS_SECRET_ACCESS_KEY": "nothing",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings.items():
            patch.setenv(name, value)
        yield Store(fsspec.filesystem("s3"))
    server.stop()
