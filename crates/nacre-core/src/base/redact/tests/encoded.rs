//! Secrets that are written in another way: percent-encoded, as escapes and references, in base64 and in manifests.

use super::super::redact;
use super::corpus::{Dice, KINDS, Sample};
use super::disguise::{base64, check_gone};

fn sample(label: &str) -> Sample {
    let kind = KINDS.iter().find(|kind| kind.label == label).unwrap();
    kind.sample(&mut Dice::new(15))
}

fn wide(text: &str) -> Vec<u8> {
    text.bytes().flat_map(|byte| [byte, 0]).collect()
}

#[test]
fn escapes_and_references_hide_no_secret() {
    let spell: [fn(u8) -> String; 8] = [
        |byte| format!("%{byte:02x}"),
        |byte| format!("%{byte:02X}"),
        |byte| format!("\\x{byte:02x}"),
        |byte| format!("\\\\x{byte:02X}"),
        |byte| format!("\\u{byte:04x}"),
        |byte| format!("&#{byte};"),
        |byte| format!("&#x{byte:x};"),
        |byte| format!("&#X{byte:04X};"),
    ];
    for label in ["github-classic", "anthropic-api", "slack-bot", "stripe-live", "gitlab-personal"]
    {
        let secret = sample(label).secret;
        for spell in spell {
            let all: String = secret.bytes().map(spell).collect();
            let clean = redact(&format!("use {all} now")).into_owned();
            assert!(clean.starts_with("use [redacted:") && clean.ends_with("] now"), "{clean}");
            let first = spell(secret.as_bytes()[0]) + &secret[1..];
            let clean = redact(&format!("use {first} now")).into_owned();
            assert!(clean.starts_with("use [redacted:") && clean.ends_with("] now"), "{clean}");
        }
    }
    let secret = sample("github-classic").secret;
    let text = format!("https://x.test/?q=a%20b&t=%67%68{}&n=%41%42&e=&#65;", &secret[2..]);
    let expected = "https://x.test/?q=a%20b&t=[redacted:github-token]&n=%41%42&e=&#65;";
    assert_eq!(redact(&text), expected);
}

#[test]
fn escapes_without_a_secret_stay() {
    for text in [
        "https://x.test/?q=%41%42%43&next=%2Fhome%2Fa1b2c3d4&token_type=%62earer",
        "printf(\"%6d %5.2f %4x\\n\", token, password, key);",
        "b\"\\x67\\x68\\x70\\x5f\\x00\\x41 and \\x1b[31m\"",
        "&#103;&#104;&#112; &#x67; &copy; &#8230; a && b &# 7;",
        "100%65 of %7Etoken%7E",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn base64_of_settings_goes() {
    for settings in [
        "PORT=80\nDB_PASSWORD=hunter2x9\nLOG=info\n",
        "DB_PASSWORD=hunter2x9\n",
        "a=1\nSECRET_KEY=a8F3kZ0qLm2Vn5Xb7Rt9Wc1\n",
        "{\"user\":\"a\",\"password\":\"hunter2x9\"}",
        "service:\n  api_key: a8F3kZ0qLm2Vn5Xb7Rt9Wc1\n",
    ] {
        let blob = base64(settings.as_bytes());
        for text in [format!("env: {blob}\n"), format!("{{\"d\":\"{blob}\"}}"), blob.clone()] {
            check_gone(&text, &blob);
        }
    }
    for settings in [
        "PORT=80\nLOG=info\nTOKEN_COUNT=12\n",
        "password: ${DB_PASSWORD}\nsecret: <your-secret>\n",
        "The password is kept in the keychain, the token is not.",
    ] {
        let text = format!("env: {}", base64(settings.as_bytes()));
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn base64_of_wide_text_goes() {
    let secret = sample("github-classic").secret;
    for text in [
        format!("$env:GH='{secret}'; git push"),
        secret.clone(),
        format!("x{secret}").replace('x', "a "),
        "$password = 'hunter2x9'".to_owned(),
    ] {
        let blob = base64(wide(&text));
        let clean = redact(&format!("powershell -enc {blob} -x")).into_owned();
        assert!(clean.starts_with("powershell -enc [redacted:"), "{clean}");
        assert!(clean.ends_with("] -x"), "{clean}");
    }
    let text = base64(wide("Write-Host 'nothing to see here, the token is gone'"));
    assert_eq!(redact(&text), text);
}

#[test]
fn base64_over_short_lines_goes() {
    let secret = sample("github-classic").secret;
    let blob = base64(format!("machine github.com\ntoken: {secret}\nand the rest").as_bytes());
    for width in [20, 32, 40, 64, 76] {
        let lines: Vec<&str> = (0..blob.len())
            .step_by(width)
            .map(|at| &blob[at..blob.len().min(at + width)])
            .collect();
        for gap in ["\n", "\r\n", "\n  ", "\\n", "\n> "] {
            let hidden = base64(secret.as_bytes());
            let text = format!("data:{gap}{}\nend", lines.join(gap));
            let clean = redact(&text);
            assert!(clean.contains("[redacted:github-token]"), "{width} {gap:?} {text}");
            let left: String = clean.chars().filter(char::is_ascii_alphanumeric).collect();
            for at in 8..hidden.len() - 20 {
                assert!(!left.contains(&hidden[at..at + 12]), "{width} {gap:?} {clean}");
            }
        }
    }
}

#[test]
fn values_of_a_cluster_secret_go() {
    let value = base64(b"hunter2x9");
    let gone = "[redacted:secret]";
    for template in [
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  first.one: %\n  second: %\n",
        "apiVersion: v1\ndata:\n  first.one: %\n  second: \"%\"\nkind: Secret\nmetadata:\n  name: db\n",
        "items:\n- apiVersion: v1\n  data:\n    one: %\n  kind: Secret\n- data:\n    two: %\n  kind: Secret\n",
        "{\"kind\":\"Secret\",\"data\":{\"one\":\"%\",\"two\":\"%\"},\"type\":\"Opaque\"}",
        "{\n  \"data\": {\n    \"one\": \"%\",\n    \"two\": \"%\"\n  },\n  \"kind\": \"Secret\"\n}",
        "{\"t\":\"kind: Secret\\ndata:\\n  one: %\\n  two: %\\n\"}",
        "{\"t\":\"{\\\"kind\\\":\\\"Secret\\\",\\\"data\\\":{\\\"one\\\":\\\"%\\\"}}\"}",
    ] {
        assert_eq!(redact(&template.replace('%', &value)), template.replace('%', gone));
    }
    let plain = "kind: Secret\nstringData:\n  one: hunter2x9\n  host: db.internal\n";
    assert_eq!(redact(plain), plain.replace("hunter2x9", gone));
    for text in [
        format!("kind: ConfigMap\ndata:\n  one: {value}\n"),
        format!("kind: SecretStore\ndata:\n  one: {value}\n"),
        format!("kind: Secret\nmetadata:\n  one: {value}\n"),
        "kind: Secret\ndata:\n  one: ${ONE_VALUE}\n  two: <base64>\n".to_owned(),
        format!("kind: Secret\ndata: {{}}\n---\nkind: ConfigMap\ndata:\n  one: {value}\n"),
    ] {
        assert_eq!(redact(&text), text);
    }
}
