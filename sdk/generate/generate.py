#!/usr/bin/env python3
"""Writes the types and methods of the SDKs from the route table and the wire types.

    sdk/generate/generate.py            write them
    sdk/generate/generate.py --check    fail where a file is not what would be written

The types come from `docs/openapi.json`, and the route table is compared with it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import compare
import python
import typescript
from model import Types, Unsupported, load_schemas
from routes import Table, inputs_and_outputs, load

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def outputs(table: Table, types: Types) -> dict[Path, str]:
    package = ROOT / "sdk" / "python" / "src" / "nacre"
    source = ROOT / "sdk" / "node" / "src" / "generated"
    return {
        package / "types.py": python.types_module(types),
        package / "_sync_api.py": python.api_module(table, types, is_async=False),
        package / "_async_api.py": python.api_module(table, types, is_async=True),
        source / "types.ts": typescript.types_module(types),
        source / "api.ts": typescript.api_module(table, types),
    }


def write(files: dict[Path, str]) -> None:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def stale(files: dict[Path, str]) -> list[Path]:
    return [path for path, text in files.items() if not path.exists() or path.read_text() != text]


def main() -> int:
    parser = argparse.ArgumentParser(description="Write the types and methods of the SDKs.")
    parser.add_argument("--check", action="store_true", help="fail where a file is not what would be written")
    parser.add_argument("--openapi", type=Path, default=ROOT / "docs" / "openapi.json", help="the server's description")
    arguments = parser.parse_args()
    try:
        types = Types(load_schemas(arguments.openapi))
        table = load(HERE / "routes.toml")
        inputs_and_outputs(types, table)
        faults = compare.faults(table, types, arguments.openapi)
    except Unsupported as error:
        faults = [str(error)]
    if faults:
        print("\n".join(f"error: {fault}" for fault in faults), file=sys.stderr)
        return 1
    files = outputs(table, types)
    if not arguments.check:
        write(files)
        return 0
    old = stale(files)
    for path in old:
        print(f"error: {path.relative_to(ROOT)} is stale: run sdk/generate/generate.py", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    sys.exit(main())
