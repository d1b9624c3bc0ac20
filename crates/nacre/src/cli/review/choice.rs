//! What a person answers about a candidate.

/// What is asked.
pub(super) const QUESTION: &str =
    "[a]ccept, [e]dit, [r]eject, [s]upersede a memory, [n]ext, [b]ack, [q]uit, [?] help? ";

/// What the letters mean.
pub(super) const HELP: &str = "\
a    accept: it holds from now on
all  accept it and all that follow
e    edit it first
r    reject: remove it for good
s    accept it in the place of an older memory
n    decide later
b    go back to the one before
q    stop here; what was decided stays";

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    Accept,
    AcceptAll,
    Edit,
    Reject,
    Supersede,
    Next,
    Back,
    Quit,
}

impl Choice {
    pub(super) fn parse(answer: &str) -> Option<Self> {
        match answer.trim().to_ascii_lowercase().as_str() {
            "a" | "accept" | "y" | "yes" => Some(Self::Accept),
            "all" => Some(Self::AcceptAll),
            "e" | "edit" => Some(Self::Edit),
            "r" | "reject" => Some(Self::Reject),
            "s" | "supersede" => Some(Self::Supersede),
            "n" | "next" | "" => Some(Self::Next),
            "b" | "back" => Some(Self::Back),
            "q" | "quit" => Some(Self::Quit),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_decided_by_a_slip() {
        for (answer, expected) in [
            (" R \n", Some(Choice::Reject)),
            ("\n", Some(Choice::Next)),
            ("all\n", Some(Choice::AcceptAll)),
            ("ar\n", None),
            ("?\n", None),
        ] {
            assert_eq!(Choice::parse(answer), expected, "{answer:?}");
        }
    }
}
