//! Maps hostile trees: too many files, files that are too large or too deep, link cycles, special
//! files, and files that change while they are read.
//!
//! `nacre explore` must finish, use little memory, and count every file that it skipped.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::AnyError;
use crate::torture::sandbox::{self, Place};
use crate::torture::tally::Tally;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) files: usize,
    pub(crate) huge_bytes: u64,
    pub(crate) depth: usize,
}

impl Sizes {
    pub(crate) const FULL: Self = Self { files: 100_000, huge_bytes: 1 << 30, depth: 2_000 };
    pub(crate) const QUICK: Self = Self { files: 2_000, huge_bytes: 64 << 20, depth: 300 };
}

/// Size of a one-line file that is small enough to read but too large to parse.
const LONG_BYTES: usize = 30 << 20;
const PARSED_BYTES: usize = 900 << 10;

/// Memory limit for the first run.
const MAX_COLD_KB: u64 = 300 << 10;
const MAX_HIT_KB: u64 = 80 << 10;

/// Time after which a command is considered hung.
const PATIENCE: Duration = Duration::from_secs(600);

struct Cost {
    time: Duration,
    peak_kb: u64,
}

pub(crate) fn run(nacre: &Path, sizes: Sizes) -> Result<Tally, AnyError> {
    let Sizes { files, huge_bytes, depth } = sizes;
    println!(
        "map-trees: {files} files in a directory, {} MB in a line, depth {depth}",
        huge_bytes >> 20
    );
    let dir = sandbox::scratch("map-trees")?;
    let place = Place::new(dir.path(), nacre);
    place.make()?;
    let mut tally = Tally::new("map-trees");
    let root = place.repo();
    let expected = plant(&root, sizes)?;
    // The socket file exists while the listener is alive.
    let _socket = UnixListener::bind(root.join("socket.rs"))?;
    let (cold, value) = while_it_changes(&root, || explore(&place))?;
    expected.compare(&value, &mut tally);
    let (_, settled) = explore(&place)?;
    let (hit, again) = settle(&place)?;
    if told(&settled) != told(&again) {
        tally.bad("two runs on the same tree differ");
    }
    let fresh = Place::new(&dir.path().join("fresh"), nacre);
    fs::create_dir_all(fresh.root().join("home"))?;
    symlink(&root, fresh.repo())?;
    let (_, anew) = explore(&fresh)?;
    if told(&anew) != told(&again) {
        tally.bad("the updated map differs from a newly built one");
    }
    for (name, cost, most) in [("first", &cold, MAX_COLD_KB), ("hit", &hit, MAX_HIT_KB)] {
        if most < cost.peak_kb {
            tally.bad(&format!("the {name} run used {} MB", cost.peak_kb >> 10));
        }
    }
    let shown =
        |cost: &Cost| format!("{:.1} s, {} MB", cost.time.as_secs_f64(), cost.peak_kb >> 10);
    tally.end(&format!("first run {}, hit {}", shown(&cold), shown(&hit)));
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o755))?;
    sandbox::keep_if_bad(dir, tally.is_clean());
    Ok(tally)
}

struct Expected {
    files: usize,
    unread: usize,
    skipped: Vec<(&'static str, u64)>,
}

impl Expected {
    fn compare(&self, value: &Value, tally: &mut Tally) {
        let stats = &value["stats"];
        let mut counts = vec![
            ("file_count".to_owned(), &stats["file_count"], self.files as u64),
            ("unread_files".to_owned(), &stats["unread_files"], self.unread as u64),
        ];
        for (name, count) in &self.skipped {
            counts.push((format!("skipped.{name}"), &stats["skipped"][name], *count));
        }
        for (name, found, expected) in counts {
            if found.as_u64() != Some(expected) {
                tally.bad(&format!("{name} is {found}, expected {expected}"));
            }
        }
    }
}

fn plant(root: &Path, sizes: Sizes) -> Result<Expected, AnyError> {
    let many = root.join("many");
    fs::create_dir(&many)?;
    for number in 0..sizes.files {
        let (end, text) = match number % 10 {
            0 => ("rs", format!("pub fn f{number}(a: u8) -> u8 {{\n    a\n}}\n")),
            _ => ("txt", "x\n".to_owned()),
        };
        fs::write(many.join(format!("f{number}.{end}")), text)?;
    }
    // A sparse file reads as one endless line.
    fs::File::create(root.join("huge.js"))?.set_len(sizes.huge_bytes)?;
    for (name, n_bytes) in [("long.js", LONG_BYTES), ("parsed.js", PARSED_BYTES)] {
        fs::write(root.join(name), "f(a,{b:[1,2,3]});".repeat(n_bytes / 17))?;
    }
    for (name, to) in [("self", "self"), ("one", "two"), ("two", "one"), ("up", "."), ("top", "/")]
    {
        symlink(to, root.join(name))?;
    }
    let is_made = Command::new("mkfifo").arg(root.join("pipe.rs")).status()?.success();
    if !is_made {
        return Err("mkfifo failed".into());
    }
    fs::create_dir(root.join("closed"))?;
    fs::write(root.join("closed/in.rs"), "fn a() {}\n")?;
    fs::set_permissions(root.join("closed"), fs::Permissions::from_mode(0o000))?;
    let is_closed = fs::read_dir(root.join("closed")).is_err();
    fs::write(root.join("new\nline.rs"), "fn a() {}\n")?;
    fs::write(root.join(OsStr::from_bytes(b"bad\xff.rs")), "fn a() {}\n")?;
    fs::create_dir(root.join(OsStr::from_bytes(b"dir\xfe")))?;
    let mut deep = root.to_owned();
    for _ in 0..sizes.depth {
        deep.push("d");
        fs::create_dir(&deep)?;
    }
    fs::write(root.join("busy.rs"), "fn a() {}\n")?;
    // The five additional files are three one-line files, `busy.rs`, and the file with a line break
    // in its name. If the directory that only root can open is readable, it adds one more.
    let files = sizes.files + 5 + usize::from(!is_closed);
    let skipped = vec![
        ("links", 5),
        ("special", 2),
        ("unreadable", u64::from(is_closed)),
        ("unnamable", 2),
        ("too_deep", 1),
    ];
    Ok(Expected { files, unread: usize::from(32 << 20 < sizes.huge_bytes), skipped })
}

fn while_it_changes<T>(
    root: &Path,
    work: impl FnOnce() -> Result<T, AnyError>,
) -> Result<T, AnyError> {
    let is_over = AtomicBool::new(false);
    let busy = root.join("busy.rs");
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut number = 0_u64;
            while !is_over.load(Ordering::Relaxed) {
                let text = format!("pub fn a{number}() {{}}\n").repeat(5_000);
                let written =
                    fs::File::create(&busy).and_then(|mut file| file.write_all(text.as_bytes()));
                number += u64::from(written.is_ok());
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        done
    })
}

fn settle(place: &Place) -> Result<(Cost, Value), AnyError> {
    for _ in 0..20 {
        let (cost, value) = explore(place)?;
        if value["cache_status"] == "hit" {
            return Ok((cost, value));
        }
    }
    Err("the map never became complete".into())
}

/// Removes the values that may differ between runs on the same tree.
fn told(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(answer) = value.as_object_mut() {
        answer.retain(|key, _| !matches!(key.as_str(), "cache_status" | "revision"));
    }
    if let Some(stats) = value["stats"].as_object_mut() {
        stats.retain(|key, _| !matches!(key.as_str(), "reused_entries" | "rehashed_entries"));
    }
    value
}

fn explore(place: &Place) -> Result<(Cost, Value), AnyError> {
    let answer = place.root().join("answer.json");
    let started = Instant::now();
    let mut child = place
        .command(place.nacre())
        .args(["explore", "--format", "json"])
        .stdout(Stdio::from(fs::File::create(&answer)?))
        .spawn()?;
    let peak_kb = peak(&mut child, started)?;
    let time = started.elapsed();
    if !child.wait()?.success() {
        return Err("`nacre explore` failed".into());
    }
    Ok((Cost { time, peak_kb }, serde_json::from_slice(&fs::read(&answer)?)?))
}

/// Returns the peak memory of a program, sampled until it exits, or 0 if the system does not report
/// it.
fn peak(child: &mut Child, started: Instant) -> Result<u64, AnyError> {
    let status = format!("/proc/{}/status", child.id());
    let mut peak_kb = 0;
    while child.try_wait()?.is_none() {
        if PATIENCE < started.elapsed() {
            child.kill()?;
            return Err("`nacre explore` does not finish".into());
        }
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak_kb = peak_kb.max(now.unwrap_or_default());
        thread::sleep(Duration::from_millis(2));
    }
    Ok(peak_kb)
}
