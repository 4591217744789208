"""A server of S3 on this computer, with the environment in which programs find it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

BUCKET = "captures"


@dataclass(frozen=True, slots=True)
class Objects:
    """A bucket, and the environment of those who read it."""

    client: Any  # boto3 makes the classes of its clients at run time
    environment: Mapping[str, str]

    def put(self, key: str, data: bytes) -> str:
        """Write an object; return its path as Spark's users write it."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)
        return f"s3a://{BUCKET}/{key}"

    def put_folder(self, folder: Path, key: str) -> str:
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder)}", path.read_bytes())
        return f"s3a://{BUCKET}/{key}"


@contextmanager
def served_objects() -> Iterator[Objects]:
    """Serve an empty bucket, and set the environment of this process to it."""
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    server_of = pytest.importorskip("moto.server", reason="moto[server] is not installed").ThreadedMotoServer
    server = server_of(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        given = {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "AWS_ACCESS_KEY_ID": "reader",
            "AWS_SECRET_ACCESS_KEY": "not-to-be-seen",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }
        with pytest.MonkeyPatch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            client = boto3.client("s3")
            client.create_bucket(Bucket=BUCKET)
            yield Objects(client, {**os.environ})
    finally:
        server.stop()
