//! What the machine itself needs, to measure the map against: `limits list FOLDER`, or `limits stat|hash|parse FOLDER LIST`.
//!
//! `list` prints the paths of all files below FOLDER, but for what git leaves out. `stat` looks at each path of LIST, `hash`
//! walks over FOLDER and reads and hashes every byte, `parse` hands each text to its grammar and does nothing with the
//! tree. All on two threads, and all with the least work that can be called by that name.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for developers")]

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use ast_grep_core::tree_sitter::LanguageExt as _;
use ast_grep_language::SupportLang;
use ignore::{WalkBuilder, WalkState};
use nacre_map::languages::{Language, MAX_TEXT_BYTES};
use tree_sitter::Parser;
use xxhash_rust::xxh3::xxh3_64;

const N_THREADS: usize = 2;

/// So many files are taken from the list at once.
const BATCH: usize = 32;

fn main() -> ExitCode {
    let args = args();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["list", root] => Ok(listed(Path::new(root))),
        ["stat", root, list] => looked_at(root, list).map(|count| count.to_string()),
        ["hash", root, _] => Ok(hashed(Path::new(root)).to_string()),
        ["parse", root, list] => parsed(root, list).map(|count| count.to_string()),
        _ => {
            Err(std::io::Error::other("limits list FOLDER, or limits stat|hash|parse FOLDER LIST"))
        }
    };
    match done {
        Ok(answer) => {
            println!("{answer}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a program for developers")]
fn args() -> Vec<String> {
    std::env::args().skip(1).collect()
}

/// Hands every file below a folder to `each`, on all threads.
fn walk(root: &Path, each: impl Fn(&Path) + Sync) {
    let walk = WalkBuilder::new(root)
        .hidden(false)
        .parents(false)
        .git_global(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .threads(N_THREADS)
        .build_parallel();
    walk.run(|| {
        Box::new(|entry| {
            if let Ok(entry) = entry
                && entry.file_type().is_some_and(|kind| kind.is_file())
            {
                each(entry.path());
            }
            WalkState::Continue
        })
    });
}

/// The paths in order, with zeros between them.
fn listed(root: &Path) -> String {
    let paths = Mutex::new(Vec::new());
    walk(root, |path| {
        let relative = path.strip_prefix(root).ok().and_then(Path::to_str);
        if let (Some(relative), Ok(mut paths)) = (relative, paths.lock()) {
            paths.push(relative.to_owned());
        }
    });
    let mut paths = paths.into_inner().unwrap_or_default();
    paths.sort_unstable();
    paths.join("\0")
}

/// Hands batches of a list to all threads; `each` makes a worker for one of them.
fn shared<'p, W: FnMut(&'p str) -> u64>(paths: &[&'p str], each: impl Fn() -> W + Sync) -> u64 {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut work = each();
        let mut total = 0;
        while let Some(batch) = paths.chunks(BATCH).nth(next.fetch_add(1, Ordering::Relaxed)) {
            total += batch.iter().map(|path| work(path)).sum::<u64>();
        }
        total
    };
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..N_THREADS).map(|_| scope.spawn(work)).collect();
        running.into_iter().filter_map(|thread| thread.join().ok()).sum()
    })
}

fn looked_at(root: &str, list: &str) -> std::io::Result<u64> {
    let list = fs::read_to_string(list)?;
    let paths: Vec<&str> = list.trim_end().split('\0').collect();
    let folder = rustix::fs::open(
        root,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )?;
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    Ok(shared(&paths, || |path: &str| u64::from(rustix::fs::statat(&folder, path, flags).is_ok())))
}

fn hashed(root: &Path) -> u64 {
    let total = AtomicU64::new(0);
    walk(root, |path| {
        if let Ok(bytes) = fs::read(path) {
            std::hint::black_box(xxh3_64(&bytes));
            total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    });
    total.into_inner()
}

fn parsed(root: &str, list: &str) -> std::io::Result<u64> {
    let list = fs::read_to_string(list)?;
    let is_code = |path: &&str| Language::of_path(path).is_some_and(Language::has_grammar);
    let paths: Vec<&str> = list.split('\0').filter(is_code).collect();
    Ok(shared(&paths, || {
        let mut parsers: HashMap<Language, Parser> = HashMap::new();
        move |path: &str| {
            let Some(language) = Language::of_path(path) else { return 0 };
            let Ok(text) = fs::read_to_string(Path::new(root).join(path)) else { return 0 };
            if MAX_TEXT_BYTES < text.len() {
                return 0;
            }
            let parser = parsers.entry(language).or_insert_with(|| parser(language));
            u64::from(parser.parse(&text, None).is_some())
        }
    }))
}

fn parser(language: Language) -> Parser {
    let mut parser = Parser::new();
    if let Ok(grammar) = language.name().parse::<SupportLang>() {
        let _ = parser.set_language(&grammar.get_ts_language());
    }
    parser
}
