//! Measures nested `.gitignore` files, by default in 120 directories with 5,000 rules each.
//!
//! Every rule is a different glob, and no rule matches any file.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use nacre_base::fs::Owner;
use nacre_base::git::GitProgram;
use nacre_map::artifact::{Cache, Project};
use nacre_map::indexer::{
    CacheWrites, Deadline, Excludes, ReadProgress, RefreshOptions, Sensitive, Verify, WordCounting,
    refresh,
};

use crate::Outcome;

const N_FILES: usize = 200;

/// Measure a tree of nested `.gitignore` files
#[derive(Debug, clap::Args)]
pub(crate) struct IgnoreRulesArgs {
    scratch: PathBuf,
    #[arg(default_value_t = 120)]
    folders: usize,
    /// Number of rules in each directory
    #[arg(default_value_t = 5_000)]
    rules: usize,
}

pub(super) fn run(args: &IgnoreRulesArgs) -> Outcome {
    let IgnoreRulesArgs { scratch, folders, rules } = args;
    let root = scratch.join("tree");
    plant(&root, *folders, *rules)?;
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
    Ok(true)
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
