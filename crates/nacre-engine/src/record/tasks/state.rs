//! The six states of a task and the moves between them.
//!
//! An end carries its reason, so that no task can be `failed` without saying why.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a task is.
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

/// Makes an enum of words that are read and written alike.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $word_doc:literal])* $variant:ident = $word:literal,)+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name {
            $($(#[doc = $word_doc])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub fn parse(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.as_str() == word)
            }
        }
    };
}

words! {
    /// How completed work ended.
    Signal {
        Done = "done",
        /// There was nothing to do.
        NoOp = "no_op",
        /// It waits for a person.
        Blocked = "blocked",
        /// It made room, between two steps, for what came in meanwhile. No agent can say so of itself.
        Yielded = "yielded",
    }
}

words! {
    /// Why a task could not be done.
    Failure {
        /// The process that ran it is gone.
        Restarted = "restarted",
        /// It cannot be run as it was asked for.
        Unusable = "unusable",
        /// No model answered.
        Model = "model",
        /// The model refused.
        Refused = "refused",
        /// Its time was over.
        Deadline = "deadline",
        /// Its steps, calls or tokens were used up.
        Budget = "budget",
        /// What was handed in did not pass the checks.
        Output = "output",
        /// A fault of ours.
        Internal = "internal",
    }
}

words! {
    /// Who stopped a task.
    CancelledBy {
        Person = "person",
        /// The task that started it.
        Parent = "parent",
        /// The connection that it was for is gone.
        Disconnect = "disconnect",
        Shutdown = "shutdown",
    }
}

/// A move that no task can make.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("A task cannot go from {from} to {to}")]
pub struct IllegalMove {
    pub from: TaskState,
    pub to: TaskState,
}

impl TaskState {
    /// Returns `to` if a task may go there from here. To stay where it is, reason and all, is no move and allowed.
    pub fn go(self, to: Self) -> Result<Self, IllegalMove> {
        let is_legal = match (self, to) {
            (Self::Accepted, Self::Queued | Self::Running | Self::Cancelled { .. })
            | (Self::Queued, Self::Running | Self::Cancelled { .. })
            | (
                Self::Running,
                Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled { .. },
            ) => true,
            // What had not begun can fail in one way only: nobody is left to begin it.
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

    /// The state without its reason.
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

    /// The reason of an end.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Accepted | Self::Queued | Self::Running => None,
            Self::Completed { signal } => Some(signal.as_str()),
            Self::Failed { why } => Some(why.as_str()),
            Self::Cancelled { by } => Some(by.as_str()),
        }
    }

    /// Reads what `as_str` and `reason` wrote.
    pub fn parse(state: &str, reason: Option<&str>) -> Option<Self> {
        match (state, reason) {
            ("accepted", None) => Some(Self::Accepted),
            ("queued", None) => Some(Self::Queued),
            ("running", None) => Some(Self::Running),
            ("completed", Some(word)) => {
                Signal::parse(word).map(|signal| Self::Completed { signal })
            }
            ("failed", Some(word)) => Failure::parse(word).map(|why| Self::Failed { why }),
            ("cancelled", Some(word)) => CancelledBy::parse(word).map(|by| Self::Cancelled { by }),
            _ => None,
        }
    }

    /// Every state with every reason.
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
        /// However it is pushed, a task ends at most once and never leaves its end.
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
