//! Takes secrets out of what is journalled: values of names that say so, texts that look like credentials, the values of the server's own secret environment
//! variables wherever they stand, and everything that a program is given to read. What is left out is `[redacted]`, and counted. It errs on the side
//! of taking too much: a journal is read by people who were never meant to have these.

use std::sync::LazyLock;

use pithos_sessions::errln;
use regex::{Captures, Regex};
use serde_json::{Map, Value};

/// What stands in the place of a secret.
pub(crate) const REDACTED: &str = "[redacted]";
/// Values of the server's environment that are shorter are taken for no secrets: they would be found everywhere.
const ENVIRONMENT_BYTES_MIN: usize = 8;

/// Names of secrets, as part of a name.
const NAMES: &str = r"(?:pass(?:word|wd|phrase|code)|(?:\b|[_-])pass\b|(?:\b|[_-])pat\b|[_-]pwd\b|webhook|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|encryption[_-]?key|signing[_-]?key|credential|authorization|auth[_-]?key|cookie|session[_-]?key|otp\b)";

/// Commands, and the short options that secrets are given them by.
const SHORT_OPTIONS: [(&str, &str); 5] = [
    (r"mysql\w*|mariadb[\w-]*|mongo\w*|sqlcmd|smbclient|rabbitmqadmin", r"-[pP][\s=]*"),
    (r"sshpass|(?:docker|podman|helm|oras|az|npm)\s+login", r"-p[\s=]*"),
    (r"redis-cli", r"-a[\s=]*"),
    (r"openssl", r"-(?:[kK]|pass(?:in|out)?)[\s=]+"),
    (r"ldap\w+", r"-w[\s=]*"),
];

/// Each with `head` (kept), what is a secret, and `tail` (kept).
static PATTERNS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    // A word of a shell or of a program: pieces, quoted or not, that follow one another. What begins with a quote ends at a comma or a bracket, as in JSON.
    let quoted = r#"(?:\$?"(?:[^"\\]|\\.)*"|\$?'(?:[^'\\]|\\.)*'|'[^']*'|["'][^\n]*)"#;
    let bare = r#"(?:[^\s"'\\;&|<>()]|\\.|\$?\([^()\n]*\))"#;
    let after = r#"(?:[^\s"'\\;&|<>(),:}\]]|\\.|\$\([^()\n]*\))"#;
    let value = format!("(?s:{quoted}(?:{quoted}|{after})*|{bare}+)");
    let sources = [
        r"(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)".to_string(),
        // The scheme and the credential: `Authorization: Bearer x`, `-H 'authorization: token x'`.
        r"(?i)(?P<head>\b(?:bearer|basic|digest|authorization\s*[:=]\s*[a-z]+)\s+)[A-Za-z0-9._~+/=:-]{6,}".to_string(),
        r"(?i)(?P<head>\b[a-z][a-z0-9+.-]*://[^/\s:@]*:)[^/\s]+(?P<tail>@)".to_string(),
        // Places that whoever knows them may write to.
        r"(?i)(?P<head>\bhooks\.slack\.com/[a-z]+/|\bdiscord(?:app)?\.com/api/webhooks/)[\w/.-]+".to_string(),
        // `echo user:secret | chpasswd`
        r#"(?P<head>[^\s:"']+:)[^\s|]+?(?P<tail>["']?\s*\|\s*(?:sudo\s+)?chpasswd)"#.to_string(),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}|glpat-[\w-]{16,}|xox[abeoprs]-[\w-]{10,}|sk-[\w-]{16,}|sk_(?:live|test)_\w{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{30,}|npm_\w{30,}|pypi-[\w-]{30,}|hf_\w{20,}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*)".to_string(),
        format!(r#"(?i)(?P<head>[\w.-]*{NAMES}[\w.-]*["']?\]?\s*(?:=>|:=|\+=|<<<|[=:])\s*)(?P<value>{value})"#),
        // What a command of a cell is given to read.
        format!(r#"(?P<head>\bstdin["']?\s*:\s*)(?P<value>{value})"#),
        format!(r"(?i)(?P<head>\s--?[\w-]*(?:{NAMES}|pass)[\w-]*[\s=]+)(?P<value>{value})"),
        format!(r"(?P<head>\s(?:-u|--user|--proxy-user)[\s=]*[^\s:]+:)(?P<value>{value})"),
    ];
    let short = SHORT_OPTIONS.map(|(commands, options)| {
        format!(r"(?P<head>\b(?:{commands})\s(?:[^\n;|&]*?\s)?(?:{options}))(?P<value>{value})")
    });
    sources.iter().chain(&short).filter_map(|source| compiled(source)).collect()
});

static SECRET_NAME: LazyLock<Option<Regex>> = LazyLock::new(|| compiled(&format!("(?i){NAMES}")));

/// A reference to a variable is no secret; what it holds is.
static REFERENCE: LazyLock<Option<Regex>> =
    LazyLock::new(|| compiled(r#"^["']?(?:\$\w+|\$\{\w+\}|\$[@*?#]|process\.env\.\w+|\[redacted\])["']?$"#));

fn compiled(source: &str) -> Option<Regex> {
    let compiled = Regex::new(source);
    if let Err(error) = &compiled {
        errln!("pithos: a pattern of the journal's redaction: {error}");
    }
    compiled.ok()
}

/// Whether a name is that of a secret.
fn is_secret(name: &str) -> bool {
    SECRET_NAME.as_ref().is_none_or(|names| names.is_match(name))
}

/// Takes out secrets.
pub(crate) struct Redactor {
    /// Values that are secrets wherever they stand, longest first.
    values: Vec<String>,
}

impl Redactor {
    /// One that knows the secrets among these variables.
    pub(crate) fn new(environment: impl Iterator<Item = (String, String)>) -> Self {
        let secret =
            environment.filter(|(name, value)| is_secret(name) && value.len() >= ENVIRONMENT_BYTES_MIN);
        let mut values: Vec<String> = secret.map(|(_, value)| value).collect();
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Self { values }
    }

    /// One that knows those of this process.
    pub(crate) fn of_this_process() -> Self {
        let text = |word: std::ffi::OsString| word.to_string_lossy().into_owned();
        Self::new(std::env::vars_os().map(|(name, value)| (text(name), text(value))))
    }

    /// The arguments of a tool.
    pub(crate) fn arguments(&self, tool: &str, arguments: Value, count: &mut u64) -> Value {
        let mut arguments = self.value(arguments, count);
        // People answer prompts for passwords so.
        let given = match tool {
            "job" => arguments.get_mut("text"),
            "run" => arguments.get_mut("stdin").filter(|text| !is_harmless(text)),
            _ => None,
        };
        if let Some(text) = given {
            *text = REDACTED.into();
            *count += 1;
        }
        arguments
    }

    /// Any value.
    pub(crate) fn value(&self, value: Value, count: &mut u64) -> Value {
        match value {
            Value::String(text) => self.text(&text, count).into(),
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.value(item, count)).collect())
            }
            Value::Object(fields) => {
                let one = |(name, value): (String, Value)| {
                    let value = if is_secret(&name) && !is_harmless(&value) {
                        *count += 1;
                        REDACTED.into()
                    } else {
                        self.value(value, count)
                    };
                    (self.text(&name, count), value)
                };
                Value::Object(fields.into_iter().map(one).collect::<Map<_, _>>())
            }
            plain => plain,
        }
    }

    /// Any text.
    pub(crate) fn text(&self, text: &str, count: &mut u64) -> String {
        let mut text = text.to_string();
        for value in &self.values {
            let found = text.matches(value.as_str()).count() as u64;
            if found > 0 {
                *count += found;
                text = text.replace(value.as_str(), REDACTED);
            }
        }
        for pattern in PATTERNS.iter() {
            let replaced = pattern.replace_all(&text, |found: &Captures<'_>| {
                let part = |name: &str| found.name(name).map_or("", |part| part.as_str());
                let reference = REFERENCE.as_ref().is_some_and(|pattern| pattern.is_match(part("value")));
                if reference {
                    return found[0].to_string();
                }
                *count += 1;
                format!("{}{REDACTED}{}", part("head"), part("tail"))
            });
            if let std::borrow::Cow::Owned(replaced) = replaced {
                text = replaced;
            }
        }
        text
    }
}

fn is_harmless(value: &Value) -> bool {
    matches!(value, Value::Null | Value::Bool(_)) || value.as_str().is_some_and(str::is_empty)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A simple generator of numbers, so that a failure can be repeated.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, end: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((self.0 >> 33) as usize) % end
        }

        fn word(&mut self, alphabet: &[u8], length: usize) -> String {
            (0..length).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
        }
    }

    const ALPHABET: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

    #[test]
    fn no_secret_of_any_form_survives() {
        let mut numbers = Numbers(7);
        let around = ["", "cd x && ", "if true; then ", "{\n  ", "curl -s http://h/x; ", "ü "];
        let after = ["", " && ls", "\necho done", "; fi", " | cat", "\n}"];
        for round in 0..2000 {
            let secret = {
                let length = 20 + numbers.below(20);
                numbers.word(ALPHABET, length)
            };
            let prefix = ["", "MY_", "AWS_", "x.", "app-"][numbers.below(5)];
            let name = [
                "PASSWORD",
                "password",
                "Secret",
                "API_KEY",
                "api-key",
                "TOKEN",
                "access_key",
                "client_secret",
                "passwd",
                "DB_PWD",
            ][numbers.below(10)];
            let name = format!("{prefix}{name}");
            let form = match round % 14 {
                0 => format!("export {name}={secret}"),
                1 => format!("{name}='{secret}' make"),
                2 => format!("{name}: \"{secret}\""),
                3 => format!("{{\"{name}\": \"{secret}\"}}"),
                4 => format!("tool --{} {secret}", name.replace(['.', '_'], "-")),
                5 => format!("tool --{}={secret}", name.replace(['.', '_'], "-")),
                6 => format!("curl -H 'Authorization: Bearer {secret}' x"),
                7 => format!("git clone https://me:{secret}@host/x.git"),
                8 => format!("psql postgres://u:{secret}@db:5432/x"),
                9 => format!("curl -u me:{secret} x"),
                10 => format!("echo ghp_{secret}"),
                11 => format!("login sk-{secret}"),
                12 => format!(
                    "-----BEGIN RSA PRIVATE KEY-----\n{secret}\n{secret}\n-----END RSA PRIVATE KEY-----"
                ),
                _ => format!("const {name} = '{secret}';"),
            };
            let text = format!("{}{form}{}", around[numbers.below(6)], after[numbers.below(6)]);
            let mut count = 0;
            let told = Redactor::new(std::iter::empty()).text(&text, &mut count);
            assert!(!told.contains(&secret) && count > 0, "{text:?} became {told:?}");
        }
    }

    #[test]
    fn no_quoting_and_no_short_option_hides_a_secret() {
        let mut numbers = Numbers(11);
        let around = ["", "cd x && ", "if true; then ", "curl -s http://h/x; ", "echo 'a b'; "];
        let after = ["", " && ls", "\necho done", "; fi", " | cat"];
        let forms = [
            "export DB_PASS=§",
            "PASS=§ make",
            "GH_PAT=§ gh pr list",
            r#"PASSWORD="$X"§"#,
            r#"PASSWORD="a\"b§""#,
            "PASSWORD=\"line\n§\"",
            r"PASSWORD=$'x\'§'",
            r"export PASSWORD=a\ §",
            "PASSWORD=(§)",
            "PASSWORD+=§",
            "TOKEN=$(echo §)",
            "declare -A a=([password]=§)",
            "read -r TOKEN <<< §",
            r#"read -r TOKEN <<< "§""#,
            "mysql -u root -p§ db",
            "mysql -p§",
            "sshpass -p § ssh h",
            "docker login -u me -p §",
            "redis-cli -h h -a § ping",
            "openssl enc -aes-256-cbc -k § -in x",
            "echo user:§ | chpasswd",
            "echo 'root:§' | sudo chpasswd",
            "curl https://u:p@§@host/x",
            "curl https://hooks.slack.com/services/T00/B00/§",
            r#"PASSWORD="§"#,
            r"PASSWORD='it'\''§'",
            "await shell('sudo -S id', {stdin: '§'})",
            r#"{"env": {"DB_PASS": "§"}}"#,
            r#"password = "§"; token: `§`"#,
        ];
        for round in 0..4000 {
            let secret = {
                let length = 12 + numbers.below(20);
                numbers.word(ALPHABET, length)
            };
            let form = forms[round % forms.len()].replace('§', &secret);
            let text = format!("{}{form}{}", around[numbers.below(5)], after[numbers.below(5)]);
            let mut count = 0;
            let told = Redactor::new(std::iter::empty()).text(&text, &mut count);
            assert!(!told.contains(&secret) && count > 0, "{text:?} became {told:?}");
        }
    }

    #[test]
    fn the_environment_of_the_server_is_not_told() {
        let variables =
            [("GITHUB_TOKEN", "abc def 1234"), ("EDITOR", "vim is my editor"), ("TOKEN", "short")];
        let redactor = Redactor::new(variables.into_iter().map(|(name, value)| (name.into(), value.into())));
        let mut count = 0;
        let said = redactor.value(
            json!({"command": "echo abc def 1234; vim is my editor; short", "abc def 1234": 1}),
            &mut count,
        );
        assert_eq!(said, json!({"command": "echo [redacted]; vim is my editor; short", "[redacted]": 1}));
        assert_eq!(count, 2);
    }

    #[test]
    fn fields_by_name_and_what_is_typed() {
        let redactor = Redactor::new(std::iter::empty());
        let mut count = 0;
        let run =
            json!({"command": "x", "env": {"API_TOKEN": "t", "PATH": "/bin"}, "deep": [{"password": 12345}]});
        let said = redactor.arguments("run", run, &mut count);
        assert_eq!(
            said,
            json!({"command": "x", "env": {"API_TOKEN": "[redacted]", "PATH": "/bin"}, "deep": [{"password": "[redacted]"}]})
        );
        let said = redactor.arguments("run", json!({"command": "x", "stdin": "hunter2"}), &mut count);
        assert_eq!(said, json!({"command": "x", "stdin": "[redacted]"}));
        assert_eq!(redactor.arguments("run", json!({"stdin": ""}), &mut count), json!({"stdin": ""}));
        let said = redactor.arguments("job", json!({"action": "write", "text": "hunter2\n"}), &mut count);
        assert_eq!(said, json!({"action": "write", "text": "[redacted]"}));
        assert_eq!(count, 4);
    }

    #[test]
    fn what_is_no_secret_stays() {
        let redactor = Redactor::new(std::iter::empty());
        for text in [
            "echo hi",
            "curl -H \"Authorization: $HEADER\" x",
            "export TOKEN=$OTHER; PASSWORD=\"${X}\" make",
            "git commit --author 'A B <a@b.c>'",
            "cd /srv/passwords && ls",
            "task-force-alpha-sk-8 risk-management-framework-2",
            "http://host:8080/x",
            "a: b, key: value, PWD=/x",
            "mysql -u root -e 'select 1'; docker run -p 80:80 x; openssl x509 -in a.pem",
            "./compass x; path=/a/b; dispatch: y",
            "echo a:b | sort; https://hooks.example/x",
            "f({stdout: 'x'})",
        ] {
            let mut count = 0;
            assert_eq!((redactor.text(text, &mut count).as_str(), count), (text, 0));
        }
    }
}
