#!/usr/bin/env python3
"""Measures redaction on the test strings of gitleaks, detect-secrets and trufflehog.

Usage: redact-eval.py GITLEAKS DETECT_SECRETS TRUFFLEHOG LAB [ROWS]

The first three are checkouts; LAB is the program `nacre-lab`. Needs
the package `rstr`, which makes up strings for a regular expression. With ROWS, every string is
written there with its result. Strings that only a Go program could build are left out.
"""

import ast
import collections
import glob
import json
import os
import random
import re
import subprocess
import sys
import textwrap
import tomllib

import rstr

GENERATE = rstr.Rstr(random.Random(7))
TOKEN = re.compile(
    r"""\s*(?://[^\n]*\n\s*)*(?:(?P<raw>`[^`]*`)|(?P<str>"(?:[^"\\]|\\.)*")|(?P<id>[A-Za-z_][\w.]*)"""
    r"""|(?P<num>\d+)|(?P<op>\.\.\.|:=|[-+(){}\[\],:;=*&.<>!|/%']))""",
    re.S,
)
SETS = {
    "AlphaNumeric": "[a-z0-9]",
    "Hex": "[a-f0-9]",
    "Numeric": "[0-9]",
    "AlphaNumericExtended": r"[a-z0-9=_\-]",
    "AlphaNumericExtendedShort": "[a-z0-9_-]",
    "AlphaNumericExtendedLong": r"[a-z0-9\/=_\+\-]",
}
UUID = "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"


class Unknown(Exception):
    """An expression that is more than strings put together."""


class Go:
    """Evaluates expressions of Go that build strings and lists of strings."""

    def __init__(self, source, templates=()):
        self.source = source + "\n;"
        self.templates = templates
        self.names = {}
        assignment = r'^[ \t]*(?:const |var )?([A-Za-z_]\w*)(?: string)?\s*:?=\s*(?=[`"(\[a-zA-Z])'
        for match in re.finditer(assignment, source, re.M):
            try:
                self.names[match.group(1)], _ = self.expression(match.end())
            except (Unknown, IndexError, RecursionError):
                continue

    def token(self, pos):
        match = TOKEN.match(self.source, pos)
        if not match:
            raise Unknown
        return match.lastgroup, match.group(match.lastgroup), match.end()

    def expression(self, pos):
        value, pos = self.term(pos)
        while True:
            _, text, end = self.token(pos)
            if text != "+":
                return value, pos
            other, pos = self.term(end)
            if not isinstance(value, str) or not isinstance(other, str):
                raise Unknown
            value += other

    def items(self, pos, close):
        found = []
        while True:
            _, text, end = self.token(pos)
            if text == close:
                return found, end
            value, pos = self.expression(pos)
            _, text, end = self.token(pos)
            if text == ":":  # in a map, only the values count
                value, pos = self.expression(end)
                _, text, end = self.token(pos)
            if text == "...":
                _, text, end = self.token(end)
            found.append(value)
            if text == close:
                return found, end
            if text != ",":
                raise Unknown
            pos = end

    def term(self, pos):
        kind, text, end = self.token(pos)
        opening = re.compile(r"\s*(?:\[\]string|map\[string\]string)\s*\{").match(self.source, pos)
        if opening:
            return self.items(opening.end(), "}")
        if kind == "raw":
            return text[1:-1], end
        if kind == "str":
            return unquote(text), end
        if kind == "num":
            return text, end
        if text == "(":
            value, pos = self.expression(end)
            return value, self.token(pos)[2]
        if kind != "id":
            raise Unknown
        _, following, after = self.token(end)
        if following == "(":
            arguments, after = self.items(after, ")")
            return self.call(text.split(".")[-1], arguments), after
        if text == "nil":
            return [], end
        if text in self.names:
            return self.names[text], end
        raise Unknown

    def call(self, name, arguments):
        if name in SETS:
            return f"{SETS[name]}{{{arguments[0]}}}"
        if name == "Hex8_4_4_4_12":
            return UUID
        if name == "NewSecret":
            return generated(arguments[0])
        if name == "GenerateSampleSecret":
            return f'{arguments[0]}_api_token = "{arguments[1]}"'
        if name == "GenerateSampleSecrets":
            word, secret = arguments
            fill = lambda one: one.replace("{i}", word).replace("{I}", word.upper())
            return [fill(one).replace("{s}", secret) for one in self.templates]
        if name == "Sprintf":
            rest = iter(arguments[1:])
            put = lambda match: f'"{next(rest)}"' if match.group() == "%q" else str(next(rest))
            return re.sub("%[svqd]", put, arguments[0]).replace("%%", "%")
        if name == "ToUpper":
            return arguments[0].upper()
        if name == "Repeat":
            return arguments[0] * int(arguments[1])
        if name == "append":
            lists = [one if isinstance(one, list) else [one] for one in arguments]
            return [text for one in lists for text in one]
        if name in ("string", "MustCompile"):
            return arguments[0]
        raise Unknown


def unquote(text):
    body = re.sub(r"\\x([0-9a-fA-F]{2})", r"\\u00\1", text[1:-1]).replace("\\'", "'")
    try:
        return json.loads(f'"{body}"')
    except ValueError as error:
        raise Unknown from error


def generated(pattern):
    pattern = pattern.replace("[[:alnum:]]", "[A-Za-z0-9]").replace("(?i)", "").replace("\\b", "")
    try:
        return GENERATE.xeger(re.sub(r"\(\?-?[is]:", "(?:", pattern))
    except Exception as error:
        raise Unknown from error


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def row(source, rule, text, secret):
    return {"source": source, "rule": rule, "text": text, "secret": secret}


def gitleaks(root):
    samples = read(f"{root}/cmd/generate/config/utils/generate.go")
    samples = samples[samples.index("samples := map") : samples.index("replacer :=")]
    lines = re.findall(r'^\s*"[^"]+":\s*(".*"|`.*`),', samples, re.M)
    templates = [line[1:-1] if line[0] == "`" else unquote(line) for line in lines]
    patterns = {}
    for rule in tomllib.loads(read(f"{root}/config/gitleaks.toml"))["rules"]:
        pattern = rule.get("regex", "").replace("[[:alnum:]]", "[A-Za-z0-9]").replace("\\z", "\\Z")
        flags = re.I if "(?i)" in pattern else 0
        if pattern:
            compiled = re.compile(pattern.replace("(?i)", ""), flags)
            patterns[rule["id"]] = (compiled, rule.get("secretGroup"))
    for path in sorted(glob.glob(f"{root}/cmd/generate/config/rules/*.go")):
        for function in re.split(r"\nfunc ", read(path))[1:]:
            name = re.search(r'RuleID:\s*"([^"]+)"', function)
            if not name or name.group(1) not in patterns:
                continue
            pattern, group = patterns[name.group(1)]
            names = Go(function, templates).names
            for text in names.get("tps") or []:
                hit = pattern.search(text)
                if hit:
                    first = next((one for one in hit.groups() if one), hit.group())
                    yield row("gitleaks", name.group(1), text, hit.group(group) if group else first)
            for text in names.get("fps") or []:
                yield row("gitleaks", name.group(1), text, None)


def part_of(text, secret):
    """Returns the part of a secret that the text has: detectors join an id and a key."""
    if secret in text:
        return secret
    parts = [one for one in re.split("[:|;,]", secret) if len(one) >= 8 and one in text]
    tails = (secret[at:] for at in range(1, len(secret) - 11) if secret[at:] in text)
    return parts[-1] if parts else next(tails, None)


def trufflehog(root):
    for path in sorted(glob.glob(f"{root}/pkg/detectors/**/*_test.go", recursive=True)):
        if "integration" in path:
            continue
        rule = os.path.relpath(os.path.dirname(path), f"{root}/pkg/detectors")
        source = read(path)
        go, seen = Go(source), set()
        for field in re.finditer(r"\n\s*input:\s*", source):
            try:
                text, end = go.expression(field.end())
                want = re.compile(r",\s*(?://[^\n]*\n\s*)*want:\s*").match(source, end)
                secrets = go.expression(want.end())[0] if want else None
            except (Unknown, IndexError):
                continue
            if secrets is None or not isinstance(text, str):
                continue
            if not secrets:
                yield row("trufflehog", rule, text, None)
            for secret in [secrets] if isinstance(secrets, str) else secrets:
                secret = part_of(text, secret)
                if secret and (text, secret) not in seen:
                    seen.add((text, secret))
                    yield row("trufflehog", rule, text, secret)


def detect_secrets(root):
    source = read(f"{root}/tests/plugins/keyword_test.py")
    head = source[: source.index("def parse_test_cases")].replace("import pytest", "")
    cases = {}
    exec(re.sub(r"^from detect_secrets.*$", "", head, flags=re.M), cases)
    lists = [cases[name] for name in cases if name.endswith("_TEST_CASES")]
    for text, secret in dict.fromkeys(pair for one in lists for pair in one):
        yield row("detect-secrets", "keyword", text, secret)
    for path in sorted(glob.glob(f"{root}/tests/plugins/*_test.py")):
        rule = os.path.basename(path)[: -len("_test.py")]
        if rule not in ("keyword", "base", "ip_public", "high_entropy_strings"):
            yield from parametrized(rule, ast.parse(read(path)))


def parametrized(rule, tree):
    values = {"textwrap": textwrap}
    evaluate = lambda node: eval(compile(ast.Expression(node), rule, "eval"), values)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            try:
                values[node.targets[0].id] = evaluate(node.value)
            except Exception:
                continue
    for node in ast.walk(tree):
        is_list = isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "parametrize"
        try:
            data = evaluate(node.args[1]) if is_list else []
        except Exception:
            continue
        for case in data:
            text, expected = case if isinstance(case, tuple) and len(case) == 2 else (case, True)
            if not isinstance(text, str):
                continue
            if isinstance(expected, bool):
                expected = [text] if expected else []
            for secret in [expected] if isinstance(expected, str) else expected or [None]:
                if secret is None or secret in text:
                    yield row("detect-secrets", rule, text, secret)


def main():
    gitleaks_root, detect_root, trufflehog_root, lab = sys.argv[1:5]
    rows = [*gitleaks(gitleaks_root), *detect_secrets(detect_root), *trufflehog(trufflehog_root)]
    lines = "".join(json.dumps(one) + "\n" for one in rows)
    run = subprocess.run([lab, "eval", "redaction"], input=lines, capture_output=True, text=True, check=True)
    results = [json.loads(line) for line in run.stdout.splitlines()]
    counts = collections.Counter()
    for one, result in zip(rows, results, strict=True):
        kind = "secret" if one["secret"] else "other"
        is_gone = result["gone"] if one["secret"] else result["n_redacted"] > 0
        for source in (one["source"], "total"):
            counts[source, kind] += 1
            counts[source, kind, "gone"] += bool(is_gone)
    for source in ("gitleaks", "detect-secrets", "trufflehog", "total"):
        n_secrets, n_gone = counts[source, "secret"], counts[source, "secret", "gone"]
        n_others, n_touched = counts[source, "other"], counts[source, "other", "gone"]
        print(
            f"{source:15} {n_gone} of {n_secrets} secrets gone ({n_gone / max(n_secrets, 1):.1%}), "
            f"{n_touched} of {n_others} other strings changed"
        )
    if len(sys.argv) > 5:
        with open(sys.argv[5], "w", encoding="utf-8") as file:
            for one, result in zip(rows, results, strict=True):
                file.write(json.dumps({**one, **result}) + "\n")


main()
