"""Writes the Node package's types and methods."""

from __future__ import annotations

import json

from model import Array, Field, Literal, Map, Named, Object, OneOf, Primitive, Reference, Tuple, Type, Types
from routes import Route, Table
from text import NOTICE, wrapped

PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "any": "unknown",
}


def expression(kind: Type, prefix: str = "") -> str:
    if isinstance(kind, Primitive):
        return PRIMITIVES[kind.name]
    if isinstance(kind, Reference):
        return prefix + kind.name
    if isinstance(kind, Literal):
        return " | ".join(json.dumps(value) for value in kind.values)
    if isinstance(kind, Array):
        item = expression(kind.item, prefix)
        return f"({item})[]" if " | " in item else f"{item}[]"
    if isinstance(kind, Tuple):
        return f"[{', '.join(expression(item, prefix) for item in kind.items)}]"
    if isinstance(kind, Map):
        return f"Record<string, {expression(kind.value, prefix)}>"
    if isinstance(kind, OneOf):
        return " | ".join(expression(option, prefix) for option in kind.options)
    return "Record<string, unknown>"


def types_module(types: Types) -> str:
    lines = ["// The wire types: the JSON of requests and reports as it is sent.", "//", f"// {NOTICE}"]
    for name in sorted(types.named):
        named = types.named[name]
        lines += ["", *comment(named.doc, "")]
        lines += interface(named) if isinstance(named.type, Object) else alias(named)
    return "\n".join(lines) + "\n"


def alias(named: Named) -> list[str]:
    kind = expression(named.type)
    if len(kind) < 90:
        return [f"export type {named.name} = {kind};"]
    options = "".join(f"\n  | {option}" for option in kind.split(" | "))
    return [f"export type {named.name} ={options};"]


def interface(named: Named) -> list[str]:
    assert isinstance(named.type, Object)
    lines = [f"export interface {named.name} {{"]
    for entry in named.type.fields:
        lines += comment(entry.doc, "  ")
        lines.append(f"  {property_name(entry.name)}{'' if entry.required else '?'}: {expression(entry.type)};")
    if named.type.open:
        lines.append("  [key: string]: unknown;")
    return [*lines, "}"]


def property_name(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def comment(text: str, indent: str) -> list[str]:
    if not text:
        return []
    lines = wrapped(text.replace("*/", "*\\/"), f"{indent} * ")
    if len(lines) == 1:
        return [f"{indent}/** {lines[0].strip()[2:]} */"]
    return [f"{indent}/**", *lines, f"{indent} */"]


def api_module(table: Table, types: Types) -> str:
    lines = [
        "// The methods, one for each route.",
        "//",
        f"// {NOTICE}",
        "",
        'import type { Caller, CallOptions, EditOptions, TaskOptions } from "../call.js";',
        'import type { Task } from "../task.js";',
        'import type * as types from "./types.js";',
    ]
    for group, doc in table.groups.items():
        lines += group_class(group, doc, table, types)
    return "\n".join(lines + root_class(table, types)) + "\n"


def group_class(group: str, doc: str, table: Table, types: Types) -> list[str]:
    lines = ["", *comment(doc, ""), f"export class {group.title()} {{", *constructor([])]
    for route in table.in_group(group):
        lines += methods(route, types)
    return [*lines, "}"]


def root_class(table: Table, types: Types) -> list[str]:
    lines = ["", *comment("Every route of the server.", ""), "export class Api {"]
    for group, doc in table.groups.items():
        lines += comment(doc, "  ")
        lines.append(f"  readonly {group}: {group.title()};")
    lines += ["", *constructor([f"this.{group} = new {group.title()}(caller);" for group in table.groups])]
    for route in table.in_group(""):
        lines += methods(route, types)
    return [*lines, "}"]


def constructor(body: list[str]) -> list[str]:
    return [
        "  readonly #caller: Caller;",
        "",
        "  constructor(caller: Caller) {",
        "    this.#caller = caller;",
        *(f"    {line}" for line in body),
        "  }",
    ]


def report_type(route: Route) -> str:
    return f"types.{route.report}" if route.report else "unknown"


def methods(route: Route, types: Types) -> list[str]:
    if route.task:
        return task_method(route, types)
    options = "options: EditOptions" if route.if_match else "options: CallOptions = {}"
    return [
        "",
        *route_comment(route, route.doc),
        f"  {route.verb}({', '.join([*arguments(route, types), options])}): Promise<{report_type(route)}> {{",
        f"    return this.#caller.call({call(route, types)}, options);",
        "  }",
    ]


def task_method(route: Route, types: Types) -> list[str]:
    """Writes overloads, so that the compiler knows whether a method returns a task or its report."""
    report = report_type(route)
    inputs = arguments(route, types)
    required = [entry.replace(" = {}", "") for entry in inputs]
    doc = route_comment(route, f"{route.doc} Starts a task; with `wait` its report is returned when it is over.")
    waiting, starting = "options: TaskOptions & { wait: true }", "options?: TaskOptions & { wait?: false }"
    either = "options: TaskOptions = {}"
    return [
        "",
        *doc,
        f"  {route.verb}({', '.join([*required, waiting])}): Promise<{report}>;",
        f"  {route.verb}({', '.join([*optional(inputs), starting])}): Promise<Task<{report}>>;",
        f"  {route.verb}({', '.join([*inputs, either])}): Promise<{report} | Task<{report}>> {{",
        f"    return this.#caller.run<{report}>({call(route, types)}, options);",
        "  }",
    ]


def optional(inputs: list[str]) -> list[str]:
    """Formats an overload's arguments, with a question mark for a default."""
    return [entry.removesuffix(" = {}").replace(":", "?:", 1) if entry.endswith(" = {}") else entry for entry in inputs]


def route_comment(route: Route, doc: str) -> list[str]:
    return ["  /**", *wrapped(doc, "   * "), "   *", f"   * `{route.method} {route.path}`", "   */"]


def arguments(route: Route, types: Types) -> list[str]:
    inputs = [f"{argument}: string" for argument in route.path_arguments.values()]
    if route.whole_body(types):
        return [*inputs, f"request: types.{route.request}"]
    fields = route.fields(types)
    if not fields:
        return inputs
    # The options that follow are required if they contain the version.
    default = "" if route.if_match or any(entry.required for entry in fields) else " = {}"
    return [*inputs, f"request: {request_type(route, types, fields)}{default}"]


def request_type(route: Route, types: Types, fields: list[Field]) -> str:
    assert route.request is not None
    kept = {entry.name for entry in fields}
    left_out = [entry.name for entry in types.object(route.request).fields if entry.name not in kept]
    kind = f"types.{route.request}"
    if left_out:
        kind = f"Omit<{kind}, {' | '.join(json.dumps(name) for name in left_out)}>"
    return kind


def call(route: Route, types: Types) -> str:
    parts = [f'method: "{route.method}"', f'path: "{route.path}"']
    if route.path_parameters:
        values = [
            name if name == argument else f"{name}: {argument}" for name, argument in route.path_arguments.items()
        ]
        parts.append(f"pathValues: {{ {', '.join(values)} }}")
    takes = route.whole_body(types) or bool(route.fields(types))
    if takes:
        parts.append("query: request" if route.in_query else "body: request")
    elif not route.in_query:
        parts.append("body: {}")
    return f"{{ {', '.join(parts)} }}"
