//! What tasks and sessions are called: `task_…` and `sess_…`, with letters and digits that a person can type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What stands behind the prefix: at least what a random number gives, at most what anybody needs.
const MIN_CHARS: usize = 4;
const MAX_CHARS: usize = 40;

/// A text that is no id of the kind that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no id; one looks like `{prefix}k3v9q0x2mf7tz`")]
pub struct BadId {
    text: String,
    prefix: &'static str,
}

macro_rules! id {
    ($(#[doc = $doc:literal])+ $name:ident, $prefix:literal) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// Makes an id of a random number; the same number gives the same id.
            pub fn from_random(number: u64) -> Self {
                Self(format!("{}{}", $prefix, base36(number)))
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                match text.strip_prefix($prefix) {
                    Some(rest) if is_plain(rest) => Ok(Self(text.to_owned())),
                    Some(_) | None => {
                        Err(BadId { text: text.escape_debug().take(60).collect(), prefix: $prefix })
                    }
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = BadId;

            fn try_from(text: String) -> Result<Self, BadId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// A task's name for life.
    TaskId, "task_"
}

id! {
    /// A session's name for life.
    SessionId, "sess_"
}

fn is_plain(text: &str) -> bool {
    (MIN_CHARS..=MAX_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

/// Returns the number in 13 digits, which hold any `u64`.
fn base36(number: u64) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut rest = number;
    let mut digits = ['0'; 13];
    for digit in digits.iter_mut().rev() {
        *digit = char::from(DIGITS[(rest % 36) as usize]);
        rest /= 36;
    }
    digits.iter().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_no_id_is_refused() {
        for text in
            ["", "task_", "task_abc", "sess_abcd1", "task_AbCd", "task_ab/cd", "task_\u{1b}abcd"]
        {
            assert!(text.parse::<TaskId>().is_err(), "{text:?}");
        }
        assert!(format!("task_{}", "a".repeat(41)).parse::<TaskId>().is_err());
    }

    proptest! {
        #[test]
        fn every_number_is_an_id_of_its_own(one in any::<u64>(), other in any::<u64>()) {
            let id = TaskId::from_random(one);
            prop_assert_eq!(id.as_str().parse::<TaskId>().unwrap(), id.clone());
            prop_assert_eq!(id == TaskId::from_random(other), one == other);
        }
    }
}
