//! Generates the tool calls of a hostile or confused model.

use nacre_engine::model::{Arguments, ToolCall};
use serde_json::{Value, json};

use crate::rng::Rng;

const TOOLS: &[&str] = &[
    "file_read",
    "file_find",
    "file_search",
    "file_create",
    "file_edit",
    "file_delete",
    "file_move",
    "code_outline",
    "code_symbols",
    "code_search",
    "git_status",
    "git_diff",
    "git_log",
    "git_show",
    "git_add",
    "git_commit",
    "shell_run",
];

const PATHS: &[&str] = &[
    "notes/a.md",
    "notes/new.md",
    "notes/deep/er/new.md",
    "src/main.rs",
    "src/deep/app.ts",
    ".",
    "../outside/secret.txt",
    "notes/../../outside/a.md",
    "/etc/passwd",
    "~/.ssh/id_rsa",
    "C:\\x",
    "link/secret.txt",
    "link/new.txt",
    "link.txt",
    "notes/dangling.md",
    "notes/root/etc/passwd",
    "src/loop/loop/loop/main.rs",
    "swap/a.md",
    "swap/secret.txt",
    "swap/new.md",
    "flip.txt",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/config",
    "notes/.git/config",
    ".nacre/config.toml",
    ".env",
    ".ENV",
    "src/id_rsa",
    "notes/.env.local",
    "notes/a\u{202e}b",
    "notes/a\0b",
    "notes//a.md",
    "notes/con",
    "notes/ a.md",
    "notes/a.md.",
    "",
    "-rf",
    "--output=x",
    ":(top)",
    "$(touch x)",
    "`id`",
    "spill:x.txt",
    "spill:../outside/secret.txt",
    "long.txt",
    "many.txt",
    "nested.py",
    "binary.bin",
    "notes",
    "swap",
    "missing/file.txt",
];

const GLOBS: &[&str] = &[
    "*",
    "**/*",
    "**/**/**/**/**/**/**/*",
    "[",
    "[!a-z]*",
    "{a,b,{c,d,{e,f}}}*",
    "*.rs",
    "secret",
    "../**",
    "/**",
    "*a*a*a*a*a*a*a*a*a*a*",
    "\\",
    "????????????????",
    "{,,,,,,,,}",
    ".env*",
];

const REGEXES: &[&str] = &[
    "(a+)+$",
    "(a|aa)+$",
    "((a{100}){100}){100}",
    ".*.*.*.*.*.*.*=.*",
    "\\p{L}{500}",
    "(",
    "[",
    "canary",
    "(?i)CANARY",
    "finch",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "a{0,100000}",
    "(?:a?){50}a{50}",
    "\\x00",
    "^",
    "$",
    ".",
    "(((((((((((((((((((((((((((((((((((((((((((((((((((((((a)))))))))))))))))))))))))))))))))))))))))))))))))))))))",
    "(x+x+)+y",
    "TOKEN",
    "(?:a{0,40}b?){0,30}c",
    "(?:[ab]{1,30}){1,40}c$",
    "(?i)(?:a|b|ab|ba){0,200}[^ab]",
];

const REVISIONS: &[&str] = &[
    "HEAD",
    "HEAD~1",
    "main",
    "--output=/tmp/x",
    "-p",
    "HEAD:.env",
    ":/first",
    "HEAD^{/.*}",
    "a..b",
    "@{-1}",
    "$(id)",
    "nothing",
    "HEAD^{tree}",
];

const PATTERNS: &[&str] = &[
    "$X.unwrap()",
    "$$$",
    "$A",
    "fn (",
    "((((((((((",
    "$X.then($$$)",
    "fn $F($$$A) { $$$B }",
    "",
    "\u{0}",
];

const LANGUAGES: &[&str] = &["rust", "python", "typescript", "tsx", "cobol", "Rust", "java", ""];

/// Shell commands that access files outside the workspace. None of them would do lasting harm even
/// without the sandbox.
const SCRIPTS: &[&str] = &[
    "cat ../outside/secret.txt",
    "echo x > ../outside/new.txt",
    "ln -sf ../outside notes/l; echo x > notes/l/new.txt; cat notes/l/secret.txt",
    "rm -rf ../outside/*",
    "mv notes/a.md ../outside/",
    "cp -r src ../outside/",
    "cat link/secret.txt link.txt swap/secret.txt flip.txt",
    "ln ../outside/secret.txt notes/hard; cat notes/hard",
    "chmod 777 ../outside/secret.txt",
    "cd /; cd -; cd ../outside && pwd && cat *",
    "(setsid sleep 300 &) ; echo left",
    "yes | head -c 50000000",
    "head -c 200000000 /dev/zero > notes/big",
    "while :; do :; done",
    "trap '' TERM INT HUP; sleep 300",
    "exec 3<>/dev/tcp/127.0.0.1/80; echo $?",
    "cat /proc/self/environ | tr '\\0' '\\n' | head -3",
    "printf '\\033]0;owned\\007'",
    "echo $(echo `echo nested`)",
    "$(printf 'cat ../out'; printf 'side/secret.txt')",
    "exit 3",
];

const TEXTS: &[&str] =
    &["x", "one", "", "two\nthree", "\u{1b}[2J", "#!/bin/sh\ntouch /tmp/x\n", "\u{0}"];

pub(crate) fn call(rng: &mut Rng, idx: u64) -> ToolCall {
    let name = match rng.below(40) {
        0 => "no_such_tool".to_owned(),
        1 => "x".repeat(5_000),
        _ => (*rng.pick(TOOLS)).to_owned(),
    };
    let arguments = match rng.below(30) {
        0 => Arguments::parse("{\"path\": "),
        1 => Arguments::Object(make_invalid_arguments(rng)),
        _ => Arguments::Object(sensible(rng, &name)),
    };
    ToolCall { id: format!("call-{idx}"), name, arguments }
}

fn make_invalid_arguments(rng: &mut Rng) -> Value {
    match rng.below(5) {
        0 => json!({}),
        1 => json!({ "path": 7, "pattern": [], "edits": "all" }),
        2 => json!({ "path": "a", "unknown": true }),
        3 => json!({ "path": "y".repeat(100_000), "content": "z".repeat(3_000_000) }),
        _ => (0..200).fold(json!("deep"), |inner, _| json!({ "path": inner })),
    }
}

fn path(rng: &mut Rng) -> String {
    match rng.below(20) {
        0 => "a/".repeat(2_000),
        1 => format!("notes/{}", "n".repeat(300)),
        _ => (*rng.pick(PATHS)).to_owned(),
    }
}

fn sensible(rng: &mut Rng, tool: &str) -> Value {
    let under = if rng.chance(40) { json!(path(rng)) } else { Value::Null };
    match tool {
        "file_read" | "code_outline" => json!({ "path": path(rng) }),
        "file_find" => json!({ "pattern": glob(rng), "under": under }),
        "file_search" => json!({
            "pattern": *rng.pick(REGEXES), "under": under, "literal": rng.chance(10),
            "ignore_case": rng.chance(30), "context": rng.below(6), "max_results": 1 + rng.below(500),
        }),
        "file_create" => json!({ "path": path(rng), "content": *rng.pick(TEXTS) }),
        "file_edit" => json!({ "path": path(rng), "edits": edits(rng) }),
        "file_delete" => json!({ "path": path(rng) }),
        "file_move" => json!({ "from": path(rng), "to": path(rng) }),
        "code_symbols" => {
            json!({ "name": *rng.pick(&["a", "main", "(", "canary"]), "under": under })
        }
        "code_search" => json!({
            "pattern": *rng.pick(PATTERNS), "language": *rng.pick(LANGUAGES), "under": under,
        }),
        "git_diff" => json!({ "path": path(rng), "from": *rng.pick(REVISIONS) }),
        "git_log" | "git_show" => json!({ "revision": *rng.pick(REVISIONS) }),
        "git_add" => json!({ "paths": [path(rng), path(rng)] }),
        "shell_run" => json!({ "script": *rng.pick(SCRIPTS), "time_limit": 1 }),
        "git_commit" => json!({ "message": *rng.pick(TEXTS) }),
        _ => json!({}),
    }
}

fn glob(rng: &mut Rng) -> String {
    match rng.below(12) {
        0 => "**/".repeat(80),
        1 => format!("{{{}}}", "a,".repeat(120)),
        2 => "[a-z]".repeat(50),
        _ => (*rng.pick(GLOBS)).to_owned(),
    }
}

fn edits(rng: &mut Rng) -> Value {
    let one = |rng: &mut Rng| match rng.below(4) {
        0 => {
            json!({ "first_line": rng.below(5), "last_line": rng.below(9), "replace": *rng.pick(TEXTS) })
        }
        _ => json!({ "find": *rng.pick(TEXTS), "replace": *rng.pick(TEXTS) }),
    };
    let n_edits = 1 + rng.below(3);
    Value::Array((0..n_edits).map(|_| one(rng)).collect())
}
