//! Tests secrets in files, consoles and code: in brackets, in phrases, in name-value pairs, and on
//! the next line.

use super::redact;

/// Asserts that every `«secret»` in `text` is redacted as `kind`, and that everything else stays
/// unchanged.
pub(super) fn check(kind: &str, text: &str) {
    let mut written = String::new();
    let mut expected = String::new();
    for (idx, part) in text.split(['«', '»']).enumerate() {
        written.push_str(part);
        if idx % 2 == 1 {
            expected.push_str(&format!("[redacted:{kind}]"));
        } else {
            expected.push_str(part);
        }
    }
    assert_eq!(redact(&written), expected, "{written}");
    assert_eq!(redact(&expected), expected, "again");
}

pub(super) fn check_stays(texts: &[&str]) {
    for text in texts {
        assert_eq!(redact(text), *text);
        let json = serde_json::to_string(text).unwrap();
        assert_eq!(redact(&json), json);
    }
}

#[test]
fn values_with_brackets_go() {
    for text in [
        "DB_PASSWORD=«x8Kd(92mLq»",
        "DB_PASSWORD=«x8Kd(92mLq»\nPORT=1\n",
        "DB_PASSWORD=«x8Kd(92mLq)»\n",
        "DB_PASSWORD=«x8Kd<92mLq»\n",
        "DB_PASSWORD=«x8Kd{92m}Lq»\n",
        "db_password: «x8Kd)92mLq»\n",
        "db_password: «x8Kd[92mLq»  # rotate\n",
        "Set `DB_PASSWORD=«x8Kd(92mLq»` first",
        r#"{"cmd":"export DB_PASSWORD=«x8Kd(92mLq»\nmake"}"#,
    ] {
        check("password", text);
    }
}

#[test]
fn code_with_brackets_stays() {
    check_stays(&[
        "password = getPassword()",
        "password = getPassword(user1, salt2)",
        "password = base64.b64decode(raw1, x2)",
        "password = b64decode(raw1)",
        "password = b64decode(\n    raw1)",
        "password = sha256(user.name1)",
        "password=md5x8(user1[0])",
        "password = args2[3]",
        "password: string",
        "password: Option<String>",
        "password: Vec<u8>",
        "password: [u8; 32]",
        "password=<your-password>",
        "password=<password>",
        "password: <base64>",
        "password=${DB_PASSWORD1}",
        "password={{ db_password1 }}",
        "password={{db_password1}}",
        "password: {type: 'string', minLength: 8}",
        "<Login password={values.password1} token={state.token2} />",
        "PASSWORD=$(pass show db1x2y3)",
        "password = (user1 || admin2)",
        r#"{"password":{"a1b2c3d4":1},"token":[1234567890123]}"#,
        r#"{"password":[12345678]}"#,
        "let password = input.x1y2[z3];",
        "password: Yup.string().min(8).matches(/[a-z0-9]/)",
        "func(password=x1y2.z3(4))",
    ]);
}

#[test]
fn quoted_phrases_go() {
    for text in [
        "password = \"«correct horse battery staple»\"",
        "password: '«correct horse battery staple»'",
        r#"{"passphrase": "«correct horse battery staple»"}"#,
        r#"{"t":"{\"password\":\"«correct horse battery staple»\"}"}"#,
        "DB_PASSWORD=\"«Tr0ub4dor & 3»\"",
        "password = \"«hunter2 blue!»\"",
    ] {
        check("password", text);
    }
}

#[test]
fn quoted_messages_stay() {
    check_stays(&[
        "password: \"must be at least 8 characters long\"",
        "password: \"Invalid password\"",
        "forgotPassword: \"Forgot your password?\"",
        "password: \"invalid username password combination\"",
        "\"password\": \"Please enter your password (8+ characters)\"",
        "password: 'Mot de passe'",
        "echo \"password: \" + foo1 + \" and \" + bar2",
        "print(\"password:\", \"enter it twice\")",
        "password = \"SELECT a1, b2 FROM users\"",
        "token: \"correct horse battery staple\"",
        "the \"password\" \"correct horse battery staple\"",
    ]);
}

#[test]
fn pairs_of_name_and_value_go() {
    for text in [
        "env:\n  - name: DB_PASSWORD\n    value: «hunter2x9»\n  - name: PORT\n    value: 8080abc1\n",
        "- name: DB_PASSWORD\r\n  value: «hunter2x9»\r\n",
        "- name: \"DB_PASSWORD\"\n  value: \"«hunter2x9»\"\n",
        "- name: \"DB_PASSWORD\"\n  value: «hunter2x9»\n",
        "- value: «hunter2x9»\n  name: DB_PASSWORD\n",
        "- name: DB_PASSWORD\n  type: secret\n  value: «hunter2x9»\n",
        r#"{"name":"DB_PASSWORD","value":"«hunter2x9»"}"#,
        r#"{"name":"DB_PASSWORD","secure":true,"value":"«hunter2x9»"}"#,
        r#"{"value":"«hunter2x9»","name":"DB_PASSWORD"}"#,
        r#"{"t":"- name: DB_PASSWORD\n  value: «hunter2x9»\n"}"#,
        r#"{"t":"{\"name\":\"DB_PASSWORD\",\"value\":\"«hunter2x9»\"}"}"#,
        r#"{"t":"{\"value\":\"«hunter2x9»\",\"name\":\"DB_PASSWORD\"}"}"#,
        "{\n  \"Key\": \"DbPassword\",\n  \"Value\": \"«hunter2x9»\"\n}",
        r#"<add key="DbPassword" value="«hunter2x9»"/>"#,
        r#"<add value="«hunter2x9»" key="DbPassword"/>"#,
        r#"<property name="db.password" type="string" value="«hunter2x9»" />"#,
        r#"<entry key="db.password">«hunter2x9»</entry>"#,
        "<password>«hunter2x9»</password>",
        "<db:password>«hunter2x9»</db:password>",
        "<Password type=\"plain\">«hunter2x9»</Password>",
        "<password><![CDATA[«hunter2x9»]]></password>",
        r#"{"x":"<password>«hunter2x9»</password>"}"#,
    ] {
        check("password", text);
    }
}

#[test]
fn pairs_without_a_secret_stay() {
    check_stays(&[
        "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef: hunter2x9\n",
        "- name: DB_PASSWORD\n  value: ${DB_PASSWORD}\n",
        "- name: PORT\n  value: hunter2x9\n",
        "- name: DB_PASSWORD\n- name: OTHER\n  value: hunter2x9\n",
        r#"{"name":"password","type":"string","description":"At least 8 chars x1y2z3"}"#,
        "<input type=\"password\" name=\"password\" value=\"\"> abc123def456",
        "<label for=\"password\">Password1</label>",
        "<Password value={x1} onChange={y2z3} />",
        "<b>token</b> abc1def2",
        "a < password > b1c2d3e4",
    ]);
}

#[test]
fn values_on_the_next_line_go() {
    for text in [
        "password: |\n  «hunter2x9»\nuser: a\n",
        "password: >-\n  «hunter2x9»\n",
        "password: |2+\n  «hunter2x9»\n",
        "password:\n  «hunter2x9»\n",
        "password:\r\n  «hunter2x9»\r\n",
        "Password:\n«hunter2x9»\n",
        "password =\n    \"«hunter2x9»\";\n",
        "password: \"«hunter2x9»\"\n",
        r#"{"t":"password: |\n  «hunter2x9»\nuser: a\n"}"#,
        r#"{"t":"password:\n  «hunter2x9»"}"#,
    ] {
        check("password", text);
    }
    check("token", "token: >-\n  «a8F3kZ0qLm2Vn5Xb7Rt9Wc1»\n");
    check("token", "token:\n  «a8F3kZ0qLm2Vn5Xb7Rt9Wc1»\n");
}

#[test]
fn other_text_on_the_next_line_stays() {
    check_stays(&[
        "PASSWORD=\nUSER=bob1x2y3z4\n",
        "PASSWORD=\nbob1x2y3z4\n",
        "password:\n  sha256: x1y2\n",
        "password:\n  minLength: 8\n",
        "password:\nusername: bob1x2y3\n",
        "Enter the password:\nThe h1x2y3z4 was not found\n",
        "password:\n- item1x2y3z4\n",
        "PASS:\ntestA1b2C3d4e5F6\n",
        "password:\n  lib/a1b2c3/d4.so\n",
        "password: |\n  The password of the user.\n",
        "token:\n  next_token_1a2\n",
    ]);
}

#[test]
fn passwords_of_calls_and_commands_go() {
    for text in [
        "user.setPassword(\"«hunter2x9»\");",
        "builder.password(\"«hunter2x9»\").build()",
        ".password('«hunter2xyz»')",
        "{\"t\":\"setPassword(\\\"«hunter2x9»\\\")\"}",
        "withPassword(`«hunter2x9»`)",
        "setPassword(\"«correct horse battery staple»\")",
        "sshpass -p'«hunter2x9»' ssh x",
        "sshpass -p «hunter2x9» ssh x",
        "sshpass -p«hunter2x9» ssh x",
        "sshpass -p letmein ssh x".replace("letmein", "«letmein»").as_str(),
    ] {
        check("password", text);
    }
    check_stays(&[
        "setPassword(\"Enter your password\")",
        "validatePassword(\"shouldFailOnLogin\")",
        "setPassword(user.password1)",
        "it.password(\"password_field1\")",
        "token(\"user_id_1\")",
        "sshpass -p $PASSWORD1 ssh x",
        "sshpass -f /etc/pass1 -p /x/y1",
        "mkdir -p letmein",
        "sshpass -p password ssh x",
        "should_pass(\"a1b2c3d4\")",
        "print(f\"password={password!r} token={token:?}\")",
    ]);
}

#[test]
fn lines_of_pgpass_go() {
    for text in [
        "db.internal:5432:app:bot:«hunter2x9»\n",
        "# passwords\n*:*:*:bot:«hunter2x9»\n",
        "localhost:5432:*:bot:«letmein»",
        "echo 'db:6432:app:bot:«hunter2x9»' > ~/.pgpass",
    ] {
        check("password", text);
    }
    check_stays(&[
        "docker run -p 127.0.0.1:5432:5432 postgres",
        "cache:*:items:user:12345678",
        "db:5432:app:bot:${PASSWORD}",
        "a:5432:b:c",
        "postgres://db.internal:5432:app:bot:hunter2x9",
    ]);
}

#[test]
fn keys_of_putty_go() {
    let line = super::corpus::expand("{b64:64}", &mut super::corpus::Dice::new(16));
    let rest = super::corpus::expand("{b64:40}", &mut super::corpus::Dice::new(17));
    for gap in ["\n", "\r\n", "\\n", "\n    "] {
        let head =
            ["PuTTY-User-Key-File-3: ssh-rsa", "Encryption: none", "Private-Lines: 2"].join(gap);
        let text = format!("{head}{gap}{line}{gap}{rest}{gap}Private-MAC: abc");
        let expected = format!("{head}{gap}[redacted:private-key]{gap}Private-MAC: abc");
        assert_eq!(redact(&text), expected);
    }
    check_stays(&["Private-Lines: 8\nThe lines of the key follow here.\n", "Private-Lines: "]);
}

#[test]
fn words_of_other_languages_are_names() {
    for name in [
        "contraseña",
        "Contraseña",
        "senha",
        "SENHA",
        "passwort",
        "Kennwort",
        "mot de passe",
        "Mot de passe",
        "mot_de_passe",
        "пароль",
        "Пароль",
        "密码",
        "密碼",
        "パスワード",
        "wachtwoord",
        "hasło",
        "Hasło",
    ] {
        check("password", &format!("{name}: «hunter2x9»\n"));
        check("password", &format!("{name}=«hunter2x9»\n"));
        check("password", &format!("{name}：«hunter2x9»。"));
        check("password", &format!("{{\"{name}\": \"«hunter2x9»\"}}"));
    }
    check_stays(&[
        "Пароль: введите пароль ещё раз",
        "密码：请输入密码",
        "パスワード: 8文字以上",
        "mot de passe: oublié",
        "La contraseña es obligatoria",
        "пароль1x2y3z4",
        "Senha: digite sua senha",
    ]);
}
