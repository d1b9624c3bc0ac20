"""Against a real `nacre serve`, which `NACRE_BIN` names."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shapes

import nacre

# What a project of one file and no sessions cannot be asked without naming something that is not there.
NEEDS_AN_ID = {route.name for route in shapes.TABLE.routes if route.path_parameters}
READS = [
    route
    for route in shapes.TABLE.routes
    if route.method == "GET" and route.report and not route.by_hand and route.name not in NEEDS_AN_ID
]


# Stops the server of the other tests.
NOT_CALLED = {"service.stop"}
CALLED = [route for route in shapes.TABLE.routes if not route.by_hand and route.name not in NOT_CALLED]


@pytest.fixture
def client(real_home: Path) -> Iterator[nacre.Client]:
    with nacre.Client(home=real_home, project="shop") as client:
        yield client


def add(client: nacre.Client, title: str) -> str:
    return client.memories.add(title, body=f"{title}, because the tests say so.", type="decision")["id"]


def test_the_server_says_that_it_is_there(client: nacre.Client) -> None:
    assert client.health()["status"] == "ok"
    assert client.openapi()["openapi"].startswith("3.1")


@pytest.mark.parametrize("route", READS, ids=lambda route: route.name)
def test_reports_have_the_types_that_the_package_promises(client: nacre.Client, route: shapes.routes.Route) -> None:
    if client.memories.list()["total"] == 0:
        add(client, "Reports are typed")
    holder = getattr(client, route.group) if route.group else client
    needed = {"query": "reports typed"} if route.verb == "search" else {}
    report = getattr(holder, route.verb)(**needed)
    assert shapes.fault(report, str(route.report)) is None


@pytest.mark.parametrize("route", CALLED, ids=lambda route: route.name)
def test_the_server_understands_every_method(client: nacre.Client, route: shapes.routes.Route) -> None:
    """What is named is not there, so that most of them fail, but never because of how they were asked."""
    holder = getattr(client, route.group) if route.group else client
    path = {name: "claude" if name == "agent" else "nothing-here" for name in route.path_arguments.values()}
    request = {"request": {"action": "list"}} if route.whole_body(shapes.TYPES) else plausible(route)
    version = {"if_match": "none"} if route.if_match else {}
    waiting = {"wait": True} if route.task else {}
    try:
        getattr(holder, route.verb)(**path, **request, **version, **waiting)
    except nacre.NacreError as error:
        assert error.code not in ("usage", "protocol", "disconnected"), error
        assert "at this address" not in error.message


def plausible(route: shapes.routes.Route) -> dict[str, Any]:
    """A value for every field that must be there."""
    known: dict[str, Any] = {"key": "memory.max_results", "ids": ["nothing-here"], "path": "/nonexistent", "memories": [], "bytes": 1, "offset": 0}
    values = {}
    for entry in route.fields(shapes.TYPES):
        options = shapes.literals(entry.type)
        if entry.required:
            values[entry.name] = known.get(entry.name, options[0] if options else "nothing here")
    # Fields that must be there although the types do not say so.
    needed = {"map.context": {"task": "retry"}, "map.search_code": {"query": "retry"}}
    return {**values, **needed.get(route.name, {})}


def test_a_memory_is_added_found_edited_and_archived(client: nacre.Client) -> None:
    id = add(client, "Retries use exponential backoff")
    hits = client.search("exponential backoff")
    assert shapes.fault(hits, "MemorySearchReport") is None
    assert id in str(hits)

    changed = client.edit_memory(id, lambda text: text.replace("because the tests say so", "as agreed"))
    assert changed is not None
    report = client.memories.get(id)
    assert shapes.fault(report, "MemoryShowReport") is None
    assert "as agreed" in report["body"]

    client.memories.archive(id)
    assert client.memories.get(id)["archived"]
    client.memories.restore(id)
    assert not client.memories.get(id)["archived"]


def test_an_edit_of_an_old_version_is_refused(client: nacre.Client) -> None:
    id = add(client, "Versions protect edits")
    before = client.memories.get(id, text=True)
    client.edit_memory(id, lambda text: text.replace("tests", "people"))
    with pytest.raises(nacre.NacreError) as raised:
        client.memories.write(id, before["text"] + "More.\n", if_match=before["version"])
    assert raised.value.code == "conflict"
    assert "people" in client.memories.get(id)["body"]


def test_errors_say_what_and_how_to_go_on(client: nacre.Client) -> None:
    with pytest.raises(nacre.NacreError) as raised:
        client.memories.get("no-such-memory")
    assert (raised.value.code, raised.value.status) == ("not_found", 404)
    with pytest.raises(nacre.NacreError) as raised:
        client.with_options(project="no-such-project").memories.list()
    assert raised.value.status in (404, 409)


def test_without_the_token_nothing_is_told(real_home: Path) -> None:
    address = (real_home / "run" / "address").read_text()
    client = nacre.Client(f"http://{address}", token="0" * 64)
    with pytest.raises(nacre.NacreError) as raised:
        client.status()
    assert raised.value.status == 401
    assert client.health()["status"] == "ok"


def test_the_socket_does_the_same(real_home: Path) -> None:
    with nacre.Client(home=real_home, socket=True, project="shop") as client:
        assert client.health()["status"] == "ok"
        assert shapes.fault(client.memories.list(), "MemoryListReport") is None
        assert shapes.fault(client.service.get(), "ServiceReport") is None


def test_a_question_is_a_task_with_events_and_a_report(client: nacre.Client) -> None:
    add(client, "Timeouts are five seconds")
    task = client.ask("How long are timeouts?", no_model=True)
    if task.id is not None:
        last = list(task.events())[-1]
        assert last["event"] == "task"
        assert last["state"] == "completed"
    report = task.report()
    assert shapes.fault(report, "AskReport") is None
    assert client.ask("How long are timeouts?", no_model=True, wait=True)["question"] == report["question"]


def test_a_sync_tells_what_it_does(client: nacre.Client) -> None:
    task = client.sync()
    events = list(task.events())
    for event in events:
        assert shapes.fault(event, "StreamEvent") is None
    assert shapes.fault(task.report(), "SyncReport") is None
    assert shapes.fault(client.maintain(wait=True), "MaintainReport") is None


def test_changes_are_streamed_and_resumed(client: nacre.Client) -> None:
    with client.events() as stream:
        add(client, "Changes are streamed")
        event = next(event for event in stream if event["event"] == "changed")
        assert event["what"] == "memories"
        last_id = stream.last_id
    add(client, "Streams resume")
    with client.events(last_event_id=last_id) as stream:
        assert next(stream)["event"] == "changed"


def test_the_map_of_the_code_is_there(client: nacre.Client) -> None:
    assert shapes.fault(client.map.explore(), "ExploreReport") is None
    assert shapes.fault(client.map.delta(since="0"), "DeltaReport") is None
    context = client.map.context(task="change retry")
    assert shapes.fault(context, "ContextReport") is None
    assert "retry" in str(context)
    assert client.map.refresh(wait=True) is not None


def test_the_asynchronous_client_reaches_it_too(real_home: Path) -> None:
    async def run() -> None:
        async with nacre.AsyncClient(home=real_home, project="shop") as client:
            added = await client.memories.add("Async works", body="It does.", type="decision")
            changed = await client.edit_memory(added["id"], lambda text: text.replace("It does", "It did"))
            assert changed is not None
            reports = await asyncio.gather(*(client.memories.get(added["id"]) for _ in range(20)))
            assert {report["body"].strip() for report in reports} == {"It did."}
            task = await client.ask("Does it?", no_model=True)
            assert shapes.fault(await task.report(), "AskReport") is None

    asyncio.run(run())


def test_the_example_runs(real_home: Path) -> None:
    example = Path(__file__).parents[1] / "examples" / "remember.py"
    source = Path(__file__).parents[1] / "src"
    environment = {"NACRE_HOME": str(real_home), "PYTHONPATH": str(source), "PATH": ""}
    ran = subprocess.run(
        [sys.executable, str(example), "shop"], env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert "Use tabs" in ran.stdout
