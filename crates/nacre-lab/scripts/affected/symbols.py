"""Chooses declarations of a project at random and changes their signatures, without asking Nacre."""

import random
import re
from pathlib import Path

APART = re.compile(r"(^|/)(tests?|js_tests|test[-_].*|.*[-_]test|tests-.*|testdata|testFixtures|examples?|benches|benchmarks?|docs?|"
                   r"fixtures|vendor|node_modules|__tests__|playground|build|buildSrc|contrib|scripts?|tools|"
                   r"spec|e2e|stress-test|integration-tests|migrations|framework-docs|dist|template.*)/")
APART_NAME = re.compile(r"(_test\.go|\.spec\.ts|\.test\.ts|Tests?\.java|test_.*\.py|package-info\.java|\.d\.ts|\.min\.js)$")
ENDS = {"python": (".py",), "typescript": (".ts", ".mts", ".js", ".mjs"), "rust": (".rs",), "go": (".go",), "java": (".java",)}

FUNCTION = {
    "python": [r"^[ ]*(?:async )?def (?P<name>\w+)\("],
    "typescript": [r"^export (?:async )?function (?P<name>\w+)\(", r"^  (?:async )?(?P<name>[a-z]\w+)\("],
    "rust": [r"^[ ]*pub(?:\([a-z]+\))? (?:const |async |unsafe )*fn (?P<name>\w+)\("],
    "go": [r"^func (?P<name>\w+)\(", r"^func \(\w+ [*\w\[\], ]+\) (?P<name>\w+)\("],
    "java": [r"^\t(?:@\w+ )?(?:(?:public|protected|static|final|default|abstract) )*(?:<[^>]+> )?[\w.<>\[\], ?]+ (?P<name>[a-z]\w+)\("],
}
TYPE = {
    "python": [r"^class (?P<name>\w+)\b"],
    "typescript": [r"^export interface (?P<name>\w+)\b"],
    "rust": [r"^pub(?:\([a-z]+\))? struct (?P<name>\w+)\b[^;(\n]*\{$"],
    "go": [r"^type (?P<name>\w+) struct \{$", r"^type (?P<name>\w+) interface \{$"],
    "java": [r"^(?:public )?(?:abstract |final )?(?:class|interface) (?P<name>\w+)\b"],
}
PARAMETER = {"python": "nacre_probe=None", "typescript": "nacreProbe?: number", "rust": "nacre_probe: u8", "go": "nacreProbe int",
             "java": "int nacreProbe"}
SKIPPED_NAMES = {"main", "init", "new", "constructor", "if", "for", "while", "switch", "catch", "return", "function", "__init__", "fmt"}


def own_files(root, language):
    for path in sorted(Path(root).rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_file() and name.endswith(ENDS[language]) and not APART.search(name) and not APART_NAME.search(name):
            yield name


def declarations(text, language):
    """(kind, name, offset of the name) of what a text declares, as far as lines tell."""
    for kind, patterns in (("function", FUNCTION[language]), ("type", TYPE[language])):
        for pattern in patterns:
            for match in re.finditer(pattern, text, re.M):
                name = match["name"]
                if name not in SKIPPED_NAMES and not (name.startswith("__") and name.endswith("__")):
                    yield kind, name, match.start("name")


def closing(text, start):
    depth = 0
    for at in range(start, min(len(text), start + 4000)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0:
                return at
    return None


def edited(text, language, kind, name, at):
    """The text with another signature of what is declared there; None where that is not plain."""
    if kind == "function":
        start = at + len(name)
        end = closing(text, start)
        if end is None or (language == "python" and "**" in text[start:end]):
            return None
        if language == "typescript" and "{" not in text[end:end + 200].split("\n")[0]:
            return None
        inside = text[start + 1:end].strip()
        if language in ("typescript", "java", "go") and "..." in inside:
            return None
        comma = "" if not inside or inside.endswith(",") else ", "
        return text[:end] + comma + PARAMETER[language] + text[end:]
    line_end = text.find("\n", at)
    line = text[at:line_end]
    if language in ("rust", "typescript", "go"):
        brace = text.find("{", at)
        if brace < 0 or line_end < brace:
            return None
        field = {"rust": " nacre_probe: u8,", "typescript": " nacreProbe: number;", "go": "\n\tNacreProbe int"}[language]
        if language == "go" and "interface" in line:
            field = "\n\tNacreProbe() int"
        return text[:brace + 1] + field + text[brace + 1:]
    if language == "python":
        end = closing(text, at + len(name)) if text[at + len(name)] == "(" else None
        if end is not None:
            inside = text[at + len(name) + 1:end].strip()
            return text[:end] + (", " if inside and not inside.endswith(",") else "") + "NacreProbe" + text[end:]
        return text[:at + len(name)] + "(NacreProbe)" + text[at + len(name):]
    brace = text.find("{", at)
    if brace < 0:
        return None
    header = text[at:brace]
    word = "extends" if text[:at].rstrip().endswith("interface") else "implements"
    if re.search(rf"\b{word}\b", header):
        place = at + re.search(rf"\b{word}\b", header).end()
        return text[:place] + " NacreProbe," + text[place:]
    return text[:brace] + f"{word} NacreProbe " + text[brace:]


def chosen(root, language, seed):
    """Declarations in a random order: each file once, then one declaration of it."""
    files = list(own_files(root, language))
    random.Random(seed).shuffle(files)
    for number, path in enumerate(files):
        text = (Path(root) / path).read_text(encoding="utf-8", errors="replace")
        found = list(declarations(text, language))
        if not found:
            continue
        kind, name, at = random.Random(seed * 7919 + number).choice(found)
        new = edited(text, language, kind, name, at)
        if new is not None:
            line = text.count("\n", 0, at)
            column = at - (text.rfind("\n", 0, at) + 1)
            yield {"path": path, "kind": kind, "name": name, "line": line, "column": column, "at": at, "text": new}
