"""Collect passages and (title, passage) pairs from unpacked documentation packages and dictionaries.

Usage: corpus.py FOLDER_OF_UNPACKED_PACKAGES OUT_FOLDER   (one sub-folder per package, as `dpkg-deb -x` makes it)
Writes docs.jsonl.gz: [title or question, passage] with an empty title where there is none.
"""
import gzip
import hashlib
import html
import json
import os
import random
import re
import sys
from html.parser import HTMLParser

# Only packages whose documents are public domain or under a permissive licence are read.
PERMISSIVE = """clang-14-doc cmake-doc dict-jargon dict-wn docker-doc llvm-14-doc nodejs-doc postgresql-doc-15 python-pandas-doc
python-sqlalchemy-doc python3.11-doc rust-doc sqlite3-doc wordnet-base zsh-doc""".split()
DEFAULT_LIMIT = 14000
MAX_FILES, MAX_BYTES = 700, 400_000
SKIP_TAGS = {"script", "style", "nav", "footer", "head"}
BLOCKS = {"p", "li", "dd", "dt", "pre", "div", "td", "tr", "table", "ul", "ol", "blockquote", "section", "br"}


class Page(HTMLParser):
    """Sections of a page: heading path and the text under it."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections, self.heading, self.buffer, self.head, self.skip = [], "", [], None, 0

    def handle_starttag(self, tag, attrs):
        if tag in SKIP_TAGS:
            self.skip += 1
        elif re.fullmatch(r"h[1-6]", tag):
            self.close_section()
            self.head = []
        elif tag in BLOCKS:
            self.buffer.append("\n")

    def handle_endtag(self, tag):
        if tag in SKIP_TAGS:
            self.skip = max(0, self.skip - 1)
        elif re.fullmatch(r"h[1-6]", tag) and self.head is not None:
            self.heading, self.head = " ".join("".join(self.head).split()), None
        elif tag in BLOCKS:
            self.buffer.append("\n")

    def handle_data(self, data):
        if not self.skip:
            (self.buffer if self.head is None else self.head).append(data)

    def close_section(self):
        text = "".join(self.buffer)
        self.buffer = []
        if text.strip():
            self.sections.append((self.heading, text))


def clean_title(title):
    title = re.sub(r"^[\sA-Z0-9]{0,2}[\d.]*\d[.)]?\s+", "", title.replace("¶", "").replace("§", ""))
    return " ".join(title.split()).strip(" :#")


def passages(text, low=60, high=600):
    """Paragraphs put together or cut so that each has a few sentences."""
    out, now = [], ""
    for block in re.split(r"\n\s*\n|\n(?=\S)", text):
        block = " ".join(block.split())
        if len(block) < 3:
            continue
        if len(now) + len(block) > high and now:
            out.append(now)
            now = ""
        now = (now + " " + block).strip()
        while len(now) > high:
            at = now.rfind(". ", low, high) + 1 or high
            out.append(now[:at].strip())
            now = now[at:].strip()
    out.append(now)
    return [p for p in out if len(p) >= low and sum(c.isalpha() or c == " " for c in p) > 0.7 * len(p)]


def from_html(raw):
    page = Page()
    page.feed(raw)
    page.close_section()
    return page.sections


def from_markup(raw):
    """Markdown, reStructuredText and plain text: headings by `#` or by underline."""
    sections, heading, lines = [], "", []
    source = raw.split("\n")
    for i, line in enumerate(source):
        underline = i + 1 < len(source) and re.fullmatch(r"([=\-~^\"*])\1{3,}", source[i + 1].strip()) and 0 < len(line.strip()) < 90
        if line.startswith("#") or underline:
            sections.append((heading, "\n".join(lines)))
            heading, lines = line.strip("# "), []
        elif not re.fullmatch(r"([=\-~^\"*`])\1{2,}.*", line.strip()):
            lines.append(re.sub(r"[`*]|:\w+:", "", line))
    sections.append((heading, "\n".join(lines)))
    return sections


def from_man(raw):
    """Manual pages: the NAME line gives the title; roff requests and escapes are dropped."""
    raw = re.sub(r"\\f[A-Z]|\\f\(..|\\&", "", raw).replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")
    name, sections, heading, lines, pending = "", [], "", [], False
    for line in raw.split("\n"):
        if line.startswith((".SH", ".SS")):
            sections.append((heading, "\n".join(lines)))
            heading, lines = line[3:].strip(' "').lower(), []
        elif line.startswith((".PP", ".P", ".TP", ".LP", ".IP", ".nf", ".fi")):
            lines.append("\n")
        elif line.startswith((".B", ".I", ".RB", ".BR", ".IR", ".RI")):
            lines.append(" ".join(line.split()[1:]).replace('"', ""))
        elif not line.startswith((".", "'")):
            lines.append(" " + line)
            if heading == "name" and not name:
                name = " ".join(line.split())
    sections.append((heading, "\n".join(lines)))
    short = name.split(" - ")
    return [(f"{short[0]} {h}" if h not in ("description", "name", "") else name, t) for h, t in sections if t.strip()]


def from_dict(raw):
    """dictd text: an entry starts at column 0, its definition is indented."""
    out = []
    for entry in re.split(r"\n(?=\S)", raw):
        head, _, body = entry.partition("\n")
        out.append((head.strip(), " ".join(body.split())[:500]))
    return out


def from_wordnet(raw):
    out = []
    for line in raw.split("\n"):
        if line.startswith(" ") or "|" not in line:
            continue
        data, gloss = line.split("|", 1)
        fields = data.split()
        words = [w.split("(")[0].replace("_", " ") for w in fields[4 : 4 + 2 * int(fields[3], 16) : 2]]
        parts = [p.strip() for p in gloss.split(";")]
        out.append((", ".join(words), parts[0]))
        out += [(words[0], p.strip('" ')) for p in parts[1:] if p.startswith('"') and len(p) > 25]
    return out


def read(path):
    data = open(path, "rb").read()
    if path.endswith((".gz", ".dz")):
        data = gzip.decompress(data)
    return data.decode("utf-8", "replace")


def sections_of(path):
    name = re.sub(r"\.(gz|dz)$", "", path)
    if "/wordnet/data." in path:
        return "entry", from_wordnet(read(path))
    if path.endswith(".dict.dz") or name.endswith(".dict"):
        return "entry", from_dict(read(path))
    if re.search(r"/man/man\d/", path):
        return "section", from_man(read(path))
    if name.endswith((".html", ".htm")):
        return "section", from_html(read(path))
    if name.endswith(".page") and "/C/" in path:
        raw = re.sub(r"<title>(.*?)</title>", r"<h2>\1</h2>", re.sub(r"<info>.*?</info>", "", read(path), flags=re.S), flags=re.S)
        return "section", from_html(raw)
    if name.endswith((".md", ".rst", ".mdwn", ".pod")) or (name.endswith(".txt") and "/_sources/" not in path) or "/_sources/" in path:
        return "section", from_markup(re.sub(r"^=(head\d|item)", "#", read(path), flags=re.M))
    if "/games/fortunes/" in path and "." not in os.path.basename(path):
        return "section", [("", e) for e in read(path).split("\n%\n")]
    return "none", []


def package(folder, rng):
    entries = "dict-" in folder or "wordnet" in folder
    limit = 40000 if entries else DEFAULT_LIMIT
    found = sorted(f"{root}/{file}" for root, _, files in os.walk(folder) for file in files if re.search(r"html?$|md$|txt$|rst$|dz$|gz$|^data\.", file))
    found = [f for f in found if os.path.isfile(f) and not os.path.islink(f) and (entries or os.path.getsize(f) < MAX_BYTES)]
    out = []
    for path in rng.sample(found, min(len(found), MAX_FILES)):
        file = os.path.basename(path)
        if re.search(r"changelog|copyright|NEWS", file):
            continue
        if "/_sources/" in path and os.path.basename(folder) != "python3.11-doc" or file.startswith(("genindex", "search")):
            continue
        try:
            kind, sections = sections_of(path)
        except (OSError, ValueError, AssertionError):
            continue
        for title, text in sections:
            title = clean_title(html.unescape(title))[:160]
            texts = [text] if kind == "entry" and len(text) > 15 else passages(text)
            out += [[title, p] for p in texts[:6]]
    rng.shuffle(out)
    return out[:limit]


def shorten(text, high=320):
    """Whole sentences up to `high` characters."""
    return text if len(text) <= high else text[: text.rfind(". ", 120, high) + 1 or high]


def main():
    source, target = sys.argv[1:3]
    rng, seen, total = random.Random(11), set(), []
    for name in PERMISSIVE:
        rows = []
        for title, text in package(f"{source}/{name}", rng):
            key = hashlib.sha1(text.lower().encode()).digest()
            if key not in seen:
                seen.add(key)
                rows.append([title, shorten(text)])
        print(name, len(rows), rows[:1], flush=True)
        total += rows
    rng.shuffle(total)
    with gzip.open(f"{target}/docs.jsonl.gz", "wt", compresslevel=6) as f:
        f.writelines(json.dumps(r) + "\n" for r in total)
    print(len(total), sum(len(r[1]) for r in total))


if __name__ == "__main__":
    main()
