"""What happens between client and server: tokens, errors, streams that are cut, tasks."""

from __future__ import annotations

import asyncio
import logging
import pickle
import socket
import threading
from pathlib import Path
from typing import Any

import fake_server as fake
import httpx
import pytest
from conftest import Announce

import nacre

TOKEN = "secret-token"
OK = {"status": "ok", "version": "0"}


def entry(state: str, **fields: object) -> dict[str, Any]:
    task = {"id": "t1", "session": "s", "agent": "ask", "class": "interactive", "title": "T", "state": state}
    return {"task": {**task, "created": "2026-01-01T00:00:00Z", "events": 0, **fields}, "events": []}


def texts(events: list[Any]) -> list[str]:
    return [event.get("text") or event.get("state") or event["event"] for event in events]


def test_the_server_is_found_by_its_files(announce: Announce, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake.Running(fake.status(200, OK)) as server:
        monkeypatch.setenv("NACRE_HOME", str(announce(server.address)))
        with nacre.Client(project="shop") as client:
            assert client.health() == OK
    request = server.seen[0]
    assert request.path == "/api/health?project=shop"
    assert request.headers["authorization"] == f"Bearer {TOKEN}"


def test_without_a_server_the_error_says_what_to_do(tmp_path: Path, announce: Announce) -> None:
    with pytest.raises(nacre.NacreError) as nothing:
        nacre.Client(home=tmp_path)
    home = announce(fake.free_address())
    with pytest.raises(nacre.NacreError) as gone:
        nacre.Client(home=home).health()
    for error in (nothing.value, gone.value):
        assert (error.code, error.status) == ("unreachable", None)
        assert "nacre up" in str(error)


def test_the_socket_is_used_where_it_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with fake.Running(fake.status(200, OK), fake.status(200, OK), path=path) as server:
        assert nacre.Client(socket=path).health() == OK

        async def ask() -> object:
            async with nacre.AsyncClient(socket=path) as client:
                return await client.health()

        assert asyncio.run(ask()) == OK
    assert [request.headers["host"] for request in server.seen] == ["localhost", "localhost"]


def test_the_socket_comes_first_where_nothing_is_said(announce: Announce) -> None:
    with fake.Running(fake.status(200, OK)) as stranger:
        home = announce(stranger.address)
        path = home / "run" / "socket"
        with fake.Running(*[fake.status(200, OK)] * 3, path=path) as server:
            client = nacre.Client(home=home)
            assert client.health() == OK
            assert client.with_options(project="shop").health() == OK

            async def ask() -> object:
                async with nacre.AsyncClient(home=home) as client:
                    return await client.health()

            assert asyncio.run(ask()) == OK
        assert len(server.seen) == 3
        assert stranger.seen == []
        assert nacre.Client(home=home, socket=False).health() == OK


@pytest.mark.parametrize("left", [True, False])
def test_who_took_the_port_of_a_killed_server_is_sent_nothing(announce: Announce, left: bool) -> None:
    with fake.Running(fake.status(200, OK)) as stranger:
        home = announce(stranger.address, killed=True)
        if left:
            with socket.socket(socket.AF_UNIX) as gone:
                gone.bind(str(home / "run" / "socket"))
        for options in ({}, {"http_client": httpx.Client()}):
            with pytest.raises(nacre.NacreError) as raised:
                nacre.Client(home=home, **options).health()
            assert raised.value.code == "unreachable"
            assert "nacre up" in str(raised.value)
    assert stranger.seen == []


def test_a_found_token_is_not_sent_to_another_machine(announce: Announce) -> None:
    home = announce("127.0.0.1:1")
    client = nacre.Client("http://example.org:80", home=home)
    assert client._caller.endpoint.token is None
    assert nacre.Client("http://localhost:1", home=home)._caller.endpoint.token == TOKEN
    assert nacre.Client("http://example.org", token="mine", home=home)._caller.endpoint.token == "mine"


def test_proxies_of_the_environment_do_not_see_the_token(announce: Announce, monkeypatch: pytest.MonkeyPatch) -> None:
    with fake.Running() as proxy, fake.Running(fake.status(200, OK)) as server:
        monkeypatch.setenv("HTTP_PROXY", f"http://{proxy.address}")
        monkeypatch.setenv("ALL_PROXY", f"http://{proxy.address}")
        assert nacre.Client(home=announce(server.address)).health() == OK
    assert proxy.seen == []


def test_a_redirect_is_not_followed(announce: Announce) -> None:
    with fake.Running() as elsewhere:
        away = fake.status(307, {}, {"Location": f"http://{elsewhere.address}/"})
        with fake.Running(away) as server, pytest.raises(nacre.NacreError) as raised:
            nacre.Client(home=announce(server.address)).health()
    assert raised.value.status == 307
    assert elsewhere.seen == []


def test_the_token_is_nowhere_to_be_read(announce: Announce, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with fake.Running(fake.status(200, OK), fake.failure(404, "not_found")) as server:
        home = announce(server.address)
        client = nacre.Client(home=home)
        client.health()
        with pytest.raises(nacre.NacreError) as raised:
            client.memories.get("m1")
        shown = [repr(client), repr(client._caller.endpoint), repr(client._caller.source), str(raised.value)]
    assert TOKEN not in "".join([*shown, repr(raised.value), caplog.text])
    announce(server.address, "two\nlines")
    for build in (lambda: nacre.Client(home=home), lambda: nacre.Client("http://127.0.0.1:1", token="two\r\nlines")):
        with pytest.raises(nacre.NacreError) as broken:
            build().health()
        assert "lines" not in str(broken.value)


def test_a_restarted_server_is_found_again(announce: Announce) -> None:
    with fake.Running(fake.failure(401, "refused"), fake.status(200, OK, {"Connection": "close"})) as first:
        home = announce(first.address, "old")
        client = nacre.Client(home=home)
        announce(first.address, "new")
        assert client.health() == OK
        assert [request.headers["authorization"] for request in first.seen] == ["Bearer old", "Bearer new"]
    with fake.Running(fake.status(200, OK)) as second:
        announce(second.address, "new")
        assert client.health() == OK


def test_a_wrong_token_is_tried_once(announce: Announce) -> None:
    with fake.Running(fake.failure(401, "refused")) as server, pytest.raises(nacre.NacreError) as raised:
        nacre.Client(home=announce(server.address)).health()
    assert raised.value.status == 401
    assert len(server.seen) == 1


def test_errors_carry_what_the_server_said(announce: Announce) -> None:
    answer = fake.failure(429, "limit_reached", "Too much", {"Retry-After": "3"})
    with fake.Running(answer) as server, pytest.raises(nacre.NacreError) as raised:
        nacre.Client(home=announce(server.address)).status()
    error = raised.value
    assert (error.code, error.message, error.status, error.retry_after) == ("limit_reached", "Too much", 429, 3.0)
    assert (error.causes, error.hints) == (["because"], ["do this"])
    assert str(error) == "Too much (limit_reached)\ncaused by: because\nhint: do this"
    copy = pickle.loads(pickle.dumps(error))
    assert vars(copy) == vars(error)


@pytest.mark.parametrize("answer", [{}, [], None, {"error": 1}, {"error": {"code": "x"}}])
def test_an_error_of_another_program_is_one_too(announce: Announce, answer: object) -> None:
    with fake.Running(fake.status(502, answer)) as server, pytest.raises(nacre.NacreError) as raised:
        nacre.Client(home=announce(server.address)).status()
    assert (raised.value.code, raised.value.status) == ("failed", 502)


def test_a_late_answer_is_a_timeout(announce: Announce) -> None:
    release = threading.Event()
    with fake.Running(fake.silence(release), fake.silence(release)) as server:
        client = nacre.Client(home=announce(server.address))
        for ask in (lambda: client.health(timeout=0.05), lambda: client.with_options(timeout=0.05).health()):
            with pytest.raises(nacre.NacreError) as raised:
                ask()
            assert raised.value.code == "timeout"
        release.set()


def test_a_path_cannot_become_another_one(announce: Announce) -> None:
    with fake.Running(fake.status(200, {})) as server:
        client = nacre.Client(home=announce(server.address))
        for wrong in ("", ".", ".."):
            with pytest.raises(nacre.NacreError, match="usage"):
                client.memories.archive(wrong)
        client.memories.get("a/../b?c#d")
    assert [request.path for request in server.seen] == ["/api/memories/a%2F..%2Fb%3Fc%23d"]


def test_values_are_written_as_the_server_reads_them(announce: Announce) -> None:
    with fake.Running(fake.status(200, {}), fake.status(200, {}), fake.status(200, {})) as server:
        client = nacre.Client(home=announce(server.address))
        client.brief(files=["a b", "c&d"], budget=5)
        client.memories.list(archived=False, all=True, sort="-updated")
        client.review.decide(("m1", "m2"), "accept")
    assert server.seen[0].path == "/api/brief?budget=5&files=a+b&files=c%26d"
    assert server.seen[1].path == "/api/memories?all=true&archived=false&sort=-updated"
    assert server.seen[2].body == b'{"ids": ["m1", "m2"], "decision": "accept"}'
    assert server.seen[2].headers["content-type"] == "application/json"


def test_an_edit_passes_the_version_and_begins_again_on_a_conflict(announce: Announce) -> None:
    with fake.Running(
        fake.status(200, {"text": "one", "version": "v1"}),
        fake.failure(409, "conflict"),
        fake.status(200, {"text": "two", "version": "v2"}),
        fake.status(200, {"id": "m1"}),
    ) as server:
        client = nacre.Client(home=announce(server.address))
        assert client.edit_memory("m1", lambda text: text + "!") == {"id": "m1"}
    writes = [request for request in server.seen if request.method == "PUT"]
    assert [request.headers["if-match"] for request in writes] == ['"v1"', '"v2"']
    assert [request.body for request in writes] == [b'{"text": "one!"}', b'{"text": "two!"}']
    assert server.seen[0].path == "/api/memories/m1?text=true"


def test_a_stream_goes_on_where_it_was_cut(announce: Announce) -> None:
    with fake.Running(
        fake.stream(b": listening\n\n", fake.event(1, event="step", text="one"), b'id: boot-2\ndata: {"half'),
        fake.failure(503, "busy"),
        fake.stream(fake.event(2, event="step", text="two"), fake.event(3, event="step", text="three")),
    ) as server:
        client = nacre.Client(home=announce(server.address))
        with client.events(retry_delay=0.0, last_event_id="boot-0") as stream:
            seen = [next(stream) for _ in range(3)]
            assert stream.last_id == "boot-3"
    assert texts(seen) == ["one", "two", "three"]
    assert [request.headers["last-event-id"] for request in server.seen[:3]] == ["boot-0", "boot-1", "boot-1"]


def test_a_stream_that_never_comes_back_raises(announce: Announce) -> None:
    with fake.Running(fake.stream(), fake.stream(), fake.stream()) as server:
        client = nacre.Client(home=announce(server.address))
        with pytest.raises(nacre.NacreError, match="ended the stream"):
            list(client.events(attempts=2, retry_delay=0.0))
    assert len(server.seen) == 3


def test_a_stream_may_be_closed_at_any_time(announce: Announce) -> None:
    release = threading.Event()
    with fake.Running(fake.stream(fake.event(1, event="missed"), hold=release)) as server:
        client = nacre.Client(home=announce(server.address))
        with client.events() as stream:
            assert next(stream)["event"] == "missed"
        with pytest.raises(StopIteration):
            next(stream)
        release.set()


def test_a_task_tells_its_events_and_its_report(announce: Announce) -> None:
    with fake.Running(
        fake.status(202, {"task": "t1"}),
        fake.stream(
            fake.event(0, event="missed"),
            fake.event(1, event="task", state="running", agent="ask", title="T"),
            fake.event(2, event="sentence", text="Hello.", starts_line=True),
            fake.event(3, event="task", state="completed", agent="ask", title="T"),
        ),
        fake.status(200, entry("running")),
        fake.status(200, entry("completed")),
        fake.failure(404, "not_found"),
        fake.status(200, entry("completed")),
        fake.status(200, {"answer": "Hello."}),
    ) as server:
        task = nacre.Client(home=announce(server.address)).ask("Why?")
        assert task.id == "t1"
        assert texts(list(task.events())) == ["running", "Hello.", "completed"]
        assert task.report() == {"answer": "Hello."}
    assert server.seen[1].path == "/api/events?task=t1"


def test_the_end_of_a_task_is_told_to_those_who_come_late(announce: Announce) -> None:
    with fake.Running(
        fake.stream(hold=None),
        fake.status(200, entry("failed", reason="no model")),
        fake.stream(fake.event(7, event="step", text="late")),
        fake.status(200, entry("failed", reason="no model")),
    ) as server:
        client = nacre.Client(home=announce(server.address))
        assert texts(list(client.task("t1").events(last_event_id="boot-6"))) == ["late", "failed"]
    assert server.seen[2].headers["last-event-id"] == "boot-6"


def test_a_task_that_failed_raises_its_error(announce: Announce) -> None:
    with fake.Running(
        fake.status(200, entry("failed")),
        fake.failure(502, "unavailable", "The model did not answer"),
    ) as server:
        client = nacre.Client(home=announce(server.address))
        with pytest.raises(nacre.NacreError, match="did not answer"):
            client.task("t1").report()


def test_waiting_for_a_task_may_have_an_end(announce: Announce) -> None:
    with fake.Running(fake.status(200, entry("running"))) as server:
        client = nacre.Client(home=announce(server.address))
        with pytest.raises(nacre.NacreError, match="timeout"):
            client.task("t1").report(timeout=0.001)


def test_what_is_over_at_once_has_its_report(announce: Announce) -> None:
    with fake.Running(fake.status(200, {"by": "memories"})) as server:
        task = nacre.Client(home=announce(server.address)).ask("Why?", no_model=True)
        assert task.id is None
        assert list(task.events()) == []
        assert task.report() == {"by": "memories"}
        with pytest.raises(nacre.NacreError, match="over at once"):
            task.cancel()


def test_wait_asks_the_server_to_wait(announce: Announce) -> None:
    with fake.Running(fake.status(200, {"by": "model"})) as server:
        report = nacre.Client(home=announce(server.address)).ask("Why?", wait=True)
        assert report["by"] == "model"
    assert server.seen[0].path == "/api/ask?wait=true"


def test_the_asynchronous_client_does_the_same(announce: Announce) -> None:
    async def run(home: Path) -> tuple[list[Any], Any, Any]:
        async with nacre.AsyncClient(home=home) as client:
            task = await client.ask("Why?")
            events = [event async for event in task.events()]
            report = await task.report()
            async with client.events(retry_delay=0.0) as stream:
                return events, report, [await anext(stream), await anext(stream)]

    with fake.Running(
        fake.status(202, {"task": "t1"}),
        fake.stream(fake.event(0, event="missed"), fake.event(1, event="step", text="one")),
        fake.status(200, entry("running")),
        fake.stream(fake.event(2, event="task", state="completed", agent="ask", title="T")),
        fake.status(200, entry("running")),
        fake.status(200, entry("completed")),
        fake.status(200, {"answer": "Hello."}),
        fake.stream(fake.event(3, event="step", text="two")),
        fake.stream(fake.event(4, event="step", text="three")),
    ) as server:
        events, report, streamed = asyncio.run(run(announce(server.address)))
    assert texts(events) == ["one", "completed"]
    assert report == {"answer": "Hello."}
    assert texts(streamed) == ["two", "three"]
    assert server.seen[3].headers["last-event-id"] == "boot-1"
