#!/usr/bin/env python3
"""Whether the evidence of a memory stands in the agent's own trace:  evidence.py AGENT HOME < memory show --json --evidence

Reads the trace without Nacre: the place of the quote names a session, and that session's trace must hold the words.
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
    assert memory["status"] == "active", "it is not active"
    assert quotes, "it has no quote"
    for quote in quotes:
        assert quote["speaker"] == "user", "the quote is not the person's"
        session = quote["place"].rsplit(":", 1)[0]
        assert any(quote["text"] in text for text in trace(agent, home, session)), f"session {session} does not hold the quote"


main(*sys.argv[1:])
