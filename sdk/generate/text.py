"""Text that both languages need: the notice of a generated file, and wrapped comments."""

from __future__ import annotations

import textwrap

NOTICE = "Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types."
WIDTH = 120


def wrapped(text: str, indent: str, width: int = WIDTH) -> list[str]:
    """The lines of a text, each with its indent. Line breaks of the source are kept as spaces."""
    joined = " ".join(text.split())
    return textwrap.wrap(joined, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
