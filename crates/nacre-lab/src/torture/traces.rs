//! Shared parts of the trace exercises: a directory of traces, and a home directory that reads it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

use crate::AnyError;
use crate::rng::Rng;
use crate::torture::sandbox::Place;

/// Start time of every exercise, in Unix seconds. It is long after the traces were written.
pub(crate) const START: i64 = 4_000_000_000;

#[derive(Clone, Debug)]
pub(crate) struct Reader {
    pub(crate) place: Place,
    pub(crate) now: i64,
}

impl Reader {
    pub(crate) fn new(root: &Path, nacre: &Path, traces: &Path) -> Result<Self, AnyError> {
        let place = Place::new(root, nacre);
        place.make()?;
        let reader = Self { place, now: START };
        reader.must(&["init"])?;
        reader.must(&["connect", "generic", "--path", &traces.display().to_string()])?;
        Ok(reader)
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.place.command(self.place.nacre());
        let now = jiff::Timestamp::from_second(self.now).map(|now| now.to_string());
        command.args(args).env("NACRE_NOW", now.unwrap_or_default());
        command
    }

    pub(crate) fn run(&self, args: &[&str]) -> Result<Output, AnyError> {
        Ok(self.command(args).output()?)
    }

    pub(crate) fn must(&self, args: &[&str]) -> Result<String, AnyError> {
        let output = self.run(args)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(format!("`nacre {}`: {}", args.join(" "), String::from_utf8_lossy(&output.stderr))
            .into())
    }

    pub(crate) fn json(&self, args: &[&str]) -> Result<Value, AnyError> {
        let args: Vec<&str> = ["--json"].iter().chain(args).copied().collect();
        let output = self.run(&args)?;
        serde_json::from_slice(&output.stdout).map_err(|error| {
            let said = String::from_utf8_lossy(&output.stderr);
            format!("`nacre {}` did not print a JSON object ({error}): {said}", args.join(" "))
                .into()
        })
    }

    pub(crate) fn spawn_sync(&self, more: &[&str]) -> Result<Child, AnyError> {
        let mut command = self.command(&["sync", "--no-extract"]);
        Ok(command.args(more).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    pub(crate) fn catalog(&self) -> PathBuf {
        self.place.root().join("home/.nacre/catalog.sqlite3")
    }

    /// Checks that the totals in `nacre status` add up, and returns the number of known sessions.
    pub(crate) fn n_seen(&self) -> Result<u64, String> {
        let status = self.json(&["status"]).map_err(|error| error.to_string())?;
        let mut n_seen = 0;
        for session in status["sessions"].as_array().into_iter().flatten() {
            let number = |value: &Value| value.as_u64().unwrap_or(u64::MAX / 4);
            let states = session["states"].as_object().into_iter().flatten();
            let n_placed: u64 = states.map(|(_, n_placed)| number(n_placed)).sum();
            if n_placed != number(&session["seen"]) {
                return Err(format!("states add up to {n_placed} sessions: {session}"));
            }
            n_seen += n_placed;
        }
        if status["sessions_add_up"] != true {
            return Err(format!("status reports that the sessions do not add up: {status}"));
        }
        Ok(n_seen)
    }
}

/// Returns the catalog rows that do not depend on how often reading was interrupted.
pub(crate) fn rows(catalog: &Path) -> Result<Vec<String>, AnyError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(catalog, flags)?;
    let check: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    let mut rows = vec![check];
    for sql in [
        "SELECT s.agent || ' ' || s.session_id || ' ' || s.facts || ' ' || j.state || ' ' || coalesce(j.reason, '')
           || ' ' || j.attempts FROM session s LEFT JOIN job j ON j.session = s.id ORDER BY 1",
        "SELECT s.session_id || ' ' || m.sequence || ' ' || m.kind || ' ' || m.text
           FROM message m JOIN session s ON s.id = m.session ORDER BY s.session_id, m.sequence, m.id",
        "SELECT count(*) || ' of ' || (SELECT count(*) FROM job) FROM session",
        "SELECT count(*) FROM message WHERE text LIKE '%talk%'",
    ] {
        let mut statement = connection.prepare(sql)?;
        let found = statement.query_map([], |row| {
            row.get::<_, String>(0).or_else(|_| row.get::<_, i64>(0).map(|n| n.to_string()))
        })?;
        for row in found {
            rows.push(row?);
        }
    }
    Ok(rows)
}

pub(crate) fn header(id: &str, cwd: &Path) -> String {
    format!(
        "{}\n",
        json!({ "type": "session", "version": 1, "id": id, "cwd": cwd, "title": format!("Talk {id}") })
    )
}

pub(crate) fn said(rng: &mut Rng) -> String {
    let text = format!("talk of {:x} and {:x}", rng.next(), rng.next());
    format!("{}\n", json!({ "type": "user", "text": text, "time": "2026-11-01T10:00:00Z" }))
}

pub(crate) fn fill(folder: &Path, cwd: &Path, n: usize, rng: &mut Rng) -> Result<(), AnyError> {
    fs::create_dir_all(folder)?;
    for idx in 0..n {
        let id = format!("trace-{idx:05}");
        let mut text = header(&id, cwd);
        for _ in 0..=rng.below(12) {
            text.push_str(&said(rng));
        }
        fs::write(folder.join(format!("{id}.jsonl")), text)?;
    }
    Ok(())
}
