//! Checks repository rules that the compiler cannot check.

mod circles;
mod cli;
mod modules;
mod orphans;
mod paths;
mod ratchets;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use self::modules::Modules;
use crate::home::{repository, walk};

/// The modules that each top-level module may import from its own crate. There may be no other
/// top-level modules.
const ARROWS: &[(&str, &str, &[&str])] = &[
    ("nacre-base", "platform", &[]),
    ("nacre-base", "git", &["platform"]),
    ("nacre-base", "redact", &[]),
    ("nacre-base", "fs", &["platform"]),
    ("nacre-base", "config", &["fs", "git", "redact"]),
    ("nacre-traces", "agent_config", &[]),
    ("nacre-traces", "instructions", &[]),
    ("nacre-traces", "transcript", &["instructions"]),
    ("nacre-traces", "agents", &["agent_config", "transcript"]),
    ("nacre-traces", "catalog", &["agents", "transcript"]),
    ("nacre-memory", "document", &[]),
    ("nacre-memory", "policy", &[]),
    ("nacre-memory", "search", &[]),
    ("nacre-memory", "recall", &["policy", "search"]),
    ("nacre-map", "languages", &[]),
    ("nacre-map", "words", &[]),
    ("nacre-map", "artifact", &["languages", "words"]),
    ("nacre-map", "resolve", &["artifact", "languages", "shares"]),
    ("nacre-map", "shares", &[]),
    ("nacre-map", "indexer", &["artifact", "languages", "resolve", "shares", "words"]),
    ("nacre-map", "slices", &["artifact", "languages", "resolve", "shares", "words"]),
    ("nacre-map", "search", &["languages", "shares", "slices", "words"]),
    ("nacre-map", "watch", &["artifact", "indexer"]),
    ("nacre-engine", "model", &[]),
    ("nacre-engine", "proof", &[]),
    ("nacre-engine", "record", &["model"]),
    ("nacre-engine", "remote", &["model"]),
    ("nacre-engine", "confine", &["model"]),
    ("nacre-engine", "tools", &["confine", "model", "record"]),
    ("nacre-engine", "lifecycle", &["model", "record", "tools"]),
    ("nacre-engine", "agents", &["confine", "lifecycle", "model", "proof", "record", "tools"]),
    ("nacre-engine", "flows", &["agents", "lifecycle", "proof", "record", "tools"]),
    ("nacre-team", "people", &[]),
    ("nacre-team", "postgres", &["people"]),
    ("nacre-types", "chat", &["crate"]),
    ("nacre-types", "map", &["crate"]),
    ("nacre-ops", "ask", &["host", "memory"]),
    ("nacre-ops", "chat", &["host", "memory", "run", "sync"]),
    ("nacre-ops", "connect", &["hook", "host", "run"]),
    ("nacre-ops", "hook", &["host"]),
    ("nacre-ops", "host", &[]),
    ("nacre-ops", "import", &["host", "memory", "run", "sync"]),
    ("nacre-ops", "index", &["host"]),
    ("nacre-ops", "maintain", &["host", "run", "sync", "undo"]),
    ("nacre-ops", "map", &["host"]),
    ("nacre-ops", "memory", &["host", "run", "sync"]),
    ("nacre-ops", "report", &["host", "run"]),
    ("nacre-ops", "review", &["host", "memory"]),
    ("nacre-ops", "run", &["host", "sync"]),
    ("nacre-ops", "service", &["hook", "host", "map"]),
    ("nacre-ops", "sync", &["host", "run"]),
    ("nacre-ops", "team", &["host", "report", "run"]),
    ("nacre-ops", "undo", &["connect", "host", "maintain", "run"]),
    ("nacre-server", "daemon", &[]),
    ("nacre-server", "control", &[]),
    ("nacre-server", "http", &["daemon", "mcp", "rpc"]),
    ("nacre-server", "mcp", &[]),
    ("nacre-server", "rpc", &[]),
    ("nacre", "acp", &[]),
    ("nacre", "cli", &["acp", "hook", "tui"]),
    ("nacre", "hook", &[]),
    ("nacre", "tui", &[]),
];

/// The workspace crates that each crate may import.
const CRATES: &[(&str, &[&str])] = &[
    ("nacre-types", &[]),
    ("nacre-base", &["nacre-types"]),
    ("nacre-traces", &["nacre-base", "nacre-types"]),
    ("nacre-memory", &["nacre-base", "nacre-traces", "nacre-types"]),
    ("nacre-map", &["nacre-base", "nacre-memory", "nacre-types"]),
    ("nacre-engine", &["nacre-base", "nacre-map", "nacre-memory", "nacre-traces", "nacre-types"]),
    ("nacre-team", &["nacre-base", "nacre-engine", "nacre-memory", "nacre-traces", "nacre-types"]),
    (
        "nacre-ops",
        &[
            "nacre-base",
            "nacre-engine",
            "nacre-map",
            "nacre-memory",
            "nacre-team",
            "nacre-traces",
            "nacre-types",
        ],
    ),
    ("nacre-server", &["nacre-ops", "nacre-types"]),
    (
        "nacre-lab",
        &[
            "nacre-base",
            "nacre-engine",
            "nacre-map",
            "nacre-memory",
            "nacre-ops",
            "nacre-server",
            "nacre-team",
            "nacre-traces",
            "nacre-types",
        ],
    ),
    (
        "nacre",
        &[
            "nacre-base",
            "nacre-engine",
            "nacre-map",
            "nacre-memory",
            "nacre-ops",
            "nacre-server",
            // This crate's tests start a real database.
            "nacre-team",
            "nacre-traces",
            "nacre-types",
        ],
    ),
];

/// Maximum length of a source file. Longer files are too hard to read.
const MAX_LINES: usize = 600;

/// Data tables may be longer.
const DATA_TABLES: &[&str] = &[];

/// Maximum size of a tracked file. Large files would stay in the Git history forever.
const MAX_TRACKED_BYTES: u64 = 500_000;

/// Assets that may be larger.
const ASSETS: &[&str] =
    &["crates/nacre-memory/assets/embedding.bin", "crates/nacre-memory/assets/thesaurus.bin"];

#[test]
fn every_file_opens_with_its_purpose() {
    let silent: Vec<PathBuf> =
        sources().into_iter().filter(|path| !read(path).starts_with("//! ")).collect();
    assert!(silent.is_empty(), "Start these files with one `//!` sentence: {silent:#?}");
}

#[test]
fn no_file_is_too_long_to_read() {
    let is_table = |path: &Path| DATA_TABLES.iter().any(|table| path.ends_with(table));
    let long: BTreeMap<PathBuf, usize> = sources()
        .into_iter()
        .filter(|path| !is_table(path))
        .map(|path| (path.clone(), read(&path).lines().count()))
        .filter(|(_, n_lines)| MAX_LINES < *n_lines)
        .collect();
    assert!(long.is_empty(), "Split these files by topic: {long:#?}");
}

#[test]
fn every_room_is_listed() {
    for path in sources() {
        let Some((crate_name, room)) = room_of(&path) else { continue };
        // The lab's programs are independent of each other.
        if crate_name == "nacre-lab" {
            continue;
        }
        let is_listed = ARROWS.iter().any(|(of, name, _)| *of == crate_name && *name == room);
        assert!(is_listed, "Add room `{room}` of {crate_name} to ARROWS");
    }
}

#[test]
fn rooms_know_only_the_rooms_below() {
    let mut wrong = BTreeSet::new();
    let mut n_arrows = 0;
    for (crate_name, modules) in crates() {
        let below: BTreeMap<&str, &[&str]> = ARROWS
            .iter()
            .filter(|(of, ..)| *of == crate_name)
            .map(|(_, room, below)| (*room, *below))
            .collect();
        for arrow in modules.arrows() {
            let Some((room, below_room)) =
                arrow.from.first().and_then(|name| below.get_key_value(name.as_str()))
            else {
                continue;
            };
            n_arrows += 1;
            let other = arrow.to.first().map_or("crate", String::as_str);
            let is_room = other == "crate" || below.contains_key(other);
            if is_room && other != *room && !below_room.contains(&other) {
                wrong
                    .insert(format!("{}: {room} -> {other}", modules.files[&arrow.from].display()));
            }
        }
    }
    assert!(n_arrows > 1000, "the arrows were not found");
    assert!(wrong.is_empty(), "Arrows point down only: {wrong:#?}");
}

#[test]
fn crates_know_only_the_crates_below() {
    let mut seen = BTreeSet::new();
    for entry in fs::read_dir(repository().join("crates")).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let manifest = read(&folder.join("Cargo.toml"));
        let (_, below) = CRATES
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("Add {name} to CRATES"));
        for line in manifest.lines().filter(|line| line.starts_with("nacre-")) {
            let other = line.split(['.', ' ', '=']).next().unwrap_or_default();
            assert!(below.contains(&other), "{name} may not depend on {other}");
        }
        seen.insert(name);
    }
    assert_eq!(seen.len(), CRATES.len(), "CRATES lists a crate that is gone: {seen:?}");
}

#[test]
fn documents_name_only_what_exists() {
    let mut wrong = Vec::new();
    for document in documents() {
        for (line, path) in find_named_paths(&read(&document)) {
            if !repository().join(path.trim_end_matches('/')).exists() {
                wrong.push(format!("{}:{line}: `{path}`", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "These paths do not exist: {wrong:#?}");
}

#[test]
fn the_architecture_lists_every_room() {
    let architecture = read(&repository().join("ARCHITECTURE.md"));
    let mut named = BTreeSet::new();
    let mut crate_name = String::new();
    for row in architecture.lines().filter(|line| line.starts_with('|')) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let names = |cell: &str| find_quoted(cell).map(str::to_owned).collect::<Vec<_>>();
        if let Some(name) = names(cells[1]).pop().filter(|name| name.starts_with("nacre")) {
            crate_name = name;
        } else if !cells[1].is_empty() {
            continue;
        }
        named.extend(names(cells[2]).into_iter().map(|room| (crate_name.clone(), room)));
    }
    let missing: Vec<_> = ARROWS
        .iter()
        .filter(|(of, room, _)| !named.contains(&((*of).to_owned(), (*room).to_owned())))
        .collect();
    assert!(missing.is_empty(), "Add these to the table of ARCHITECTURE.md: {missing:#?}");
}

/// The architecture document is where newcomers look for names. Each file that it names must exist,
/// and each table in "Where to add a thing" (`KEYS`) must be in or next to a file or directory in
/// its row.
#[test]
fn the_architecture_names_files_and_tables_that_exist() {
    let sources = sources();
    let architecture = read(&repository().join("ARCHITECTURE.md"));
    let mut wrong = BTreeSet::new();
    for name in find_quoted(&architecture).filter(|name| name.ends_with(".rs")) {
        if !sources.iter().any(|file| file.ends_with(name)) {
            wrong.insert(format!("File `{name}` not found"));
        }
    }
    let (_, rows) = architecture.split_once("\n## Where to add a thing\n").unwrap();
    for row in rows.lines() {
        let places: Vec<PathBuf> =
            find_named_paths(row).into_iter().map(|(_, path)| repository().join(path)).collect();
        let is_near = |file: &&PathBuf| {
            places.iter().any(|place| file.starts_with(place) || file.parent() == place.parent())
        };
        let is_table = |name: &&str| {
            name.len() > 2 && name.chars().all(|c| c == '_' || c.is_ascii_uppercase())
        };
        for table in find_quoted(row).filter(is_table) {
            let forms = [format!("const {table}:"), format!("static {table}:")];
            let has_it = |file: &PathBuf| forms.iter().any(|form| read(file).contains(form));
            if !sources.iter().filter(is_near).any(has_it) {
                wrong.insert(format!("`{table}` is not where its row says: {row}"));
            }
        }
    }
    assert!(wrong.is_empty(), "ARCHITECTURE.md is behind: {wrong:#?}");
}

/// Git executes commands from a repository's configuration, unless it is started through
/// `base::git`.
#[test]
fn git_is_started_in_one_place() {
    let is_test = |path: &Path| {
        let path = path.to_string_lossy();
        ["/tests", "/nacre-lab/"].iter().any(|part| path.contains(part))
            || path.ends_with("tests.rs")
    };
    let starts: Vec<PathBuf> = sources()
        .into_iter()
        .filter(|path| !is_test(path) && read(path).contains("Command::new(\"git\")"))
        .collect();
    assert!(starts.is_empty(), "Start git by `nacre_base::git`: {starts:#?}");
}

#[test]
fn nothing_heavy_is_tracked() {
    let heavy: Vec<String> = list_tracked()
        .into_iter()
        .filter(|name| !ASSETS.contains(&name.as_str()))
        .filter(|name| {
            fs::metadata(repository().join(name))
                .is_ok_and(|metadata| metadata.len() > MAX_TRACKED_BYTES)
        })
        .collect();
    assert!(heavy.is_empty(), "Too large for git, unless named in ASSETS: {heavy:#?}");
}

#[cfg(unix)]
#[test]
fn the_built_dashboard_is_current() {
    let output = Command::new(repository().join("tools/dashboard-hash.sh")).output().unwrap();
    let hash = String::from_utf8_lossy(&output.stdout);
    let recorded = read(&repository().join("dashboard/dist.hash"));
    assert!(hash == recorded, "dashboard/dist is out of date; run `make dashboard`: {output:?}");
}

/// Returns the crates with rules for their top-level modules, and each crate's modules.
fn crates() -> Vec<(&'static str, Modules)> {
    let names: BTreeSet<&str> = ARROWS.iter().map(|(name, ..)| *name).collect();
    let sources = sources();
    let modules =
        |name: &str| Modules::read(&repository().join("crates").join(name).join("src"), &sources);
    names.into_iter().map(|name| (name, modules(name))).collect()
}

/// Compares findings with the known ones, of which there may only be fewer over time.
fn check_known(found: &BTreeSet<String>, known: &[&str], what: &str, list: &str) {
    let known: BTreeSet<String> = known.iter().map(|name| (*name).to_owned()).collect();
    let new: Vec<&String> = found.difference(&known).collect();
    let gone: Vec<&String> = known.difference(found).collect();
    assert!(
        new.is_empty() && gone.is_empty(),
        "{what}: {new:#?}\nNo longer so, take out of {list}: {gone:#?}"
    );
}

fn room_of(path: &Path) -> Option<(String, String)> {
    let relative = path.strip_prefix(repository().join("crates")).ok()?;
    let mut parts =
        relative.components().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let crate_name = parts.next()?;
    let is_source = parts.next()? == "src";
    let room = parts.next()?;
    (is_source && !room.ends_with(".rs")).then_some((crate_name, room))
}

/// Returns all Rust files of the workspace.
fn sources() -> Vec<PathBuf> {
    let mut files = Vec::new();
    walk(&repository().join("crates"), &mut files);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rs"));
    assert!(files.len() > 30, "the sources were not found");
    files.sort();
    files
}

/// Returns the documents for human readers.
fn documents() -> Vec<PathBuf> {
    let root = repository();
    let mut files = Vec::new();
    walk(&root.join("docs"), &mut files);
    files.retain(|file| file.extension().is_some_and(|extension| extension == "md"));
    files.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    files
}

/// Returns each piece of text between backticks.
fn find_quoted(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// Returns the repository paths that a document puts in backticks or links to, with their line
/// numbers.
fn find_named_paths(text: &str) -> Vec<(usize, String)> {
    const TOP: &[&str] = &["crates/", "docs/", "tools/", ".ci/", "tests/"];
    let mut paths = Vec::new();
    for (idx, line) in text.lines().enumerate() {
        let linked = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for word in find_quoted(line).chain(linked) {
            let path = word.split(['#', ' ', ':']).next().unwrap_or_default();
            let is_path =
                TOP.iter().any(|top| path.starts_with(top)) && !path.contains(['<', '*', '{']);
            if is_path {
                paths.push((idx + 1, path.to_owned()));
            }
        }
    }
    paths
}

/// Returns the files tracked by Git, or all files if Git is not available.
fn list_tracked() -> Vec<String> {
    let output = Command::new("git").args(["ls-files", "-z"]).current_dir(repository()).output();
    let listed = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    listed.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
