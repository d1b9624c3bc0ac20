"""Text helpers for both languages: the notice in generated files, and wrapped comments."""

from __future__ import annotations

import textwrap

NOTICE = "Written by sdk/generate/generate.py. Do not edit: change routes.toml or the wire types."
WIDTH = 120


def wrapped(text: str, indent: str, width: int = WIDTH) -> list[str]:
    """Wraps and indents text. Line breaks in the source become spaces."""
    joined = " ".join(text.split())
    return textwrap.wrap(joined, width, initial_indent=indent, subsequent_indent=indent, break_long_words=False)
