//! The approval policies as the modes of a session.

use nacre_api::wire::ApprovalPolicy;

use super::protocol::{Mode, ModeState};

/// Each policy with its id and words for people.
const MODES: &[(ApprovalPolicy, Mode)] = &[
    (
        ApprovalPolicy::Ask,
        Mode {
            id: "ask",
            name: "Ask",
            description: "Ask before every change, program and connection",
        },
    ),
    (
        ApprovalPolicy::AutoEdit,
        Mode {
            id: "auto-edit",
            name: "Auto-edit",
            description: "Change files of the workspace; ask before programs and connections",
        },
    ),
    (
        ApprovalPolicy::Full,
        Mode { id: "full", name: "Full", description: "Ask for nothing; programs stay confined" },
    ),
];

pub(super) fn id_of(policy: ApprovalPolicy) -> &'static str {
    let known = MODES.iter().find(|(known, _)| *known == policy);
    // A test holds the table complete.
    known.map_or("ask", |(_, mode)| mode.id)
}

pub(super) fn policy_of(id: &str) -> Option<ApprovalPolicy> {
    MODES.iter().find(|(_, mode)| mode.id == id).map(|(policy, _)| *policy)
}

/// The modes of a session that is in one of them.
pub(super) fn state(policy: ApprovalPolicy) -> ModeState {
    let modes = MODES.iter().map(|(_, mode)| mode.clone()).collect();
    ModeState { current_mode_id: id_of(policy), available_modes: modes }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_is_a_mode() {
        for policy in ApprovalPolicy::ALL {
            assert_eq!(policy_of(id_of(policy)), Some(policy));
        }
        assert_eq!(MODES.len(), ApprovalPolicy::ALL.len());
        assert_eq!(policy_of("plan"), None);
    }
}
