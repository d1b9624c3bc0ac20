//! Measures how fast this machine can list, stat, hash and parse files, which is a lower bound for
//! the map's run time.
//!
//! Every measurement runs on two threads and does as little work as possible.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use ast_grep_core::tree_sitter::LanguageExt as _;
use ast_grep_language::SupportLang;
use ignore::{WalkBuilder, WalkState};
use nacre_map::languages::{Language, MAX_TEXT_BYTES};
use tree_sitter::Parser;
use xxhash_rust::xxh3::xxh3_64;

use crate::Outcome;

const N_THREADS: usize = 2;

const BATCH: usize = 32;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Limits {
    /// Print the paths of all files below a directory that git does not ignore
    List { folder: PathBuf },
    /// Stat each path in a list
    Stat { folder: String, list: String },
    /// Walk a directory, and read and hash every byte
    Hash { folder: PathBuf, list: String },
    /// Parse each file in a list and discard the tree
    Parse { folder: String, list: String },
}

pub(super) fn run(command: Limits) -> Outcome {
    let answer = match command {
        Limits::List { folder } => list_files(&folder),
        Limits::Stat { folder, list } => stat_files(&folder, &list)?.to_string(),
        Limits::Hash { folder, .. } => hash_files(&folder).to_string(),
        Limits::Parse { folder, list } => parse_files(&folder, &list)?.to_string(),
    };
    println!("{answer}");
    Ok(true)
}

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

fn list_files(root: &Path) -> String {
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

fn share_work<'p, W: FnMut(&'p str) -> u64>(paths: &[&'p str], each: impl Fn() -> W + Sync) -> u64 {
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

fn stat_files(root: &str, list: &str) -> std::io::Result<u64> {
    let list = fs::read_to_string(list)?;
    let paths: Vec<&str> = list.trim_end().split('\0').collect();
    let folder = rustix::fs::open(
        root,
        rustix::fs::OFlags::RDONLY | rustix::fs::OFlags::DIRECTORY,
        rustix::fs::Mode::empty(),
    )?;
    let flags = rustix::fs::AtFlags::SYMLINK_NOFOLLOW;
    Ok(share_work(&paths, || {
        |path: &str| u64::from(rustix::fs::statat(&folder, path, flags).is_ok())
    }))
}

fn hash_files(root: &Path) -> u64 {
    let total = AtomicU64::new(0);
    walk(root, |path| {
        if let Ok(bytes) = fs::read(path) {
            std::hint::black_box(xxh3_64(&bytes));
            total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        }
    });
    total.into_inner()
}

fn parse_files(root: &str, list: &str) -> std::io::Result<u64> {
    let list = fs::read_to_string(list)?;
    let is_code = |path: &&str| Language::of_path(path).is_some_and(Language::has_grammar);
    let paths: Vec<&str> = list.split('\0').filter(is_code).collect();
    Ok(share_work(&paths, || {
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
