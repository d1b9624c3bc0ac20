//! What a model with a small window is told of its tools: the parameters that a call needs.
//!
//! Small models fill in everything that they are offered, also a folder that does not exist. Whatever they send is checked
//! against the whole schema.

use crate::model::ToolDef;

/// Below this window a model is told less.
pub const SMALL_WINDOW: usize = 24_000;

/// The parameters of a tool, and of the parts of its lists.
const PARAMETERS: &[(&str, &[&str])] = &[
    ("file_create", &["path", "content"]),
    ("file_edit", &["path", "edits", "find", "replace"]),
    ("file_find", &["pattern", "under"]),
    ("file_read", &["path"]),
    ("file_search", &["pattern", "under"]),
    ("shell_run", &["argv", "script"]),
];

/// Takes what is seldom needed out of a definition.
pub(super) fn shorten(tool: &mut ToolDef) {
    let known = PARAMETERS.iter().find(|(name, _)| *name == tool.name);
    if let Some((_, parameters)) = known {
        keep(&mut tool.schema, parameters);
    }
}

fn keep(schema: &mut serde_json::Value, parameters: &[&str]) {
    let Some(properties) = schema.get_mut("properties").and_then(|of| of.as_object_mut()) else {
        return;
    };
    properties.retain(|name, _| parameters.contains(&name.as_str()));
    for property in properties.values_mut() {
        if let Some(items) = property.get_mut("items") {
            keep(items, parameters);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_seldom_needed_is_left_out() {
        let schema = json!({ "properties": {
            "path": {}, "version": {},
            "edits": { "items": { "properties": { "find": {}, "replace": {}, "after_line": {} } } },
        } });
        let (name, description) = ("file_edit".to_owned(), String::new());
        let mut tool = ToolDef { name, description, schema };
        shorten(&mut tool);
        let expected = json!({ "properties": {
            "path": {}, "edits": { "items": { "properties": { "find": {}, "replace": {} } } },
        } });
        assert_eq!(tool.schema, expected);
    }
}
