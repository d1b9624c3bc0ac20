//! Task IDs, task states, and the legal transitions between them. An end state includes its reason.

use std::fmt;
use std::str::FromStr;

pub use nacre_types::TaskClass;
use serde::{Deserialize, Serialize};
use serde_json::json;

const MIN_CHARS: usize = 4;
const MAX_CHARS: usize = 40;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not an id; expected an id such as `{prefix}k3v9q0x2mf7tz`")]
pub struct BadId {
    text: String,
    prefix: &'static str,
}

macro_rules! id {
    ($name:ident, $prefix:literal) => {
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// Derives an ID from a random number. The same number always gives the same ID.
            pub fn from_random(number: u64) -> Self {
                Self(format!("{}{}", $prefix, base36(number)))
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

        nacre_types::text_in_json!($name);

        nacre_base::text_type!($name);
    };
}

id!(TaskId, "task_");

id!(SessionId, "sess_");

fn is_plain(text: &str) -> bool {
    (MIN_CHARS..=MAX_CHARS).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
}

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

pub const QUEUE_CAP: usize = 25;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub id: TaskId,
    pub session: SessionId,
    /// The task that started this one. A child task is never queued.
    pub parent: Option<TaskId>,
    pub project: Option<String>,
    pub agent: String,
    /// Only one background task runs at a time per project.
    pub class: TaskClass,
    pub title: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    Now,
    /// The task is queued. Position 1 is next in its session.
    Waits {
        position: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum TaskState {
    Accepted,
    Queued,
    Running,
    Completed { signal: Signal },
    Failed { why: Failure },
    Cancelled { by: CancelledBy },
}

nacre_base::words! {
    Signal {
        Done = "done",
        NoOp = "no_op",
        /// The task cannot continue until the user acts.
        Blocked = "blocked",
    }

    Failure {
        Restarted = "restarted",
        /// The request cannot be executed as given.
        Unusable = "unusable",
        Model = "model",
        Refused = "refused",
        Deadline = "deadline",
        Budget = "budget",
        Output = "output",
        Internal = "internal",
    }

    CancelledBy {
        Person = "person",
        Parent = "parent",
        Disconnect = "disconnect",
        Shutdown = "shutdown",
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A task cannot change from {from} to {to}")]
pub struct IllegalMove {
    pub from: TaskState,
    pub to: TaskState,
}

impl TaskState {
    /// Returns `to` if the transition is legal. Staying in the same state with the same reason is
    /// allowed.
    pub fn go(self, to: Self) -> Result<Self, IllegalMove> {
        let is_legal = match (self, to) {
            (Self::Accepted, Self::Queued | Self::Running | Self::Cancelled { .. })
            | (Self::Queued, Self::Running | Self::Cancelled { .. })
            | (
                Self::Running,
                Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled { .. },
            ) => true,
            // A task that has not started can fail only if its process has died.
            (Self::Accepted | Self::Queued, Self::Failed { why: Failure::Restarted }) => true,
            (from, to) => from == to,
        };
        if is_legal { Ok(to) } else { Err(IllegalMove { from: self, to }) }
    }

    pub fn is_terminal(self) -> bool {
        match self {
            Self::Accepted | Self::Queued | Self::Running => false,
            Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled { .. } => true,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed { .. } => "completed",
            Self::Failed { .. } => "failed",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Accepted | Self::Queued | Self::Running => None,
            Self::Completed { signal } => Some(signal.as_str()),
            Self::Failed { why } => Some(why.as_str()),
            Self::Cancelled { by } => Some(by.as_str()),
        }
    }

    pub fn parse(state: &str, reason: Option<&str>) -> Option<Self> {
        let json = json!({ "state": state, "signal": reason, "why": reason, "by": reason });
        serde_json::from_value(json).ok().filter(|read: &Self| read.reason() == reason)
    }

    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Accepted, Self::Queued, Self::Running];
        all.extend(Signal::ALL.iter().map(|signal| Self::Completed { signal: *signal }));
        all.extend(Failure::ALL.iter().map(|why| Self::Failed { why: *why }));
        all.extend(CancelledBy::ALL.iter().map(|by| Self::Cancelled { by: *by }));
        all
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        self.reason().map_or(Ok(()), |reason| write!(f, "({reason})"))
    }
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

#[cfg(test)]
mod state_tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn states_are_read_and_written_alike() {
        for state in TaskState::all() {
            assert_eq!(TaskState::parse(state.as_str(), state.reason()), Some(state));
            let json = serde_json::to_string(&state).unwrap();
            assert_eq!(serde_json::from_str::<TaskState>(&json).unwrap(), state, "{json}");
        }
        assert_eq!(TaskState::parse("failed", None), None);
        assert_eq!(TaskState::parse("queued", Some("done")), None);
        assert_eq!(TaskState::Failed { why: Failure::Restarted }.to_string(), "failed(restarted)");
    }

    #[test]
    fn only_the_legal_moves_exist() {
        let moves: Vec<String> = TaskState::all()
            .into_iter()
            .flat_map(|from| TaskState::all().into_iter().map(move |to| (from, to)))
            .filter(|(from, to)| from != to && from.go(*to).is_ok())
            .map(|(from, to)| match (from, to) {
                (TaskState::Accepted | TaskState::Queued, TaskState::Failed { .. }) => {
                    format!("{from} {to}")
                }
                _ => format!("{from} {}", to.as_str()),
            })
            .collect();
        let mut moves = moves;
        moves.dedup();
        assert_eq!(
            moves,
            [
                "accepted queued",
                "accepted running",
                "accepted failed(restarted)",
                "accepted cancelled",
                "queued running",
                "queued failed(restarted)",
                "queued cancelled",
                "running completed",
                "running failed",
                "running cancelled",
            ]
        );
    }

    fn any_state() -> impl Strategy<Value = TaskState> {
        proptest::sample::select(TaskState::all())
    }

    proptest! {
        #[test]
        fn an_end_is_for_ever(pushes in proptest::collection::vec(any_state(), 0..40)) {
            let mut state = TaskState::Accepted;
            let mut ends = 0;
            for push in pushes {
                let before = state;
                state = state.go(push).unwrap_or(state);
                if state != before {
                    prop_assert!(!before.is_terminal());
                    ends += usize::from(state.is_terminal());
                }
            }
            prop_assert!(ends <= 1);
        }
    }
}
