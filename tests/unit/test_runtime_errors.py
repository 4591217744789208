"""Errors of the runtime: their attributes, their texts, and how they travel."""

from __future__ import annotations

import pickle

import pytest

from wiregen.runtime import DecodeError, EncodeError, NeedMoreData, SessionError

from .lumberjack_plan import PLAN


def test_x():
    assert PLAN
