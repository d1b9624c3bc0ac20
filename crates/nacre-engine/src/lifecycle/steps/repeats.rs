//! Notices that a model does the same thing over and over.

use std::collections::BTreeMap;

use crate::model::ToolCall;

/// From this many identical calls on, the model is told.
const TELL_AT: u32 = 3;

/// After this many identical steps in a row, it gets no tools any more.
const STUCK_AT: u32 = 5;

/// Every call of a run, by name and arguments.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    seen: BTreeMap<String, u32>,
    last: Vec<String>,
    in_a_row: u32,
}

impl Repeats {
    /// Takes the calls of a step; returns what to tell the model, if it repeats itself.
    pub(super) fn notice(&mut self, calls: &[ToolCall]) -> Option<String> {
        let keys: Vec<String> = calls.iter().map(key).collect();
        if keys == self.last {
            self.in_a_row += 1;
        } else {
            self.in_a_row = 1;
            self.last.clone_from(&keys);
        }
        let mut worst: Option<(&str, u32)> = None;
        for (call, key) in calls.iter().zip(keys) {
            let count = self.seen.entry(key).or_default();
            *count += 1;
            if TELL_AT <= *count && worst.is_none_or(|(_, most)| most < *count) {
                worst = Some((&call.name, *count));
            }
        }
        worst.map(|(name, count)| {
            format!(
                "You have made this very call of `{name}` {count} times. Its answer is above; do something else, or \
                 finish."
            )
        })
    }

    /// Whether nothing else is to be expected of it.
    pub(super) fn is_stuck(&self) -> bool {
        STUCK_AT <= self.in_a_row
    }
}

fn key(call: &ToolCall) -> String {
    // The keys of an object are sorted, so that their order makes no difference.
    format!("{} {}", call.name, call.arguments.as_object())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Arguments;

    fn call(arguments: &str) -> ToolCall {
        let arguments = Arguments::parse(arguments);
        ToolCall { id: "1".to_owned(), name: "file_read".to_owned(), arguments }
    }

    #[test]
    fn the_third_identical_call_is_noticed_whatever_the_order_of_its_keys() {
        let mut repeats = Repeats::default();
        assert_eq!(repeats.notice(&[call(r#"{"path":"a","from":1}"#)]), None);
        assert_eq!(repeats.notice(&[call(r#"{"path":"b"}"#)]), None);
        assert_eq!(repeats.notice(&[call(r#"{"from":1,"path":"a"}"#)]), None);
        let told = repeats.notice(&[call(r#"{"path":"a","from":1}"#)]).unwrap();
        assert!(told.contains("`file_read` 3 times"), "{told}");
        assert!(!repeats.is_stuck());
    }

    #[test]
    fn five_identical_steps_in_a_row_are_enough() {
        let mut repeats = Repeats::default();
        for step in 1..=5 {
            repeats.notice(&[call("{}"), call(r#"{"path":"a"}"#)]);
            assert_eq!(repeats.is_stuck(), step == 5);
        }
        repeats.notice(&[call("{}")]);
        assert!(!repeats.is_stuck());
    }
}
