"""Google's store on this computer: fake-gcs-server, with the uploads of Google's XML interface before it.

fake-gcs-server 1.56.1 takes uploads by the JSON interface only, with `ifGenerationMatch`; obstore uploads by the XML interface, with
`x-goog-if-generation-match` (https://github.com/fsouza/fake-gcs-server/issues/331). So uploads are translated here.
Conditions are decided by the server, listings and downloads are its own. It ignores where a listing begins (`start-after`).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import socket
from threading import Thread
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

__all__ = ["served_google"]

VERSION = "v1.56.1"


class _Uploads(BaseHTTPRequestHandler):
    """Uploads are translated; all other requests are passed on.

    `server_place`: where fake-gcs-server is. `parts`: the parts of uploads that are not complete, by upload and number.
    """

    protocol_version = "HTTP/1.1"
    server_place: str
    parts: dict[str, dict[int, bytes]]

    def do_GET(self) -> None:
        self._pass_on()

    do_HEAD = do_GET

    def do_DELETE(self) -> None:
        upload = self._query.get("uploadId")
        if upload is None:
            self._pass_on()
        else:
            self.parts.pop(upload, None)
            self._answer(204)

    def do_PUT(self) -> None:
        query, data = self._query, self._body()
        if "uploadId" in query:
            self.parts[query["uploadId"]][int(query["partNumber"])] = data
            self._answer(200, {"ETag": f'"{query["partNumber"]}"'})
        else:
            self._upload(data)

    def do_POST(self) -> None:
        query, data = self._query, self._body()
        if self.path.startswith(("/storage/", "/upload/")):
            self._pass_on(data)
        elif "uploads" in query:
            upload = uuid4().hex
            self.parts[upload] = {}
            self._answer(200, body=f"<R><Bucket/><Key/><UploadId>{upload}</UploadId></R>".encode())
        else:
            self._upload(
                b"".join(data for _, data in sorted(self.parts.pop(query["uploadId"]).items())), True
            )

    @property
    def _query(self) -> dict[str, str]:
        given = parse_qs(urlsplit(self.path).query, keep_blank_values=True)
        return {name: values[0] for name, values in given.items()}

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _upload(self, data: bytes, is_completed: bool = False) -> None:
        bucket, _, name = urlsplit(self.path).path[1:].partition("/")
        query = {"uploadType": "media", "name": unquote(name)}
        condition = self.headers.get("x-goog-if-generation-match")
        if condition is not None:
            query["ifGenerationMatch"] = condition
        answer, told = self._asked("POST", f"/upload/storage/v1/b/{quote(bucket)}/o?{urlencode(query)}", data)
        if answer.status != 200:
            self._answer(answer.status, body=told)
            return
        made = json.loads(told)
        headers = {"ETag": f'"{made["etag"]}"', "x-goog-generation": made["generation"]}
        body = f"<R><Location/><Bucket/><Key/><ETag>{made['etag']}</ETag></R>" if is_completed else ""
        self._answer(200, headers, body.encode())

    def _pass_on(self, data: bytes = b"") -> None:
        answer, told = self._asked(self.command, self.path, data)
        size = answer.getheader("Content-Length") if self.command == "HEAD" else None
        kept = ("transfer-encoding", "content-length", "connection", "date")
        headers = {name: value for name, value in answer.getheaders() if name.lower() not in kept}
        self._answer(answer.status, headers, told, size)

    def _asked(self, method: str, path: str, data: bytes) -> tuple[HTTPResponse, bytes]:
        connection = HTTPConnection(self.server_place, timeout=60)
        try:
            given = {name: value for name in ("Range", "Content-Type") if (value := self.headers.get(name))}
            connection.request(method, path, data, {**given, "Host": self.server_place})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def _answer(
        self,
        status: int,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        size: str | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", size or str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *given: object) -> None:
        """Say nothing."""


@contextmanager
def served_google(folder: Path, bucket: str) -> Iterator[Mapping[str, str]]:
    """Serve an empty bucket, and yield the environment in which obstore finds it."""
    program = _installed(folder)
    place = f"127.0.0.1:{_free_port()}"
    options = ["-backend", "memory", "-scheme", "http", "-public-host", "127.0.0.1", "-log-level", "error"]
    options += ["-host", "127.0.0.1", "-port", place.partition(":")[2]]
    front = ThreadingHTTPServer(
        ("127.0.0.1", 0), type("Uploads", (_Uploads,), {"server_place": place, "parts": {}})
    )
    thread = Thread(target=front.serve_forever, daemon=True)
    with subprocess.Popen([program, *options], stdout=subprocess.DEVNULL) as server:
        try:
            _create_bucket(server, place, bucket)
            thread.start()
            address = f"http://127.0.0.1:{front.server_address[1]}"
            yield {"GOOGLE_BASE_URL": address, "GOOGLE_APPLICATION_CREDENTIALS": str(_account(folder))}
        finally:
            if thread.is_alive():
                front.shutdown()
            front.server_close()
            server.terminate()


def _account(folder: Path) -> Path:
    """Write the key of a service account, which signs the requests; nobody knows it."""
    made = rsa.generate_private_key(65537, 2048)
    key = made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    account = {"type": "service_account", "private_key": key, "private_key_id": "1", "client_email": "reader@example.com"}  # fmt: skip
    (folder / "account.json").write_text(json.dumps(account))
    return folder / "account.json"


def _installed(folder: Path) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("Go, which installs fake-gcs-server, is not on this machine")
    package = f"github.com/fsouza/fake-gcs-server@{VERSION}"
    environment = {**os.environ, "GOBIN": str(folder)}
    environment.pop("XDG_CACHE_HOME", None)
    done = subprocess.run([go, "install", package], capture_output=True, text=True, check=False, env=environment)  # fmt: skip
    if done.returncode:
        pytest.skip(f"fake-gcs-server cannot be installed: {done.stderr[-500:]}")
    return folder / "fake-gcs-server"


def _free_port() -> int:
    """Return a port: the server does not say which one it has chosen."""
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _create_bucket(server: subprocess.Popen[bytes], place: str, bucket: str) -> None:
    """Create a bucket as soon as the server answers."""
    while True:
        try:
            connection = HTTPConnection(place)
            connection.request(
                "POST", "/storage/v1/b", json.dumps({"name": bucket}), {"Content-Type": "application/json"}
            )
            assert connection.getresponse().status == 200
            return
        except ConnectionRefusedError:
            assert server.poll() is None
            time.sleep(0.05)
        finally:
            connection.close()
