//! The moments that hooks are called at, as `nacre hook AGENT EVENT` names them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Start,
    Prompt,
    BeforeTool,
    TurnEnd,
    SessionEnd,
}

impl Event {
    pub(super) const ALL: [(&'static str, Self); 5] = [
        ("start", Self::Start),
        ("prompt", Self::Prompt),
        ("before-tool", Self::BeforeTool),
        ("turn-end", Self::TurnEnd),
        ("session-end", Self::SessionEnd),
    ];

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, event)| *event)
    }
}
