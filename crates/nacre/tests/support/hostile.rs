//! Hostile strings: paths, names and titles that an attacker might write.

use std::path::Path;

use super::rng::Rng;

/// Fragments with a special meaning to path walkers, shells, Windows, terminals or parsers.
const PARTS: &[&str] = &[
    "..",
    ".",
    "",
    "...",
    "~",
    "~root",
    "/",
    "//",
    "/etc/passwd",
    "/tmp/x",
    "C:",
    "C:\\x",
    "\\\\host\\share",
    "\\\\?\\C:\\",
    "\\",
    "con",
    "NUL",
    "nul.md",
    "COM1.txt",
    "lpt9",
    "aux.c",
    "a\0b",
    "\0",
    "a\nb",
    "\n",
    "\r\n",
    "\x1b[31m",
    "\x1b]52;c;eA==\x07",
    "\u{7}",
    "\u{8}",
    "\u{7f}",
    "\u{85}",
    "\u{202e}",
    "\u{2066}x",
    "\u{200b}",
    "\u{feff}",
    "\u{2028}",
    "\u{e0041}",
    "\u{ad}",
    "link",
    "link/x",
    "link/sub/b.txt",
    "filelink",
    "loop",
    "up",
    "up/x",
    "up/repo",
    "abs",
    "abs/a.txt",
    "pipe",
    "memory",
    "memory/linkdir",
    "memory/decisions/20261115-linked.md",
    "memory/decisions/20261115-hard.md",
    "20261115-linked",
    "20261115-hard",
    "20261115-victim",
    "20261115-",
    "2",
    "20261115-linked.md",
    "meta/state/20261115-hard.json",
    "meta/evidence/20261115-linked.json",
    "journal",
    "journal/lock",
    "journal/txn",
    "journal/txn/plan",
    "journal/txn/0",
    "journal/done/plan",
    "config.toml",
    ".gitignore",
    "/proc/self/fd/3",
    "/proc/self/fd/4",
    "/proc/self/cwd/x",
    "/proc/self/root/tmp/x",
    "proc/self/fd/3",
    "/dev/null",
    "/dev/fd/3",
    "dev/stdin",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f",
    "%00",
    "%c0%af",
    "..%c0%af",
    "．．",
    "‥",
    "…",
    "∕",
    "⁄",
    "／",
    "＼",
    "..／",
    "․․",
    "раssword",
    "ｅｔｃ",
    "é",
    "e\u{301}",
    "ﬁle",
    "Ⅷ",
    "ß",
    "SS",
    "ı",
    "İ",
    "K",
    "k",
    "Readme.md",
    "README.md",
    "readme.MD",
    "A",
    "a",
    " x",
    "x ",
    "x.",
    "x..",
    "-rf",
    "--",
    "--help",
    "-",
    "$(id)",
    "`id`",
    ";id",
    "| id",
    "&& id",
    "'",
    "\"",
    "*",
    "?",
    "<",
    ">",
    "|",
    ":",
    "a:b",
    "{}",
    "[]",
    "---",
    "--- ",
    "id: x",
    "!!python",
    "&a",
    "*a",
    "# x",
    "null",
    "yes",
    "1e309",
    "0x10",
    "<<<<<<< HEAD",
    "=======",
    ">>>>>>> x",
    "👩‍👩‍👧‍👦",
    "使用",
    "名前",
    "नमस्ते",
    "\u{202e}cod.exe",
    "a\tb",
    "\u{1}",
    ".nacre-tmp",
    ".x.nacre-tmp",
    "x.conflict-1",
    ".git",
    ".git/hooks/post-commit",
];

/// What joins them.
const JOINTS: &[&str] =
    &["/", "/", "/", "\\", "//", "/./", "/../", "", "", " ", "\0", "%2f", "∕", ":"];

/// One hostile string.
pub(crate) fn hostile(rng: &mut Rng, root: &Path) -> String {
    let mut text = match rng.below(12) {
        0 => "../".repeat(1 + rng.index(12)),
        1 => format!("{}/", root.join("canary").display()),
        2 => long(rng),
        3 => "d/".repeat(14 + rng.index(6)),
        4 => "memory/decisions/".to_owned(),
        _ => String::new(),
    };
    for idx in 0..=rng.below(5) {
        if idx > 0 {
            text.push_str(rng.pick::<&str>(JOINTS));
        }
        text.push_str(rng.pick::<&str>(PARTS));
    }
    match rng.below(10) {
        0 => text.push('/'),
        1 => text.insert_str(0, "./"),
        2 => text = text.to_uppercase(),
        3 => text.push_str("canary/a.txt"),
        4 => insert_char(&mut text, rng),
        _ => {}
    }
    text
}

/// Returns names at and above the length limits of file systems.
fn long(rng: &mut Rng) -> String {
    let len = *rng.pick(&[200, 201, 254, 255, 256, 1000, 4095, 4096, 5000]);
    (*rng.pick(&["n", "é", "名", "../", "n/", "\u{301}", "👾"])).repeat(len)
}

/// Inserts a random character at a random position.
fn insert_char(text: &mut String, rng: &mut Rng) {
    let at = rng.index(text.chars().count() + 1);
    let at = text.char_indices().nth(at).map_or(text.len(), |(at, _)| at);
    let limit = *rng.pick(&[0x20, 0x7f, 0x800, 0x3000, 0x1_0000, 0x11_0000]);
    let code = u32::try_from(rng.below(limit)).unwrap_or(0);
    text.insert(at, char::from_u32(code).unwrap_or('\u{fffd}'));
}
