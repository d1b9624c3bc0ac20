//! Tests setting and unsetting keys, comparing the whole text before and after.

use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;
use crate::config::error::render_message;
use crate::config::keys::{KEYS, ValueKind};
use crate::config::layers::{ConfigSource, resolve};
use crate::config::value::Value;

fn origin() -> &'static Path {
    Path::new("/home/ana/.nacre/config.toml")
}

fn after_set(text: &str, key: &str, value: &str) -> String {
    set(text, origin(), key, value).unwrap_or_else(|error| render_message(&error, error.hint()))
}

fn after_unset(text: &str, key: &str) -> String {
    unset(text, origin(), key).unwrap_or_else(|error| render_message(&error, error.hint()))
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    let text = "# mine\n[ui] # looks\n  color   =  'auto'  # for now\neditor = \"\"\n\n# end\n";
    assert_snapshot!(after_set(text, "ui.color", "never"), @r#"
    # mine
    [ui] # looks
      color   =  "never"  # for now
    editor = ""

    # end
    "#);
    let text = "redact.extra = [ # names\n  'one-name',\n]\nui.color = 'auto'\n";
    assert_snapshot!(after_set(text, "redact.extra", "two-names, three"), @r#"
    redact.extra = ["two-names", "three"]
    ui.color = 'auto'
    "#);
    assert_snapshot!(after_set(text, "redact.extra", "[\"a, b and c\"]"), @r#"
    redact.extra = ["a, b and c"]
    ui.color = 'auto'
    "#);
    assert_snapshot!(after_set(text, "redact.extra", ""), @r"
    redact.extra = []
    ui.color = 'auto'
    ");
}

#[test]
fn a_new_key_goes_to_the_end_of_its_table() {
    assert_snapshot!(after_set("", "ui.editor", "code --wait \"x\""), @r#"
    [ui]
    editor = 'code --wait "x"'
    "#);
    assert_snapshot!(after_set("# mine", "memory.scope", "project_only"), @r#"
    # mine

    [memory]
    scope = "project_only"
    "#);
    let text = "[memory]\nscope = 'global_only' # all\n\n# about ui\n[ui]\ncolor = 'auto'";
    assert_snapshot!(after_set(text, "memory.max_results", "5"), @r"
    [memory]
    scope = 'global_only' # all
    max_results = 5

    # about ui
    [ui]
    color = 'auto'
    ");
    assert_snapshot!(after_set(text, "ui.editor", "vi"), @r#"
    [memory]
    scope = 'global_only' # all

    # about ui
    [ui]
    color = 'auto'
    editor = "vi"
    "#);
    assert_snapshot!(after_set("[memory] # none yet\n[ui]\n", "memory.max_results", "5"), @r"
    [memory] # none yet
    max_results = 5
    [ui]
    ");
}

#[test]
fn a_table_of_several_keys_is_changed_as_a_whole() {
    let text = "[memory]\nscope = 'global_only'\nmax_file_bytes = 2000\n\n[ui]\n";
    assert_snapshot!(after_set(text, "memory.max_results", "5"), @r"
    [memory]
    scope = 'global_only'
    max_file_bytes = 2000
    max_results = 5

    [ui]
    ");
    let text = "[memroy]\nscope = 'global_only'\n# and\nmax_results = 5\n\n[ui]\n";
    assert_snapshot!(after_unset(text, "memroy"), @"[ui]");
}

#[test]
fn every_way_to_write_a_table_is_kept() {
    let dotted = "memory.scope = 'global_only'\nui.color = 'auto'\n";
    assert_snapshot!(after_set(dotted, "memory.max_results", "5"), @r"
    memory.scope = 'global_only'
    memory.max_results = 5
    ui.color = 'auto'
    ");
    let inline = "memory = { scope = 'global_only' } # short\nui.color = 'auto'\n";
    assert_snapshot!(after_set(inline, "memory.max_results", "5"), @r"
    memory = { scope = 'global_only', max_results = 5 } # short
    ui.color = 'auto'
    ");
    assert_snapshot!(after_set(inline, "memory.scope", "project_only"), @r#"
    memory = { scope = "project_only" } # short
    ui.color = 'auto'
    "#);
    assert_snapshot!(after_set("memory = {}", "memory.scope", "project_only"), @r#"memory = { scope = "project_only" }"#);
    assert_snapshot!(after_set("[memory.future]\nx = 1\n", "memory.scope", "project_only"), @r#"
    [memory.future]
    x = 1

    [memory]
    scope = "project_only"
    "#);
    let windows = "\u{feff}[ui]\r\ncolor = 'auto'\r\n";
    assert_eq!(
        after_set(windows, "ui.editor", "vi"),
        "\u{feff}[ui]\r\ncolor = 'auto'\r\neditor = \"vi\"\r\n"
    );
    assert_eq!(
        after_set(windows, "lock.wait_ms", "1"),
        "\u{feff}[ui]\r\ncolor = 'auto'\r\n\r\n[lock]\r\nwait_ms = 1\r\n"
    );
}

#[test]
fn a_mistake_is_told_and_nothing_is_changed() {
    assert_snapshot!(after_set("", "memory.scop", "project_only"), @r"
    Unknown key `memory.scop` on the command line
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(after_set("", "ui.color", "alwais"), @r"
    Invalid value for `ui.color` on the command line: expected one of `auto`, `always`, `never`, found `alwais`
    Hint: Did you mean `always`?
    ");
    assert_snapshot!(after_set("", "memory.max_results", "12 or so"), @"Invalid value for `memory.max_results` on the command line: expected a whole number from 1 to 10000, found `12 or so`");
    assert_snapshot!(after_set("[ui", "ui.color", "auto"), @"Cannot parse `/home/ana/.nacre/config.toml` as TOML, line 1: unclosed table, expected `]`");
    assert_snapshot!(after_set("\nui = 3", "ui.color", "auto"), @"Invalid value for `ui` in `/home/ana/.nacre/config.toml`, line 2: expected a table `[ui]`, found the number 3");
    assert_snapshot!(after_set("[ui.color]", "ui.color", "auto"), @"Invalid value for `ui.color` in `/home/ana/.nacre/config.toml`, line 1: expected one of `auto`, `always`, `never`, found a table");
    assert_snapshot!(after_unset("", "memory.scop"), @r"
    Unknown key `memory.scop` on the command line
    Hint: Did you mean `memory.scope`?
    ");
    assert_snapshot!(after_unset("[memory]\n", "memory"), @r"
    Unknown key `memory` on the command line
    Hint: Run `nacre config` to see every key
    ");
}

#[test]
fn a_text_with_another_mistake_can_still_be_put_right() {
    assert_snapshot!(after_set("ui.color = 7\nuknown = 1\n", "ui.color", "auto"), @r#"
    ui.color = "auto"
    uknown = 1
    "#);
    assert_snapshot!(after_unset("ui.color = 7\nunknown = 1\n", "unknown"), @"ui.color = 7");
    assert_snapshot!(after_unset("[memroy]\nscope = 1\n\n[ui]\n", "memroy"), @"[ui]");
    assert_snapshot!(after_unset("a = 1\n[[plugins]]\nrun = 1\n[plugins.sub]\n[[plugins]]\n[ui]\n", "plugins"), @r"
    a = 1
    [ui]
    ");
    assert_snapshot!(after_unset("'memory.scope' = 1\nx = 2\n", "'memory.scope'"), @"x = 2");
}

#[test]
fn an_unset_key_takes_its_lines_along() {
    let text = "# top\n[redact]\n# names\nextra = [\n  'one-name', # x\n] # y\n# end\n[ui]\ncolor = 'auto'";
    assert_snapshot!(after_unset(text, "redact.extra"), @r"
    # top
    [redact]
    # names
    # end
    [ui]
    color = 'auto'
    ");
    assert_snapshot!(after_unset(text, "ui.color"), @r"
    # top
    [redact]
    # names
    extra = [
      'one-name', # x
    ] # y
    # end
    [ui]
    ");
    assert_eq!(after_unset(text, "ui.editor"), text);
    assert_snapshot!(after_unset("memory = { scope = 'global_only', max_results = 5 }\n", "memory.scope"), @"memory = { max_results = 5 }");
    assert_eq!(
        after_unset("memory = { scope = 'global_only' }\n", "memory.max_results"),
        "memory = { scope = 'global_only' }\n"
    );
    assert_snapshot!(after_unset("memory.scope = 'global_only'\nui.color = 'auto'\n", "memory.scope"), @"ui.color = 'auto'");
}

fn valid(kind: ValueKind) -> BoxedStrategy<(String, Value)> {
    match kind {
        ValueKind::Choice(choices) => prop::sample::select(choices)
            .prop_map(|choice| (choice.to_owned(), Value::Text(choice.to_owned())))
            .boxed(),
        ValueKind::Int { min, max } => {
            (min..=max).prop_map(|number| (number.to_string(), Value::Int(number))).boxed()
        }
        ValueKind::Decimal { max } => (0..=max * 1000)
            .prop_map(|number| (Value::Decimal(number).to_toml(), Value::Decimal(number)))
            .boxed(),
        ValueKind::Flag => {
            any::<bool>().prop_map(|flag| (flag.to_string(), Value::Flag(flag))).boxed()
        }
        ValueKind::Text => {
            "[^\\p{Cc}]{0,20}".prop_map(|text| (text.clone(), Value::Text(text))).boxed()
        }
        ValueKind::Texts { .. } => prop::collection::btree_set("[^\\p{Cc}\\s]{4,9}", 0..4)
            .prop_map(|texts| {
                let value = Value::Texts(texts.into_iter().collect());
                (value.to_toml(), value)
            })
            .boxed(),
    }
}

fn key_and_value() -> impl Strategy<Value = (&'static KeySpec, String, Value)> {
    (0..KEYS.len()).prop_flat_map(|key_idx| {
        let spec = &KEYS[key_idx];
        valid(spec.kind).prop_map(move |(text, value)| (spec, text, value))
    })
}

/// Generates commented configuration files with keys in any order, dotted or under headers.
fn commented_text() -> impl Strategy<Value = String> {
    let keys = prop::collection::vec(key_and_value(), 0..6);
    let noise =
        || prop::sample::select(&["", "\n", "# a remark\n", "\t# [ui]\n\n", "#\n# x = 1\n"][..]);
    let beside = prop::sample::select(&["", " # why", "\t"][..]);
    let newline = prop::sample::select(&["\n", "\r\n"][..]);
    (keys, noise(), noise(), beside, newline, any::<(bool, bool)>()).prop_map(
        |(mut keys, above, below, beside, newline, (headers, ends))| {
            let mut seen = std::collections::BTreeSet::new();
            keys.retain(|(spec, _, _)| seen.insert(spec.name));
            if headers {
                keys.sort_by_key(|(spec, _, _)| spec.section());
            }
            let (mut text, mut section) = (above.to_owned(), "");
            for (spec, _, value) in keys {
                if headers && spec.section() != section {
                    section = spec.section();
                    text += &format!("{below}[{section}]{beside}\n");
                }
                let name = if headers { spec.leaf() } else { spec.name };
                text += &format!("{above}{name} = {}{beside}\n", value.to_toml());
            }
            text += below;
            let text = if ends { text.as_str() } else { text.trim_end() };
            text.replace('\n', newline)
        },
    )
}

fn value_of(text: &str, key: &str) -> Value {
    let home = ConfigSource::home(origin(), text.to_owned());
    resolve(&[home], &[], &[]).unwrap().entries[key].value.clone()
}

/// Strips the common prefix and suffix from two texts.
fn difference<'t>(old: &'t str, new: &'t str) -> (&'t str, &'t str) {
    let same = |(a, b): &(char, char)| a == b;
    let n_first: usize =
        old.chars().zip(new.chars()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    let (old, new) = (&old[n_first..], &new[n_first..]);
    let n_last: usize =
        old.chars().rev().zip(new.chars().rev()).take_while(same).map(|(c, _)| c.len_utf8()).sum();
    (&old[..old.len() - n_last], &new[..new.len() - n_last])
}

proptest! {
    #[test]
    fn what_is_set_is_read_back_and_the_rest_is_kept(text in commented_text(), (spec, plain, value) in key_and_value()) {
        let new_text = set(&text, origin(), spec.name, &plain).unwrap();
        prop_assert_eq!(value_of(&new_text, spec.name), value);
        for other in KEYS.iter().filter(|other| other.name != spec.name) {
            prop_assert_eq!(value_of(&new_text, other.name), value_of(&text, other.name));
        }
        let (removed, _) = difference(&text, &new_text);
        prop_assert!(!removed.contains('\n'), "{removed:?}");
        prop_assert!(removed.is_empty() || text.contains(&format!("{} = ", spec.leaf())), "{removed:?}");
        if text.contains("\r\n") {
            prop_assert_eq!(new_text.matches('\n').count(), new_text.matches("\r\n").count());
        }
    }

    #[test]
    fn setting_twice_is_setting_once(text in commented_text(), (spec, plain, _) in key_and_value()) {
        let once = set(&text, origin(), spec.name, &plain).unwrap();
        prop_assert_eq!(set(&once, origin(), spec.name, &plain).unwrap(), once);
    }

    #[test]
    fn what_is_unset_is_gone_and_the_rest_is_kept(text in commented_text(), (spec, _, _) in key_and_value()) {
        let new_text = unset(&text, origin(), spec.name).unwrap();
        prop_assert_eq!(value_of(&new_text, spec.name), value_of("", spec.name));
        let (removed, added) = difference(&text, &new_text);
        prop_assert_eq!(added, "");
        prop_assert!(removed.matches('\n').count() <= 1, "{removed:?}");
    }

    #[test]
    fn no_text_is_a_panic(text in r#"([\[\]{}=.,"'#\n a-c0-9\\-]|memory|scope|ui|'''|\r\n|= 1\n|\[memory\]\n){0,40}"#, (spec, plain, _) in key_and_value()) {
        if let Ok(new_text) = set(&text, origin(), spec.name, &plain) {
            prop_assert!(unset(&new_text, origin(), spec.name).is_ok());
        }
        let _ = unset(&text, origin(), &text);
    }
}
