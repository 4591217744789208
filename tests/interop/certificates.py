"""A certificate authority and two certificates, made with the openssl command for one test run."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

__all__ = ["Certificates", "make_certificates"]

_NEW_KEY = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2".split()


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificates:
    """Paths of PEM files."""

    ca: str
    server: str
    server_key: str
    client: str
    client_key: str


def make_certificates(folder: Path) -> Certificates:
    """Return certificates for `localhost` and 127.0.0.1, and for a client; skip the test without openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("the openssl command is not installed")
    _openssl(folder, *_NEW_KEY, "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    for name, more in (
        ("server", "subjectAltName=DNS:localhost,IP:127.0.0.1"),
        ("client", "extendedKeyUsage=clientAuth"),
    ):
        _openssl(
            folder, *_NEW_KEY, "-CA", "ca.pem", "-CAkey", "ca.key", "-subj", f"/CN={name}",
            "-addext", more, "-addext", "basicConstraints=critical,CA:FALSE", "-keyout", f"{name}.key", "-out", f"{name}.pem",
        )  # fmt: skip
    path = {each.name: str(each) for each in folder.iterdir()}
    return Certificates(
        ca=path["ca.pem"],
        server=path["server.pem"],
        server_key=path["server.key"],
        client=path["client.pem"],
        client_key=path["client.key"],
    )


def _openssl(folder: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=folder, check=True, capture_output=True)
