//! Texts without secrets, with a count of what was kept out.

use std::collections::BTreeMap;

use crate::base::redact::ExtraWords;

/// How many secrets of each kind were kept out.
pub type Redactions = BTreeMap<&'static str, usize>;

/// `text` without secrets and without what the settings name as one to keep out; what was found is counted.
pub(super) fn redacted(extra: &ExtraWords, text: &str, found: &mut Redactions) -> String {
    let clean = extra.redact_counted(text);
    for (kind, n_found) in clean.hits {
        *found.entry(kind).or_default() += n_found;
    }
    clean.text.into_owned()
}
