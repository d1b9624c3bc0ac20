"""The chat screen with an agent that is a script: the program `chat_screen` of the lab (crates/nacre-lab/src/bin/chat_screen/script.rs says what a
script is). Each case is a script and a function that types and looks."""

import json
import re
import tempfile
import time
from pathlib import Path

from terminal import Screen


def opener(program, opened):
    """Opens screens with the example in them."""

    def open_screen(steps, columns=80, rows=24, env=None):
        folder = tempfile.TemporaryDirectory()
        script = Path(folder.name) / "script"
        script.write_text("".join(json.dumps(step) + "\n" for step in steps))
        command = f"{program} {script} {folder.name}/log 2>{folder.name}/stderr"
        opened.append(Screen(command, folder, (columns, rows), env))
        return opened[-1]

    return open_screen


def begin(task="t1", prompt="Go"):
    return [{"wait": "chat.start"}, {"task": task}, {"answer": {"task": task, "session": "s1"}},
            {"say": {"type": "task.accepted", "text": prompt}},
            {"say": {"type": "task.running", "model": "scripted"}}, {"say": {"type": "step", "step": 1}}]


def end():
    usage = {"input": 1200, "output": 34, "context": 2000, "window": 10000, "cost_usd": 0.01}
    return [{"say": {"type": "task.completed", "signal": "done", "reason": None, "text": "", "changed": [],
                     "usage": usage}}]


def tool(text, call="c1", name="run", summary="make test", outcome="done"):
    return [{"say": {"type": "tool.call", "call": call, "tool": name, "summary": summary, "arguments": {}}},
            {"say": {"type": "tool.result", "call": call, "tool": name, "outcome": outcome, "text": text,
                     "duration_ms": 5}}]


ANSWER = "## Found\n\nThe **last** token is dropped:\n\n```rust\nfor t in &all[..n - 1] { take(t); } // one too few\n```\n\n- count to `n`\n- run the tests\n"

CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


@case
def typing(open_screen, check):
    screen = open_screen([{"files": ["src/main.rs", "src/parse.rs"]}])
    screen.wait_for("Enter sends")
    check("first", screen)
    screen.type("Hello wörld 日本")
    screen.keys("M-Enter")
    screen.type("second line")
    screen.keys("C-j")
    screen.type("third @pars")
    screen.wait_for("@src/parse.rs")
    check("completing", screen)
    screen.keys("Tab")
    screen.wait_for("third @src/parse.rs")
    screen.keys("C-a", "C-k", "BSpace", "Home", "C-Right")
    screen.type("!")
    check("edited", screen)
    screen.keys("C-u")
    screen.paste("pasted line\n" * 40)
    screen.wait_for("[pasted 1: 40 lines]")
    screen.keys("Enter")
    sent = screen.wait_for_call("chat.start")["call"]["params"]
    assert sent["attachments"][0]["text"].count("\n") == 40, sent
    screen.wait_for("Hello")
    screen.keys("Up")
    screen.wait_for("[pasted 1: 40 lines]", times=2)


@case
def streaming(open_screen, check):
    pieces = [{"say": {"type": "text", "text": piece}, "every_ms": 3} for piece in re.findall(r"\S+\s*|\s+", ANSWER)]
    long = [{"say": {"type": "text", "text": "word {n} "}, "repeat": 400, "every_ms": 4}]
    screen = open_screen(begin() + pieces + tool("ok") + long + end())
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("count to n")
    screen.type("typed while it streams")
    screen.wait_for("> typed while it streams")
    screen.wait_for("Done in TIME", 20)
    screen.keys("C-u")
    check("done", screen)
    screen.keys("PPage", "PPage")
    check("scrolled", screen)


@case
def approval(open_screen, check):
    diff = "--- a/x.rs\n+++ b/x.rs\n@@ -1,2 +1,2 @@\n-old line\n+new line\n same\n"
    ask = {"say": {"type": "approval.request", "approval": "a1", "call": "c1", "tool": "edit_file",
                   "summary": "Change x.rs", "touches": ["may change x.rs"], "diff": diff, "is_diff_cut": False}}
    run = {"say": {"type": "approval.request", "approval": "a2", "call": "c2", "tool": "run",
                   "summary": "Run a program", "touches": [], "command": "rm -rf build", "is_diff_cut": False}}
    screen = open_screen(begin() + [ask, {"wait": "approval.answer"}, {"answer": {}}, run,
                                    {"wait": "approval.answer"}, {"answer": {}}] + tool("no", outcome="denied") + end())
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("y once")
    check("change", screen)
    screen.keys("y")
    screen.wait_for("$ rm -rf build")
    screen.wait_for("y once")
    screen.keys("e")
    screen.wait_for("Reason for rejecting")
    screen.type("keep it")
    check("reason", screen)
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    answers = [entry["call"]["params"] for entry in screen.log() if entry["call"]["method"] == "approval.answer"]
    assert answers == [{"approval": "a1", "answer": "once"},
                       {"approval": "a2", "answer": "deny", "reason": "keep it"}], answers


@case
def abort(open_screen, check):
    flood = [{"say": {"type": "text", "text": "word {n} "}, "repeat": 300, "every_ms": 3}]
    screen = open_screen(begin() + flood + [{"wait": "chat.abort"}, {"answer": {"task": "t1", "was_running": True}},
                                            {"say": {"type": "task.cancelled", "by": "person"}}])
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("word 20 ")
    before = len(screen.log())
    begun = time.monotonic()
    screen.keys("Escape")
    while len(screen.log()) == before and time.monotonic() - begun < 5:
        time.sleep(0.001)
    taken = time.monotonic() - begun
    assert screen.log()[-1]["call"] == {"method": "chat.abort", "params": {"task": "t1"}}, screen.log()
    check.tell(f"Esc to chat.abort: {taken * 1000:.0f} ms, with starting `tmux send-keys`")
    assert taken < 0.1, f"{taken * 1000:.0f} ms"
    screen.wait_for("Stopped.")
    check("stopped", screen)


@case
def resize(open_screen, check):
    screen = open_screen(begin() + [{"say": {"type": "text", "text": ANSWER + "A longer paragraph that has to be broken anew. " * 4}}]
                         + tool("one\ntwo") + end())
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    for columns, rows in [(40, 15), (120, 40), (20, 6), (80, 24)]:
        screen.resize(columns, rows)
        check(f"{columns}x{rows}", screen)


@case
def long_output(open_screen, check):
    text = "".join(f"line {n}\n" for n in range(10_000))
    screen = open_screen(begin() + tool(text, summary="seq 10000") + end())
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    screen.keys("C-o", "Enter")
    screen.wait_for("line 3")
    check("unfolded", screen)
    begun = time.monotonic()
    screen.keys(*["NPage"] * 52)
    screen.wait_for("8,000 lines cut")
    check.tell(f"52 pages: {(time.monotonic() - begun) * 1000:.0f} ms")
    screen.keys("End")
    screen.wait_for("line 9999")
    check("end", screen)


@case
def wide(open_screen, check):
    text = "日本語のとても長い文章がここで折り返されます。これは幅の広い文字です。 🙂🙂🙂 café naïve ❤️ 한국어 end\n\n| 名前 | n |\n|---|---|\n| 日本 | 1 |\n"
    screen = open_screen(begin(prompt="日本?") + [{"say": {"type": "text", "text": text}}] + tool("表 🙂 ok\n" * 3) + end(), 50, 24)
    screen.wait_for("Enter sends")
    screen.type("日本?")
    screen.keys("Enter")
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
def hostile(open_screen, check):
    evil = "\x1b[31mred\x1b[0m \x1b[2J\x1b[H\x1b]0;owned\x07\x1b[?1049l\x1bc \x9b2J \u202eevil\u202c a\rb\x08\x7f"
    screen = open_screen(begin() + [{"say": {"type": "text", "text": "Model says " + evil}},
                                    {"say": {"type": "notice", "text": evil}},
                                    {"say": {"type": "checklist", "items": [{"id": "1", "label": evil, "state": "pending"}]}}]
                         + tool(evil, name="run" + evil, summary=evil) + end())
    screen.wait_for("Enter sends")
    title = screen.tmux("display-message", "-p", "#{pane_title}")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    screen.keys("C-o", "Enter")
    check("hostile", screen)
    assert screen.tmux("display-message", "-p", "#{pane_title}") == title
    assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"


@case
def leaving(open_screen, check):
    screen = open_screen([])
    screen.wait_for("Enter sends")
    screen.type("words")
    screen.keys("C-c")
    screen.wait_for("Ctrl-C again leaves")
    screen.keys("C-c")
    text = screen.wait_for("left with 0")
    assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
    assert "-icanon" not in screen.wait_for("icanon"), text


@case
def panic(open_screen, check):
    screen = open_screen([{"wait": "session.export"}, {"answer": {"session": "s1", "transcript": "panic"}}])
    screen.wait_for("Enter sends")
    screen.type("/export")
    screen.keys("Enter")
    screen.wait_for("left with 101")
    assert screen.tmux("display-message", "-p", "#{alternate_on}").strip() == "0"
    assert "-icanon" not in screen.wait_for("icanon")
    error = (Path(screen.folder.name) / "stderr").read_text()
    assert "asked for by the script" in error and "\x1b" not in error, error


@case
def memory(open_screen, check):
    notes = [{"id": "mem-1", "title": "The parser counts from one"}, {"id": "mem-2", "title": "Tests run with make"}]
    screen = open_screen(begin() + [{"say": {"type": "memory", "recalled": notes}}] + end())
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    screen.keys("C-g")
    screen.wait_for("Memories in this session: 2")
    screen.keys("Down")
    check("list", screen)
    screen.keys("Enter")
    screen.wait_for("This is mem-2.")
    screen.keys("Escape")
    screen.wait_until(lambda text: "Esc closes" not in text, "the conversation again")
    screen.keys("C-g")
    screen.wait_for("Memories in this session: 2")
    screen.keys("Down", "e")
    screen.wait_for("Memories in this session: 2")
    screen.keys("Escape")
    screen.wait_for("changed mem-2")
    screen.type("still typing")
    check("back", screen)


@case
def queue(open_screen, check):
    steered = [{"wait": "chat.steer"}, {"answer": {}}, {"say": {"type": "steered", "text": "the other way"}}]
    screen = open_screen(begin() + steered + [{"wait": "chat.abort"}, {"answer": {"task": "t1", "was_running": True}},
                                              {"say": {"type": "task.cancelled", "by": "person"}}])
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Ctrl-S steers")
    screen.type("next one")
    screen.keys("Enter")
    screen.wait_for("queued 1: next one")
    screen.type("the other way")
    screen.keys("C-s")
    screen.wait_for("» the other way")
    check("steered", screen, lambda text: re.sub(r"^ Sent: .*", " FLASH", text, flags=re.M))
    screen.keys("M-Up")
    screen.wait_for("> next one")
    screen.keys("Escape")
    screen.wait_for("Stopped.")


@case
def closed(open_screen, check):
    screen = open_screen(begin() + [{"say": {"type": "text", "text": "half a sen"}}, {"close": True}])
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("the connection to the agent was lost")
    check("closed", screen)
    screen.type("/quit")
    screen.keys("Enter")
    screen.wait_for("left with 0")


@case
def no_color(open_screen, check):
    screen = open_screen(begin() + [{"say": {"type": "text", "text": ANSWER}}] + end(), env={"NO_COLOR": "1"})
    screen.wait_for("Enter sends")
    screen.type("Go")
    screen.keys("Enter")
    screen.wait_for("Done in TIME")
    raw = screen.tmux("capture-pane", "-p", "-e")
    colors = re.findall(r"\x1b\[[\d;]*m", raw)
    assert not any(re.search(r"[\[;](3[0-7]|4[0-7]|38|48|9[0-7])[;m]", code) for code in colors), colors
