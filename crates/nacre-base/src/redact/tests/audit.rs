//! Generates prefixes, settings, names, commands and addresses in formats that an audit found
//! unredacted.

use super::corpus::{Dice, expand};
use super::files::check_stays;
use super::redact;

/// Texts with the secret in `<…>`, as in the corpus: `|` is dropped, and `{set:n}` is generated.
const ROWS: &[&str] = &[
    "https://api.telegram.org/bot<72345|67890:AA{url:33}>/getMe",
    // Plain passwords in settings.
    "POSTGRES_PASSWORD: <blaubeere9>",
    "password=<blaubeere9>",
    "password = <geheim77>",
    "spring.datasource.password=<Rex2019>",
    "<password><kirschbaum></password>",
    "<password>\n  <kirschbaum>\n</password>",
    "db:\n  user: app\n  password: <kirschbaum>\n  port: 5432\n",
    "password: \"<kirschbaum>\"",
    "{\"user\": \"app\", \"password\": \"<kirschbaum>\"}",
    "Server=db;User=sa;Password=<kirschbaum>;Encrypt=yes",
    "tool --password <kirschbaum> --verbose",
    "docker run -e MYSQL_ROOT_PASSWORD=<kirschbaum> mysql:8",
    "password=<PwxgEZePkStj>",
    "curl -u me:<PwxgEZePkStj> https://api.test",
    "mysql -u root -p<PwxgEZePkStj> app",
    "CREATE USER app IDENTIFIED BY '<PwxgEZePkStj>';",
    "docker login -u me -p <PwxgEZePkStj> registry.test",
    // Prefixes that are not in the table.
    "<sk_org_|live_{alnum:32}>",
    "<ek_|live_{alnum:32}>",
    "<rnd|_{alnum:32}>",
    "<vck|_{alnum:56}>",
    "<vercel_blob|_rw_{alnum:32}>",
    "<napi|_{alnum:64}>",
    "<pcsk|_{alnum:60}>",
    "<jina|_{alnum:48}>",
    "<wandb|_v1_{alnum:40}>",
    "<e2b|_key_{hex:40}>",
    "<zpka|_{lower:32}>",
    "<newvendor-live-{lower:40}>",
    "<ACME_{alnum:40}>",
    // Prefixes in the table.
    "<xw|fp-{alnum:40}>",
    "<gl|ffct-{url:20}>",
    "<GR|1348941{url:20}>",
    "<r|e_{alnum:8}_{alnum:24}>",
    "<xsmtp|sib-{hex:64}-{alnum:16}>",
    "<AT|TA{hex:72}>",
    "<IG|QV{alnum:120}>",
    "<AQ|.Ab8{url:48}>",
    "AWS_BEARER_TOKEN_BEDROCK=<AB|SK{alnum:128}>",
    "<access_token$|production${lower:16}${hex:32}>",
    "<A2|1AA{alnum:90}>",
    "<mf|a.{url:84}>",
    "<v4|.local.{url:120}>",
    "<AGE-SECRET|-KEY-PQ-1{upper:64}>",
    "<ns|ec1{lower:58}>",
    "<xp|rv{alnum:107}>",
    "<suipriv|key1{lower:56}>",
    "<{hex:36}NR|AL>",
    "SCRAM|-SHA-256$<4096:{alnum:24}${alnum:44}:{alnum:44}>",
    "Administrator:500:aad3b435b51404ee|aad3b435b51404ee:<{hex:32}>:::",
    "<MIIE|vQIBADANBgkqhkiG9w0BAQEFAASC{b64:400}>",
    "<MIIE|owIBAAKCAQEA{b64:400}>",
    // Protocols and addresses.
    "snmpwalk -v2c -c <Xk29fjLLq0> 10.0.0.1",
    "enable secret <Xk29fjLLq0zP>",
    "Cookie: PHPSESSID=<{lower:26}>",
    "JSESSIONID=<{upper:32}>",
    "https://b.s3.amazonaws.com/k?X-Amz-Date=1&X-Amz-Signature=<{hex:64}>",
    "https://storage.googleapis.com/b/k?X-Goog-Signature=<{hex:256}>",
    "https://acme.webhook.office.com/webhookb2/<{uuid:1}/IncomingWebhook/{hex:32}>",
    "https://hooks.slack|-gov.com/services/<T{upper:8}/B{upper:8}/{alnum:24}>",
    // Languages.
    "كلمة المرور: <kirsch77baum>",
    "şifre: <kirsch77baum>",
    "heslo: <kirsch77baum>",
    "पासवर्ड: <kirsch77baum>",
    "mật khẩu: <kirsch77baum>",
    "密码：<kirsch77baum>",
    // The same value again, without its name.
    "api_key = '<{alnum:32}>'",
];

#[test]
fn shapes_of_the_audit_go() {
    let mut left = Vec::new();
    for (idx, row) in ROWS.iter().enumerate() {
        let text = expand(&row.replace('|', ""), &mut Dice::new(idx as u64 + 1));
        // The brackets around the secret are the last pair that is not a tag.
        let (open, close) = secret_of(&text);
        let written = format!("{}{}{}", &text[..open], &text[open + 1..close], &text[close + 1..]);
        if redact(&written).contains(&text[open + 1..close]) {
            left.push(written);
        }
    }
    assert!(left.is_empty(), "{} left:\n{}", left.len(), left.join("\n"));
}

fn secret_of(text: &str) -> (usize, usize) {
    let is_tag = text.contains("</");
    let open = if is_tag { text.rfind("<k") } else { text.find('<') }.unwrap();
    (open, open + text[open..].find('>').unwrap())
}

#[test]
fn a_value_goes_wherever_it_is_repeated() {
    let value = expand("{alnum:32}", &mut Dice::new(5));
    let text = format!("api_key = '{value}'\nThen I sent {value} to the server; not x{value}.");
    let expected = text.replacen(&value, "[redacted:api-key]", 2);
    assert_eq!(redact(&text), expected);
}

#[test]
fn names_and_ids_with_a_prefix_stay() {
    let mut dice = Dice::new(6);
    for spec in [
        "toolu_01{alnum:22}",
        "msg_01{alnum:22}",
        "chatcmpl-{alnum:29}",
        "sha512-{alnum:86}",
        "assets/index-{alnum:24}.js",
        "image-{hex:40}",
        "worktree-agent-{hex:32}",
        "x86_64_unknown_linux_gnu_with_a_long_name",
        "test_that_a_user_can_sign_in_with_a_passkey_and_2_devices",
    ] {
        let text = expand(spec, &mut dice);
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn code_about_passwords_stays() {
    check_stays(&[
        "class Login(BaseModel):\n    user: str\n    password: str\n",
        "interface Login {\n  user: string\n  password: string\n}",
        "login({\n  user,\n  password: hashed\n})",
        "connect(\n    user=user,\n    password=credential,\n)",
        "password: SecretStr",
        "password = settings.database.secret_value",
        "password = getpass()",
        "password: required",
        "\"password\": \"Passwort\"",
        "password: \"Password\"",
        "  --password string   password of the registry",
        "  --password TEXT  The password",
        "Use the --password flag to log in.",
        "password: ${DB_PASSWORD}",
        "password: $DB_PASSWORD",
        "password: <password>",
        "password: xxxxxx",
        "password=changeme",
        "password: null",
        "POSTGRES_PASSWORD: postgres",
        "The password: it must be long.",
        "Rename the password 'confirm' field.",
        "snmpwalk -v2c -c public 10.0.0.1",
        "provide the --username and --password options",
    ]);
}
