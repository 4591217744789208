"""A headless Chromium for tests, spoken to over two pipes: no port, no driver, nothing to install besides the browser."""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.npm import npm_modules

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)
needs_chromium = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no Chromium (Debian: apt-get install chromium)"
)

_PATIENCE = 90.0
_ON_3_AND_4 = "import os, sys; one, two = (os.dup(int(each)) for each in sys.argv[1:3]); "
_ON_3_AND_4 += "os.dup2(one, 3); os.dup2(two, 4); [os.set_inheritable(each, True) for each in (3, 4)]; "
_ON_3_AND_4 += "os.execv(sys.argv[3], sys.argv[3:])"


_ASK_AXE = "axe.run({preload: false, resultTypes: ['violations']}).then((all) => JSON.stringify("
_ASK_AXE += (
    "all.violations.map((each) => [each.id, each.impact, each.nodes.slice(0, 3).map((node) => node.html)])))"
)


class PageLeft(AssertionError):
    """The page was left, or loaded again, while a script ran in it."""


class Browser:
    """One tab; its logs, requests and errors are kept."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from = to_browser, from_browser
        self._buffer = b""
        self._number = 0
        self._session = ""
        self._context = ""
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._loaded = 0
        self._waiting: list[str] = []

    def anew(self) -> None:
        """Close the tab, and open and listen to one for which nothing is remembered: no storage, no cache, no size of its screen.

        It takes less than half of the time that another browser takes.
        """
        self._session = ""
        if self._context:
            self.call("Target.disposeBrowserContext", browserContextId=self._context)
        self.requests, self.complaints = [], []
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        tab = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)
        attached = self.call("Target.attachToTarget", targetId=tab["targetId"], flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Target.setAutoAttach", autoAttach=True, waitForDebuggerOnStart=True, flatten=True)

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the browser's answer to a command; workers that were begun meanwhile are listened to from their first request."""
        result = self._called(self._session, method, parameters)
        while self._waiting:
            worker = self._waiting.pop()
            for command in ("Runtime.enable", "Network.enable", "Runtime.runIfWaitingForDebugger"):
                self._called(worker, command, {})
        return result

    def _called(self, session: str, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if (error := answer.get("error")) is not None:
                    is_left = any(word in error["message"] for word in ("navigated", "context"))
                    raise (PageLeft if is_left else AssertionError)(method, error)
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], _PATIENCE)
            assert ready, "the browser does not answer"
            read = os.read(self._from, 1 << 16)
            assert read, "the browser has ended"
            self._buffer += read
        text, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(text)
        self._note(message.get("method", ""), message.get("params", {}))
        return message

    def _note(self, method: str, parameters: dict[str, Any]) -> None:
        match method:
            case "Network.requestWillBeSent":
                self.requests.append(parameters["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(parameters["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if parameters["type"] in ("error", "warning"):
                self.complaints.append(str(parameters["args"]))
            case "Log.entryAdded" if parameters["entry"]["level"] in ("error", "warning"):
                self.complaints.append(str(parameters["entry"]))
            case "Target.attachedToTarget" if self._session:
                self._waiting.append(parameters["sessionId"])
            case "Page.loadEventFired":
                self._loaded += 1

    # ---- what a test does

    def open(self, url: str) -> None:
        """Load a page anew, also one that the tab has already, and wait until it is there."""
        before = self._loaded
        if "loaderId" not in self.call(
            "Page.navigate", url=url
        ):  # only the fragment differs: nothing was loaded
            self.call("Page.reload")
        while self._loaded == before:
            self._next()

    def run(self, script: str) -> Any:
        """Return the value of an expression in the page."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, script: str) -> Any:
        """Return the value of an expression once it is true."""
        until = time.monotonic() + _PATIENCE
        while True:
            with suppress(PageLeft):  # it loads again
                if value := self.run(script):
                    return value
            assert time.monotonic() < until, f"never true: {script}"
            time.sleep(0.02)

    def press(self, key: str, *, code: int = 0, text: str = "") -> None:
        """Press and release a key."""
        down = (
            {"key": key, "windowsVirtualKeyCode": code, "text": text}
            if text
            else {"key": key, "windowsVirtualKeyCode": code}
        )
        self.call("Input.dispatchKeyEvent", type="keyDown", **down)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        self.call("Input.insertText", text=text)

    def point_at(self, selector: str) -> None:
        """Move the mouse to the middle of an element."""
        place = f"document.querySelector({json.dumps(selector)})"
        self.run(f"{place}.scrollIntoView({{block: 'center', inline: 'center'}})")
        box = self.run(
            f"(({{x, y, width, height}}) => [x + width / 2, y + height / 2])({place}.getBoundingClientRect())"
        )
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=box[0], y=box[1])

    def serious_faults(self, axe: str) -> list[Any]:
        """Return axe-core's findings on the page that keep people from using it."""
        self.run(axe)
        found = json.loads(self.run(_ASK_AXE))
        return [each for each in found if each[1] in ("serious", "critical")]

    def screen(self, width: int, height: int = 900, *, dark: bool = False, paper: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        wish = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="print" if paper else "", features=[wish])

    def shoot(self, path: Path) -> None:
        """Write a picture of the whole page."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(answer["data"]))


@contextmanager
def browser() -> Iterator[Browser]:
    """Start a browser with nothing remembered, and end it."""
    assert CHROMIUM is not None
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        process = subprocess.Popen(
            [sys.executable, "-c", _ON_3_AND_4, str(to_read), str(from_write), CHROMIUM, "--headless=new", "--no-sandbox",
             "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            pass_fds=(to_read, from_write), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_read)
        os.close(from_write)
        try:
            tab = Browser(to_write, from_read)
            tab.anew()
            yield tab
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
            if process.poll() is None:
                process.kill()
                process.wait()
            os.close(to_write)
            os.close(from_read)


def axe_of_npm(folder: Path) -> str:
    """Return the text of axe-core, as npm has it."""
    axe = npm_modules(folder, "axe-core@4.14.1") / "axe-core" / "axe.min.js"
    return axe.read_text(encoding="utf-8")
