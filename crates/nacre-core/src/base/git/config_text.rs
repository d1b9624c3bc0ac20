//! The text of a git configuration: enough of its grammar to read plain `section.key` settings.

/// The settings of a text in their order: `section.key` in lower case, and the value. Sections with a second name are left out.
pub fn parse_settings(text: &str) -> Vec<(String, String)> {
    let mut settings = Vec::new();
    let mut section = None;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut rest = line.trim_start();
        if let Some(header) = rest.strip_prefix('[') {
            let Some((name, after)) = header.split_once(']') else { continue };
            section = (!name.contains('"')).then(|| name.trim().to_ascii_lowercase());
            rest = after.trim_start();
        }
        let Some((section, (key, value))) = section.as_ref().zip(rest.split_once('=')) else {
            continue;
        };
        let mut value = value.to_owned();
        while value.ends_with('\\') && !value.ends_with("\\\\") {
            value.pop();
            value.push_str(lines.next().unwrap_or_default());
        }
        settings.push((format!("{section}.{}", key.trim().to_ascii_lowercase()), plain(&value)));
    }
    settings
}

/// A value without its quotes, escapes and comment.
fn plain(value: &str) -> String {
    let mut plain = String::new();
    let mut n_kept = 0;
    let mut is_quoted = false;
    let mut chars = value.trim_start().chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => plain.extend(chars.next().map(|escaped| match escaped {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            c => plain.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            n_kept = plain.len();
        }
    }
    plain.truncate(n_kept);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_git_reads_them() {
        let text = "[core]\n\tbare = false ; no\n\texcludesFile = \"~/my ignores\" # mine\n[Core] ExcludesFile=a\\\\b\n\
                    [core \"other\"]\nexcludesfile = never\n[include]\npath = a\\\nb\n[broken\nexcludesfile = x\n[core]\nexcludesfile =\n";
        let shown: Vec<String> =
            parse_settings(text).iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            shown,
            [
                "core.bare=false",
                "core.excludesfile=~/my ignores",
                "core.excludesfile=a\\b",
                "include.path=ab",
                "include.excludesfile=x",
                "core.excludesfile=",
            ]
        );
    }
}
