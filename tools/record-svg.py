#!/usr/bin/env python3
"""Records a first run of nacre in a terminal and draws it as docs/first-run.svg.

usage: tools/record-svg.py [--check] [path to the nacre program]

The commands really run, on a pseudo-terminal of 100 columns, in a home that is made for them, with the sessions of three agents
in tools/demo-home. The clock is fixed. The picture differs from the terminal in three things: the temporary folder is shown as
/home/ana, the last part of a change's id, which is the number of a process, as 4f2a, and progress is left out, because it depends on
the machine. With --check nothing is written; the exit code is 1 when the picture is not what the program prints now.

Needs a Unix and the standard library. The picture names fonts and fetches none; it has colors for light and dark.
"""

import fcntl
import os
import pty
import re
import shutil
import struct
import sys
import tempfile
import termios
import unicodedata
from html import escape
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
PICTURE = HERE / "docs/first-run.svg"
COLUMNS, ROWS = 100, 200
# When the sessions were written, in seconds, and the time it is for the program.
SESSIONS_AT, NOW = 1772625600, "2026-03-05T09:00:00Z"
# What is typed, as a shell takes it.
COMMANDS = [
    "nacre init",
    "nacre sync",
    "nacre ask 'Why do the report tests fail at night?'",
]

# Sizes in pixels.
CELL, LINE, FONT, MARGIN, BAR = 8.0, 19, 13.3, 20, 36


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--check"]
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
    nacre = Path(args[0] if args else target / "debug/nacre").resolve()
    if not os.access(nacre, os.X_OK):
        sys.exit(f"record-svg: program `{nacre}` not found; run `make docs`")
    root = Path(tempfile.mkdtemp(prefix="nacre-svg."))
    try:
        picture = draw(record(nacre, root))
    finally:
        shutil.rmtree(root)
    if "--check" not in sys.argv[1:]:
        PICTURE.write_text(picture)
    elif not PICTURE.exists() or PICTURE.read_text() != picture:
        sys.exit("record-svg: docs/first-run.svg is out of date; run `make docs`")


def record(nacre, root):
    """The rows of the screen after all commands: lists of (character, style)."""
    repository = root / "tidepool"
    (repository / ".git").mkdir(parents=True)
    lay_sessions(root, repository)
    (root / "bin").mkdir()
    (root / "bin/nacre").symlink_to(nacre)
    screen = Screen()
    for command in COMMANDS:
        screen.feed(f"\x1b[32m$\x1b[0m \x1b[1m{command}\x1b[0m\r\n")
        screen.feed(scrubbed(run(command, root, repository), root))
        screen.feed("\r\n")
    return screen.shown()


def lay_sessions(home, repository):
    """Puts the sessions where Claude Code, Codex and Cursor keep theirs."""
    samples = HERE / "tools/demo-home"
    for sample in sorted(path for path in samples.rglob("*") if path.is_file()):
        path = home / f".{sample.relative_to(samples)}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(sample.read_text().replace("@REPO@", str(repository)))
        os.utime(path, (SESSIONS_AT, SESSIONS_AT))


def run(command, home, folder):
    """What a command prints on a terminal; it must succeed."""
    environment = {
        "HOME": str(home),
        "PATH": f"{home}/bin:/usr/bin:/bin",
        "TERM": "xterm-256color",
        "LANG": "C.UTF-8",
        "NACRE_NOW": NOW,
    }
    # Progress is drawn only where standard error is a terminal.
    told = home / "stderr"
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        # The size must be there before the program asks for it.
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.dup2(os.open(told, os.O_CREAT | os.O_TRUNC | os.O_WRONLY), 2)
        os.execve("/bin/sh", ["sh", "-c", command], environment)
    printed = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:
            break
        if not part:
            break
        printed += part
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    text = printed.decode() + told.read_text().replace("\n", "\r\n")
    if code != 0:
        sys.exit(f"record-svg: `{command}` exited with code {code}:\n{text}")
    return text


def scrubbed(text, root):
    """Text without what differs between two runs."""
    text = text.replace(str(root), "/home/ana")
    return re.sub(r"\b([a-z]+-\d{8}-\d{6})-[0-9a-f]+", r"\1-4f2a", text)


class Screen:
    """As much of a terminal as nacre uses: colors, line breaks, and lines that are drawn again."""

    ESCAPE = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b.")

    def __init__(self):
        self.rows, self.row, self.column, self.style = [[]], 0, 0, ()

    def feed(self, text):
        at = 0
        while at < len(text):
            found = self.ESCAPE.match(text, at)
            if found:
                self.obey(found.group(1) or "", found.group(2) or "")
                at = found.end()
            else:
                self.put(text[at])
                at += 1

    def put(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.go_to(self.row + 1)
        elif char == "\b":
            self.column = max(0, self.column - 1)
        elif char >= " ":
            width = 2 if unicodedata.east_asian_width(char) in "WF" else 1
            if self.column + width > COLUMNS:
                self.go_to(self.row + 1)
                self.column = 0
            row = self.rows[self.row]
            row.extend([(" ", ())] * (self.column - len(row)))
            row[self.column : self.column + width] = [(char, self.style)] + [("", ())] * (width - 1)
            self.column += width

    def go_to(self, row):
        self.row = max(0, row)
        while len(self.rows) <= self.row:
            self.rows.append([])

    def obey(self, numbers, letter):
        first = int(numbers) if numbers.isdigit() else 0
        if letter == "m":
            self.paint(numbers)
        elif letter == "K":
            self.erase(first)
        elif letter == "J":
            self.erase(0)
            del self.rows[self.row + 1 :]
        elif letter == "A":
            self.go_to(self.row - max(1, first))
        elif letter == "B":
            self.go_to(self.row + max(1, first))
        elif letter == "C":
            self.column += max(1, first)
        elif letter == "D":
            self.column = max(0, self.column - max(1, first))
        elif letter == "G":
            self.column = max(1, first) - 1

    def erase(self, how):
        row = self.rows[self.row]
        if how == 2:
            row.clear()
        elif how == 0:
            del row[self.column :]

    def paint(self, numbers):
        for number in numbers.split(";"):
            if number in ("", "0"):
                self.style = ()
            else:
                self.style = tuple(sorted({*self.style, f"s{number}"}))

    def shown(self):
        rows = self.rows[:]
        while rows and not any(char.strip() for char, _ in rows[-1]):
            rows.pop()
        return rows


STYLE = """\
.window { fill: #ffffff; stroke: #d0d7de; }
.bar { fill: #f6f8fa; }
.edge { stroke: #d0d7de; }
.name, text { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; }
text { font-size: %(font)spx; fill: #24292f; white-space: pre; }
.name { font-size: 12px; fill: #57606a; text-anchor: middle; }
.s1 { font-weight: 600; }
.s2 { fill: #6e7781; }
.s31 { fill: #cf222e; }
.s32 { fill: #1a7f37; }
.s33 { fill: #9a6700; }
.s34 { fill: #0969da; }
.s35 { fill: #8250df; }
.s36 { fill: #0b7285; }
@media (prefers-color-scheme: dark) {
  .window { fill: #0d1117; stroke: #30363d; }
  .bar { fill: #161b22; }
  .edge { stroke: #30363d; }
  text { fill: #e6edf3; }
  .name { fill: #8b949e; }
  .s2 { fill: #8b949e; }
  .s31 { fill: #ff7b72; }
  .s32 { fill: #3fb950; }
  .s33 { fill: #d29922; }
  .s34 { fill: #58a6ff; }
  .s35 { fill: #bc8cff; }
  .s36 { fill: #56d4dd; }
}
"""


def draw(rows):
    width, height = round(COLUMNS * CELL + 2 * MARGIN), BAR + len(rows) * LINE + 2 * MARGIN
    words = "\n".join("".join(char for char, _ in row).rstrip() for row in rows)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        "<title>A first run of nacre in a terminal</title>",
        f"<desc>{escape(words)}</desc>",
        f"<style>\n{STYLE % {'font': FONT}}</style>",
        f'<rect class="window" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        f'<path class="bar" d="M1 {BAR}V9a8 8 0 0 1 8-8H{width - 9}a8 8 0 0 1 8 8V{BAR}z"/>',
        f'<path class="edge" d="M1 {BAR + 0.5}H{width - 1}"/>',
    ]
    for idx, color in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        lines.append(f'<circle cx="{MARGIN + 18 * idx}" cy="{BAR / 2:g}" r="5.5" fill="{color}"/>')
    lines.append(f'<text class="name" x="{width / 2:g}" y="{BAR / 2 + 4:g}">~/tidepool</text>')
    for idx, row in enumerate(rows):
        lines.extend(draw_row(row, BAR + MARGIN + LINE * idx + 14))
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def draw_row(row, y):
    """One text for each stretch of one style. `textLength` keeps columns in line whatever the font is."""
    at = 0
    while at < len(row):
        end = at
        while end < len(row) and row[end][1] == row[at][1]:
            end += 1
        words = "".join(char for char, _ in row[at:end])
        n_left = len(words) - len(words.lstrip(" "))
        words = words.strip(" ")
        if words:
            x, length = MARGIN + (at + n_left) * CELL, len(words) * CELL
            classes = f' class="{" ".join(row[at][1])}"' if row[at][1] else ""
            place = f'x="{x:g}" y="{y:g}" textLength="{length:g}" lengthAdjust="spacingAndGlyphs"'
            yield f"<text{classes} {place}>{escape(words, quote=False)}</text>"
        at = end


if __name__ == "__main__":
    main()
