"""A server of S3 on this computer, with the environment in which programs find it."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any
from uuid import uuid4

import pytest

from wirespark import s3_files, s3_objects

BUCKET = "captures"


@dataclass(frozen=True, slots=True)
class Objects:
    """A bucket, and the environment of those who read it."""

    client: Any  # boto3 makes the classes of its clients at run time
    environment: Mapping[str, str]
    root: str = f"s3a://{BUCKET}/"

    def put(self, key: str, data: bytes) -> str:
        """Write an object; return its path as Spark's users write it."""
        self.client.put_object(Bucket=BUCKET, Key=key, Body=data)
        return f"{self.root}{key}"

    def names(self, key: str) -> set[str]:
        """Return the names of the objects below a folder, relative to it."""
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=BUCKET, Prefix=f"{key}/")
        found = (each["Key"] for page in pages for each in page.get("Contents", ()))
        return {name.removeprefix(f"{key}/") for name in found}

    def remove(self, key: str) -> None:
        self.client.delete_object(Bucket=BUCKET, Key=key)

    @contextmanager
    def denying(self, **names: str) -> Iterator[None]:
        """Let this process act as a user who may not do some actions of S3 with the objects of names: `GetObject="*.bin"`."""
        import boto3
        from moto import settings

        iam, user = boto3.client("iam"), uuid4().hex
        own = f"arn:aws:s3:::{BUCKET}"
        denied = [
            {"Effect": "Deny", "Action": f"s3:{action}", "Resource": f"{own}/{name}" if name else own}
            for action, name in names.items()
        ]
        rules = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}, *denied]}  # fmt: skip
        iam.create_user(UserName=user)
        iam.put_user_policy(UserName=user, PolicyName="rights", PolicyDocument=json.dumps(rules))
        keys = iam.create_access_key(UserName=user)["AccessKey"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", keys["AccessKeyId"])
            patch.setenv("AWS_SECRET_ACCESS_KEY", keys["SecretAccessKey"])
            patch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers credentials
            patch.setattr(settings, "INITIAL_NO_AUTH_ACTION_COUNT", 0)
            _forget_places()
            yield
        _forget_places()

    def put_folder(self, folder: Path, key: str) -> str:
        for path in folder.rglob("*"):
            if path.is_file():
                self.put(f"{key}/{path.relative_to(folder)}", path.read_bytes())
        return f"s3a://{BUCKET}/{key}"


def one_at_a_time(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Return an application that answers requests one after another: moto looks at a condition before it writes, S3 does both at once."""
    lock = Lock()

    def answered(*given: Any) -> list[bytes]:
        with lock:
            return list(application(*given))

    return answered


@contextmanager
def served_objects() -> Iterator[Objects]:
    """Serve an empty bucket, and set the environment of this process to it."""
    boto3 = pytest.importorskip("boto3", reason="boto3 is not installed")
    server_of = pytest.importorskip("moto.server", reason="moto[server] is not installed").ThreadedMotoServer
    server = server_of(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    server._server.app = one_at_a_time(server._server.app)
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
            _forget_places()
            yield Objects(client, {**os.environ})
    finally:
        server.stop()
        _forget_places()


def _forget_places() -> None:
    """Let this process look again where the store of the environment is."""
    s3_files.s3_system.cache_clear()
    s3_objects._client.cache_clear()
