//! Tests that the redactor handles any input in linear time, and that redacting twice is the same
//! as redacting once.

use proptest::prelude::*;

use super::json::tangle;
use super::{redact, scan};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2048, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in tangle()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
        let is_broken = once.contains("[redacted:[redacted:");
        prop_assert!(!is_broken || text.contains("[redacted:"), "{} became {}", text, once);
    }

    #[test]
    fn any_string_is_survived(text in any::<String>()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }
}

/// Inputs that made a scanner take quadratic time when repeated a million times.
const HOSTILE: &[&str] = &[
    "sk-",
    "sk-ant-a1B2-",
    "eyJ",
    "eyJaaaaaaaaaaaa.",
    "-----BEGIN ",
    concat!("-----BEGIN PRIV", "ATE KEY-----"),
    "-----",
    concat!("-----BEGIN RSA PRIV", "ATE KEY-----\nMIIEabc123DEF456ghi\n"),
    "token=",
    "token=\"",
    "token='\"",
    "password: ",
    "://a:",
    "://a:b@",
    "xoxb-",
    "Cookie: a=",
    "Cookie: a=b;",
    "Authorization: Bearer ",
    "\\",
    "\\\"token=\\\"",
    "AKIA",
    "s.",
    "Q~",
    "-us1",
    ":AA",
    "hooks.slack.com/services/",
    "[redacted:",
    "[redacted:a]",
    "password ",
    "login machine password ",
    " -p",
    " -u a:",
    "mysql -pA1!b2c3d4 ",
    "ghp_a1B2c3D4",
    "a1B2",
    "KEY_",
    "MTA",
    "pat",
    "token: &str = ",
    "secret,",
    "\u{1b}[31m",
    "é",
    "\u{200b}",
    "g\u{200b}hp_",
    "раss",
    "\\u0067",
    "\\\\u200b",
    "ghp_\n",
    "ghp_a1\n",
    "gh\np_a1B2c3D4e5F6g7H8i9\n",
    "\"ghp_a1\" + ",
    "Z2hwX",
    "Z2hwX2",
    "cGF0",
    "LS0tLS1CRUdJTi",
    "TFMwdExTMUNSVWRKVGk",
    "password=a&",
    "&password=abcdefg1&",
    "token=a1B2c3D4e5F6&b",
    "| password ",
    "AKIA\n",
    "password=",
    "password=(",
    "password=a1)b",
    "password=\"a b ",
    "password: |\n",
    "password('",
    "<password ",
    "name: password\n",
    "value=\"a\" name=\"password\",",
    "name: password, a: b, ",
    "kind: Secret\n",
    "kind: Secret\ndata:\n  a: b\n",
    "data:\n  a: aHVudGVyMng5\nkind: Secret\n",
    "Private-Lines: 999\n",
    "Private-Lines: 999\nabc\n",
    ":5432:",
    "*:*:",
    "sshpass -p",
    "%67",
    "\\x67",
    "&#103;",
    "&#",
    "AGcA",
    "cGFz",
    "cGFzc3dvcmQ9\n",
    "['ghp_a1', ",
    "ghp_a1\r> ",
    "пароль: ",
    "密码=",
    "password = \"a1\" + ",
    "password=\"a1\"\"b2\"",
    "\"a1\" + ",
    "password=\\\n",
    "password\n",
    "a,password\n",
    "password|",
    "a\tpassword\nb\tc\n",
    "{\"kty\"",
    "\"kty\",\"d\":\"a\"",
    "-BEGIN PRIVATE KEY-\n",
    "-BEGIN PRIVATE KEY-\nMIIEabc123DEF456ghi\n",
    "password for a ",
    "password (a): ",
    "password: { default: ",
    "<name>password</name>",
    "$6$a1B2",
    "AUTH ",
    "echo a --password-stdin ",
    "1\tghp_a1\n",
    "ghp_a1=\n",
    "\\147",
    "\\u{67}",
    "\u{e0067}",
    "zip -P a1B2c3D4 ",
    "mongosh ",
    "mongosh -p '",
    "cargo login ",
    "preshared-key <(echo ",
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

#[test]
fn a_text_may_end_behind_every_anchor() {
    for word in scan::words() {
        for tail in ["", " ", ":", "=", "'", "\"", "(", "('", "\\", "\n", " a", " -p", ": \\", "/"]
        {
            redact(&format!("{word}{tail}"));
            redact(&format!("a) {word}{tail}"));
        }
    }
}

/// At this length, a quadratic step would take hours.
const HOSTILE_LEN: usize = 200_000;

#[test]
fn hostile_repetition_takes_linear_time() {
    for pattern in HOSTILE {
        let text = pattern.repeat(HOSTILE_LEN / pattern.len());
        let clean = redact(&text);
        assert!(clean.len() <= text.len() * 4, "{pattern}");
    }
}
