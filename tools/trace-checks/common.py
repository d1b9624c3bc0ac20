"""Reads JSONL as a careful person would, sharing nothing with the Rust reader."""
import json

DECODER = json.JSONDecoder()


def records(path):
    """Yields (line number, record) for every whole record of a file."""
    with open(path, "rb") as file:
        data = file.read()
    lines = data.split(b"\n")
    for number, line in enumerate(lines, 1):
        is_last = number == len(lines)
        text = line.decode("utf-8", errors="replace").strip("\x00 \t\r\n\ufeff")
        if not text:
            continue
        for record in whole_records(text, strict=is_last):
            if isinstance(record, dict):
                yield number, record


def whole_records(text, strict):
    found, at = [], 0
    while at < len(text):
        try:
            record, end = DECODER.raw_decode(text, at)
        except ValueError:
            if strict:
                return []
            rest = resync(text, at)
            if rest is None:
                break
            at = rest
            continue
        found.append(record)
        at = end
        while at < len(text) and text[at].isspace():
            at += 1
    return found


def resync(text, at):
    """The next place from which on the line is whole records to its end."""
    start = text.find('{"', at + 1)
    while start != -1:
        try:
            end = start
            while end < len(text):
                record, end = DECODER.raw_decode(text, end)
                if not isinstance(record, dict) or not ({"type", "timestamp"} & record.keys()):
                    raise ValueError
            return start
        except ValueError:
            start = text.find('{"', start + 1)
    return None


def clean(text):
    """Lone surrogates cannot be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
