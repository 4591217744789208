"""Random frames of any schema that can be written, with their bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from wiregen.conformance.samples import RandomChoices, SampleBasis, grow
from wiregen.conformance.samples.choices import UngrownError
from wiregen.runtime.codec.errors import EncodeError
from wiregen.runtime.codec.options import Options
from wiregen.runtime.reference.tree import FrameValue
from wiregen.runtime.reference.writing.frames import write_frame
from wiregen.runtime.schema.protocol import Schema

__all__ = ["frames", "senders"]

_N_ATTEMPTS = 60


def frames(
    plan: Schema,
    dice: random.Random,
    count: int,
    options: Options | None = None,
    basis: SampleBasis | None = None,
    **more: Any,
) -> Iterator[tuple[FrameValue, bytes]]:
    """Yield up to `count` frames that can be written, with their bytes.

    `basis`: that of other calls for the schema, for the work of which it remembers the results.
    `more`: attributes of the choices.
    """
    basis = basis or SampleBasis(schema=plan)
    wishes = options or Options()
    for _ in range(count):
        for _ in range(_N_ATTEMPTS):
            try:
                sample = grow(
                    basis,
                    RandomChoices(dice=dice, **more),
                    role=wishes.from_role,
                    variant=wishes.variant,
                    context=wishes.context,
                )
                data = write_frame(plan, sample.value, wishes)
            except (UngrownError, EncodeError):
                continue
            assert isinstance(sample.value, FrameValue)
            yield sample.value, data
            break


def senders(plan: Schema) -> tuple[str | None, ...]:
    """Return the roles whose frames differ, or only the role None if all send the same."""
    frames = plan.sends
    return tuple(frames) if len(set(frames.values())) > 1 else (None,)
