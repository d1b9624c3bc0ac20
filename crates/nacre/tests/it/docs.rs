//! Checks that the generated pages in `docs/`, the README's examples and the demo match the
//! program.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Map, Value, json};

use crate::agents;
use crate::home::{TestHome, repository, walk};

/// If set, the schemas and the README's examples are written instead of checked.
const WRITE: &str = "NACRE_WRITE_DOCS";

/// The current time in the README's examples. Their sessions were last written at
/// `README_SESSIONS`.
const README_NOW: &str = "2026-03-05T09:00:00Z";
const README_SESSIONS: u64 = 1_772_625_600;

#[test]
fn the_schemas_are_current() {
    let file = repository().join("docs/schema.json");
    let derived = serde_json::to_string_pretty(&schema_document()).unwrap() + "\n";
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, derived).unwrap();
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert!(stored == derived, "docs/schema.json is out of date; run `make docs`");
}

/// Builds one document with the schemas of all wire types, each under its name in `$defs`, and the
/// schemas that they refer to.
fn schema_document() -> Value {
    let mut all = Map::new();
    let mut insert = |name: String, schema: Value| {
        let known = all.entry(name.clone()).or_insert_with(|| schema.clone());
        assert_eq!(*known, schema, "two types are called {name}");
    };
    for (name, schema) in nacre_types::schemas() {
        // A recursive type refers to the root of the document.
        let text = schema.to_value().to_string().replace("\"#\"", &format!("\"#/$defs/{name}\""));
        let mut schema: Map<String, Value> = serde_json::from_str(&text).unwrap();
        for key in ["$schema", "title"] {
            schema.remove(key);
        }
        if let Some(Value::Object(inner)) = schema.remove("$defs") {
            inner.into_iter().for_each(|(name, schema)| insert(name, schema));
        }
        insert(name.to_owned(), Value::Object(schema));
    }
    json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": all })
}

#[test]
fn every_wire_type_has_a_schema() {
    let table: BTreeSet<&str> = nacre_types::schemas().into_iter().map(|(name, _)| name).collect();
    let mut sources = Vec::new();
    walk(&repository().join("crates/nacre-types/src"), &mut sources);
    let mut declared = BTreeSet::new();
    for source in sources {
        let text = fs::read_to_string(source).unwrap();
        declared.extend(text.lines().filter_map(declared_type).map(str::to_owned));
    }
    let ends = ["Request", "Report", "Event"];
    declared.retain(|name: &String| ends.iter().any(|end| name.ends_with(end)));
    assert!(declared.len() > 20, "the wire types were not found: {declared:?}");
    declared.retain(|name| !table.contains(name.as_str()));
    assert!(
        declared.is_empty(),
        "Add these to the table of crates/nacre-types/src/schema.rs: {declared:#?}"
    );
}

/// Returns the name of the struct or enum declared on a line.
fn declared_type(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "))?;
    rest.split(|c: char| !c.is_alphanumeric()).next()
}

#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    assert!(readme.lines().count() <= 150);
}

#[test]
fn every_console_block_of_the_readme_is_real() {
    let file = repository().join("README.md");
    let stored = fs::read_to_string(&file).unwrap();
    let home = TestHome::empty();
    let folder = lay_demo_home(&home);
    let printed = replay(&stored, |step| match step {
        Step::Shown(line) => typed(&home, &folder, line),
        Step::Hidden(line) | Step::Now(line) => panic!("the README hides nothing: {line}"),
    });
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, printed).unwrap();
        return;
    }
    let n_commands = stored.lines().filter(|line| line.starts_with("$ nacre ")).count();
    assert!(n_commands > 3, "the commands were not found");
    let (printed, stored) = (without_change_ids(&printed), without_change_ids(&stored));
    let differs = printed.lines().zip(stored.lines()).find(|(new, old)| new != old);
    assert!(printed == stored, "README.md is out of date; run `make docs`: {differs:#?}");
}

#[test]
fn every_console_block_of_the_guide_is_real() {
    let file = repository().join("docs/guide.md");
    let stored = fs::read_to_string(&file).unwrap();
    let home = TestHome::empty();
    let folder = lay_home(&home, "tools/guide-home", 2);
    let mut now = README_NOW.to_owned();
    let printed = replay(&stored, |step| match step {
        Step::Shown(line) => shell(&home, &folder, &now, line).0,
        Step::Hidden(line) => {
            let (shown, is_done) = shell(&home, &folder, &now, line);
            assert!(is_done, "{line}: {shown}");
            String::new()
        }
        Step::Now(time) => {
            time.clone_into(&mut now);
            String::new()
        }
    });
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, printed).unwrap();
        return;
    }
    let n_commands = stored.lines().filter(|line| line.starts_with("$ nacre ")).count();
    assert!(n_commands > 30, "the commands were not found");
    let (printed, stored) = (without_change_ids(&printed), without_change_ids(&stored));
    let differs = printed.lines().zip(stored.lines()).find(|(new, old)| new != old);
    assert!(printed == stored, "docs/guide.md is out of date; run `make docs`: {differs:#?}");
}

#[test]
fn a_document_is_replayed() {
    let document = "Text\n<!-- $ four -->\n<!-- now 5 -->\n```console\n$ one \\\n  two\nold\n$ three\n```\n$ no command\n";
    let mut hidden = Vec::new();
    let printed = replay(document, |step| match step {
        Step::Shown(line) => format!("<{}>\n", line.replace('\n', "|")),
        Step::Hidden(line) | Step::Now(line) => {
            hidden.push(line.to_owned());
            "nothing of it is printed".to_owned()
        }
    });
    assert_eq!(hidden, ["four", "5"]);
    assert_eq!(
        printed,
        "Text\n<!-- $ four -->\n<!-- now 5 -->\n```console\n$ one \\\n  two\n<one \\|  two>\n$ three\n<three>\n```\n$ no command\n"
    );
    let ids = "Run: sync-20260305-090000-7bb6\n(memory-20260305-090000-0a1b2c3d), 20260302-a-b-c";
    let masked = "Run: sync-20260305-090000-ID\n(memory-20260305-090000-ID), 20260302-a-b-c";
    assert_eq!(without_change_ids(ids), masked);
    assert_eq!(
        without_change_ids("54f394477074:1 12:30 a54f39447707:x"),
        "ID:1 12:30 a54f39447707:x"
    );
}

#[test]
fn the_demo_is_short_and_whole() {
    let output = Command::new(repository().join("tools/demo.sh"))
        .arg(env!("CARGO_BIN_EXE_nacre"))
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{shown}{complaint}");
    for step in ["$ nacre sync", "$ nacre ask", "$ nacre brief", "$ nacre hook claude start"] {
        assert!(shown.contains(step), "{step}: {shown}");
    }
    let n_lines = shown.lines().count();
    assert!(n_lines <= 60, "{n_lines} lines: {shown}");
}

/// Copies the sessions in `tools/demo-home` to the directories of three agents. Returns their
/// repository.
fn lay_demo_home(home: &TestHome) -> PathBuf {
    let folder = lay_home(home, "tools/demo-home", 3);
    fs::create_dir_all(folder.join(".git")).unwrap();
    folder
}

/// Copies sample sessions to the agents' directories. Returns the directory that the sessions are
/// from.
fn lay_home(home: &TestHome, samples: &str, n_samples: usize) -> PathBuf {
    let folder = home.root().join("tidepool");
    fs::create_dir_all(&folder).unwrap();
    let samples = repository().join(samples);
    let mut files = Vec::new();
    walk(&samples, &mut files);
    assert_eq!(files.len(), n_samples, "{files:?}");
    for sample in files {
        let place = sample.strip_prefix(&samples).unwrap();
        let path = home.root().join(format!(".{}", place.display()));
        let text = fs::read_to_string(&sample).unwrap();
        agents::write(&path, &text.replace("@REPO@", &folder.to_string_lossy()));
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(README_SESSIONS)).unwrap();
    }
    folder
}

/// Runs a command that must succeed, and returns what a shell would print.
fn typed(home: &TestHome, folder: &Path, line: &str) -> String {
    let (shown, is_done) = shell(home, folder, README_NOW, line);
    assert!(is_done, "{line}: {shown}");
    shown
}

/// Runs a command in a directory as Ana, a user with her own home. Returns what a shell would
/// print, and whether the command succeeded.
fn shell(home: &TestHome, folder: &Path, now: &str, line: &str) -> (String, bool) {
    let program = Path::new(env!("CARGO_BIN_EXE_nacre")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(program).chain(std::env::split_paths(&path));
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {line}\n}} 2>&1")])
        .current_dir(folder)
        .env_clear()
        .env("HOME", home.root())
        .env("NACRE_NOW", now)
        .env("EDITOR", home.root().join("editor"))
        .envs(["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"].map(|name| (name, now)))
        .env("PATH", std::env::join_paths(folders).unwrap())
        .output()
        .unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let shown = shown.replace(&*home.root().to_string_lossy(), "/home/ana");
    (shown, output.status.success())
}

/// A line in a document that has an effect.
enum Step<'l> {
    /// A command in a console block, with its output below.
    Shown(&'l str),
    /// A setup command that readers do not see: `<!-- $ COMMAND -->`.
    Hidden(&'l str),
    /// Sets the current time for the lines that follow: `<!-- now TIME -->`.
    Now(&'l str),
}

impl<'l> Step<'l> {
    fn parse_hidden(line: &'l str) -> Option<Self> {
        let note = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        let hidden = note.strip_prefix("$ ").map(Self::Hidden);
        hidden.or_else(|| note.strip_prefix("now ").map(Self::Now))
    }
}

/// Returns the document with each console command's output replaced by what the command prints now.
fn replay(document: &str, mut run: impl FnMut(Step<'_>) -> String) -> String {
    let mut printed = String::new();
    let mut lines = document.lines();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        let command = line.strip_prefix("$ ").filter(|_| is_console);
        match line {
            "```console" => is_console = true,
            "```" => is_console = false,
            // Skip the stored output.
            _ if is_console && command.is_none() => continue,
            _ => {}
        }
        printed.push_str(line);
        printed.push('\n');
        if let Some(step) = Step::parse_hidden(line) {
            run(step);
        }
        let Some(command) = command else { continue };
        let mut command = command.to_owned();
        while command.ends_with('\\') {
            let more = lines.next().unwrap();
            command.push('\n');
            command.push_str(more);
            printed.push_str(more);
            printed.push('\n');
        }
        printed.push_str(&run(Step::Shown(&command)));
    }
    printed
}

/// Replaces the end of change ids and run ids, which is a hash or process id, with a fixed word.
fn without_change_ids(text: &str) -> String {
    text.split_inclusive(char::is_whitespace).map(without_change_id).collect()
}

fn without_change_id(word: &str) -> String {
    fn is_number(part: &str, len: usize) -> bool {
        part.len() == len && part.bytes().all(|byte| byte.is_ascii_digit())
    }
    let parts: Vec<&str> = word.splitn(4, '-').collect();
    match parts[..] {
        [kind, day, time, last] if is_number(day, 8) && is_number(time, 6) => {
            let rest = last.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
            format!("{kind}-{day}-{time}-ID{rest}")
        }
        _ => without_session(word),
    }
}

/// Replaces a session id, also in a position such as `ID:3`, because it is derived from the path of
/// the session's file.
fn without_session(word: &str) -> String {
    let is_id = |id: &str| id.len() == 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match word.split_once(':') {
        Some((id, place)) if is_id(id) && place.starts_with(|c: char| c.is_ascii_digit()) => {
            format!("ID:{place}")
        }
        None if is_id(word.trim_end()) => format!("ID{}", &word[12..]),
        _ => word.to_owned(),
    }
}
