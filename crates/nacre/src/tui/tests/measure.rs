//! Measures key latency, and how much memory long sessions use.

#![expect(clippy::disallowed_methods, reason = "it measures")]

use std::time::{Duration, Instant};

use ratatui_core::backend::TestBackend;
use ratatui_core::terminal::Terminal;
use serde_json::{Value, json};

use super::play::Play;
use crate::tui::view::view;

/// Maximum time from a key press to its frame, at the 95th percentile.
const KEY_TO_FRAME: Duration = Duration::from_millis(20);

const WORDS: &str = "The `parser` reads **tokens** one by one, and the *last* of them is dropped. ";

/// Opens a session with the given number of items, as if loaded from a server.
fn fill_session(columns: u16, rows: u16, n_items: u64) -> Play {
    let mut play = Play::new(columns, rows);
    let mut session = serde_json::to_value(super::play::session()).unwrap();
    session["items"] = json!(n_items);
    play.keys("/resume<Enter>");
    play.answer(json!({"session": session}));
    let items: Vec<Value> = (1..=n_items).map(item).collect();
    play.answer(json!({"session": session, "items": items, "more": false}));
    play
}

fn item(n: u64) -> Value {
    let kind = match n % 4 {
        0 => json!({"kind": "user", "text": WORDS}),
        1 => {
            json!({"kind": "assistant", "text": format!("# Part {n}\n\n{}\n\n```rust\nfn a() -> u32 {{ {n} }}\n```\n", WORDS.repeat(6))})
        }
        2 => {
            json!({"kind": "tool_call", "call": n.to_string(), "tool": "run", "arguments": {"command": "make"}})
        }
        _ => {
            json!({"kind": "tool_result", "call": (n - 1).to_string(), "tool": "run", "outcome": "done", "text": "line\n".repeat(30)})
        }
    };
    let mut item = json!({"sequence": n, "task": "t0", "at": ""});
    item.as_object_mut().unwrap().extend(kind.as_object().unwrap().clone());
    item
}

/// Returns the CPU time that this thread has used. Unlike elapsed time, it does not depend on how
/// busy the machine is.
#[cfg(unix)]
fn on_processor() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap(), u32::try_from(time.tv_nsec).unwrap())
}

/// Measures the time from each key press to its frame on a test terminal while an answer is
/// streamed. Returns both CPU time and elapsed time.
#[cfg(unix)]
fn key_to_frame(columns: u16, rows: u16) -> (Vec<Duration>, Vec<Duration>) {
    let mut play = fill_session(columns, rows, 5_000);
    play.work("Go");
    let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
    let (mut times, mut wall) = (Vec::new(), Vec::new());
    for n in 0..400 {
        for piece in WORDS.split_inclusive(' ').take(8) {
            play.say(json!({"type": "text", "text": piece}));
        }
        if n % 10 == 9 {
            play.say(json!({"type": "text", "text": "\n\n```rust\nlet a = 1;\n```\n\n"}));
        }
        let key = match n % 40 {
            10..13 => "<PageUp>",
            20 => "<C-End>",
            _ => "a",
        };
        let (begun, begun_on_processor) = (Instant::now(), on_processor());
        play.keys(key);
        let areas = play.state.settle();
        let state = &play.state;
        terminal
            .draw(|frame| {
                if let Some(cursor) = view(state, &areas, frame.buffer_mut()) {
                    frame.set_cursor_position(cursor);
                }
            })
            .unwrap();
        times.push(on_processor() - begun_on_processor);
        wall.push(begun.elapsed());
    }
    times.sort_unstable();
    wall.sort_unstable();
    (times, wall)
}

#[cfg(unix)]
#[test]
fn a_key_is_seen_at_once_while_an_answer_is_written() {
    for (columns, rows) in [(80, 24), (200, 60)] {
        let (times, wall) = key_to_frame(columns, rows);
        let (p50, p95, worst) = (times[200], times[380], times[399]);
        println!(
            "{columns}x{rows}: key to frame p50 {p50:?}, p95 {p95:?}, worst {worst:?}; on the wall p95 {:?}",
            wall[380]
        );
        assert!(p95 <= KEY_TO_FRAME, "{columns}x{rows}: p95 {p95:?}");
    }
}

/// Returns the process's peak memory usage in bytes.
#[cfg(target_os = "linux")]
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes * 1024
}

/// Simulates a busy 24-hour session: 200,000 messages in 2,000 turns, with outputs of 200 and
/// 10,000 lines.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "takes minutes; run it with `cargo nextest run -p nacre --run-ignored all -E 'test(busy_day)'`"]
fn a_busy_day_stays_small() {
    let mut play = Play::new(120, 40);
    let mut n_messages = 0_u64;
    let begun = Instant::now();
    let mut turn = 0;
    while n_messages < 200_000 {
        turn += 1;
        n_messages += busy_turn(&mut play, turn);
    }
    let (peak, cells) = (peak_memory(), play.state.transcript.len());
    let n_dropped = play.state.transcript.n_dropped;
    println!(
        "{n_messages} messages, {turn} turns in {:?}: {cells} cells kept, {n_dropped} dropped, {} MB at most",
        begun.elapsed(),
        peak / 1_000_000
    );
    assert!(peak < 150_000_000, "{peak}");
}

#[cfg(target_os = "linux")]
fn busy_turn(play: &mut Play, turn: u64) -> u64 {
    let mut n_messages = 3;
    play.keys("Go on<Enter>");
    let task = format!("t{turn}");
    play.answer(json!({"task": task, "session": "s1"}));
    play.begin_task(&task);
    play.say(json!({"type": "task.accepted", "text": "Go on"}));
    play.say(json!({"type": "task.running", "model": "m"}));
    for step in 0..4 {
        play.say(json!({"type": "step", "step": step}));
        for piece in WORDS.split_inclusive(' ') {
            play.say(json!({"type": "text", "text": piece}));
            n_messages += 1;
        }
        let n_lines = if turn.is_multiple_of(50) { 10_000 } else { 200 };
        let text = format!("{WORDS}\n").repeat(n_lines);
        let call = format!("{turn}-{step}");
        play.say(json!({"type": "tool.call", "call": call, "tool": "run", "summary": "make", "arguments": {}}));
        play.say(json!({"type": "tool.result", "call": call, "tool": "run", "outcome": "done", "text": text, "duration_ms": 5}));
        play.say(json!({"type": "usage", "input": 1, "output": 1, "context": 1, "window": 10, "cost_usd": 0.1}));
        n_messages += 4;
        play.wait(1_000);
        play.frame();
    }
    if turn.is_multiple_of(20) {
        play.keys("<C-o>a<PageUp><PageUp>");
        play.frame();
        play.keys("<Esc>");
    }
    play.say(json!({"type": "task.completed", "signal": "done", "reason": null, "text": "", "changed": [], "usage": {"input": 1, "output": 1, "context": 1, "window": 10, "cost_usd": 0.1}}));
    play.sent.clear();
    n_messages
}
