"""The route table (`routes.toml`): each route's SDK method, request and report."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from model import Field, Types, Unsupported

# The SDKs' names for path values. An item is always named by its `id`, even if the request's field has another name.
PATH_ARGUMENTS = {"task": "id"}


@dataclass(frozen=True)
class Route:
    # `memories.list`, or `ask` for a method of the client itself.
    name: str
    method: str
    path: str
    doc: str
    request: str | None = None
    report: str | None = None
    # Request fields that are part of the path or only for the command line.
    without: tuple[str, ...] = ()
    # Starts a task, or with `wait` returns its report.
    task: bool = False
    # Requires the version that the change is based on, sent as `If-Match`.
    if_match: bool = False
    # Written by hand: the event stream.
    by_hand: bool = False

    @property
    def group(self) -> str:
        return self.name.rpartition(".")[0]

    @property
    def verb(self) -> str:
        return self.name.rpartition(".")[2]

    @property
    def path_parameters(self) -> list[str]:
        return re.findall(r"\{(\w+)\}", self.path)

    @property
    def path_arguments(self) -> dict[str, str]:
        """The path values, each with its argument name."""
        return {name: PATH_ARGUMENTS.get(name, name) for name in self.path_parameters}

    @property
    def in_query(self) -> bool:
        return self.method in ("GET", "DELETE")

    def fields(self, types: Types) -> list[Field]:
        """The other arguments, required fields first."""
        known = list(types.object(self.request).fields) if self.request and types.is_object(self.request) else []
        # The version is sent as the `If-Match` header.
        said = {*self.without, *self.path_parameters, *(["version"] if self.if_match else [])}
        left = [entry for entry in known if entry.name not in said]
        return sorted(left, key=lambda entry: not entry.required)

    def whole_body(self, types: Types) -> bool:
        """Whether the request is a union, which is passed as a single value."""
        return self.request is not None and not types.is_object(self.request)


@dataclass(frozen=True)
class Table:
    groups: dict[str, str]
    routes: tuple[Route, ...]
    # Routes that the SDKs leave out, with reasons.
    skipped: dict[str, str]

    def in_group(self, group: str) -> list[Route]:
        return [route for route in self.routes if route.group == group and not route.by_hand]


def load(path: Path) -> Table:
    document = tomllib.loads(path.read_text())
    routes = []
    for row in document["route"]:
        method, _, route_path = row.pop("route").partition(" ")
        row["without"] = tuple(row.get("without", ()))
        routes.append(Route(method=method, path=route_path, **row))
    names = [route.name for route in routes]
    if len(set(names)) != len(names):
        raise Unsupported("two routes have the same name")
    unknown = {route.group for route in routes} - set(document["groups"]) - {""}
    if unknown:
        raise Unsupported(f"groups without a description: {sorted(unknown)}")
    return Table(document["groups"], tuple(routes), document.get("skipped", {}))


def inputs_and_outputs(types: Types, table: Table) -> None:
    """Reads all request and response types of the routes."""
    for name in ("ErrorReport", "StreamEvent", "TaskRef", "TaskEntry"):
        types.need(name)
    for route in table.routes:
        for name in (route.request, route.report):
            if name is not None:
                types.need(name)
        route.fields(types)
