#!/usr/bin/env python3
"""Checks the evidence of a memory against the agent's own trace:  evidence.py AGENT HOME < memory show --json --evidence

Reads the trace without Nacre: the place of the quote names a session, whose trace must contain the words. The prompts of
`codex exec` may come from a program, so there the memory must be a candidate with the agent's words.
"""
import glob, json, os, sqlite3, sys


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings(item)


def trace(agent, home, session):
    """The texts of a session, as the agent keeps them."""
    if agent == "opencode":
        path = os.path.join(home, ".local/share/opencode/opencode.db")
        with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as base:
            rows = [row[0] for row in base.execute("SELECT data FROM part WHERE session_id = ?", [session])]
    else:
        pattern = f".claude/projects/*/{session}.jsonl" if agent == "claude" else f".codex/sessions/**/*{session}.jsonl"
        rows = [line for path in glob.glob(os.path.join(home, pattern), recursive=True) for line in open(path)]
    return [text for row in rows for text in strings(json.loads(row))]


def main(agent, home):
    shown = json.load(sys.stdin)
    memory = shown.get("memory", shown)
    quotes = [quote for part in (shown, memory) for quote in (part.get("evidence") or {}).get("quotes", [])]
    print(json.dumps(shown, indent=1))
    status, speaker = ("candidate", "assistant") if agent == "codex" else ("active", "user")
    assert memory["status"] == status, f"it is not {status}"
    assert quotes, "it has no quote"
    for quote in quotes:
        assert quote["speaker"] == speaker, f"the speaker is not {speaker}"
        session = quote["place"].rsplit(":", 1)[0]
        assert any(quote["text"] in text for text in trace(agent, home, session)), f"session {session} does not hold the quote"


main(*sys.argv[1:])
