//! Measures the speed of the redactor on the given files, and prints what it found. Without files,
//! it compares adversarial texts with plain text.

use std::path::PathBuf;
use std::time::Instant;

use nacre_base::redact::{Hits, redact_counted};

use crate::Outcome;

const HOSTILE_LEN: usize = 4_000_000;

/// Patterns that, when repeated, make the redactor scan the same bytes more than once.
const HOSTILE: &[&str] = &[
    "| password ",
    "password | ",
    "password ",
    "password",
    "AKIA\n",
    "AKIA",
    "ghp_a1\n",
    "ghp_a1B2c3D4\n",
    "password=",
    "password=\n",
    "password:\n",
    "password: |\n",
    "password=(",
    "password=a1(",
    "password=\"a b",
    "password('",
    "<password ",
    "name: password\n",
    "value=\"a\" name=\"password\",",
    "login machine password ",
    "mysql -pA1 ",
    "sshpass -p",
    "kind: Secret\n",
    "kind: Secret\ndata:\n  a: b\n",
    "Private-Lines: 1\n",
    ":5432:",
    "%67",
    "\\x67",
    "&#103;",
    "\\u0067",
    "AGcA",
    "cGFz",
    "Z2hwX",
    "ghp_\r> ",
    "['ghp_a1', ",
    "пароль: ",
    "密码=",
    "password = \"a1\" + ",
    "a,password\n",
    "{\"kty\"",
    "-BEGIN PRIVATE KEY-\n",
    "password for a ",
    "AUTH ",
    "1\tghp_a1\n",
    "\\147",
    "\u{e0067}",
    "mongosh ",
    "mongosh -p '",
    "cargo login ",
    "fly secrets set A=b ",
    "echo a | sudo -S ",
    "sudo -S << ",
    "(password) VALUES ('a1'),",
    "(password) VALUES (",
    "VALUES (('",
    "login('a', ",
    "auth=('a', ",
    "seed phrase: abc def ",
    "mnemonic\n",
    "'password').fill(",
    "selector password\", a: b, ",
    "password to ",
    "set password from ",
    "a1B2 is the password ",
    "credentials: a / ",
    "log in as a with ",
    "a_key=",
    "password || '",
    "password: &a ",
    "password:\n```\n",
    "password <<a\n",
    "ab_a1B2c3D4e5F6g7H8i9J0k1L2m3 ",
    "ab_a1B2c3D4e5F6g7H8i9J0k1L2m3",
    "ab_cd-",
    "a1B2c3D4e5F6g7H8i9J0k1L2m3",
    "<secret>a1 b2 ",
    "password: kirschbaum\n",
    "api_key='a1B2c3D4e5F6g7H8' a1B2c3D4e5F6g7H8 ",
    "كلمة المرور: ",
];

/// Measure the speed of the redactor on files, or on adversarial texts
#[derive(Debug, clap::Args)]
pub(crate) struct RedactArgs {
    files: Vec<PathBuf>,
}

pub(super) fn run(args: &RedactArgs) -> Outcome {
    if args.files.is_empty() {
        read_hostile();
    } else {
        read_files(&args.files);
    }
    Ok(true)
}

fn read_hostile() {
    let plain = "the quick brown fox jumps over the lazy dog, and reads on\n";
    let plain = speed_of(plain);
    println!("{plain:8.1} MB/s plain text");
    for pattern in HOSTILE {
        let speed = speed_of(pattern);
        println!("{speed:8.1} MB/s {:5.1} times slower: {pattern:?}", plain / speed);
    }
}

fn speed_of(pattern: &str) -> f64 {
    let text = pattern.repeat(HOSTILE_LEN / pattern.len());
    let start = Instant::now();
    let hits = redact_counted(&text).hits;
    std::hint::black_box(hits);
    text.len() as f64 / 1e6 / start.elapsed().as_secs_f64()
}

fn read_files(files: &[PathBuf]) {
    let mut n_bytes = 0;
    let mut hits = Hits::new();
    let texts: Vec<String> = files
        .iter()
        .filter_map(|path| std::fs::read(path).ok())
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .collect();
    let start = Instant::now();
    for text in &texts {
        n_bytes += text.len();
        for (kind, n) in redact_counted(text).hits {
            *hits.entry(kind).or_default() += n;
        }
    }
    let seconds = start.elapsed().as_secs_f64();
    let megabytes = n_bytes as f64 / 1e6;
    println!(
        "{megabytes:.1} MB in {seconds:.3} s = {:.0} MB/s; hits {hits:?}",
        megabytes / seconds
    );
}
