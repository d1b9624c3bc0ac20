#!/usr/bin/env python3
"""Turns labelled prompts into the data set folders that `nacre-lab eval hook --dataset` measures.

Usage: crates/nacre-lab/scripts/prompts-dataset.py [--merged] [--bare] FOLDER-OR-FILE... OUT

Each input is a JSON file, or a folder of them, with one project: {"name", "about", "memories": [{"slug", "type", "title", "body", "applies"}],
"prompts": [{"prompt", "want": [slugs]}]}. `type` is `decision`, `learning` or a kind of learning such as `pitfall`.
OUT gets one folder a project with `.nacre/memory/` and `prompts.jsonl`. A project that OUT already has is replaced. What is not
valid (an unknown slug, two memories of one slug, a prompt without text) ends the program with a message. With --merged each
folder has the memories of all projects: what a larger store changes. With --bare memories do not say when they apply, like those that
were written without a model.
"""

import json
import re
import shutil
import sys
from datetime import date, timedelta
from pathlib import Path

FIRST_DAY = date(2026, 3, 2)
KINDS = ("insight", "procedure", "pitfall", "friction", "preference", "convention", "context")


def fail(message):
    sys.exit(f"prompts-dataset: {message}")


def inputs(paths):
    for path in map(Path, paths):
        yield from sorted(path.glob("*.json")) if path.is_dir() else [path]


def identifier(slug, number):
    return f"{FIRST_DAY + timedelta(days=number):%Y%m%d}-{slug}"


def memory_file(memory, id, number):
    """The memory as Nacre writes it; a JSON string is a valid YAML string."""
    day = f"{FIRST_DAY + timedelta(days=number):%Y-%m-%d}T09:00:00Z"
    lines = [f"id: {id}", f"title: {json.dumps(memory['title'], ensure_ascii=False)}", f"created: {day}", f"updated: {day}",
             "source: human", "confidence: 0.9", "tags: []", "related: []", "status: active"]
    if memory["type"] != "decision":
        kind = memory.get("kind") or (memory["type"] if memory["type"] in KINDS else "insight")
        lines.append(f"kind: {kind}")
    if memory.get("applies") and "--bare" not in sys.argv:
        lines.append(f"applies: {json.dumps(memory['applies'], ensure_ascii=False)}")
    return "---\n" + "\n".join(lines) + f"\n---\n\n{memory['body'].strip()}\n"


def folder_of(memory, where):
    if memory["type"] == "decision":
        return "decisions"
    if memory["type"] == "learning" or memory["type"] in KINDS:
        return "learnings"
    fail(f"{where}: `{memory['slug']}` has the unknown type `{memory['type']}`")


def convert(source, out, others):
    project = json.loads(source.read_text())
    ids, files = {}, {}
    for other in others:
        for number, memory in enumerate(json.loads(other.read_text())["memories"]):
            id = identifier(f"{other.stem}-{memory['slug']}", number)
            files[f"{folder_of(memory, other)}/{id}.md"] = memory_file(memory, id, number)
    for number, memory in enumerate(project["memories"]):
        slug = memory["slug"]
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", slug) or slug in ids:
            fail(f"{source}: `{slug}` is not a slug, or two memories have it")
        ids[slug] = identifier(slug, number)
        place = f"{folder_of(memory, source)}/{ids[slug]}.md"
        files[place] = memory_file(memory, ids[slug], number)
    lines = []
    for labelled in project["prompts"]:
        unknown = [slug for slug in labelled["want"] if slug not in ids]
        if unknown or not labelled["prompt"].strip():
            fail(f"{source}: the prompt `{labelled['prompt']}` wants {unknown}")
        want = [ids[slug] for slug in labelled["want"]]
        lines.append(json.dumps({"prompt": labelled["prompt"], "want": want}, ensure_ascii=False))
    folder = out / source.stem
    shutil.rmtree(folder, ignore_errors=True)
    for place, text in files.items():
        path = folder / ".nacre" / "memory" / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "prompts.jsonl").write_text("\n".join(lines) + "\n")
    n_fitting = sum(bool(labelled["want"]) for labelled in project["prompts"])
    print(f"{source.stem}: {len(files)} memories, {len(lines)} prompts, {n_fitting} with a fitting memory")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    *sources, out = [argument for argument in sys.argv[1:] if argument not in ("--merged", "--bare")]
    found = list(inputs(sources))
    if not found:
        fail("no JSON file was given")
    for source in found:
        others = [other for other in found if other != source] if "--merged" in sys.argv else []
        convert(source, Path(out), others)


if __name__ == "__main__":
    main()
