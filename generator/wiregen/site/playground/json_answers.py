"""Questions and answers as JSON text: an error of wiregen is an answer too."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable

from wiregen.formats.jsonl import Line

__all__ = ["json_answer"]


def json_answer(answer: Callable[[object], Line], asked: str | bytes) -> str:
    """Return the answer to a question; an error of wiregen is printed, and is one too.

    Raises:
        MemoryError: The question takes more memory than there is.
    """
    try:
        return json.dumps(answer(json.loads(asked)))
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - any error is answered, and the process serves on
        traceback.print_exc()
        return json.dumps({"wrong": f"wiregen failed: {type(error).__name__}"})
