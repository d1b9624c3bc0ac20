"""The generator stops where the table and the server's description differ, and where it would write a wrong type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import compare
import model
import pytest
import routes
import shapes

THING = {"type": "object", "properties": {"id": {"type": "string"}, "limit": {"type": ["integer", "null"]}}}
SCHEMAS = {"ThingRequest": THING, "ThingReport": THING, "OtherReport": THING}


def described(route: str, report: str = "ThingReport", query: tuple[str, ...] = ("limit", "project")) -> dict[str, Any]:
    method, path = route.split(" ")
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{report}"}}}
    parameters = [{"name": name, "in": "query"} for name in query] + [{"name": "id", "in": "path"}]
    return {path: {method.lower(): {"parameters": parameters, "responses": {"200": {"content": content}}}}}


def faults(tmp_path: Path, paths: dict[str, Any]) -> list[str]:
    openapi = tmp_path / "openapi.json"
    openapi.write_text(json.dumps({"paths": paths, "components": {"schemas": SCHEMAS}}))
    row = routes.Route("things.get", "GET", "/api/things/{id}", "One.", "ThingRequest", "ThingReport")
    table = routes.Table({"things": "Things."}, (row,), {"POST /api/login": "For browsers."})
    return compare.faults(table, model.Types(dict(SCHEMAS)), openapi)


def test_the_same_routes_have_no_fault(tmp_path: Path) -> None:
    same = described("GET /api/things/{id}")
    assert faults(tmp_path, same) == []
    assert faults(tmp_path, {**same, **described("POST /api/login")}) == []


@pytest.mark.parametrize(
    ("paths", "fault"),
    [
        ({**described("GET /api/things/{id}"), **described("GET /api/more")}, "GET /api/more: not in routes.toml"),
        ({}, "GET /api/things/{id}: not a route of the server"),
        (described("GET /api/things/{id}", "OtherReport"), "answers with OtherReport, routes.toml says ThingReport"),
        (described("GET /api/things/{id}", query=("limit", "sort")), "the query parameter `sort` is not in the SDK"),
        (described("GET /api/things/{id}", query=()), "the server has no query parameter `limit`"),
    ],
)
def test_what_differs_is_named(tmp_path: Path, paths: dict[str, Any], fault: str) -> None:
    found = faults(tmp_path, paths)
    assert len(found) == 1
    assert found[0].endswith(fault)


@pytest.mark.parametrize(
    "schema",
    [
        {"not": {"type": "string"}},
        {"allOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object", "patternProperties": {"a": {}}},
        {"$ref": "#/components/schemas/Nowhere"},
    ],
)
def test_a_schema_that_is_not_understood_stops_it(schema: dict[str, Any]) -> None:
    with pytest.raises(model.Unsupported):
        model.Types({"T": schema}).need("T")


def test_values_are_compared_with_types() -> None:
    good = {"status": "ok", "version": "1"}
    assert shapes.fault(good, "HealthReport") is None
    for wrong in ({}, {"status": "ok"}, {**good, "version": 1}, {**good, "more": 1}, [], None):
        assert shapes.fault(wrong, "HealthReport") is not None
