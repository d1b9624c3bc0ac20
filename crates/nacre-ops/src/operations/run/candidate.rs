//! How a session was read, as it goes over the wire.

use std::collections::BTreeMap;

use nacre_api::wire::{DropReason, Gate, Signal, Strategy};
use nacre_engine::flows::candidate;

pub(crate) fn strategy(of: candidate::Strategy) -> Strategy {
    match of {
        candidate::Strategy::Offline => Strategy::Offline,
        candidate::Strategy::Windows => Strategy::Windows,
        candidate::Strategy::Rlm => Strategy::Rlm,
    }
}

pub(crate) fn drop_counts(of: BTreeMap<candidate::DropReason, u64>) -> BTreeMap<DropReason, u64> {
    of.into_iter().map(|(reason, n_dropped)| (drop_reason(reason), n_dropped)).collect()
}

pub(crate) fn gate(of: candidate::Gate) -> Gate {
    match of {
        candidate::Gate::Open => Gate::Open,
        candidate::Gate::NotAPersons => Gate::NotAPersons,
        candidate::Gate::NoWords => Gate::NoWords,
        candidate::Gate::Abandoned => Gate::Abandoned,
        candidate::Gate::Mechanical => Gate::Mechanical,
    }
}

pub(crate) fn signal(of: candidate::Signal) -> Signal {
    match of {
        candidate::Signal::Remember => Signal::Remember,
        candidate::Signal::Correction => Signal::Correction,
        candidate::Signal::Preference => Signal::Preference,
        candidate::Signal::Decision => Signal::Decision,
        candidate::Signal::Choice => Signal::Choice,
        candidate::Signal::Convention => Signal::Convention,
        candidate::Signal::Context => Signal::Context,
        candidate::Signal::Failure => Signal::Failure,
        candidate::Signal::Procedure => Signal::Procedure,
        candidate::Signal::Model => Signal::Model,
    }
}

fn drop_reason(of: candidate::DropReason) -> DropReason {
    match of {
        candidate::DropReason::NoEvidence => DropReason::NoEvidence,
        candidate::DropReason::Secret => DropReason::Secret,
        candidate::DropReason::TooShort => DropReason::TooShort,
        candidate::DropReason::TooLong => DropReason::TooLong,
        candidate::DropReason::Tautology => DropReason::Tautology,
        candidate::DropReason::Derivable => DropReason::Derivable,
        candidate::DropReason::AboutNacre => DropReason::AboutNacre,
        candidate::DropReason::Injected => DropReason::Injected,
        candidate::DropReason::Recalled => DropReason::Recalled,
        candidate::DropReason::Forgotten => DropReason::Forgotten,
        candidate::DropReason::NotDurable => DropReason::NotDurable,
        candidate::DropReason::Revoked => DropReason::Revoked,
        candidate::DropReason::Repeated => DropReason::Repeated,
        candidate::DropReason::Weak => DropReason::Weak,
        candidate::DropReason::OverCap => DropReason::OverCap,
    }
}
