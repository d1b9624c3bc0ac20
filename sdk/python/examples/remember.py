"""Adds a memory, finds it, asks a question and follows the answer.

    python examples/remember.py PROJECT
"""

from __future__ import annotations

import sys

import nacre


def main(project: str) -> int:
    with nacre.Client(project=project) as client:
        added = client.memories.add("Use tabs in Makefiles", body="Make accepts nothing else.", type="decision")
        print(f"added {added['id']}")

        for entry in client.memories.list(type="decision", limit=5)["memories"]:
            print(f"  {entry['id']}  {entry['title']}")

        task = client.ask("What do Makefiles need?", no_model=True)
        for event in task.events():
            if event["event"] == "sentence":
                print(event["text"], end="", flush=True)
        report = task.report(timeout=60)
        print(report.get("answer") or "no answer")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2]))
    except nacre.NacreError as error:
        sys.exit(f"error: {error}")
