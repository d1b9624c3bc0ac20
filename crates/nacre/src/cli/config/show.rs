//! `nacre config show`

use clap::Args;
use nacre_core::base::Shown;
use nacre_core::config::{self, Entry};
use serde_json::{Map, Value, json};

use super::super::exit::Exit;
use super::super::ui::{Role, Ui};
use nacre_ops::Host;
use nacre_ops::OpError;

/// Show every setting, its value and where it was set
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Only keys that begin with this
    prefix: Option<String>,
}

pub(crate) fn cmd_show(ui: &mut Ui, host: &Host, args: &ShowArgs) -> Result<Exit, OpError> {
    let ShowArgs { prefix } = args;
    let prefix = prefix.as_deref().unwrap_or_default();
    let resolved = &host.resolved;
    let keys = resolved.entries.iter().map(|(key, entry)| (*key, entry));
    let tables = resolved.tables.iter().map(|(key, entry)| (key.as_str(), entry));
    let entries: Vec<(&str, &Entry)> =
        keys.chain(tables).filter(|(key, _)| key.starts_with(prefix)).collect();
    if entries.is_empty() {
        return Err(OpError::usage(format!("No setting begins with `{prefix}`"))
            .hint("`nacre config show` lists every key"));
    }
    if ui.is_json() {
        let mut settings = Map::new();
        for (key, entry) in entries {
            let value: Value =
                json!({ "value": value_json(&entry.value), "origin": origin_of(entry) });
            settings.insert(key.to_owned(), value);
        }
        ui.json(&json!({ "settings": settings }))?;
        return Ok(Exit::Done);
    }
    let rows: Vec<_> = entries
        .into_iter()
        .map(|(key, entry)| {
            vec![
                (Role::Id, key.to_owned()),
                (Role::Title, Shown(&entry.value.to_string()).one_line()),
                (Role::Faint, Shown(&origin_of(entry)).one_line()),
            ]
        })
        .collect();
    ui.table(&rows)?;
    Ok(Exit::Done)
}

/// Where a value came from; a list may have come from several places.
fn origin_of(entry: &Entry) -> String {
    let places: Vec<String> = entry.origins.iter().map(|origin| origin.place.to_string()).collect();
    places.join(", ")
}

fn value_json(value: &config::Value) -> Value {
    match value {
        config::Value::Text(text) => json!(text),
        config::Value::Int(number) => json!(number),
        config::Value::Decimal(thousandths) => json!(*thousandths as f64 / 1000.0),
        config::Value::Texts(texts) => json!(texts),
    }
}
