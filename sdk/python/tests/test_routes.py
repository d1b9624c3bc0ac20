"""Every route of the server is a method of both clients, and no method calls anything else."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import nacre

ROOT = Path(__file__).resolve().parents[3]
OPENAPI = ROOT / "docs" / "openapi.json"
TABLE: dict[str, Any] = tomllib.loads((ROOT / "sdk" / "generate" / "routes.toml").read_text())
SKIPPED = set(TABLE["skipped"])

# A value that a path shows, so that its place can be found again.
PLACE = "place"


def methods(api: object) -> Iterator[tuple[str, Any]]:
    """All generated methods of a client, by the name that a person writes."""
    for group in ["", *TABLE["groups"]]:
        holder = getattr(api, group) if group else api
        generated = holder.__class__ if group else holder.__class__.__mro__[1]
        for name in vars(generated):
            if not name.startswith("_"):
                yield f"{group}.{name}".lstrip("."), getattr(holder, name)


def arguments(method: Any) -> dict[str, Any]:
    """Something for every argument that must be given."""
    required = [p for p in inspect.signature(method).parameters.values() if p.default is inspect.Parameter.empty]
    return {p.name: {"action": "list"} if p.name == "request" else PLACE for p in required}


def answer(called: list[str], request: httpx.Request) -> httpx.Response:
    called.append(f"{request.method} {request.url.path}")
    return httpx.Response(200, json={})


def calls(flavour: str) -> dict[str, str]:
    """What each method asks for, as `METHOD /path` with `{}` for every value."""
    called: list[str] = []
    transport = httpx.MockTransport(lambda request: answer(called, request))
    found = {}
    if flavour == "sync":
        client = nacre.Client("http://127.0.0.1:1", http_client=httpx.Client(transport=transport))
        for name, method in methods(client):
            method(**arguments(method))
            found[name] = called.pop()
        return plain(found)

    async def all_calls() -> None:
        client = nacre.AsyncClient("http://127.0.0.1:1", http_client=httpx.AsyncClient(transport=transport))
        for name, method in methods(client):
            await method(**arguments(method))
            found[name] = called.pop()

    asyncio.run(all_calls())
    return plain(found)


def plain(found: dict[str, str]) -> dict[str, str]:
    return {name: call.replace(PLACE, "{}") for name, call in found.items()}


def unnamed(route: str) -> str:
    return re.sub(r"\{\w+\}", "{}", route)


def described() -> set[str]:
    paths = json.loads(OPENAPI.read_text())["paths"]
    verbs = ("get", "put", "post", "patch", "delete")
    return {f"{verb.upper()} {path}" for path, item in paths.items() for verb in item if verb in verbs}


@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_the_methods_are_the_routes_of_the_server(flavour: str) -> None:
    routes = {unnamed(route) for route in described() - SKIPPED}
    # The stream is written by hand, and asked for when it is read.
    assert {*calls(flavour).values(), "GET /api/events"} == routes


@pytest.mark.parametrize("flavour", ["sync", "async"])
def test_the_methods_are_the_rows_of_the_table(flavour: str) -> None:
    found = calls(flavour)
    for row in TABLE["route"]:
        if not row.get("by_hand"):
            assert found.pop(row["name"]) == unnamed(row["route"])
    assert found == {}


def test_what_is_skipped_is_there() -> None:
    assert {route for route in SKIPPED if "/mcp" not in route} <= described()


@pytest.mark.parametrize("client", [nacre.Client, nacre.AsyncClient])
def test_every_method_is_documented(client: type) -> None:
    holder = client("http://127.0.0.1:1")
    for name, method in methods(holder):
        assert re.search(r"`[A-Z]+ /(api|v1)/", inspect.getdoc(method) or ""), name


def test_the_generated_files_are_current() -> None:
    generator = ROOT / "sdk" / "generate" / "generate.py"
    checked = subprocess.run([sys.executable, str(generator), "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
