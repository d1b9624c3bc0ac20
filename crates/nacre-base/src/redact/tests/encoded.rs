//! Tests secrets in base64 and in manifests.

use super::disguise::{base64, check_gone};
use super::redact;

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
