//! Tests the first ten minutes on a terminal, and generates and checks `docs/first-run.md`.
//!
//! `NACRE_WRITE_DOCS=1 cargo nextest run -p nacre first_run` regenerates the page.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::home::{NOW, TestHome, repository};

/// Runs a program in a 100-column terminal, types each answer when its question appears, and prints
/// the output.
const TERMINAL: &str = r#"
import fcntl, json, os, pty, select, struct, sys, termios
steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 100, 0, 0))
    os.execv(sys.argv[2], sys.argv[2:])
out, seen = b"", 0
while select.select([fd], [], [], 60)[0]:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    out += data
    while steps and steps[0][0].encode() in out[seen:]:
        seen = len(out)
        os.write(fd, steps.pop(0)[1].encode())
os.close(fd)
sys.stdout.buffer.write(out)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

const PAGE: &str = "docs/first-run.md";

#[test]
fn the_first_run_is_as_the_page_shows_it() {
    let home = first_home();
    let mut page = String::from(
        "# What does a first run look like?\n\nFollow these steps to try Nacre in your own \
         repository. The output is real: a test generates this\npage in a new home directory, \
         from a repository with six sessions of three agents.\n",
    );
    for (words, args, typed) in [
        ("Set up the repository.", &["init"][..], &[][..]),
        ("Read the sessions.", &["sync"], &[]),
        ("Review the candidates.", &["review"], &[("help? ", "a"), ("help? ", "q")]),
        ("Print the briefing for the next agent.", &["brief"], &[]),
        ("Ask a question.", &["ask", "do we use npm or pnpm?"], &[]),
        ("Undo the last change.", &["undo", "--last"], &[]),
    ] {
        let Some(shown) = on_a_terminal(&home, args, typed) else { return };
        page.push_str(&format!("\n{words}\n\n```console\n$ nacre {}\n{shown}```\n", line(args)));
    }
    let file = repository().join(PAGE);
    if std::env::var_os("NACRE_WRITE_DOCS").is_some() {
        fs::write(&file, &page).unwrap();
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert!(stored == page, "{PAGE} is out of date; it should be:\n{page}");
}

fn line(args: &[&str]) -> String {
    let quoted = |word: &&str| match word.contains(' ') {
        true => format!("\"{word}\""),
        false => (*word).to_owned(),
    };
    args.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Runs a command on a terminal. Returns `None` without Python, which provides the terminal.
fn on_a_terminal(home: &TestHome, args: &[&str], typed: &[(&str, &str)]) -> Option<String> {
    let mut command = Command::new("python3");
    let steps = serde_json::to_string(typed).unwrap();
    command.args(["-c", TERMINAL, &steps, env!("CARGO_BIN_EXE_nacre")]).args(args);
    command.current_dir(home.work()).env_clear().env("HOME", home.root());
    command.env("NACRE_NOW", NOW).env("TERM", "xterm").env("NO_COLOR", "1").env("PATH", path());
    let output = command.output().ok()?;
    let shown = screen(&String::from_utf8_lossy(&output.stdout));
    let root = home.root().display().to_string();
    assert!(output.status.success(), "{shown}{}", String::from_utf8_lossy(&output.stderr));
    Some(masked(&shown.replace(&root, "/home/ana")))
}

/// Returns a `PATH` without the agents on this machine, because `init` would offer to use them.
fn path() -> &'static str {
    "/usr/bin:/bin"
}

/// Masks what differs between runs: the random end of a run id, and the session id, which comes
/// from the session's path.
fn masked(shown: &str) -> String {
    let mut kept = String::new();
    let mut is_session = false;
    for word in shown.split_inclusive(char::is_whitespace) {
        let core = word.trim_end();
        let names = ["sync-2", "review-2", "undo-2", "maintain-2"];
        let is_run = names.iter().any(|start| core.starts_with(start));
        match core.rfind('-').filter(|_| is_run) {
            Some(at) => kept.push_str(&format!("{}-1a2b{}", &core[..at], &word[core.len()..])),
            None if is_session => kept.push_str(&format!("3f1c9a{}", &word[12..])),
            None => kept.push_str(word),
        }
        is_session = core == "--trace";
    }
    kept
}

/// Returns what the terminal shows at the end, without lines that were overwritten.
fn screen(written: &str) -> String {
    let (mut lines, mut row, mut column) = (vec![Vec::<char>::new()], 0_usize, 0_usize);
    let mut rest = written.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => (row, column) = (row + 1, 0),
            '\u{1b}' if rest.next_if_eq(&'[').is_some() => {
                let mut number = String::new();
                let mut end = ' ';
                for c in rest.by_ref() {
                    if c.is_ascii_alphabetic() {
                        end = c;
                        break;
                    }
                    number.push(c);
                }
                let n = number.parse().unwrap_or(1);
                match end {
                    'A' => row = row.saturating_sub(n),
                    'G' => column = n.saturating_sub(1),
                    'K' if number == "2" => lines[row].clear(),
                    'K' => lines[row].truncate(column),
                    'J' => {
                        lines[row].truncate(column);
                        lines.truncate(row + 1);
                    }
                    _ => {}
                }
            }
            c if c.is_control() => {}
            c => {
                let line = &mut lines[row];
                line.resize(line.len().max(column), ' ');
                match line.get_mut(column) {
                    Some(place) => *place = c,
                    None => line.push(c),
                }
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    let text: Vec<String> =
        lines.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned()).collect();
    format!("{}\n", text.join("\n").trim_matches('\n'))
}

/// Creates a home with three agents' sessions, one of which was active recently.
fn first_home() -> TestHome {
    let home = TestHome::empty();
    fs::create_dir_all(home.work().join(".git")).unwrap();
    let folder = home.work().display().to_string().replace(['/', '.'], "-");
    let claude = home.root().join(".claude/projects").join(folder);
    let codex = home.root().join(".codex/sessions/2026/11/10");
    let pi = home.root().join(".pi/agent/sessions/--work--");
    write(&claude.join("c1.jsonl"), &claude_session(&home, "c1", PNPM), 5 * 86_400);
    write(&claude.join("c2.jsonl"), &claude_session(&home, "c2", QUEUE), 4 * 86_400);
    write(&claude.join("c3.jsonl"), &claude_session(&home, "c3", NOTHING), 3 * 86_400);
    write(&claude.join("c4.jsonl"), &claude_session(&home, "c4", NOTHING), 60);
    let name = "rollout-2026-11-10T10-00-00-019d7e30-0000-7000-8000-000000000001.jsonl";
    write(&codex.join(name), &codex_session(&home, TIMES), 5 * 86_400);
    write(&pi.join("2026-11-12T10-00-00-000Z_p1.jsonl"), &pi_session(&home, DEPLOY), 3 * 86_400);
    home
}

fn write(path: &Path, lines: &[Value], age: u64) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let now: jiff::Timestamp = NOW.parse().unwrap();
    let modified = now - Duration::from_secs(age);
    let mut text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    if age < 120 {
        text = text.replace(&time(1), &modified.to_string());
    }
    fs::write(path, text).unwrap();
    let modified = SystemTime::from(modified);
    fs::File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
}

const PNPM: &[&str] = &[
    "Add a health endpoint to the server",
    "I will install the packages with npm install.",
    "no, remember: always use pnpm here, never npm: npm writes a second lock file",
    "Done, used pnpm.",
];
const QUEUE: &[&str] = &[
    "The import job loses rows when the worker restarts",
    "Where should the queue be kept?\n\nA) Redis: fast, one more server\nB) SQLite: one file, no server",
    "B, it is one file to back up",
    "Done: the queue is a table in SQLite now.",
];
const TIMES: &[&str] = &[
    "The report shows the wrong day for users in Auckland",
    "The times are stored in local time.",
    "never store local times in the database, always UTC: we had this bug twice",
    "Understood, all times are stored in UTC.",
];
const DEPLOY: &[&str] = &[
    "Deploy the fix",
    "I pushed to main.",
    "From now on deploy with make ship from the release branch, main is not deployed any more.",
    "Deployed with make ship.",
];
const NOTHING: &[&str] = &["what does this function do?", "It parses the header of a file."];

fn time(n: usize) -> String {
    format!("2026-11-10T10:{n:02}:00.000Z")
}

fn claude_session(home: &TestHome, id: &str, said: &[&str]) -> Vec<Value> {
    let line = |(n, text): (usize, &&str)| {
        let (who, content) = match n % 2 {
            0 => ("user", json!(text)),
            _ => ("assistant", json!([{ "type": "text", "text": text }])),
        };
        let parent = n.checked_sub(1).map(|before| format!("{id}-{before}"));
        json!({ "type": who, "sessionId": id, "uuid": format!("{id}-{n}"), "parentUuid": parent,
            "cwd": home.work(), "timestamp": time(n), "message": { "role": who, "content": content } })
    };
    said.iter().enumerate().map(line).collect()
}

fn codex_session(home: &TestHome, said: &[&str]) -> Vec<Value> {
    let id = "019d7e30-0000-7000-8000-000000000001";
    let item = |n: usize, kind: &str, payload: Value| json!({ "timestamp": time(n), "type": kind, "payload": payload });
    let mut lines = vec![item(
        0,
        "session_meta",
        json!({ "id": id, "cwd": home.work(), "cli_version": "0.118.0" }),
    )];
    for (n, text) in said.iter().enumerate() {
        let (role, block, event) = match n % 2 {
            0 => ("user", "input_text", "user_message"),
            _ => ("assistant", "output_text", "agent_message"),
        };
        let content = json!([{ "type": block, "text": text }]);
        lines.push(item(
            n,
            "response_item",
            json!({ "type": "message", "role": role, "content": content }),
        ));
        lines.push(item(n, "event_msg", json!({ "type": event, "message": text })));
    }
    lines
}

fn pi_session(home: &TestHome, said: &[&str]) -> Vec<Value> {
    let mut lines = vec![
        json!({ "type": "session", "version": 3, "id": "p1", "timestamp": time(0), "cwd": home.work() }),
    ];
    for (n, text) in said.iter().enumerate() {
        let who = if n % 2 == 0 { "user" } else { "assistant" };
        let parent = n.checked_sub(1).map(|before| format!("e{before}"));
        lines.push(json!({ "type": "message", "id": format!("e{n}"), "parentId": parent, "timestamp": time(n),
            "message": { "role": who, "content": [{ "type": "text", "text": text }] } }));
    }
    lines
}

#[test]
fn a_screen_holds_what_was_not_written_over() {
    assert_eq!(screen("one\r\ntwo\r\u{1b}[Kthree\r\n"), "one\nthree\n");
    assert_eq!(screen("a\r\nb\r\n\u{1b}[2A\u{1b}[Jc\r\n"), "c\n");
    assert_eq!(screen("\u{1b}[1mbold\u{1b}[0m x\rB"), "Bold x\n");
}

#[test]
fn names_of_runs_are_masked() {
    assert_eq!(masked("Run: sync-20261115-083000-9f3e\nx"), "Run: sync-20261115-083000-1a2b\nx");
    assert_eq!(masked("sync --trace d4e4b38fa4b5).\n"), "sync --trace 3f1c9a).\n");
}
