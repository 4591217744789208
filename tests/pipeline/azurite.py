"""Azurite, Microsoft's own server of Azure's store, on this computer."""

from __future__ import annotations

import hmac
import os
import re
import shutil
import subprocess
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from pyarrow.fs import AzureFileSystem

__all__ = ["served_azurite", "signature"]

VERSION = "3.35.0"
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
"""That of the account which every Azurite has; its documentation names it."""
_LISTENING = re.compile(r"listens on (http://\S+)")


def signature(rights: str) -> str:
    """Return a signature (SAS) that allows so much: letters such as `r` (read), `l` (list), `w` (write).

    Source: https://learn.microsoft.com/rest/api/storageservices/create-account-sas, "Construct a signature string".
    """
    version, end, schemes = "2020-12-06", "2036-01-01T00:00:00Z", "https,http"
    told = ("devstoreaccount1", rights, "b", "sco", "", end, "", schemes, version, "", "")
    digest = hmac.digest(b64decode(KEY), "\n".join(told).encode(), "sha256")
    given = {"sv": version, "ss": "b", "srt": "sco", "sp": rights, "se": end, "spr": schemes}
    return urlencode({**given, "sig": b64encode(digest).decode()})


@contextmanager
def served_azurite(folder: Path, container: str) -> Iterator[Mapping[str, str]]:
    """Serve an empty container, and yield the environment in which obstore finds it."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm, which installs Azurite, is not on this machine")
    given = {name: value for name, value in os.environ.items() if name != "XDG_CACHE_HOME"}
    install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), f"azurite@{VERSION}"]
    done = subprocess.run(install, capture_output=True, text=True, check=False, env=given)
    if done.returncode:
        pytest.skip(f"Azurite cannot be installed: {done.stderr[-500:]}")
    program = folder / "node_modules" / ".bin" / "azurite-blob"
    options = ["--blobPort", "0", "--inMemoryPersistence", "--skipApiVersionCheck", "--disableTelemetry"]
    with subprocess.Popen([str(program), *options], stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            address = next(found[1] for line in server.stdout if (found := _LISTENING.search(line)))
            place = urlsplit(address).netloc
            system = AzureFileSystem(
                account_name="devstoreaccount1",
                account_key=KEY,
                **{f"{kind}_storage_authority": place for kind in ("blob", "dfs")},
                **{f"{kind}_storage_scheme": "http" for kind in ("blob", "dfs")},
            )
            system.create_dir(container)
            yield {"AZURE_STORAGE_USE_EMULATOR": "true", "AZURITE_BLOB_STORAGE_URL": address}
        finally:
            server.terminate()
