//! Names that a script hands out apart from where it declares them.
//!
//! `export { a, b as c }`, `export default a`, `module.exports = { a }` and `exports.a = a` say so somewhere else in the text.

use std::collections::HashSet;

/// Names beyond this are not looked for.
const MAX_NAMES: usize = 2_000;

/// A longer list of names is not read to its end.
const MAX_LIST_BYTES: usize = 20_000;

/// The names that a script's text hands out.
pub(super) fn exported_names(text: &str) -> HashSet<&str> {
    let mut names = HashSet::new();
    for line_start in line_starts(text) {
        let rest = &text[line_start..];
        if let Some(list) = rest.strip_prefix("export {").or_else(|| rest.strip_prefix("export{")) {
            names.extend(listed(list));
        } else if let Some(rest) = rest.strip_prefix("export default ") {
            names.extend(word(rest));
        } else if let Some(rest) = rest.strip_prefix("export = ") {
            names.extend(word(rest));
        } else if let Some(rest) = rest.strip_prefix("module.exports = ") {
            match rest.strip_prefix('{') {
                Some(list) => names.extend(listed(list)),
                None => names.extend(word(rest)),
            }
        } else if let Some(rest) =
            rest.strip_prefix("module.exports.").or_else(|| rest.strip_prefix("exports."))
        {
            names.extend(word(rest));
            names.extend(rest.split_once('=').and_then(|(_, value)| word(value.trim_start())));
        }
        if MAX_NAMES < names.len() {
            break;
        }
    }
    names
}

fn line_starts(text: &str) -> impl Iterator<Item = usize> + '_ {
    let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    let is_candidate = |start: &usize| matches!(text.as_bytes().get(*start), Some(b'e' | b'm'));
    std::iter::once(0).chain(starts).filter(is_candidate)
}

/// The names of a list in braces.
fn listed(list: &str) -> impl Iterator<Item = &str> {
    let end = list.floor_char_boundary(MAX_LIST_BYTES);
    let inside = list[..end].split('}').next().unwrap_or_default();
    // `a as b`, `b: a`: both names lead to something that is handed out.
    inside.split([',', ':', '\n']).filter_map(|part| word(part.trim_start()))
}

/// The name at the start.
fn word(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '$'));
    let name = &text[..end.unwrap_or(text.len())];
    let is_keyword = matches!(name, "" | "function" | "class" | "async" | "new" | "require");
    (!is_keyword).then_some(name)
}
