"""Pictures of twelve pages at three widths, light and dark, for eyes: `python -m tests.screenshots FOLDER`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.unit.browser import Browser, browser

ROOT: Final = Path(__file__).resolve().parents[1]
PAGES: Final = {
    "home": "index.html",
    "protocol": "pravega/index.html",
    "message": "pravega/SetupAppend.html",
    "union": "geode/GeodeValue.html",
    "session": "reactive_streams/session-Subscription.html",
    "context": "geode/context-api.html",
    "rules": "lumberjack/rules.html",
    "ledger": "lumberjack/ledger.html",
    "coverage": "lumberjack/coverage.html",
    "vectors": "lumberjack/vectors-Data.html",
    "guide": "wiregen-guide/language.html",
    "playground": "wiregen-playground/index.html",
}
"""Pages by the name of their picture."""
WIDTHS: Final = (1440, 1280, 390)


@contextmanager
def site() -> Iterator[str]:
    """Serve the site of the shipped protocols with its playground; hand out the address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "wiregen", "play"],
        cwd=ROOT, stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(ROOT / "generator")},
    )  # fmt: skip
    try:
        assert process.stderr is not None
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        process.kill()
        process.communicate()


def shoot(tab: Browser, address: str, folder: Path) -> None:
    """Write the pictures of all pages."""
    for name, path in PAGES.items():
        for dark in (False, True):
            tab.screen(WIDTHS[0], dark=dark)
            tab.open(f"{address}{path}")
            if name == "playground":
                tab.wait("document.querySelector('#trees h3') !== null")
            for width in WIDTHS:
                tab.screen(width, dark=dark)
                tab.shoot(folder / f"{name}-{width}-{'dark' if dark else 'light'}.png")


def main(folder: Path) -> None:
    with site() as address, browser() as tab:
        shoot(tab, address, folder)
    print(f"{len(PAGES) * len(WIDTHS) * 2} pictures are in {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
