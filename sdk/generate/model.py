"""A small model of the wire types, from which both languages are generated.

Types come from `docs/openapi.json`. Only the JSON Schema that the server writes is understood: anything else stops the
generator instead of becoming a type that is wrong.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

# Keywords that do not affect the type.
IGNORED = {
    "$schema", "title", "description", "default", "examples", "example", "deprecated",
    "format", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "uniqueItems",
}  # fmt: skip


@dataclass(frozen=True)
class Primitive:
    name: str  # string, integer, number, boolean, null, any


@dataclass(frozen=True)
class Reference:
    name: str


@dataclass(frozen=True)
class Literal:
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Array:
    item: Type


@dataclass(frozen=True)
class Tuple:
    items: tuple[Type, ...]


@dataclass(frozen=True)
class Map:
    value: Type


@dataclass(frozen=True)
class OneOf:
    options: tuple[Type, ...]


@dataclass(frozen=True)
class Field:
    name: str
    type: Type
    required: bool
    doc: str


@dataclass(frozen=True)
class Object:
    fields: tuple[Field, ...]
    # Whether other keys are allowed.
    open: bool = False


Type = Primitive | Reference | Literal | Array | Tuple | Map | OneOf | Object


@dataclass(frozen=True)
class Named:
    name: str
    doc: str
    type: Type


class Unsupported(Exception):
    """A schema that the generator does not support."""


@dataclass
class Types:
    """All schemas by name, and the named types read from them."""

    schemas: dict[str, Schema]
    named: dict[str, Named] = field(default_factory=dict)

    def need(self, name: str) -> None:
        """Reads the type `name` and everything it refers to."""
        if name in self.named:
            return
        if name not in self.schemas:
            raise Unsupported(f"there is no type {name}")
        schema = self.schemas[name]
        # Reserve the name first, because types may refer to each other in a cycle.
        self.named[name] = Named(name, "", Primitive("any"))
        self.named[name] = Named(name, doc_of(schema), self._read(schema, name))

    def object(self, name: str) -> Object:
        """The fields of the type `name`, which must be an object."""
        self.need(name)
        found = self.named[name].type
        if not isinstance(found, Object):
            raise Unsupported(f"{name} is not an object")
        return found

    def is_object(self, name: str) -> bool:
        self.need(name)
        return isinstance(self.named[name].type, Object)

    def _read(self, schema: Schema | bool, at: str) -> Type:
        """Reads one schema. `at` names the schema, and is the prefix for unnamed types inside it."""
        if schema is True:
            return Primitive("any")
        if not isinstance(schema, dict):
            raise Unsupported(f"{at}: {schema!r}")
        keys = set(schema) - IGNORED
        if not keys:
            return Primitive("any")
        if keys == {"$ref"}:
            name = schema["$ref"].rsplit("/", 1)[1]
            self.need(name)
            return Reference(name)
        if keys == {"const"} or keys == {"const", "type"}:
            return Literal((schema["const"],))
        if keys == {"enum"} or keys == {"enum", "type"}:
            return Literal(tuple(schema["enum"]))
        for keyword in ("oneOf", "anyOf"):
            if keys == {keyword}:
                return self._union(schema[keyword], at)
        if keys == {"allOf"} and len(schema["allOf"]) == 1:
            return self._read(schema["allOf"][0], at)
        return self._typed(schema, at)

    def _union(self, options: list[Schema], at: str) -> Type:
        read = []
        for number, option in enumerate(options):
            name = at + variant_name(option, number)
            kind = self._read(option, name)
            if isinstance(kind, Object):
                self.named[name] = Named(name, doc_of(option), kind)
                kind = Reference(name)
            read.append(kind)
        return one_of(read)

    def _typed(self, schema: Schema, at: str) -> Type:
        kind = schema.get("type", "object")
        if isinstance(kind, list):
            return one_of([self._typed({**schema, "type": single}, at) for single in kind])
        if kind == "array":
            return self._array(schema, at)
        if kind == "object" and "oneOf" in schema:
            return self._tagged(schema, at)
        if kind == "object":
            return self._object(schema, at)
        if set(schema) - IGNORED - {"type", "items", "enum", "properties", "additionalProperties"}:
            raise Unsupported(f"{at}: {sorted(schema)}")
        if kind == "string" and "enum" in schema:
            return Literal(tuple(value for value in schema["enum"] if value is not None))
        return Primitive(kind)

    def _array(self, schema: Schema, at: str) -> Type:
        if "prefixItems" in schema:
            return Tuple(tuple(self._read(item, f"{at}Item{n}") for n, item in enumerate(schema["prefixItems"])))
        return Array(self._inner(schema.get("items", True), at + "Item"))

    def _tagged(self, schema: Schema, at: str) -> Type:
        """Reads an object with its own fields and those of one of several variants."""
        shared = {**schema}
        options = shared.pop("oneOf")
        base = self._object(shared, at)
        if not isinstance(base, Object):
            raise Unsupported(f"{at}: variants of what is not an object")
        variants = []
        for number, option in enumerate(options):
            name = at + variant_name(option, number)
            own = self._object(option, name)
            if not isinstance(own, Object):
                raise Unsupported(f"{name}: not an object")
            self.named[name] = Named(name, doc_of(option), Object(base.fields + own.fields, base.open or own.open))
            variants.append(Reference(name))
        return one_of(variants)

    def _object(self, schema: Schema, at: str) -> Type:
        rest = schema.get("additionalProperties", False)
        known = IGNORED | {"type", "properties", "required", "additionalProperties", "$ref", "unevaluatedProperties"}
        if set(schema) - known:
            raise Unsupported(f"{at}: {sorted(set(schema) - known)}")
        if isinstance(rest, dict) and "properties" not in schema:
            return Map(self._inner(rest, at + "Value"))
        if rest is True and "properties" not in schema:
            return Map(Primitive("any"))
        fields = self._fields(schema, at)
        if "$ref" in schema:
            base = self.object(schema["$ref"].rsplit("/", 1)[1])
            known_names = {entry.name for entry in fields}
            fields += tuple(entry for entry in base.fields if entry.name not in known_names)
        return Object(fields, open=rest is not False)

    def _fields(self, schema: Schema, at: str) -> tuple[Field, ...]:
        """Puts required fields first; `required` keeps their declaration order."""
        properties = schema.get("properties", {})
        required = [name for name in schema.get("required", []) if name in properties]
        names = [*required, *(name for name in properties if name not in required)]
        return tuple(
            Field(name, self._inner(properties[name], at + camel(name)), name in required, doc_of(properties[name]))
            for name in names
        )

    def _inner(self, schema: Schema | bool, at: str) -> Type:
        """Reads a nested schema; a nested object gets its own name."""
        kind = self._read(schema, at)
        if not isinstance(kind, Object):
            return kind
        self.named[at] = Named(at, doc_of(schema), kind)
        return Reference(at)


def one_of(options: list[Type]) -> Type:
    """Builds a flat union without duplicates, with its literals grouped."""
    flat: list[Type] = []
    for option in options:
        flat.extend(option.options if isinstance(option, OneOf) else [option])
    values = tuple(dict.fromkeys(value for option in flat if isinstance(option, Literal) for value in option.values))
    others = list(dict.fromkeys(option for option in flat if not isinstance(option, Literal)))
    together: list[Type] = ([Literal(values)] if values else []) + others
    if Primitive("any") in together:
        return Primitive("any")
    return together[0] if len(together) == 1 else OneOf(tuple(together))


def variant_name(option: Schema, number: int) -> str:
    """Names a variant after the constant that distinguishes it from the others."""
    for inner in option.get("properties", {}).values():
        if isinstance(inner, dict) and isinstance(inner.get("const"), str):
            return camel(inner["const"])
    if len(option.get("properties", {})) == 1:
        return camel(next(iter(option["properties"])))
    return f"Variant{number + 1}"


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.replace("-", "_").replace("$", "").split("_"))


def doc_of(schema: Schema | bool) -> str:
    return schema.get("description", "").strip() if isinstance(schema, dict) else ""


def load_schemas(openapi: Path) -> dict[str, Schema]:
    """All schemas by name."""
    return dict(json.loads(openapi.read_text())["components"]["schemas"])
