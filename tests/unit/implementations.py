"""The two codecs of a built protocol as implementations, and vectors written by hand."""

from __future__ import annotations

import importlib
from functools import cache

from tests.built_schema import schema_of

from wiregen.conformance.judge import ReferenceImplementation
from wiregen.conformance.judge.generated_package import GeneratedPackage
from wiregen.runtime.schema.protocol import Schema


def plan_of(protocol: str) -> Schema:
    return schema_of(protocol)


@cache
def reference_implementation(protocol: str) -> ReferenceImplementation:
    return ReferenceImplementation(plan_of(protocol))


@cache
def generated_implementation(protocol: str) -> GeneratedPackage:
    """Return the implementation of the package in the repository."""
    names = {"native": "", "protobuf": ".protobuf", "msgpack": ".msgpack"}
    modules = {name: importlib.import_module(f"wireproto.{protocol}{tail}") for name, tail in names.items()}
    return GeneratedPackage(plan_of(protocol), modules)
