"""Objects of S3 that are written under a condition, which `pyarrow.fs` cannot: with boto3, the extra `spark-s3`.

Invariant: boto3 finds the credentials in the environment of the process. Errors are told by their code, because texts of
libraries may repeat requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from wirespark.errors import WireSparkError
from wirespark.of_process import OfProcess
from wirespark.requests_ahead import N_AT_ONCE
from wirespark.s3_files import S3Files
from wirespark.stored_objects import ObjectText
from wirespark.untyped import Client

if TYPE_CHECKING:
    from pyarrow import NativeFile

__all__ = ["S3Folder"]

_MOST_REMOVED = 1000
_UNMET = (404, 409, 412)
"""The status of a write whose condition does not hold: 404 with `If-Match` and no object, 409 during another write."""


@dataclass(frozen=True, slots=True)
class S3Folder:
    """The objects below a path `s3a://bucket/folder`; their names are relative to it."""

    n_at_once: ClassVar[int] = N_AT_ONCE

    address: str

    @property
    def _bucket(self) -> str:
        return self.address.partition("://")[2].partition("/")[0]

    def _key(self, name: str) -> str:
        folder = self.address.partition("://")[2].partition("/")[2]
        return f"{folder}/{name}" if folder else name

    def text(self, name: str) -> ObjectText | None:
        with self._told() as client:
            try:
                found = client.get_object(Bucket=self._bucket, Key=self._key(name))
            except client.exceptions.NoSuchKey:
                return None
            return ObjectText(text=found["Body"].read().decode(), version=found["ETag"])

    def write(self, name: str, text: str, version: str | None = None) -> bool:
        from botocore.exceptions import ClientError

        condition = {"IfNoneMatch": "*"} if version is None else {"IfMatch": version}
        with self._told() as client:
            try:
                client.put_object(Bucket=self._bucket, Key=self._key(name), Body=text.encode(), **condition)
            except ClientError as error:
                is_missing = error.response["Error"]["Code"] == "NoSuchBucket"
                if is_missing or error.response["ResponseMetadata"]["HTTPStatusCode"] not in _UNMET:
                    raise
                return False
        return True

    def put(self, name: str, text: str) -> None:
        with self._told() as client:
            client.put_object(Bucket=self._bucket, Key=self._key(name), Body=text.encode())

    def sizes(self, begin: str = "") -> dict[str, int]:
        with self._told() as client:
            pages = client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._key(begin)
            )
            n_before = len(self._key(""))
            return {
                found["Key"][n_before:]: found["Size"] for page in pages for found in page.get("Contents", ())
            }

    def remove(self, names: Iterable[str]) -> None:
        keys = [{"Key": self._key(name)} for name in names]
        with self._told() as client:
            for begin in range(0, len(keys), _MOST_REMOVED):
                some = {"Objects": keys[begin : begin + _MOST_REMOVED], "Quiet": True}
                client.delete_objects(Bucket=self._bucket, Delete=some)

    def create(self, name: str) -> NativeFile:
        return S3Files(self._bucket).create(self._key(name))

    def open(self, name: str) -> NativeFile:
        return S3Files(self._bucket).open(self._key(name))

    @contextmanager
    def _told(self) -> Iterator[Client]:
        """Lend the client, and raise its errors as one sentence."""
        client = _client()
        from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

        try:
            yield client
        except ClientError as error:
            code = error.response["Error"]["Code"]
            raise WireSparkError(f"cannot use {self.address}: {code} of {error.operation_name}") from None
        except NoCredentialsError:
            raise WireSparkError(
                f"cannot use {self.address}: the environment has no credentials (AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)"
            ) from None
        except BotoCoreError as error:
            raise WireSparkError(f"cannot use {self.address}: {type(error).__name__}") from None


@OfProcess
def _client() -> Client:
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise WireSparkError(
            "a target in S3 needs boto3: install it on the driver and the workers with `pip install 'wiregen[spark-s3]'`"
        ) from None
    return boto3.client("s3", config=Config(max_pool_connections=S3Folder.n_at_once))
