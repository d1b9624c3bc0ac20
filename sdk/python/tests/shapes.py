"""Compares what a server answered with the types that the SDK promises."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import model
import routes

ROOT = Path(__file__).resolve().parents[3]
TABLE = routes.load(ROOT / "sdk" / "generate" / "routes.toml")
TYPES = model.Types(model.load_schemas(ROOT / "docs" / "openapi.json"))
routes.inputs_and_outputs(TYPES, TABLE)

PRIMITIVES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def fault(value: Any, name: str) -> str | None:
    """Where `value` is not of the wire type `name`; `None` where it is."""
    return _fault(value, model.Reference(name), name)


def literals(kind: Any) -> tuple[Any, ...]:
    """The values that a type allows, where it lists them."""
    if isinstance(kind, model.Reference):
        return literals(TYPES.named[kind.name].type)
    return kind.values if isinstance(kind, model.Literal) else ()


def _fault(value: Any, kind: Any, at: str) -> str | None:
    if isinstance(kind, model.Reference):
        return _fault(value, TYPES.named[kind.name].type, at)
    if isinstance(kind, model.Primitive):
        expected = PRIMITIVES.get(kind.name)
        is_switch = isinstance(value, bool) and kind.name != "boolean"
        wrong = expected is not None and (is_switch or not isinstance(value, expected))
        return f"{at}: {value!r} is not {kind.name}" if wrong else None
    if isinstance(kind, model.Literal):
        return None if value in kind.values else f"{at}: {value!r} is not one of {kind.values}"
    if isinstance(kind, model.OneOf):
        faults = [_fault(value, option, at) for option in kind.options]
        return None if None in faults else "; ".join(str(entry) for entry in faults)
    return _holder_fault(value, kind, at)


def _holder_fault(value: Any, kind: Any, at: str) -> str | None:
    """The first fault of what is inside."""
    if isinstance(kind, (model.Array, model.Tuple)):
        if not isinstance(value, list):
            return f"{at}: not a list"
        kinds = kind.items if isinstance(kind, model.Tuple) else [kind.item] * len(value)
        return _first(_fault(item, inner, f"{at}[]") for item, inner in zip(value, kinds, strict=True))
    if not isinstance(value, dict):
        return f"{at}: not an object"
    if isinstance(kind, model.Map):
        return _first(_fault(item, kind.value, f"{at}.{key}") for key, item in value.items())
    unknown = sorted(set(value) - {entry.name for entry in kind.fields})
    if unknown and not kind.open:
        return f"{at}: has {unknown}, which the type does not"
    return _first(_field_fault(value, entry, at) for entry in kind.fields)


def _field_fault(value: dict[str, Any], entry: Any, at: str) -> str | None:
    if entry.name in value:
        return _fault(value[entry.name], entry.type, f"{at}.{entry.name}")
    return f"{at}: has no {entry.name}" if entry.required else None


def _first(faults: Any) -> str | None:
    return next((entry for entry in faults if entry is not None), None)
