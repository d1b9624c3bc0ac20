"""Writes the Python package's types and methods."""

from __future__ import annotations

import keyword

from model import Array, Field, Literal, Map, Named, Object, OneOf, Primitive, Reference, Tuple, Type, Types
from routes import Route, Table
from text import NOTICE, WIDTH, wrapped

PRIMITIVES = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None", "any": "Any"}


def expression(kind: Type, prefix: str = "", sequence: str = "list") -> str:
    """Formats a type annotation. Arguments accept any sequence; `list` would be the group's method."""
    if isinstance(kind, Primitive):
        return PRIMITIVES[kind.name]
    if isinstance(kind, Reference):
        return prefix + kind.name
    if isinstance(kind, Literal):
        return f"Literal[{', '.join(repr(value) for value in kind.values)}]".replace("'", '"')
    if isinstance(kind, Array):
        return f"{sequence}[{expression(kind.item, prefix, sequence)}]"
    if isinstance(kind, Tuple):
        # JSON has no tuples, so parsed values are lists.
        options = dict.fromkeys(expression(item, prefix, sequence) for item in kind.items)
        return f"{sequence}[{' | '.join(options)}]"
    if isinstance(kind, Map):
        return f"dict[str, {expression(kind.value, prefix, sequence)}]"
    if isinstance(kind, OneOf):
        return " | ".join(expression(option, prefix, sequence) for option in kind.options)
    return "dict[str, Any]"


def types_module(types: Types) -> str:
    body: list[str] = []
    for name in sorted(types.named):
        named = types.named[name]
        body += definition(named) if isinstance(named.type, Object) else alias(named)
    anything = "Any, " if any("Any" in line.replace("[", " ").replace("]", " ").split() for line in body) else ""
    head = [
        '"""The wire types: the JSON of requests and reports as it is sent.',
        "",
        NOTICE,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        f"from typing import TYPE_CHECKING, {anything}Literal, TypeAlias, TypedDict",
        "",
        "if TYPE_CHECKING:",
        "    from typing_extensions import NotRequired",
    ]
    return "\n".join(head + body) + "\n"


def alias(named: Named) -> list[str]:
    comment = wrapped(named.doc, "# ")
    kind = expression(named.type)
    # A union may refer to types that are defined later.
    value = kind if isinstance(named.type, Literal) else f'"{kind}"' if '"' not in kind else f"'{kind}'"
    line = f"{named.name}: TypeAlias = {value}"
    if len(line) > WIDTH and isinstance(named.type, Literal):
        options = [f'    "{option}",' for option in named.type.values]
        return ["", "", *comment, f"{named.name}: TypeAlias = Literal[", *options, "]"]
    if len(line) > WIDTH and isinstance(named.type, OneOf):
        texts = [expression(option) for option in named.type.options]
        pieces = [f'    "{"" if number == 0 else " | "}{piece}"' for number, piece in enumerate(texts)]
        return ["", "", *comment, f"{named.name}: TypeAlias = (", *pieces, ")"]
    return ["", "", *comment, line]


def definition(named: Named) -> list[str]:
    assert isinstance(named.type, Object)
    if any(not entry.name.isidentifier() or keyword.iskeyword(entry.name) for entry in named.type.fields):
        return functional(named)
    lines = ["", "", f"class {named.name}(TypedDict):", *docstring(named.doc, "    ")]
    if named.doc and named.type.fields:
        lines.append("")
    for entry in named.type.fields:
        lines.append(f"    {entry.name}: {field_type(entry)}")
        lines += docstring(entry.doc, "    ")
    if not named.type.fields and not named.doc:
        lines.append("    pass")
    return lines


def functional(named: Named) -> list[str]:
    """Writes a type in functional syntax, because class syntax does not allow keywords as field names."""
    assert isinstance(named.type, Object)
    lines = ["", "", *wrapped(named.doc, "# "), f"{named.name} = TypedDict(", f'    "{named.name}",', "    {"]
    for entry in named.type.fields:
        lines += wrapped(entry.doc, "        # ")
        quoted = field_type(entry).replace('"', "'")
        lines.append(f'        "{entry.name}": "{quoted}",')
    return [*lines, "    },", ")"]


def field_type(entry: Field) -> str:
    kind = expression(entry.type)
    return kind if entry.required else f"NotRequired[{kind}]"


def docstring(text: str, indent: str) -> list[str]:
    if not text:
        return []
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    lines = wrapped(text, indent)
    first = indent + '"""' + lines[0].strip()
    if len(lines) == 1:
        return [first + '"""']
    return [first, *lines[1:], indent + '"""']


class Flavour:
    """The differences between the blocking and the asynchronous methods."""

    def __init__(self, is_async: bool) -> None:
        self.is_async = is_async
        self.define = "async def" if is_async else "def"
        self.wait = "await " if is_async else ""
        self.prefix = "Async" if is_async else ""
        self.caller = "AsyncCaller" if is_async else "Caller"
        self.module = "_async" if is_async else "_sync"
        self.task = "AsyncTask" if is_async else "Task"


def api_module(table: Table, types: Types, is_async: bool) -> str:
    flavour = Flavour(is_async)
    how = "asynchronous" if is_async else "blocking"
    lines = [
        f'"""The {how} methods, one for each route.',
        "",
        NOTICE,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Sequence",
        "from typing import Any, Literal, cast, overload",
        "",
        "from . import types",
        *sorted(
            [
                "from ._call import DEFAULT, Call, Timeout",
                f"from .{flavour.module} import {flavour.caller}, {flavour.task}",
            ]
        ),
    ]
    for group, doc in table.groups.items():
        lines += group_class(group, doc, table, types, flavour)
    return "\n".join(lines + root_class(table, types, flavour)) + "\n"


def group_class(group: str, doc: str, table: Table, types: Types, flavour: Flavour) -> list[str]:
    lines = ["", "", f"class {flavour.prefix}{group.title()}:", *docstring(doc, "    "), ""]
    lines += [f"    def __init__(self, caller: {flavour.caller}) -> None:", "        self._caller = caller"]
    for route in table.in_group(group):
        lines += methods(route, types, flavour)
    return lines


def root_class(table: Table, types: Types, flavour: Flavour) -> list[str]:
    lines = ["", "", f"class {flavour.prefix}Api:", *docstring("Every route of the server.", "    "), ""]
    lines += [f"    def __init__(self, caller: {flavour.caller}) -> None:", "        self._caller = caller"]
    for group, doc in table.groups.items():
        lines.append(f"        self.{group} = {flavour.prefix}{group.title()}(caller)")
        lines += docstring(doc, "        ")
    for route in table.in_group(""):
        lines += methods(route, types, flavour)
    return lines


def report_type(route: Route) -> str:
    return f"types.{route.report}" if route.report else "Any"


def methods(route: Route, types: Types, flavour: Flavour) -> list[str]:
    if route.task:
        return task_methods(route, types, flavour)
    return plain_method(route, types, flavour)


def plain_method(route: Route, types: Types, flavour: Flavour) -> list[str]:
    report = report_type(route)
    return [
        *signature(route, types, flavour, route.verb, [], report),
        *method_doc(route, types, route.doc),
        f"        return {flavour.wait}self._caller.call(",
        *call(route, types, report),
        "        )",
    ]


def task_methods(route: Route, types: Types, flavour: Flavour) -> list[str]:
    """Writes three overloads, so that a type checker knows whether a method returns a task or its report."""
    report = report_type(route)
    task = f"{flavour.task}[{report}]"
    lines: list[str] = []
    for argument, result in (
        ("wait: Literal[False] = False", task),
        ("wait: Literal[True]", report),
        ("wait: bool", f"{task} | {report}"),
    ):
        lines += ["", "    @overload"]
        lines += signature(route, types, flavour, route.verb, [argument], result, blank=False)
        lines[-1] += " ..."
    doc = f"{route.doc} Starts a task; with `wait` its report is returned when it is over."
    return [
        *lines,
        *signature(route, types, flavour, route.verb, ["wait: bool = False"], f"{task} | {report}"),
        *method_doc(route, types, doc),
        f"        call = Call[{report}](",
        *call_arguments(route, types, "            "),
        "        )",
        "        if wait:",
        f"            return {flavour.wait}self._caller.call_waiting(call)",
        f"        return {flavour.wait}self._caller.start(call)",
    ]


def signature(
    route: Route, types: Types, flavour: Flavour, name: str, extra: list[str], result: str, blank: bool = True
) -> list[str]:
    positional = [f"{argument}: str" for argument in route.path_arguments.values()]
    named: list[str] = []
    if route.whole_body(types):
        positional.append(f"request: types.{route.request}")
    else:
        for entry in route.fields(types):
            kind = expression(entry.type, "types.", "Sequence")
            if entry.required:
                positional.append(f"{argument_name(entry)}: {kind}")
            else:
                kind = kind if kind.endswith("None") or kind == "Any" else f"{kind} | None"
                named.append(f"{argument_name(entry)}: {kind} = None")
    if route.if_match:
        named.insert(0, "if_match: str")
    named += extra + ["project: str | None = None", "timeout: Timeout = DEFAULT"]
    lines = [""] if blank else []
    lines += [f"    {flavour.define} {name}(", "        self,"]
    lines += [f"        {argument}," for argument in positional]
    lines.append("        *,")
    lines += [f"        {argument}," for argument in named]
    return [*lines, f"    ) -> {result}:"]


def argument_name(entry: Field) -> str:
    return entry.name + "_" if keyword.iskeyword(entry.name) else entry.name


def method_doc(route: Route, types: Types, doc: str) -> list[str]:
    lines = docstring(doc, "        ")
    last = lines.pop()
    lines += [last.removesuffix('"""')] if last.strip() != '"""' else []
    lines += ["", f"        `{route.method} {route.path}`"]
    told = [] if route.whole_body(types) else [entry for entry in route.fields(types) if entry.doc]
    if told:
        lines += ["", "        Args:"]
    for entry in told:
        text = wrapped(f"{argument_name(entry)}: {entry.doc}".replace("\\", "\\\\"), " " * 16)
        lines += [text[0][4:], *text[1:]]
    return [*lines, '        """']


def call(route: Route, types: Types, report: str) -> list[str]:
    return [
        f"            Call[{report}](",
        *call_arguments(route, types, "                "),
        "            )",
    ]


def call_arguments(route: Route, types: Types, indent: str) -> list[str]:
    lines = [f'{indent}"{route.method}",', f'{indent}"{route.path}",']
    if route.path_parameters:
        values = ", ".join(f'"{name}": {argument}' for name, argument in route.path_arguments.items())
        lines.append(f"{indent}path_values={{{values}}},")
    if route.whole_body(types):
        lines.append(f"{indent}body=cast(dict[str, object], request),")
    else:
        fields = route.fields(types)
        place = "query" if route.in_query else "body"
        if fields:
            lines.append(f"{indent}{place}={{")
            lines += [f'{indent}    "{entry.name}": {argument_name(entry)},' for entry in fields]
            lines.append(f"{indent}}},")
        elif not route.in_query:
            lines.append(f"{indent}body={{}},")
    if route.if_match:
        lines.append(f"{indent}if_match=if_match,")
    return [*lines, f"{indent}project=project,", f"{indent}timeout=timeout,"]
