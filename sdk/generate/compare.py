"""Compares the route table with the server's OpenAPI description; routes, parameters and types must match."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from model import Types
from routes import Route, Table

METHODS = ("get", "put", "post", "patch", "delete")

# Parameters that every method has under another name, or not at all.
COMMON = {"project", "wait"}


def faults(table: Table, types: Types, openapi: Path) -> list[str]:
    """Returns the differences."""
    described = operations(json.loads(openapi.read_text()))
    known = {f"{route.method} {route.path}": route for route in table.routes}
    missing = [f"{name}: not in routes.toml" for name in described if name not in known and name not in table.skipped]
    gone = [f"{name}: not a route of the server" for name in known if name not in described]
    differing = [
        fault
        for name, route in known.items()
        if name in described and not route.by_hand
        for fault in route_faults(route, described[name], types)
    ]
    return missing + gone + differing


def operations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns the operations by `METHOD /path`."""
    return {
        f"{method.upper()} {path}": {**item[method], "parameters": parameters(item) + parameters(item[method])}
        for path, item in document["paths"].items()
        for method in METHODS
        if method in item
    }


def parameters(holder: dict[str, Any]) -> list[dict[str, Any]]:
    return list(holder.get("parameters", []))


def route_faults(route: Route, operation: dict[str, Any], types: Types) -> list[str]:
    name = f"{route.method} {route.path}"
    found = []
    report = reference(success(operation))
    if report is not None and report != route.report:
        found.append(f"{name}: answers with {report}, routes.toml says {route.report}")
    if route.in_query:
        ours = {entry.name for entry in route.fields(types)}
        theirs = {entry["name"] for entry in operation["parameters"] if entry.get("in") == "query"} - COMMON
        theirs -= {*route.without, *(["version"] if route.if_match else [])}
        theirs |= ours & COMMON
        found += [f"{name}: the query parameter `{extra}` is not in the SDK" for extra in sorted(theirs - ours)]
        found += [f"{name}: the server has no query parameter `{extra}`" for extra in sorted(ours - theirs)]
    else:
        body = reference(operation.get("requestBody", {}))
        if body is not None and body != route.request:
            found.append(f"{name}: takes {body}, routes.toml says {route.request}")
    return found


def success(operation: dict[str, Any]) -> dict[str, Any]:
    """Returns the response with the report; a task's 202 only if there is no other."""
    responses = operation.get("responses", {})
    for status in ("200", "201", "202"):
        if status in responses:
            return dict(responses[status])
    return {}


def reference(holder: dict[str, Any]) -> str | None:
    """Returns the type name of a request body or response, or `None` if any type is accepted."""
    schema = holder.get("content", {}).get("application/json", {}).get("schema")
    return str(schema["$ref"]).rsplit("/", 1)[1] if isinstance(schema, dict) and "$ref" in schema else None
