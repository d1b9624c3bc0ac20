//! Tests that text resembling secrets stays unchanged: hashes, IDs, code about passwords, and this
//! repository itself.

use std::fs;
use std::path::{Path, PathBuf};

use super::corpus::{Dice, expand};
use super::scan;
use super::{redact, redact_counted};

/// Lines without a secret. `{set:n}` becomes `n` generated characters.
const LINES: &[&str] = &[
    "commit {hex:40}",
    "index {hex:7}..{hex:7} 100644",
    "{hex:64}  target/release/app",
    "      \"integrity\": \"sha512-{b64:86}==\",",
    "checksum = \"{hex:64}\"",
    "\"sessionId\":\"{uuid:1}\",\"uuid\":\"{uuid:1}\",\"parentUuid\":\"{uuid:1}\"",
    "request_id={uuid:1} trace_id={hex:32} span={hex:16}",
    "\"usage\":{\"input_tokens\":{digit:5},\"cache_read_input_tokens\":{digit:8}}",
    "<img src=\"data:image/png;base64,{b64:400}\">",
    "background: url(data:font/woff2;base64,{b64:300}) format('woff2');",
    "!function(e,t){var n={lower:3},r=t.token,o=t.key;return n.password=r}(window,{alnum:4});",
    "var a{digit:3}=function(t,k){return t.token===k?k:{hex:4}};",
    "let token = parser.next_token();",
    "let token{digit:1} = self.tokens[{digit:2}];",
    "    password: String,",
    "    pub api_key: Option<String>,",
    "  password: string;",
    "  token?: CancellationToken{digit:1};",
    "token_count = {digit:8}",
    "max_tokens: {digit:5}",
    "secret = config.get(\"secret\")",
    "password = os.environ[\"DB_PASSWORD\"]",
    "const apiKey = process.env.OPENAI_API_KEY;",
    "api_key=os.getenv(\"OPENAI_API_KEY\")",
    "export GITHUB_TOKEN=$GH_TOKEN_{digit:1}",
    "TOKEN=${TOKEN:-$(cat /run/secrets/token{digit:1})}",
    "password: ${{ secrets.DB_PASSWORD }}",
    "api_key: <your-api-key>",
    "API_KEY=your_api_key_here",
    "SECRET_KEY=changeme{digit:4}",
    "Authorization: Bearer ${token{digit:1}}",
    "Authorization: Bearer <token>",
    "headers[\"Authorization\"] = f\"Bearer {self.token}\"",
    "curl -H \"Authorization: Bearer $TOKEN\" https://api.test/v{digit:1}",
    "use crate::auth::{Token, TokenKind, password::Hash};",
    "import { getToken, setPassword } from '@app/auth{digit:1}';",
    "fn password_must_be_at_least_{digit:2}_characters() {",
    "--- PASS: TestParseTokenV{digit:1}ReturnsErrorOnBase64Input (0.0{digit:1}s)",
    "test redact::tests::secrets_{digit:2} ... ok",
    "an unusable hash, or no password: `hashers.py:{digit:2}` to `:59`",
    "wrong password: `src/auth/login.ts:{digit:3}-{digit:3}`",
    ".token-{hex:4} { color: #{hex:6}; }",
    "if password == other.password { return Err(Error::Password) }",
    "match key { Key::Enter => self.submit(), Key::Char(c) => self.push(c) }",
    "primary_key = \"user_id_{digit:3}\"",
    "cache_key = \"{hex:40}\"",
    "sort_key: \"created_at#{digit:10}\"",
    "<input type=\"password\" name=\"password\" autocomplete=\"current-password\">",
    "\"password\": \"Please enter your password ({digit:1}+ characters)\"",
    concat!(
        "`-----BEGIN PRIV",
        "ATE KEY-----` opens the armor, `-----END PRIV",
        "ATE KEY-----` closes it."
    ),
    "https://github.com/rust-lang/rust/blob/{hex:40}/src/lib.rs#L{digit:3}",
    "postgres://user:password@localhost:5432/db{digit:1}",
    "redis://localhost:6379/{digit:1}",
    "git@github.com:org/repo{digit:2}.git",
    "docker pull ghcr.io/org/image@sha256:{hex:64}",
    "docker run -p 80{digit:2}:80{digit:2} -u 10{digit:2}:10{digit:2} image",
    "mkdir -p /var/lib/app{digit:2}/data",
    "arn:aws:s3:::bucket-{digit:8}/key-{lower:6}",
    "2026-01-02T03:04:{digit:2}.{digit:6}Z INFO token refreshed in {digit:3} ms",
    "task-{digit:4} sk-{digit:3} risk-{lower:6} eyJust a word",
    "| API key | sent as a header | required |",
    "The token is stored in the keychain, never on disk; rotate it every {digit:2} days.",
    "Cookie: consent=yes",
    "set_cookie(\"theme\", \"dark\")",
    "x86_64-unknown-linux-gnu-{digit:4}",
    "version = \"{digit:1}.{digit:2}.{digit:1}-beta.{digit:1}+{hex:7}\"",
    "key: value{digit:1}",
    "keyPath: /etc/ssl/private/server{digit:1}.key",
    "passwordResetToken: string | null;",
    "let pass = {digit:1}; // second pass",
    "PWD=/home/dev/projects/app{digit:4}x{digit:1}/src",
    "OLDPWD=/tmp/build-{hex:8}/out",
    "the password is base64 encoded, the token is sha256 hashed",
    "ALTER TABLE users ADD COLUMN password varchar(255) NOT NULL;",
    "client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS{b64:200}",
    "const KEY_PASSWORD: &str = \"password\";",
];

/// At most one false finding is allowed in this many lines.
const LINES_PER_FALSE_HIT: usize = 10_000;

#[test]
fn benign_lines_stay() {
    let mut dice = Dice::new(11);
    let mut changed = Vec::new();
    let n_rounds = 400;
    for line in LINES {
        for _ in 0..n_rounds {
            let text = expand(line, &mut dice);
            if redact(&text) != text {
                changed.push(format!("{text}\n  -> {}", redact(&text)));
            }
        }
    }
    let n_allowed = LINES.len() * n_rounds / LINES_PER_FALSE_HIT;
    assert!(changed.len() <= n_allowed, "{} false hits:\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn benign_lines_stay_when_they_stand_together() {
    let mut dice = Dice::new(12);
    let text: String = LINES.iter().map(|line| expand(line, &mut dice) + "\n").collect();
    assert_eq!(redact(&text), text);
    let json = serde_json::to_string(&text).unwrap();
    assert_eq!(redact(&json), json);
}

#[test]
fn the_sources_of_this_repository_stay() {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    while !root.join("Cargo.lock").is_file() && root.pop() {}
    let mut files = vec![root.join("Cargo.lock")];
    collect_sources(&root, &mut files);
    let (mut n_lines, mut n_hits, mut hits) = (0, 0, Vec::new());
    for path in files {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let found = redact_counted(&text).hits;
        n_lines += text.lines().count();
        n_hits += found.values().sum::<usize>();
        hits.extend((!found.is_empty()).then(|| format!("{}: {found:?}", path.display())));
    }
    assert!(n_lines > 500, "only {n_lines} lines below {}", root.display());
    let n_allowed = n_lines.div_ceil(LINES_PER_FALSE_HIT);
    assert!(n_hits <= n_allowed, "{n_hits} hits in {n_lines} lines: {hits:#?}");
}

/// Appends the Rust files below `folder`, except tests, which may contain made-up secrets.
fn collect_sources(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && !name.starts_with('.') && !matches!(name, "target" | "tests") {
            collect_sources(&path, files);
        } else if name.ends_with(".rs") && name != "tests.rs" {
            files.push(path);
        }
    }
}

/// Transcripts are full of UUIDs, which are not secrets, so no anchor may fit inside one.
#[test]
fn nothing_is_looked_for_that_a_uuid_could_hold() {
    let is_of_uuid =
        |word: &&str| word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    assert_eq!(scan::words().find(is_of_uuid), None);
}
