//! Measures the cost of parsing real code and hostile patterns.
//!
//! The limits in `languages/syntax.rs` are a small multiple of the highest cost per thousand bytes
//! that `real` reports for each language.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use ignore::WalkBuilder;
use nacre_map::languages::{Language, MAX_TEXT_BYTES, ParseCost, analyse, glance, parse_cost};

use crate::Outcome;

const PATTERNS: &[&str] = &[
    "(",
    "[",
    "{",
    "<",
    ")",
    "]",
    "}",
    ">",
    "a<b(",
    "a<b<",
    "a<b>(",
    "\"",
    "'",
    "`",
    "${",
    "#{",
    "/*",
    "*/",
    "//",
    "#",
    "<<E",
    "<<E\n",
    "<<-'E'\n",
    "\\",
    "\\\n",
    "if(",
    "if ",
    "a?b:",
    "a?b",
    "?:",
    "->",
    "=>",
    "()=>",
    "(a)=>",
    "@",
    "#[",
    "@{",
    "@a ",
    "%q(",
    "%w[",
    "%{",
    "a.b",
    "a.",
    "a::",
    "!",
    "!!",
    "-",
    "+",
    "*",
    "&",
    "&&a",
    "|",
    "||",
    ",",
    ";",
    ":",
    "=",
    "==",
    "a=",
    "a,b;",
    "/",
    "/a",
    "/(",
    "r#\"",
    "r#",
    "'a",
    "a'",
    "\"\"\"",
    "\"${",
    "`${",
    "\"#{",
    "\"\\(",
    "f\"{",
    "$(",
    "$((",
    "[[",
    "((",
    "case a in ",
    "do ",
    "end\n",
    "fn a(",
    "fn a<",
    "def a(",
    "class A{",
    "class A<",
    "a{b",
    "a[",
    "a(",
    "a b ",
    "a\n",
    "\n",
    " ",
    "\t",
    "\n ",
    "\n\t",
    "\0",
    "\r",
    "\r\n",
    "\u{feff}",
    "\u{a0}",
    "é",
    "1",
    "1.",
    "0x",
    "1e",
    "<a>",
    "<a ",
    "</a>",
    "<?php ",
    "<?",
    "?>",
    "#if\n",
    "#if a\n",
    "#define a\n",
    "#endif\n",
    "#else\n",
    "template<",
    "operator",
    "new ",
    "await ",
    "yield ",
    "return ",
    "not ",
    "lambda:",
    "async ",
    "type a=",
    "import a\n",
    "import {",
    "use a::{",
    "from a import b\n",
    "x:y",
    "a:b,",
    "{a:",
    "[a,",
    "(a,",
    "<T,",
    "where T:",
    "as ",
    "is ",
    "in ",
    "of ",
    "~",
    "^",
    "...",
    "..",
    "..=",
    "a..b",
    "--",
    "<!--",
    "-->",
    "--[[",
    "[=[",
    "--[==[",
    "=begin\n",
    "__END__",
    "if a{}else ",
    "else ",
    "elif a:\n",
    "try{",
    "match a{",
    "a=>b,",
    "|a|",
    "a|b|",
    "&|",
    "*a*",
    "(*a)(",
    "a*b;",
    "int a(",
];

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Grammars {
    /// Parse all code below the directories without limits; print the most expensive file in each
    /// language
    Real { folders: Vec<String> },
    /// Parse strings that repeat a short pattern
    Patterns {
        #[arg(default_value_t = MAX_TEXT_BYTES)]
        bytes: usize,
        language: Option<String>,
        pattern: Option<String>,
    },
}

pub(super) fn run(command: Grammars) -> Outcome {
    match command {
        Grammars::Real { folders } => real(&folders),
        Grammars::Patterns { bytes, language, pattern } => {
            patterns(bytes, language.as_deref(), pattern.as_deref());
        }
    }
    Ok(true)
}

/// Highest cost per thousand bytes for each entry of `NAMES`, and the text that caused it.
#[derive(Clone, Debug, Default)]
struct Worst {
    n_texts: usize,
    n_bytes: usize,
    most: [(usize, String); 6],
}

const NAMES: [&str; 6] = ["reports", "blocks", "dropped", "held", "microseconds", "stacked"];

fn real(folders: &[String]) {
    let mut all: BTreeMap<Language, Worst> = BTreeMap::new();
    let walk = |folder: &String| WalkBuilder::new(folder).standard_filters(false).build();
    for entry in folders.iter().flat_map(walk).flatten() {
        let shown = entry.path().display().to_string();
        let Some(language) = Language::of_path(&shown) else { continue };
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        // Shorter files are skipped, because the base allowance is always enough for them.
        if !(20_000..=MAX_TEXT_BYTES).contains(&text.len()) {
            continue;
        }
        let start = Instant::now();
        let Ok(ParseCost { reports, blocks, dropped, held, stacked }) =
            parse_cost(&text, language, false)
        else {
            continue;
        };
        let micros = usize::try_from(start.elapsed().as_micros()).unwrap_or(usize::MAX);
        let worst = all.entry(language).or_default();
        worst.n_texts += 1;
        worst.n_bytes += text.len();
        for (place, count) in worst.most.iter_mut().zip([
            reports,
            blocks,
            dropped,
            held,
            micros,
            stacked * text.len() / 1000,
        ]) {
            let value = count * 1000 / text.len();
            if place.0 < value {
                *place = (value, shown.clone());
            }
        }
    }
    for (language, worst) in all {
        println!("{language}: {} texts, {} bytes", worst.n_texts, worst.n_bytes);
        for (name, (value, path)) in NAMES.iter().zip(worst.most) {
            println!("  {name:12} per 1000 bytes {value:6} {path}");
        }
    }
}

fn patterns(size: usize, only: Option<&str>, only_pattern: Option<&str>) {
    for language in Language::all().filter(|language| language.has_grammar()) {
        if only.is_some_and(|only| only != language.name()) {
            continue;
        }
        for pattern in
            PATTERNS.iter().filter(|pattern| only_pattern.is_none_or(|only| only == **pattern))
        {
            let text = pattern.repeat(size / pattern.len());
            let _ = fs::write("/proc/self/clear_refs", "5");
            let start = cpu_time();
            let analysis = analyse(language, text.as_bytes());
            let took = cpu_time() - start;
            let peak = memory("VmHWM:") / 1024;
            let start = cpu_time();
            let _ = glance(language, text.as_bytes());
            let glanced = cpu_time() - start;
            let cost = parse_cost(&text, language, true).unwrap_or_default();
            println!(
                "{:6} ms {peak:5} MB {:5} ms by lines  {language} {pattern:?} {:?} {:?} {cost:?}",
                took.as_millis(),
                glanced.as_millis(),
                analysis.depth,
                analysis.problem
            );
        }
    }
}

/// Returns the CPU time of this thread, which does not depend on the machine's load.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns a value from `/proc/self/status` in KiB.
fn memory(name: &str) -> usize {
    let status = fs::read_to_string(Path::new("/proc/self/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}
