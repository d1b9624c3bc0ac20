//! Tests secrets on separate lines, in various formats and phrases, in tables and on command lines.
//!
//! The redactor once missed most of these rows; the others are similar rows that it already found.
//! The similar-looking texts next to them contain no secrets and must stay unchanged.

use super::corpus::{Dice, expand};
use super::files::{check, check_stays};

const VALUE: &str = "Xk29fjLLq0zPwmT4";

/// Checks every row, with `%` replaced by a password.
fn check_rows(kind: &str, rows: &[&str]) {
    for row in rows {
        check(kind, &row.replace('%', &format!("«{VALUE}»")));
    }
}

#[test]
fn values_on_another_line_go() {
    check_rows(
        "password",
        &[
            "password=\\\n%\n",
            "mysql --password \\\n  % db",
            "password\n%\n",
            "{\"t\":\"password=\\\\\\n%\"}",
            "password:\n  value: %\n",
        ],
    );
    check_rows(
        "netrc-password",
        &[
            "machine x\nlogin y\npassword %\n",
            "machine x\n  login y\n  password\n  %\n",
            "machine x login\ny password\n%\n",
            "{\"t\":\"machine x\\nlogin y\\npassword\\n%\\n\"}",
        ],
    );
    check_stays(&[
        "Password\nUsername\n",
        "password\nsee the docs\n",
        "password=\\\n  $(cat file1)\n",
        "run --password \\\n  \"$PASSWORD1\"",
    ]);
}

#[test]
fn values_in_shapes_go() {
    check_rows(
        "password",
        &[
            "<name>password</name><value>%</value>",
            "<key>password</key>\n\t<string>%</string>",
            "variable \"db_password\" {\n  type    = string\n  default = \"%\"\n}",
            "{\"password\": { \"value\": \"%\" }}",
            "{\"t\":\"{\\\"password\\\": {\\\"value\\\": \\\"%\\\"}}\"}",
        ],
    );
    check_stays(&[
        "<key>password</key><string>Password</string>",
        "<name>password</name><value>${DB_PASSWORD}</value>",
        "<name>user</name><value>a1b2c3d4e5f6</value>",
        "\"password\": {\"type\": \"string\", \"default\": \"changeme\"}",
        "variable \"db_password\" {\n  type = string\n  description = \"The password of the database x1\"\n}",
        "\"token\": {\"type\":\"string\",\"description\":\"a1b2\"}",
    ]);
}

#[test]
fn private_parts_of_a_web_key_go() {
    let mut dice = Dice::new(22);
    let (open, secret) = (expand("{url:43}", &mut dice), expand("{url:43}", &mut dice));
    for row in [
        format!("{{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"{open}\",\"d\":\"«{secret}»\"}}"),
        format!("{{\"d\": \"«{secret}»\", \"kty\": \"OKP\"}}"),
        format!("{{\n  \"kty\": \"oct\",\n  \"k\": \"«{secret}»\"\n}}"),
        format!("{{\"t\":\"{{\\\"kty\\\":\\\"oct\\\",\\\"k\\\":\\\"«{secret}»\\\"}}\"}}"),
    ] {
        check("private-key", &row);
    }
    check_stays(&[
        &format!("{{\"kty\":\"RSA\",\"n\":\"{open}\",\"e\":\"AQAB\"}}"),
        &format!("{{\"d\":\"{open}\"}}"),
    ]);
}

#[test]
fn columns_of_tables_go() {
    check_rows(
        "password",
        &[
            "| user | password |\n|------|----------|\n| bob  | % |\n| eve  | % |\n\ntext",
            "user,password,role\nbob,%,admin\neve,«kX9vTq2m!»,dev\n",
            "\"user\",\"password\"\r\n\"bob\",\"%\"\r\n",
            "user\tpassword\nbob\t%\n",
            " user | password \n------+----------\n bob  | %\n",
            "{\"t\":\"user,password\\nbob,%\\neve,%\",\"n\":1}",
            "{\"t\":\"a\\n\\n| user | password |\\n|---|---|\\n| bob | % |\\n\"}",
        ],
    );
    check_stays(&[
        "| user | password |\n|---|---|\n| bob | required |\n| eve | see docs/v2.3 |\n",
        "user,password,role\nbob,string,admin\n",
        "load(\n    password,\n    Base64DecoderV2x3y4,\n    private_key,\n    x509.PKCS12PrivateKeyV1a2,\n)",
        "fn login(user, password, role)\n    a1b2c3d4, e5f6g7h8, i9\n",
        "| name | token |\n|---|---|\n| a1b2c3d4e5 | Vec<Token1> |\n",
    ]);
}

#[test]
fn spoken_values_go() {
    check_rows(
        "password",
        &[
            "Das Passwort ist %",
            "la password è %",
            "パスワードは %",
            "密码是 %",
            "password for prod -> %",
            "password -> %",
            "The password for the prod db is %, ok",
            "Passwort für prod: %",
        ],
    );
    check_rows("api-key", &["my api key (prod): %", "The API key for staging is %"]);
    check_stays(&[
        "The password for user42 is base64 encoded.",
        "Das Passwort ist wichtig und lang.",
        "la password è obbligatoria",
        "パスワードは必須です",
        "password for prod -> see the vault",
        "The API key (optional): your key",
        "password (optional): string",
        "fn password(&self) -> String {",
        "password -> hash2base64",
        "The token for the parser is next_token_v2",
        "password of the user: must have 8+ characters",
        "Passwort für die Datenbank: siehe Tresor",
    ]);
}

#[test]
fn passwords_of_more_commands_go() {
    check_rows(
        "password",
        &[
            "requirepass %",
            "CONFIG SET requirepass %",
            "AUTH %\n",
            "127.0.0.1:6379> AUTH default %",
            "ldapsearch -x -D cn=a -w % -b dc=x",
            "zip -P % a.zip a",
            "unzip -P % a.zip",
            "7z a -p% a.7z a",
            "openssl enc -aes-256-cbc -k % -in a",
            "echo % | docker login -u bot --password-stdin",
            "echo -n \"%\" | docker login --password-stdin",
            "docker login --password-stdin <<< %",
        ],
    );
    check("password", &format!("printf '%s' «{VALUE}» | docker login --password-stdin"));
    check_stays(&[
        "requirepass foobared",
        "AUTH PLAIN LOGIN",
        "AUTH failed",
        "grep -w password1 src/a2b3.rs",
        "curl -k https://x1.test/a2b3c4d5",
        "cp -P a1b2c3d4 b",
        "docker login --password-stdin < ~/token1.txt",
        "echo $TOKEN1 | docker login --password-stdin",
        "echo \"$PASS\" | docker login --password-stdin",
    ]);
}

#[test]
fn hashes_of_passwords_go() {
    let mut dice = Dice::new(23);
    for form in [
        "$6${alnum:16}${alnum:86}",
        "$6$rounds=5000${alnum:16}${alnum:86}",
        "$5${alnum:16}${alnum:43}",
        "$1${alnum:8}${alnum:22}",
        "$y$j9T${alnum:22}${alnum:43}",
        "$apr1${alnum:8}${alnum:22}",
        "$2y$10${alnum:53}",
        "$argon2id$v=19$m=65536,t=3,p=4${alnum:22}${alnum:43}",
        "{SHA}{alnum:27}=",
    ] {
        let hash = expand(form, &mut dice);
        check("password-hash", &format!("root:«{hash}»:19000:0:99999:7:::\n"));
    }
    check_stays(&[
        "echo \"$1$2$3$4$5$6$7$8/some/path/of/files\"",
        "awk '{print $1$2}' x",
        "replace(/(a)(b)/, \"$1$2-some-other-long-name-of-a-thing\")",
    ]);
}
