#!/usr/bin/env python3
"""Writes the packages of every channel from finished programs.

usage: tools/release.py [--fast] PROGRAMS OUT
       tools/release.py --targets | --version

PROGRAMS has TARGET/nacre for each target (nacre.exe on Windows), completions/ and man/, as tools/dist.sh
writes them. Targets that are missing are left out, and listed. The templates are in tools/release/.

The same inputs give the same bytes. Times are SOURCE_DATE_EPOCH, or else the time of the last commit. --fast
compresses less, for tests.
"""

import base64
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import time
import tomllib
import uuid
import zipfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = ROOT / "tools/release"


class Target(NamedTuple):
    triple: str
    npm: str  # process.platform-process.arch
    wheel: str
    homebrew: str = ""  # the blocks in a formula
    debian: str = ""

    @property
    def program(self):
        return "nacre.exe" if "windows" in self.triple else "nacre"


TARGETS = [
    # The Linux programs are static, so they run with every C library.
    Target("x86_64-unknown-linux-musl", "linux-x64",
           "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64", "linux intel", "amd64"),
    Target("aarch64-unknown-linux-musl", "linux-arm64",
           "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64", "linux arm", "arm64"),
    Target("x86_64-apple-darwin", "darwin-x64", "macosx_10_12_x86_64", "macos intel"),
    Target("aarch64-apple-darwin", "darwin-arm64", "macosx_11_0_arm64", "macos arm"),
    Target("x86_64-pc-windows-gnu", "win32-x64", "win_amd64"),
]  # fmt: skip

WORKSPACE = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
PACKAGE = tomllib.loads((ROOT / "crates/nacre/Cargo.toml").read_text())["package"]
PYTHON = tomllib.loads((ROOT / "sdk/python/pyproject.toml").read_text())["project"]
VERSION, REPOSITORY = WORKSPACE["version"], WORKSPACE["repository"]
DOWNLOADS = f"{REPOSITORY}/releases/download/v{VERSION}"
COMMON = {
    "VERSION": VERSION,
    "REPOSITORY": REPOSITORY,
    "DOWNLOADS": DOWNLOADS,
    "DESCRIPTION": PACKAGE["description"],
    "KEYWORDS": ",".join(WORKSPACE["keywords"]),
    "MAINTAINER": WORKSPACE["authors"][0],
}


def source_date():
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(epoch)
    command = ["git", "log", "-1", "--format=%ct"]
    return int(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)


EPOCH = source_date()
FAST = "--fast" in sys.argv
LEVEL = 1 if FAST else 9


class Entry(NamedTuple):
    """A file in a package."""

    name: str
    data: bytes
    mode: int = 0o644

    def under(self, folder):
        return self._replace(name=f"{folder}/{self.name}")


def fill(template, **values):
    """Returns a template with each @NAME@ replaced."""
    values = COMMON | values
    return re.sub(r"@([A-Z]+)@", lambda match: values[match[1]], (TEMPLATES / template).read_text())


def files(folder, pattern="*"):
    """Returns the files below a folder, in a fixed order."""
    paths = sorted(path for path in folder.rglob(pattern) if path.is_file() and "__pycache__" not in path.parts)
    return [Entry(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]


def tar(entries):
    """Returns a tar file. Directories are listed too, because dpkg needs them."""
    entries = {entry.name: entry for entry in entries}
    folders = {name[: slash.start()] for name in entries for slash in re.finditer("/", name)}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as archive:
        for name in sorted([*entries, *folders]):
            info = tarfile.TarInfo(name)
            info.mtime = EPOCH
            if name in entries:
                info.size, info.mode = len(entries[name].data), entries[name].mode
                archive.addfile(info, io.BytesIO(entries[name].data))
            else:
                info.type, info.mode = tarfile.DIRTYPE, 0o755
                archive.addfile(info)
    return buffer.getvalue()


def tar_gz(entries):
    return gzip.compress(tar(entries), LEVEL, mtime=0)


def zip_file(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for entry in entries:
            info = zipfile.ZipInfo(entry.name, time.gmtime(max(EPOCH, 315532800))[:6])  # zip begins in 1980
            info.create_system, info.external_attr = 3, (0o100000 | entry.mode) << 16
            archive.writestr(info, entry.data, zipfile.ZIP_DEFLATED, LEVEL)
    return buffer.getvalue()


def archive(target, program, documents, share):
    """The archive of the installers, Homebrew and cargo binstall."""
    name = f"nacre-{VERSION}-{target.triple}"
    entries = [entry.under(name) for entry in [program, *documents, *share]]
    if target.program.endswith(".exe"):
        return f"{name}.zip", zip_file(entries)
    return f"{name}.tar.gz", tar_gz(entries)


def wheel(target, program, documents):
    """The program as a script, and the Python SDK."""
    info = f"nacre-{VERSION}.dist-info"
    requirements = "\n".join(f"Requires-Dist: {requirement}" for requirement in PYTHON["dependencies"])
    metadata = fill("METADATA", PYTHON=PYTHON["requires-python"], REQUIREMENTS=requirements,
                    README=(ROOT / "sdk/python/README.md").read_text())  # fmt: skip
    tags = "".join(f"Tag: py3-none-{platform}\n" for platform in target.wheel.split("."))
    about = f"Wheel-Version: 1.0\nGenerator: nacre\nRoot-Is-Purelib: false\n{tags}"
    entries = [
        *files(ROOT / "sdk/python/src"),
        program.under(f"nacre-{VERSION}.data/scripts"),
        Entry(f"{info}/METADATA", metadata.encode()),
        Entry(f"{info}/WHEEL", about.encode()),
        *[entry.under(f"{info}/licenses") for entry in licenses(documents)],
    ]
    record = "".join(
        f"{entry.name},sha256={base64.urlsafe_b64encode(hashlib.sha256(entry.data).digest()).rstrip(b'=').decode()},"
        f"{len(entry.data)}\n"
        for entry in entries
    )
    entries.append(Entry(f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode()))
    return f"nacre-{VERSION}-py3-none-{target.wheel}.whl", zip_file(entries)


def npm_program(target, program, documents):
    """The npm package with the program of one platform."""
    system, cpu = target.npm.split("-")
    package = fill("package.json", NPM=target.npm, OS=system, CPU=cpu)
    entries = [Entry("package.json", package.encode()), program.under("bin"), *licenses(documents)]
    return f"nacre-{target.npm}-{VERSION}.tgz", tar_gz([entry.under("package") for entry in entries])


def npm_main(targets, documents):
    """The npm package that people install: the Node SDK, and a launcher of the platform's program."""
    package = json.loads((ROOT / "sdk/node/package.json").read_text())
    for key in ["scripts", "devDependencies"]:
        del package[key]
    package |= {
        "version": VERSION,
        "description": PACKAGE["description"],
        "keywords": WORKSPACE["keywords"],
        "repository": {"type": "git", "url": f"git+{REPOSITORY}.git"},
        "bin": {"nacre": "bin/nacre.mjs"},
        "files": ["bin", *package["files"]],
        "optionalDependencies": {f"nacre-{target.npm}": VERSION for target in targets},
    }
    entries = [
        Entry("package.json", (json.dumps(package, indent=2) + "\n").encode()),
        Entry("bin/nacre.mjs", (TEMPLATES / "nacre.mjs").read_bytes(), 0o755),
        Entry("README.md", (ROOT / "sdk/node/README.md").read_bytes()),
        *[entry.under("dist") for entry in files(ROOT / "sdk/node/dist")],
        *licenses(documents),
    ]
    return f"nacre-{VERSION}.tgz", tar_gz([entry.under("package") for entry in entries])


def debian(target, program, documents, share):
    """A Debian package, which is an ar archive of two tar files."""
    places = {
        "nacre.bash": "usr/share/bash-completion/completions/nacre",
        "nacre.fish": "usr/share/fish/vendor_completions.d/nacre.fish",
        "nacre.zsh": "usr/share/zsh/vendor-completions/_nacre",
    }
    entries = [program.under("usr/bin"), *[entry.under("usr/share/doc/nacre") for entry in documents]]
    for entry in share:
        name = entry.name.rpartition("/")[2]
        if entry.name.startswith("man/"):
            data = gzip.compress(entry.data, mtime=0)
            entries.append(Entry(f"usr/share/man/man1/{name}.gz", data))
        elif name in places:
            entries.append(entry._replace(name=places[name]))
    sums = "".join(f"{hashlib.md5(entry.data).hexdigest()}  {entry.name}\n" for entry in entries)
    size = sum(len(entry.data) for entry in entries) // 1024
    control = fill("control", ARCHITECTURE=target.debian, KIBIBYTES=str(size))
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz([Entry("control", control.encode()), Entry("md5sums", sums.encode())])),
        ("data.tar.xz", xz(entries)),
    ]
    package = b"!<arch>\n"
    for name, data in members:
        package += f"{name:<16}{EPOCH:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode()
        package += data + b"\n" * (len(data) % 2)
    return f"nacre_{VERSION}_{target.debian}.deb", package


def xz(entries):
    return lzma.compress(tar([entry.under(".") for entry in entries]), preset=0 if FAST else 6)


def formula(archives):
    """The Homebrew formula."""
    blocks = []
    for target, (name, data) in archives.items():
        if target.homebrew:
            system, cpu = target.homebrew.split()
            blocks.append(
                f'  on_{system} do\n    on_{cpu} do\n      url "{DOWNLOADS}/{name}"\n'
                f'      sha256 "{hashlib.sha256(data).hexdigest()}"\n    end\n  end\n'
            )
    return "nacre.rb", fill("nacre.rb", ARCHIVES="\n".join(blocks)).encode()


def components():
    """Returns the crates in the program, and what each uses, for the bill of materials."""
    command = [os.environ.get("CARGO", "cargo"), "metadata", "--locked", "--format-version=1"]
    metadata = json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    uses = {
        node["id"]: [dep["pkg"] for dep in node["deps"] if any(kind["kind"] != "dev" for kind in dep["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
    }
    locked = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in locked}
    root = next(id for id, package in packages.items() if package["name"] == "nacre")
    reached, queue = {root}, [root]
    while queue:
        new = set(uses[queue.pop()]) - reached
        reached |= new
        queue += new
    purl = {id: f"pkg:cargo/{packages[id]['name']}@{packages[id]['version']}" for id in reached}
    rows = []
    for id in sorted(reached, key=purl.get):
        package = packages[id]
        row = {"type": "library", "bom-ref": purl[id], "name": package["name"], "version": package["version"]}
        if license := package["license"]:
            row["licenses"] = [{"expression": license.replace("/", " OR ")}]
        if checksum := checksums[package["name"], package["version"]]:
            row["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        rows.append((id, row | {"purl": purl[id]}))
    main = dict(rows).pop(root) | {"type": "application"}
    return main, [row for id, row in rows if id != root] + npm_components(), [
        {"ref": purl[id], "dependsOn": sorted(purl[used] for used in set(uses[id]))} for id, _ in rows
    ]  # fmt: skip


def npm_components():
    """Returns the packages in the dashboard."""
    locked = json.loads((ROOT / "dashboard/package-lock.json").read_text())["packages"]
    rows = []
    for path, package in locked.items():
        name = path.rpartition("node_modules/")[2]
        # Vite is not in the pages it builds, but Svelte is.
        if name and (not package.get("dev") or name == "svelte"):
            purl = f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"
            row = {"type": "library", "bom-ref": purl, "name": name, "version": package["version"], "purl": purl}
            rows.append(row | {"licenses": [{"expression": package["license"].strip("()")}]})
    return rows


def bill_of_materials():
    """The components of the program, in CycloneDX's format."""
    main, rows, uses = components()
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(EPOCH)), "component": main},
        "components": rows,
        "dependencies": uses,
    }
    name = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(bill))
    bill = {"serialNumber": f"urn:uuid:{name}"} | bill
    return f"nacre-{VERSION}.cdx.json", (json.dumps(bill, indent=1) + "\n").encode()


def licenses(documents):
    return [entry for entry in documents if entry.name.startswith(("LICENSE", "NOTICE"))]


def main():
    if sys.argv[1:] == ["--targets"]:
        print("\n".join(target.triple for target in TARGETS))
        return
    if sys.argv[1:] == ["--version"]:
        print(VERSION)
        return
    paths = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    if len(paths) != 2:
        sys.exit(__doc__)
    programs, out = paths
    documents = [
        Entry(name.rpartition("/")[2], (ROOT / name).read_bytes())
        for name in ["README.md", "CHANGELOG.md", "LICENSE", "LICENSE-APACHE", "LICENSE-MIT",
                     "crates/nacre-memory/assets/NOTICE"]
    ]  # fmt: skip
    share = [entry.under(folder) for folder in ["completions", "man"] for entry in files(programs / folder)]
    if len({entry.name.partition("/")[0] for entry in share}) != 2:
        sys.exit(f"release: {programs} must contain completions/ and man/; run tools/dist.sh")

    written, archives, missing = {}, {}, []
    for target in TARGETS:
        file = programs / target.triple / target.program
        if not file.exists():
            missing.append(target.triple)
            continue
        program = Entry(target.program, file.read_bytes(), 0o755)
        archives[target] = archive(target, program, documents, share)
        packages = [archives[target], wheel(target, program, documents), npm_program(target, program, documents)]
        if target.debian:
            packages.append(debian(target, program, documents, share))
        written |= dict(packages)
    if not archives:
        sys.exit(f"release: {programs} has no programs")
    if (ROOT / "sdk/node/dist").is_dir():
        written |= dict([npm_main(archives, documents)])
    else:
        missing.append("the npm package nacre; run npm ci && npm run build in sdk/node")
    written |= dict([formula(archives), bill_of_materials()])
    for script in ["install.sh", "install.ps1"]:
        written[script] = fill(script).encode()
    written["SHA256SUMS"] = "".join(
        f"{hashlib.sha256(written[name]).hexdigest()}  {name}\n" for name in sorted(written)
    ).encode()

    out.mkdir(parents=True, exist_ok=True)
    old = list(out.iterdir())
    if old and not (out / "SHA256SUMS").exists():
        sys.exit(f"release: {out} contains files, but not a release; nothing was written")
    for path in old:
        path.unlink()
    for name, data in written.items():
        (out / name).write_bytes(data)
        print(f"release: {len(data):>11,} bytes  {name}")
    for name in missing:
        print(f"release: MISSING: {name}")
    if ".example/" in REPOSITORY:
        print("release: `repository` in Cargo.toml is a placeholder; set it before you publish")


main()
