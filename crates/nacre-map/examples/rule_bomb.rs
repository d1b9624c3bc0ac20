//! What a tree of `.gitignore` files costs: `rule_bomb SCRATCH [FOLDERS RULES]`, nested; 120 folders with 5,000 rules unless said otherwise.
//!
//! Each rule is a glob of its own, and each folder has files with names that no rule knows.

#![expect(clippy::print_stdout, clippy::disallowed_methods, reason = "a program for developers")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nacre_core::base::git::GitProgram;
use nacre_core::safefs::Owner;
use nacre_map::artifact::{Cache, Project};
use nacre_map::indexer::{
    CacheWrites, Deadline, Excludes, ReadProgress, RefreshOptions, Sensitive, Verify, WordCounting,
    refresh,
};

/// Files in each folder.
const N_FILES: usize = 200;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let scratch = PathBuf::from(args.next().ok_or("a folder is missing")?);
    let n_folders = args.next().map_or(Ok(120), |number| number.parse())?;
    let n_rules = args.next().map_or(Ok(5_000), |number| number.parse())?;
    let root = scratch.join("tree");
    plant(&root, n_folders, n_rules)?;
    let owner = Owner { pid: 1, command: "rule_bomb".to_owned(), since: String::new() };
    let cache = Cache::new(scratch.join("cache"), owner);
    let options = RefreshOptions {
        now_ns: 1,
        looked_ns: 1,
        trust: Verify::Stamps,
        keeping: CacheWrites::Off,
        words: WordCounting::Later,
        sensitive: Sensitive::new(&[])?,
        excludes: Excludes::default(),
        git: GitProgram::new(std::env::var_os("PATH").unwrap_or_default()),
        n_threads: std::thread::available_parallelism().map_or(2, usize::from).min(8),
        deadline: Deadline::never(),
        progress: ReadProgress::default(),
    };
    let begun = Instant::now();
    let current = refresh(&cache, &Project::at(fs::canonicalize(&root)?), &options)?;
    let time = begun.elapsed().as_secs_f64();
    println!("{} files, {:?}", current.stats.file_count, current.stats.skipped);
    println!("{time:.1} s, {} MB", peak_mb());
    Ok(())
}

fn plant(root: &Path, n_folders: usize, n_rules: usize) -> std::io::Result<()> {
    let mut folder = root.to_owned();
    for depth in 0..n_folders {
        fs::create_dir_all(&folder)?;
        let rules: String =
            (0..n_rules).map(|rule| format!("*a{rule}*b?{depth}[x-z]*\n")).collect();
        fs::write(folder.join(".gitignore"), rules)?;
        for file in 0..N_FILES {
            fs::write(folder.join(format!("x{}a{file}y.txt", file * 7919 % 10_007)), "x")?;
        }
        folder.push("d");
    }
    Ok(())
}

fn peak_mb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<u64>().ok()).unwrap_or(0) / 1024
}
