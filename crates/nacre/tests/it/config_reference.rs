//! Generates `docs/config.md` from the tables of settings, so that it cannot go out of date.

use std::fs;

use nacre_base::config::{
    DEFAULTS, FAMILIES, Family, Field, FromRepo, KEYS, KeySpec, Layer, VARS, ValueKind,
};

use crate::home::repository;

/// If set, the page is written instead of checked.
const WRITE: &str = "NACRE_WRITE_DOCS";

#[test]
fn the_settings_page_is_current() {
    let file = repository().join("docs/config.md");
    let text = reference_markdown().trim_end().to_owned() + "\n";
    if std::env::var_os(WRITE).is_some() {
        fs::write(&file, text).unwrap();
        return;
    }
    let stored = fs::read_to_string(&file).unwrap_or_default();
    assert!(text == stored, "docs/config.md is out of date; run `make docs`");
}

fn reference_markdown() -> String {
    let mut page = String::from(
        "# Configuration\n\nSettings are read from the following sources. Later sources override \
         earlier ones, but lists are combined.\n\n",
    );
    for (layer_idx, layer) in Layer::ALL.iter().enumerate() {
        page += &format!("{}. {}\n", layer_idx + 1, meaning(*layer));
    }
    page += "\nEach project uses its own settings, regardless of the directory in which a command \
     is started: a project's file applies only to its own memories and sessions. The global \
     memory uses only your own file and variables.\n";
    page += "\nAn unknown key or a value of the wrong type is an error that names the file, line \
     and key. Keys that a repository may not set are ignored in its file, with a \
     warning.\n\n`nacre config set KEY VALUE` changes a key in your own file and leaves the rest \
     of the file unchanged.\n";
    let mut section = "";
    for spec in KEYS {
        if spec.section() != section {
            section = spec.section();
            page += &format!(
                "\n## `[{section}]`\n\n\
                 | key | default | values | variable | from a repository | meaning |\n\
                 |---|---|---|---|---|---|\n",
            );
        }
        page += &row(spec);
    }
    for family in FAMILIES {
        page += &family_section(family);
    }
    page += "\n## Other variables\n\n| variable | meaning |\n|---|---|\n";
    for var in VARS {
        page += &format!("| `{}` | {} |\n", var.name, var.doc);
    }
    page
}

fn meaning(layer: Layer) -> &'static str {
    match layer {
        Layer::Defaults => "The built-in defaults, below.",
        Layer::Home => "Your own file, `~/.nacre/config.toml`.",
        Layer::Repo => {
            "The repository's file, `<repo>/.nacre/config.toml`, for the keys it may set."
        }
        Layer::File => {
            "The file named by `NACRE_CONFIG`. Inside a repository, it has the same restrictions as \
             the repository's file."
        }
        Layer::Var => "The environment variables below. An empty variable counts as not set.",
        Layer::Flag => "Command-line flags.",
    }
}

fn row(spec: &KeySpec) -> String {
    let KeySpec { name, kind, from_repo } = spec;
    let (values, variable, doc) = (values(kind), spec.variable(), spec.doc());
    let from_repo = match from_repo {
        FromRepo::Allowed => "yes",
        FromRepo::OnlyLower => "only lower",
        FromRepo::Refused => "no",
    };
    let default = default_of(spec);
    format!("| `{name}` | `{default}` | {values} | `{variable}` | {from_repo} | {doc} |\n")
}

fn values(kind: &ValueKind) -> String {
    match kind {
        ValueKind::Choice(choices) => format!("`{}`", choices.join("`, `")),
        ValueKind::Int { min, max } => format!("{min} to {max}"),
        ValueKind::Decimal { max } => format!("0 to {max}"),
        ValueKind::Flag => "`true`, `false`".to_owned(),
        ValueKind::Text => "text".to_owned(),
        ValueKind::Texts { min_chars } => format!("strings of at least {min_chars} characters"),
    }
}

fn family_section(family: &Family) -> String {
    let Family { name, members: _, fields } = family;
    let doc = family.doc();
    let mut section = format!(
        "\n## `[{name}.…]`\n\n{doc} A repository's configuration may not set any of these \
         keys.\n\n| key | values | meaning |\n|---|---|---|\n",
    );
    for Field { name, kind, only_in } in *fields {
        let doc = family.doc_of(name).expect("every field has a description");
        let only = match only_in {
            [] => String::new(),
            tables => format!(" Only in `[roles.{}]`.", tables.join("]`, `[roles.")),
        };
        section += &format!("| `{name}` | {} | {doc}{only} |\n", values(kind));
    }
    section
}

/// Returns the default value as it is written in `defaults.toml`.
fn default_of(spec: &KeySpec) -> &'static str {
    let header = format!("[{}]", spec.section());
    let section = DEFAULTS.lines().skip_while(|line| *line != header).skip(1);
    let mut keys = section.take_while(|line| !line.starts_with('['));
    let value = |line: &'static str| line.strip_prefix(spec.leaf())?.strip_prefix(" = ");
    keys.find_map(value).unwrap_or_default()
}

#[test]
fn every_key_and_variable_is_in_the_reference() {
    let page = reference_markdown();
    for spec in KEYS {
        assert!(!default_of(spec).is_empty(), "{}", spec.name);
        assert_eq!(page.matches(&format!("\n| `{}` |", spec.name)).count(), 1);
        assert!(page.contains(&format!("| `{}` |", spec.variable())), "{}", spec.name);
    }
    for var in VARS {
        assert!(page.contains(&format!("| `{}` |", var.name)), "{}", var.name);
    }
}

#[test]
fn the_first_lines_tell_the_order() {
    let page = reference_markdown();
    let head: Vec<&str> = page.lines().skip(4).take(6).collect();
    insta::assert_snapshot!(head.join("\n"), @r"
1. The built-in defaults, below.
2. Your own file, `~/.nacre/config.toml`.
3. The repository's file, `<repo>/.nacre/config.toml`, for the keys it may set.
4. The file named by `NACRE_CONFIG`. Inside a repository, it has the same restrictions as the repository's file.
5. The environment variables below. An empty variable counts as not set.
6. Command-line flags.
");
}
