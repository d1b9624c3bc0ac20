"""The parser of server-sent events."""

from __future__ import annotations

import json

import pytest

from nacre._errors import NacreError
from nacre._sse import LONGEST_DELAY_SECONDS, Backoff, Parser


def parse(*chunks: bytes) -> list[object]:
    parser = Parser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


TEXT = b': listening\n\nid: a-1\ndata: {"n":1}\n\nid: a-2\ndata: {"n":\ndata: 2}\n\n'


@pytest.mark.parametrize("size", range(1, len(TEXT) + 1))
def test_the_size_of_the_chunks_does_not_matter(size: int) -> None:
    chunks = [TEXT[start : start + size] for start in range(0, len(TEXT), size)]
    assert parse(*chunks) == [{"n": 1}, {"n": 2}]


@pytest.mark.parametrize("end", [b"\n", b"\r", b"\r\n"])
def test_lines_end_in_three_ways(end: bytes) -> None:
    text = TEXT.replace(b"\n", end)
    # A carriage return may be half of a line end: what follows decides.
    assert parse(*(text[i : i + 1] for i in range(len(text))), b":") == [{"n": 1}, {"n": 2}]


def test_other_line_breaks_are_part_of_the_text() -> None:
    value = {"text": "a\u2028b\u0085c\x0bd\u2029"}
    data = json.dumps(value, ensure_ascii=False).replace("\\u000b", "\\u000b").encode()
    assert parse(b"data: " + data + b"\n\n") == [value]


def test_a_character_may_be_cut_in_two() -> None:
    data = 'data: {"text":"é€😀"}\n\n'.encode()
    assert parse(*(data[i : i + 1] for i in range(len(data)))) == [{"text": "é€😀"}]


def test_the_id_counts_when_its_event_is_whole() -> None:
    parser = Parser("a-0")
    assert list(parser.feed(b'id: a-1\ndata: {}\n\nid: a-2\ndata: {"half":')) == [{}]
    assert parser.last_id == "a-1"
    parser.cut()
    assert list(parser.feed(b'id: a-2\ndata: {"whole":true}\n\n')) == [{"whole": True}]
    assert parser.last_id == "a-2"


def test_comments_other_fields_and_broken_json_are_left_out() -> None:
    assert parse(b":\n\nevent: x\nretry: 1500\ndata: {not json}\n\nunknown\n\ndata: 1\n\n") == [1]


def test_the_server_says_how_long_to_wait() -> None:
    parser = Parser()
    list(parser.feed(b"retry: 1500\n\n"))
    assert parser.retry_seconds == 1.5


def test_delays_grow_to_a_bound_and_end() -> None:
    backoff = Backoff(base=1.0, attempts=20)
    lost = NacreError("disconnected", "lost")
    delays = [backoff.next(lost, None) for _ in range(20)]
    assert 0.5 <= delays[0] <= 1.0
    assert max(delays) <= LONGEST_DELAY_SECONDS
    with pytest.raises(NacreError, match="lost"):
        backoff.next(lost, None)
    backoff.reset()
    assert backoff.next(lost, 30.0) == 30.0


def test_what_comes_again_is_not_tried_again() -> None:
    for error in (NacreError("refused", "no", status=401), NacreError("not_found", "no", status=404)):
        with pytest.raises(NacreError):
            Backoff(0.0, 5).next(error, None)
    assert Backoff(0.0, 5).next(NacreError("busy", "full", status=503, retry_after=2.0), None) == 2.0
