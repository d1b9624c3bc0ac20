"""`nacre chat` itself, with a scripted model: real sessions, real tools, real files. Each case is a script of answers and a function
that types, looks, and compares what is on the disk."""

import json
import os
import re
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from terminal import VOLATILE, VOLATILE_CALLS, Screen

# From Esc to the end of the turn on the screen, beyond what a letter takes to be seen: tmux and looking take their time too.
MAX_ABORT_MS = 100

ANSWER = ("## Found\n\nThe **last** token is dropped:\n\n```rust\nfor t in &all[..n - 1] { take(t); } // one too few\n```\n\n"
          "- count to `n`\n- run the tests\n")

CODE = "fn add(a: i32, b: i32) -> i32 { a - b }\n"

CASES = {}


def case(function):
    CASES["chat_" + function.__name__] = function
    return function


class ChatScreen(Screen):
    """The program in a home and a repository of its own."""

    volatile = VOLATILE + VOLATILE_CALLS + [(re.compile(r"ses[a-z]*_[a-z0-9]+"), "SESSION")]


class Project:
    """A home, a repository in it, and how the program is started there."""

    def __init__(self, program, opened):
        self.program, self.opened = program, opened
        self.folder = tempfile.TemporaryDirectory()
        self.home = Path(self.folder.name).resolve()
        self.work = self.home / "work"
        (self.work / ".git").mkdir(parents=True)
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.write("lib.rs", CODE)
        self.run("init", "--quiet")
        opened.append(self)

    def close(self):
        self.folder.cleanup()

    def write(self, path, text):
        full = self.work / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text)

    def read(self, path):
        return (self.work / path).read_text()

    def run(self, *args):
        done = subprocess.run([self.program, *args], cwd=self.work, env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def tree(self):
        """Every file of the repository without Nacre's own, with its bytes and its mode."""
        files = (path for path in self.work.rglob("*") if path.is_file() and ".nacre" not in path.parts)
        return {str(path.relative_to(self.work)): (path.read_bytes(), path.stat().st_mode) for path in files}

    def script(self, *turns):
        path = self.home / "script.json"
        path.write_text(json.dumps({"turns": list(turns)}))
        return ["--scripted", str(path)]

    def open(self, *args, size=(80, 24), env=None):
        # Nothing of the person's own environment, such as a key of a model.
        variables = {**self.env, "LC_ALL": "C.UTF-8", **(env or {})}
        words = ["env", "-i", *(f"{name}={value}" for name, value in variables.items())]
        command = " ".join(shlex.quote(word) for word in [*words, self.program, "chat", *args])
        command = command.replace("env -i ", 'env -i TERM="$TERM" ', 1)
        screen = ChatScreen(command, tempfile.TemporaryDirectory(), size, work=self.work)
        self.opened.append(screen)
        return screen

    def chat(self, *turns, args=(), **more):
        """Opens the screen with a script, and waits until it can be typed on."""
        screen = self.open(*self.script(*turns), *args, **more)
        screen.wait_for("Enter sends")
        return screen


def opener(program, opened):
    return lambda: Project(program, opened)


def say(text, **more):
    return {"say": text, **more}


def calls(*tools, **more):
    return {"calls": [{"name": name, "arguments": arguments} for name, arguments in tools], **more}


def edit(find="a - b", replace="a + b"):
    return ("file_edit", {"path": "lib.rs", "edits": [{"find": find, "replace": replace}]})


def program(*argv):
    return ("shell_run", {"argv": list(argv)})


def told(*parts):
    return {"expect": {"last_contains": list(parts)}}


def send(screen, text):
    screen.type(text)
    screen.keys("Enter")


@case
def typing(project, check):
    home = project()
    home.write("src/parse.rs", "fn parse() {}\n")
    pasted = "pasted line\n" * 40
    screen = home.chat(say("You wrote three lines.", **told("Hello wörld 日本\nsecond line\nthird")),
                       say("Forty lines.", **told("pasted line\npasted line", "Look")))
    check("first", screen)
    screen.type("Hello wörld 日本")
    screen.keys("M-Enter")
    screen.type("second line")
    screen.keys("C-j")
    screen.type("third WRONG")
    check("three-lines", screen)
    screen.keys("C-w", "BSpace", "Enter")
    screen.wait_for("You wrote three lines.")
    screen.wait_for("Done in TIME")
    check("answered", screen)
    screen.paste(pasted)
    screen.wait_for("[pasted 1: 40 lines]")
    send(screen, "Look")
    screen.wait_for("Forty lines.")
    screen.wait_for("Done in TIME", times=2)
    screen.keys("Up", "Up")
    screen.wait_for("> Hello wörld 日本", times=2)
    check("history", screen)


@case
def files(project, check):
    home = project()
    for path in ("src/parse.rs", "src/main.rs", "docs/parsing.md"):
        home.write(path, f"// This is {path}.\n")
    screen = home.chat(say("I have it.", **told("This is src/parse.rs.")))
    # The map is made while the screen is open already.
    screen.type("Look at @pars")
    while "@src/parse.rs" not in screen.text():
        screen.keys("BSpace")
        screen.type("s")
    check("completing", screen)
    screen.keys("Tab")
    screen.wait_for("> Look at @src/parse.rs")
    screen.keys("Enter")
    screen.wait_for("I have it.")
    screen.wait_for("Done in TIME")
    check("attached", screen)


@case
def memory(project, check):
    home = project()
    home.run("memory", "add", "Use tabs in Makefiles", "--body", "Spaces break make.", "--quiet")
    editor = home.home / "editor.sh"
    editor.write_text('#!/bin/sh\nsed -i s/Spaces/Blanks/ "$1"\n')
    editor.chmod(0o755)
    home.run("config", "set", "ui.editor", str(editor), "--quiet")
    screen = home.chat(calls(("memory_search", {"query": "tabs in Makefiles"})), say("Tabs.", **told("Use tabs")))
    send(screen, "Tabs or blanks?")
    screen.wait_for("Done in TIME")
    screen.keys("C-g")
    check("list", screen, dated)
    screen.keys("Enter")
    screen.wait_for("Spaces break make.")
    screen.keys("Escape")
    screen.wait_until(lambda text: "Esc closes" not in text, "the conversation again")
    screen.keys("C-g")
    screen.wait_for("Memories in this session: 1")
    screen.keys("e")
    wait_for_text(home, "Blanks break make.")
    screen.wait_for("Memories in this session: 1")
    screen.keys("Escape")
    screen.wait_for("Corrected")
    send(screen, "/export")
    screen.wait_for("Exported to")
    exported = list((home.home / ".nacre/exports").glob("*.jsonl"))
    assert len(exported) == 1 and "Tabs or blanks?" in exported[0].read_text(), exported


def wait_for_text(home, text):
    """Waits until a memory says something."""
    until = time.monotonic() + 15
    while text not in "".join(path.read_text() for path in (home.work / ".nacre/memory").rglob("*.md")):
        assert time.monotonic() < until, f"no memory says {text!r}"
        time.sleep(0.02)


def dated(text):
    """A screen without the day in the ids of memories."""
    return re.sub(r"\b20\d{6}-", "DAY-", text)


@case
def theme(project, check):
    home = project()
    home.run("config", "set", "ui.theme", "light", "--quiet")
    is_color = re.compile(r"\x1b\[[\d;]*?(3[0-8]|4[0-8]|9[0-7])[;m]")
    for args, env, expected in [((), {}, "light"), (("--theme", "plain"), {}, "plain"), ((), {"NO_COLOR": "1"}, "plain")]:
        screen = home.chat(say(ANSWER), args=args, env=env)
        send(screen, "Go")
        screen.wait_for("Done in TIME")
        colors = is_color.findall(screen.tmux("capture-pane", "-p", "-e"))
        assert bool(colors) == (expected != "plain"), (expected, colors)
        send(screen, "/theme")
        screen.wait_for(f"Theme: {expected}")


class Server:
    """`nacre serve` of a home, with a model on loopback that answers as a file says."""

    def __init__(self, home):
        self.home, self.folder = home, home.home / "model"
        self.folder.mkdir()
        self.answer()
        model = Path(__file__).resolve().parent.parent / "scripted_model.py"
        self.model = subprocess.Popen([sys.executable, str(model), str(self.folder)], stderr=subprocess.DEVNULL)
        port = self.wait_for_file(self.folder / "port")
        for key, value in (("providers.local.base_url", f"http://127.0.0.1:{port}/v1"), ("providers.local.api", "openai"),
                           ("roles.chat.model", "local/test")):
            home.run("config", "set", key, value, "--quiet")
        command = [home.program, "serve", "--port", "0", "--no-loops", "--json"]
        self.process = subprocess.Popen(command, cwd=home.work, env=home.env, stdout=subprocess.PIPE, text=True)
        json.loads("".join(iter(self.process.stdout.readline, "}\n")) + "}")

    def answer(self, *turns):
        (self.folder / "script.json").write_text(json.dumps(list(turns)))
        (self.folder / "mode").write_text("script")

    @staticmethod
    def wait_for_file(path):
        until = time.monotonic() + 10
        while time.monotonic() < until:
            if path.exists() and (text := path.read_text().strip()):
                return text
            time.sleep(0.01)
        raise AssertionError(f"{path} was not written")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def close(self):
        for process in (self.process, self.model):
            process.kill()
            process.wait()


@case
def server(project, check):
    home = project()
    server = Server(home)
    home.opened.append(server)
    server.answer({"text": "I went on without you.", "seconds": 2})
    screen = home.open("--policy", "full")
    screen.wait_for("Enter sends")
    send(screen, "Take your time")
    screen.wait_for("working")
    screen.keys("C-c", "C-c")
    screen.wait_for("The agent keeps working in the server.")
    screen.wait_for("left with 0")
    again = home.open("--resume")
    again.wait_for("I went on without you.")
    again.wait_for("Done in TIME")
    server.answer({"text": "Nobody will hear this.", "seconds": 60})
    send(again, "And once more")
    again.wait_for("working")
    server.kill()
    again.wait_for("The connection to the agent was lost")
    check("gone", again)
    send(again, "/quit")
    again.wait_for("left with 0")
    server.answer({"text": "Here I am, without a server."})
    last = home.open("--resume")
    last.wait_for("Enter sends")
    send(last, "Go on")
    last.wait_for("Here I am, without a server.")
    last.wait_for("Done in TIME")
    check("resumed", last)


@case
def streaming(project, check):
    long = " ".join(f"word {n}" for n in range(1, 301))
    screen = project().chat(calls(("file_read", {"path": "lib.rs"}), say=ANSWER, word_ms=10), say(long, word_ms=5))
    send(screen, "Go")
    screen.wait_for("The last token")
    screen.type("typed while it streams")
    screen.wait_for("> typed while it streams")
    screen.wait_for("word 300")
    screen.wait_for("Done in TIME")
    screen.keys("C-u")
    check("done", screen)
    screen.keys("C-Home")
    check("beginning", screen)


@case
def approval(project, check):
    home = project()
    make = program("mkdir", "-p", "made")
    screen = home.chat(
        calls(edit()),
        calls(edit("a + b", "a * b"), **told("lib.rs")),
        calls(program("rm", "-rf", "src"), **told("keep it")),
        calls(make, **told("declined")),
        calls(make, **told("exit code 0")),
        say("That is all.", **told("exit code 0")))
    send(screen, "Mend it")
    screen.wait_for("y once")
    check("change", screen)
    assert home.read("lib.rs") == CODE
    screen.keys("y")
    screen.wait_for("+fn add(a: i32, b: i32) -> i32 { a * b }")
    assert "a + b" in home.read("lib.rs")
    screen.wait_for("y once")
    screen.keys("e")
    screen.wait_for("Reason for rejecting")
    screen.type("keep it")
    check("reason", screen)
    screen.keys("Enter")
    screen.wait_for("$ rm -rf src")
    screen.wait_for("y once")
    screen.keys("n")
    screen.wait_for("$ mkdir -p made")
    assert not (home.work / "made").exists()
    screen.wait_for("y once")
    screen.keys("s")
    # The second time it is not asked for.
    screen.wait_for("That is all.")
    screen.wait_for("Done in TIME")
    check("done", screen)
    assert "a + b" in home.read("lib.rs") and (home.work / "made").exists()


@case
def abort(project, check):
    n_tries = 5
    hang = [say(f"Try {n} begins. And more", hang=True) for n in range(1, n_tries + 1)]
    screen = project().chat(*hang, calls(program("sleep", "600")), args=["--policy", "full"], size=(80, 60))
    taken, letters = [], []
    for n in range(1, n_tries + 1):
        send(screen, f"Go {n}")
        screen.wait_for(f"Try {n} begins.")
        begun = time.monotonic()
        screen.type("§")
        screen.wait_for("> §")
        letters.append((time.monotonic() - begun) * 1000)
        screen.keys("C-u")
        screen.wait_until(lambda text: "§" not in text, "an empty input")
        begun = time.monotonic()
        screen.keys("Escape")
        screen.wait_until(lambda text: text.count("Stopped.") == n, "the end")
        taken.append((time.monotonic() - begun) * 1000)
    shown = [", ".join(f"{ms:.0f}" for ms in times) for times in (taken, letters)]
    check.tell(f"Esc to `Stopped.`: {shown[0]} ms; a letter to its frame: {shown[1]} ms; both with tmux")
    assert statistics.median(taken) - statistics.median(letters) <= MAX_ABORT_MS, (taken, letters)
    check("stopped", screen)
    send(screen, "Run it")
    screen.wait_for("sleep 600")
    begun = time.monotonic()
    screen.keys("Escape")
    screen.wait_until(lambda text: text.count("Stopped.") == n_tries + 1, "the end")
    check.tell(f"the same while a program runs: {(time.monotonic() - begun) * 1000:.0f} ms")
    screen.wait_for("Enter sends")


@case
def resize(project, check):
    paragraph = "A longer paragraph that has to be broken again. " * 12
    screen = project().chat(calls(("file_read", {"path": "lib.rs"}), say=ANSWER), say(paragraph, word_ms=10))
    send(screen, "Go")
    screen.wait_for("A longer")
    for columns, rows in [(40, 15), (120, 40), (60, 20)]:
        screen.resize(columns, rows)
    screen.wait_for("Done in TIME")
    for columns, rows in [(40, 15), (120, 40), (20, 6), (80, 24)]:
        screen.resize(columns, rows)
        check(f"{columns}x{rows}", screen)


@case
def long_output(project, check):
    screen = project().chat(calls(program("seq", "10000")), say("Counted.", **told("10000")), args=["--policy", "full"])
    send(screen, "Count")
    screen.wait_for("Done in TIME")
    screen.keys("C-o", "Enter")
    check("unfolded", screen)
    screen.keys("End")
    check("end", screen)


@case
def wide(project, check):
    home = project()
    home.write("table.txt", "表 🙂 ok\n" * 3)
    text = ("日本語のとても長い文章がここで折り返されます。これは幅の広い文字です。 🙂🙂🙂 café naïve ❤️ 한국어 end\n\n"
            "| 名前 | n |\n|---|---|\n| 日本 | 1 |\n")
    screen = home.chat(calls(program("cat", "table.txt"), say=text), say("終わり。"), args=["--policy", "full"], size=(50, 30))
    send(screen, "日本?")
    screen.wait_for("Done in TIME")
    screen.keys("C-o", "Enter")
    check("wide", screen)
    screen.keys("Escape")
    # A letter that comes together with Esc would be Alt and the letter.
    screen.wait_until(lambda text: "▌" not in text, "the list without its mark")
    screen.type("日本語 🙂 text")
    screen.keys("Left", "Left", "Left", "Left", "Left", "BSpace")
    check("typed", screen)


@case
def hostile(project, check):
    evil = "\x1b[31mred\x1b[0m \x1b[2J\x1b[H\x1b]0;owned\x07\x1b[?1049l\x1bc \x9b2J \u202eevil\u202c a\rb\x08\x7f"
    home = project()
    home.write("evil.txt", evil + "\n")
    checklist = ("checklist_set", {"items": [{"id": "1", "label": evil}]})
    screen = home.chat(calls(program("cat", "evil.txt"), checklist, say="Model says " + evil), say("Done " + evil),
                       args=["--policy", "full"], size=(80, 36))
    title = screen.tmux("display-message", "-p", "#{pane_title}")
    send(screen, "Go")
    screen.wait_for("Done in TIME")
    screen.keys("C-o", "Enter")
    check("hostile", screen)
    assert screen.tmux("display-message", "-p", "#{pane_title}") == title
    assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"


@case
def undo(project, check):
    home = project()
    home.write("src/keep.txt", "kept\r\nwithout an end")
    (home.work / "run.sh").write_text("#!/bin/sh\necho changed > src/keep.txt\nrm lib.rs\necho new > made.txt\n")
    (home.work / "run.sh").chmod(0o755)
    before = home.tree()
    create = ("file_create", {"path": "src/new.rs", "content": "fn new() {}\n"})
    screen = home.chat(calls(edit(), create), calls(program("sh", "run.sh")), say("Done."), args=["--policy", "full"])
    send(screen, "Change much")
    screen.wait_for("Done in TIME")
    assert home.tree() != before
    send(screen, "/undo")
    screen.wait_for("Taken back")
    check("taken-back", screen)
    assert home.tree() == before, (before, home.tree())


@case
def queue(project, check):
    home = project()
    home.write("wait.sh", "until [ -e go ]; do sleep 0.05; done\necho gone\n")
    screen = home.chat(calls(program("sh", "wait.sh")), say("As you wish.", **told("the other way")),
                       say("That was next.", **told("next one")), args=["--policy", "full"])
    send(screen, "Go")
    screen.wait_for("sh wait.sh")
    send(screen, "next one")
    screen.wait_for("queued 1: next one")
    screen.type("the other way")
    screen.keys("C-s")
    screen.wait_for("Sent: the agent receives it")
    home.write("go", "")
    screen.wait_for("» the other way")
    screen.wait_for("That was next.")
    screen.wait_for("Done in TIME", times=2)
    check("both", screen, lambda text: re.sub(r"^ (Sent: the agent receives it with its next step|Enter sends.*/help) +", " ... ", text, flags=re.M))


@case
def leaving(project, check):
    home = project()
    screen = home.chat(say("It is kept."))
    send(screen, "Keep this")
    screen.wait_for("It is kept.")
    screen.wait_for("Done in TIME")
    screen.type("words")
    screen.keys("C-c")
    screen.wait_for("Ctrl-C again leaves")
    screen.keys("C-c")
    screen.wait_for("left with 0")
    assert "nacre chat --resume" in screen.text(), screen.text()
    assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
    assert "-icanon" not in screen.wait_for("icanon")
    again = home.chat(say("And it goes on.", **told("Still here?")), args=["--resume"])
    again.wait_for("It is kept.")
    send(again, "Still here?")
    again.wait_for("And it goes on.")
    again.wait_for("Done in TIME")
    check("resumed", again)
