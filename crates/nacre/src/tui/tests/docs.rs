//! Checks that `docs/chat.md` matches the tables of commands and keys.

use std::path::Path;

use crate::tui::commands::COMMANDS;
use crate::tui::keys::{BINDINGS, KeyContext};

fn commands_table() -> String {
    let row = |usage: String, help: &str| format!("| `{usage}` | {help} |\n");
    let rows =
        COMMANDS.iter().map(|command| row(command.usage().replace('|', "\\|"), command.help));
    format!("| command | what it does |\n|---|---|\n{}", rows.collect::<String>())
}

fn keys_tables() -> String {
    let table = |place: KeyContext| {
        let rows = BINDINGS.iter().filter(|binding| binding.place == place);
        let rows: String =
            rows.map(|binding| format!("| {} | {} |\n", binding.keys, binding.help)).collect();
        format!("### {}\n\n| keys | what they do |\n|---|---|\n{rows}", place.title())
    };
    KeyContext::ALL.map(table).join("\n")
}

#[test]
fn the_guide_has_every_command_and_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/chat.md");
    let guide = std::fs::read_to_string(path).unwrap();
    for table in [commands_table(), keys_tables()] {
        assert!(guide.contains(&table), "Put this into docs/chat.md:\n{table}");
    }
}
