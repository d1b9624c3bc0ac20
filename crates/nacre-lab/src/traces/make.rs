//! Writes synthetic Claude Code and Codex traces for benchmarks.
//!
//! The output is deterministic. The proportions of text, tool results, repeated results, opaque
//! data and metadata match real traces, because they determine how fast a trace can be read.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Outcome;

/// Text and code, in roughly the same ratio as in real sessions.
const LINES: [&str; 14] = [
    "    let report = store.read(&path).map_err(|source| Error::Read { path, source })?;\n",
    "The second test fails because the clock is read twice; I will pass the time in instead.\n",
    "src/queue/claim.rs:118:        if lease.until <= now { return self.take(job, owner); }\n",
    "error[E0502]: cannot borrow `self.jobs` as mutable because it is also borrowed\n",
    "test queue::tests::a_lease_that_ended_is_taken_again ... ok\n",
    "-rw-r--r-- 1 ana staff  18231 Mar  4 16:20 crates/orders/src/invoice.rs\n",
    "export function totalOf(lines: Line[]): number { return lines.reduce((a, b) => a + b.cents, 0); }\n",
    "- Keep the session token out of the log, and keep the cache key short.\n",
    "    \"scripts\": { \"build\": \"tsc -p .\", \"test\": \"vitest run --coverage\" },\n",
    "See https://docs.example.org/orders/api#paths for the format of these paths.\n",
    "\tfor idx, row := range rows { total += row.Cents * int64(row.Count) }\n",
    "commit 4b1d0c2e9f7a8b3c6d5e4f30a1b2c3d4e5f60718 Store amounts of money in whole cents\n",
    "Let me look at how the workers start, then run the migrations once more.\n",
    "  File \"/srv/tidepool/orders/report.py\", line 212, in totals\n",
];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    fn lines(&mut self, count: usize) -> String {
        (0..count).map(|_| LINES[self.below(LINES.len())]).collect()
    }

    fn blob(&mut self, length: usize) -> String {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        (0..length).map(|_| char::from(letters[self.below(letters.len())])).collect()
    }

    fn id(&mut self) -> String {
        let (a, b) = (self.below(usize::MAX), self.below(usize::MAX));
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            a >> 32,
            a & 0xffff,
            b >> 52,
            a >> 16 & 0xfff,
            b & 0xffff_ffff_ffff
        )
    }
}

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Make {
    /// Write a few large traces for each agent
    Speed { folder: PathBuf, megabytes: usize },
    /// Write many small traces
    Many { folder: PathBuf, count: usize },
}

pub(super) fn run(command: &Make) -> Outcome {
    let mut random = Random(88_172_645_463_325_252);
    match command {
        Make::Speed { folder, megabytes } => {
            for (agent, name) in [("claude", ""), ("codex", "rollout-")] {
                fs::create_dir_all(folder.join(agent)).unwrap();
                let mut n_bytes = 0;
                while n_bytes < megabytes * 500_000 {
                    let path = folder.join(agent).join(format!("{name}{}.jsonl", random.id()));
                    n_bytes += write_trace(&path, agent, 60 + random.below(400), &mut random);
                }
            }
        }
        Make::Many { folder, count } => {
            for idx in 0..*count {
                let project = folder.join(format!("-home-ana-work-project-{:03}", idx / 100));
                fs::create_dir_all(&project).unwrap();
                let path = project.join(format!("{}.jsonl", random.id()));
                write_trace(&path, "claude", 1, &mut random);
            }
        }
    }
    Ok(true)
}

fn write_trace(path: &Path, agent: &str, n_turns: usize, random: &mut Random) -> usize {
    let mut out = BufWriter::new(File::create(path).unwrap());
    let session = random.id();
    let mut n_bytes = 0;
    for turn in 0..n_turns {
        let records = if agent == "claude" {
            claude_turn(turn, &session, random)
        } else {
            codex_turn(turn, &session, random)
        };
        for record in records {
            let line = record.to_string();
            n_bytes += line.len() + 1;
            writeln!(out, "{line}").unwrap();
        }
    }
    n_bytes
}

fn claude_turn(turn: usize, session: &str, random: &mut Random) -> Vec<Value> {
    let time = format!("2026-03-04T{:02}:{:02}:10.250Z", turn / 60 % 24, turn % 60);
    let record = |kind: &str, message: Value, random: &mut Random| {
        json!({
            "parentUuid": random.id(), "isSidechain": false, "userType": "external",
            "cwd": "/home/ana/work/tidepool", "sessionId": session, "version": "2.0.31",
            "gitBranch": "main", "type": kind, "message": message, "uuid": random.id(), "timestamp": time,
        })
    };
    let usage = json!({ "input_tokens": 4, "cache_creation_input_tokens": 812, "cache_read_input_tokens": 31_822, "output_tokens": 211 });
    let assistant = |content: Value, random: &mut Random| {
        let message = json!({ "model": "claude-sonnet-4-5", "id": random.id(), "type": "message", "role": "assistant", "content": [content], "usage": usage });
        record("assistant", message, random)
    };
    let mut records = Vec::new();
    if turn.is_multiple_of(8) {
        let words = random.lines(2);
        records.push(record("user", json!({ "role": "user", "content": words }), random));
    }
    let thought =
        json!({ "type": "thinking", "thinking": random.lines(2), "signature": random.blob(600) });
    records.push(assistant(thought, random));
    records.push(assistant(json!({ "type": "text", "text": random.lines(3) }), random));
    let call = random.id();
    let input = json!({ "file_path": "/home/ana/work/tidepool/src/report.rs", "old_string": random.lines(4), "new_string": random.lines(6) });
    records.push(assistant(
        json!({ "type": "tool_use", "id": call, "name": "Edit", "input": input }),
        random,
    ));
    let n_lines = [8, 20, 60, 200][random.below(4)];
    let result = random.lines(n_lines);
    let block = json!({ "tool_use_id": call, "type": "tool_result", "content": result });
    let mut answer = record("user", json!({ "role": "user", "content": [block] }), random);
    // Claude Code stores every result twice, and stores the original file with every edit.
    answer["toolUseResult"] = json!({ "stdout": result, "stderr": "", "originalFile": random.lines(n_lines), "interrupted": false });
    records.push(answer);
    records
}

fn codex_turn(turn: usize, session: &str, random: &mut Random) -> Vec<Value> {
    let time = format!("2026-03-04T{:02}:{:02}:10.250Z", turn / 60 % 24, turn % 60);
    let record =
        |kind: &str, payload: Value| json!({ "timestamp": time, "type": kind, "payload": payload });
    let mut records = Vec::new();
    if turn == 0 {
        let meta = json!({ "id": session, "timestamp": time, "cwd": "/home/ana/work/tidepool", "originator": "codex_cli_rs", "cli_version": "0.46.0", "instructions": random.lines(120) });
        records.push(record("session_meta", meta));
    }
    if turn.is_multiple_of(8) {
        let words = random.lines(2);
        let content = json!([{ "type": "input_text", "text": words }]);
        records.push(record(
            "response_item",
            json!({ "type": "message", "role": "user", "content": content }),
        ));
        records.push(record(
            "event_msg",
            json!({ "type": "user_message", "message": words, "kind": "plain" }),
        ));
        let context = json!({ "cwd": "/home/ana/work/tidepool", "approval_policy": "on-request", "model": "gpt-5-codex", "effort": "medium", "summary": "auto" });
        records.push(record("turn_context", context));
    }
    let summary = random.lines(1);
    records.push(record("event_msg", json!({ "type": "agent_reasoning", "text": summary })));
    let thought = json!({ "type": "reasoning", "summary": [{ "type": "summary_text", "text": summary }], "content": null, "encrypted_content": random.blob(1200) });
    records.push(record("response_item", thought));
    let call = random.id();
    let arguments = json!({ "command": ["bash", "-lc", random.lines(3)], "workdir": "/home/ana/work/tidepool" }).to_string();
    records.push(record("response_item", json!({ "type": "function_call", "name": "shell", "arguments": arguments, "call_id": call })));
    let n_lines = [8, 20, 60, 120][random.below(4)];
    let output = json!({ "output": random.lines(n_lines), "metadata": { "exit_code": 0, "duration_seconds": 0.3 } });
    records.push(record(
        "response_item",
        json!({ "type": "function_call_output", "call_id": call, "output": output.to_string() }),
    ));
    let usage = json!({ "input_tokens": 31_822, "cached_input_tokens": 30_080, "output_tokens": 211, "reasoning_output_tokens": 128, "total_tokens": 32_033 });
    let info = json!({ "total_token_usage": usage, "last_token_usage": usage, "model_context_window": 272_000 });
    records.push(record("event_msg", json!({ "type": "token_count", "info": info, "rate_limits": { "primary": { "used_percent": 11.0, "window_minutes": 299 } } })));
    if turn % 4 == 3 {
        let words = random.lines(4);
        let content = json!([{ "type": "output_text", "text": words }]);
        records.push(record("event_msg", json!({ "type": "agent_message", "message": words })));
        records.push(record(
            "response_item",
            json!({ "type": "message", "role": "assistant", "content": content }),
        ));
    }
    records
}
