//! Tests secrets as people paste them: in commands, calls, forms, SQL inserts, sentences and seed
//! phrases.
//!
//! Each rule is also tested on similar text without a secret.

use super::files::{check, check_stays};

/// A password and a token, split so that scanners do not report them.
const PASSWORD: &str = concat!("vR8#mQ2", "zL5wT");
const TOKEN: &str = concat!("q7Hs0VdK2mXw", "9TzB4nLc6RfJ1yPe");

/// Checks every row, with `%%` replaced by a password and `@@` by a token.
fn check_rows(kind: &str, rows: &[&str]) {
    for row in rows {
        let row = row.replace("@@", &format!("«{TOKEN}»"));
        check(kind, &row.replace("%%", &format!("«{PASSWORD}»")));
    }
}

#[test]
fn literals_for_missing_variables_go() {
    check_rows(
        "password",
        &[
            "const a = process.env.DB_PASSWORD || '%%'",
            "const a = process.env.DB_PASSWORD ?? '%%'",
            "a = os.environ.get('DB_PASSWORD') or '%%'",
            "ENV['DB_PASSWORD'] || '%%'",
            "ENV['DB_PASSWORD'] ||= '%%'",
            "getenv('DB_PASSWORD') ?: '%%'",
            "const a = process.env.DB_PASSWORD ||\n  '%%'",
        ],
    );
    check_stays(&[
        "const a = process.env.DB_PASSWORD || ''",
        "const a = process.env.DB_PASSWORD || 'postgres'",
        "const a = process.env.DB_PASSWORD ?? defaultPassword1",
        "if (password || 'abc12345' === other) {}",
        "this.password or this.token1x2y3",
        "password or 'Enter a password'",
    ]);
}

#[test]
fn literals_of_code_and_yaml_go() {
    check_rows(
        "password",
        &[
            "let password: String? = \"%%\"",
            "let password = r#\"%%\"#;",
            "String password = new String(\"%%\");",
            "psk=\"%%\"",
            "pw: %%",
            "pw is %%",
            "password: &pw %%",
            "password: !!str %%",
            "password = <<EOT\n%%\nEOT",
            "Password:\n```\n%%\n```",
            "- Password — `%%`",
            "Password - %%",
            "<tr><td>Password</td><td>%%</td></tr>",
            "<dt>Password</dt><dd><code>%%</code></dd>",
            "<input type=\"password\" name=\"pw\" value=\"%%\">",
            "<input name=\"password\" type=\"hidden\" value=\"%%\">",
        ],
    );
    check_stays(&[
        "let password: String? = nil",
        "let password = r#\"[a-z0-9]+\"#;",
        "String password = new String(chars1);",
        "with sync_playwright() as pw:\n    browser = pw.chromium.launch()",
        "pw is the page width",
        "password: &pw ${DB_PASSWORD}",
        "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n",
        "password = <<EOT\nThe password of the user.\nEOT",
        "Password:\n```\nstring\n```",
        "Password — required, 8+ characters",
        "Password - see the vault",
        "<tr><td>Password</td><td>required</td></tr>",
        "<tr><td>Password</td><td>sha256-hashed</td></tr>",
        "<input type=\"password\" name=\"pw\" value=\"\">",
        "<input type=\"password\" id=\"field1x2\">",
    ]);
}

#[test]
fn weak_names_need_a_dense_value() {
    check_rows(
        "secret",
        &["MAPTILER_KEY=@@", "export maptiler_key=@@", "JWT_SALT=@@", "maptilerKey: \"@@\""],
    );
    check_stays(&[
        &format!("cache_key = \"{TOKEN}\""),
        &format!("IDEMPOTENCY_KEY={TOKEN}"),
        &format!("site_key: {TOKEN}"),
        "MAPTILER_KEY=3f786850e387550fdab836ed7e6dc881de23001b",
        "password_salt = \"d41d8cd98f00b204e9800998ecf8427e\"",
        "REDIS_KEY=user:42:sessions",
        "row_key: 123e4567-e89b-12d3-a456-426614174000",
        "onKey = handleArrowKeyDownV2Event3Once",
    ]);
}

#[test]
fn insertions_go_by_their_columns() {
    check_rows(
        "password",
        &[
            "INSERT INTO users (name, password) VALUES ('bob', '%%');",
            "INSERT INTO users (id, password, name)\nVALUES (1, '%%', 'a'),\n  (2, '%%', 'b');",
            "insert into users (`user_password`, at) values ('%%', now());",
            "{\"t\":\"INSERT INTO u (name, password)\\nVALUES ('bob', '%%')\"}",
        ],
    );
    check_stays(&[
        "INSERT INTO users (name, password) VALUES ('bob', 'required');",
        "INSERT INTO users (name, password) VALUES ($1, $2);",
        "INSERT INTO users (name, password) VALUES (?, ?);",
        "INSERT INTO users (password, name) VALUES (crypt(x1, gen2()), 'Abc1x2y3');",
        "INSERT INTO t (name, code) VALUES ('bob', 'aB3dE5fG7h');",
        "for (k, v) in (map.password, map).values() {}",
    ]);
}

#[test]
fn secrets_of_commands_go() {
    check_rows(
        "password",
        &[
            "echo '%%' | sudo -S apt update",
            "sudo -S apt update <<< '%%'",
            "echo 'root:%%' | chpasswd",
            "chpasswd <<EOF\nroot:%%\nEOF",
            "echo '%%' | passwd --stdin root",
            "mongosh --host x -u admin -p '%%'",
            "az login --service-principal -u x -p '%%' --tenant y",
            "http -a 'bob:%%' x.example.com",
            "http POST x.test --auth=bob:'%%'",
            "smbclient //srv/share -U 'bob%«vR8#mQ2zL5wT»'",
            "htpasswd -bc file bob '%%'",
            "lftp -u bob,'%%' host",
            "xfreerdp /u:bob /p:'%%' /v:host",
            "net user bob %% /add",
            "rabbitmqctl add_user bob '%%'",
            "poetry config http-basic.foo bob '%%'",
            "twine upload -u bob -p '%%' dist/*",
            "ssh-keygen -t ed25519 -N '%%' -f k",
            "keytool -genkey -keypass '%%'",
            "rclone obscure '%%'",
            "adb shell input text '%%'",
            "{\"cmd\":\"ssh-keygen -N \\\"%%\\\" -f k\"}",
            "twine upload \\\n  -u bob \\\n  -p '%%' dist/*",
        ],
    );
    check_rows(
        "secret",
        &[
            "aws ssm put-parameter --name /prod/db --type SecureString --value '%%'",
            "az keyvault secret set --vault-name v --name n --value '%%'",
            "fly secrets set STRIPE=@@ OTHER=@@",
            "gh secret set STRIPE --body '@@'",
            "heroku config:set STRIPE=@@",
            "kubectl create secret generic x --from-literal=stripe=@@",
            "vault kv put secret/db value='%%'",
            "echo -n '%%' | gcloud secrets create x --data-file=-",
            "ansible-vault encrypt_string '%%' --name n",
            "mc alias set m http://x bob @@",
            "dotnet user-secrets set 'Db:Other' '%%'",
        ],
    );
    check_rows(
        "token",
        &[
            "echo @@ | gh auth login --with-token",
            "cargo login @@",
            "poetry config pypi-token.pypi @@",
        ],
    );
}

#[test]
fn commands_without_a_secret_stay() {
    check_stays(&[
        "echo \"$PASS1\" | sudo -S apt update",
        "echo 'installing v1.2.3-rc4'; sudo -S apt update",
        "sudo -S reads the password from stdin",
        "cat users.txt | chpasswd",
        "sudo -S tee /etc/sysctl.conf <<EOF\nnet.ipv4.ip_forward=1\nEOF",
        "chpasswd < users1.txt",
        "gh auth login --with-token < mytoken1.txt",
        "mongosh --host x -u admin -p",
        "mongosh mongodb.internal:27017/db1 -p \"$MONGO_PASS1\"",
        "az login --service-principal -u x -p $SP_SECRET1 --tenant y",
        "http GET x.test/items/a1b2c3d4",
        "smbclient //srv/share -U bob",
        "htpasswd -c file1x2 bob1x2y3",
        "net user bob /delete",
        "the net user count is shown below",
        "fly secrets set NODE_ENV=production PORT=8080",
        "heroku config:set WEB_CONCURRENCY=2 NODE_OPTIONS=--max-old-space-size=2560",
        "kubectl create secret generic x --from-file=./tls1.crt",
        "vault kv put secret/db ttl=3600s1",
        "gh secret set STRIPE < key1x2.txt",
        "cargo login <token>",
        "cargo login and then cargo publish",
        "poetry config virtualenvs.in-project true",
        "ssh-keygen -t ed25519 -N '' -f ~/.ssh/id_ed25519",
        "keytool -list -keystore app1x2.jks",
        "rclone copy a1b2c3 remote:b",
        "docker run -p 8080:80 mongo 4.4.1-rc2",
        "twine upload dist/pkg-1.2.3-py3-none-any.whl",
        "ansible-vault encrypt_string --vault-id dev@prompt --stdin-name n",
        "mc alias set m http://x $ACCESS_KEY1 $SECRET_KEY2",
        "adb shell input text hello",
    ]);
}

#[test]
fn tokens_alone_in_addresses_go() {
    check_rows("url-password", &["git clone https://@@@github.com/x/y.git"]);
    check_stays(&[
        "https://octocat@github.com/x/y.git",
        "ssh://git@github.com:22/x/y.git",
        "https://3f786850e387550fdab836ed7e6dc881@o123.ingest.sentry.io/456",
        "https://medium.com/@someone/a1b2c3d4e5f6a7b8",
    ]);
}

#[test]
fn calls_and_forms_go() {
    check_rows(
        "password",
        &[
            "requests.get(url, auth=('bob', '%%'))",
            "server.login('bob@x.com', '%%')",
            "User.objects.create_superuser('admin', 'a@x.com', '%%')",
            "req.SetBasicAuth(\"bob\", \"%%\")",
            "smtp.PlainAuth(\"\", user, \"%%\", host)",
            "await page.getByLabel('Password').fill('%%')",
            "page.getByRole('textbox', { name: 'Password' }).fill('%%')",
            "cy.get('input[name=password]').clear().type('%%')",
            "cy.get('[data-cy=\"password-input\"]').type('%%')",
            "driver.find_element(By.ID, 'password').send_keys('%%')",
            "{\"selector\":\"#password\",\"text\":\"%%\"}",
            "{\"element\":\"Password field\",\"ref\":\"e12\",\"text\":\"%%\"}",
            "fill_in 'Password', with: '%%'",
        ],
    );
    check_stays(&[
        "requests.get(url, auth=('bob', password1))",
        "requests.get(url, auth=('user', 'pass'))",
        "server.login(user, password)",
        "app.login('bob', 'admin-role')",
        "create_user('bob', 'bob12x3@example4.com')",
        "login('/api/v1/session2x3')",
        "await page.getByLabel('Password').click()",
        "expect(page.getByLabel('Password')).toHaveText('Str0ng')",
        "cy.get('input[name=password]').type(user.password1)",
        "{\"selector\":\"#username\",\"text\":\"bob1x2y3z4\"}",
        "{\"selector\":\"#password\",\"text\":\"\"}",
        "{\"element\":\"Password field\",\"ref\":\"e12x3y4z5\"}",
    ]);
}

#[test]
fn sentences_tell_passwords() {
    check_rows(
        "password",
        &[
            "I set the admin password to %%",
            "I set the admin password to %%.",
            "the password was changed to `%%`",
            "the password is now %%",
            "changed the password from %% to «Zk4!pQ9x#Lm2»",
            "use %% as the password",
            "use `%%` as the new root password",
            "%% is the password for staging",
            "log in as admin with %%",
            "credentials: bob / %%",
            "credentials are admin:%%",
            "creds: `bob` / `%%`",
            "login: bob / %%",
        ],
    );
    check_stays(&[
        "set the password to something strong",
        "Set the password to at least 12 characters",
        "the password is required",
        "the password reset flow was changed to OAuth2",
        "password reset flow",
        "the password was changed to meet the policy",
        "we moved the password from .env.local to the vault",
        "changed the password from MD5 to SHA-256",
        "use bcrypt as the password hash",
        "use PBKDF2WithHmacSHA256 as the password hash",
        "name is the password of the user",
        "base64 is the password encoding",
        "log in as admin with your password",
        "log in as admin with MFA enabled",
        "sign in with GitHub, then go on",
        "credentials: see the vault / 1Password",
        "credentials are stored in ~/.aws/credentials",
        "login: bob / admin",
        "login: https://x.test/a1b2c3",
        "creds: none",
    ]);
}

#[test]
fn seed_phrases_go() {
    let words =
        "ripple harvest muffin dolphin cactus velvet orbit lantern puzzle tornado siege wagon";
    for row in [
        "seed phrase: «%»",
        "mnemonic: \"«%»\"",
        "MNEMONIC=\"«%»\"",
        "My recovery phrase is «%»",
        "Seed phrase:\n```\n«%»\n```",
        "{\"t\":\"seed phrase: «%»\\nend of text\"}",
    ] {
        check("seed-phrase", &row.replace('%', words));
    }
    let numbered: Vec<String> =
        words.split(' ').enumerate().map(|(idx, word)| format!("{}. {word}", idx + 1)).collect();
    let numbered = numbered.join("\n");
    let (first, rest) = numbered.split_at(3);
    check("seed-phrase", &format!("Recovery phrase:\n{first}«{rest}»\n\nDone"));
    let list = words.split(' ').map(|word| format!("\"«{word}»\"")).collect::<Vec<_>>();
    check("seed-phrase", &format!("mnemonic = [{}]", list.join(", ")));
    let eleven = words.rsplit_once(' ').map(|(head, _)| head).unwrap_or_default();
    check_stays(&[
        &format!("seed phrase: {eleven}"),
        &format!("pass phrase words: {words}"),
        "mnemonic: the user writes down twelve words and keeps them in a safe place",
        "The seed phrase is never stored on disk, and nobody else may read the words of it",
        "mnemonic: \"\"",
        "seed phrase: <12 words>",
        "The mnemonic of this instruction is add, which takes two registers and one value",
    ]);
}

#[test]
fn settings_behind_the_margins_of_tools_go() {
    let margins = [
        "",
        "    12\t",
        "    12→",
        "12: ",
        "12:",
        "config/app.yml:12:  ",
        "config/app.yml-13-  ",
        "+ ",
        "> ",
        "> > ",
        "db-1  | ",
        "2026-02-03 10:11:12 ",
        "2026-02-03T10:11:12.123Z ",
        "[10:11:12] ",
        "│ ",
    ];
    for margin in margins {
        check("password", &format!("{margin}db_password: «winter2024»"));
    }
}
