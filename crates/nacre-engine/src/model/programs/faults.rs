//! What an agent's complaint means.
//!
//! Agents tell in words for people what went wrong, at best with the status of the server they asked. The words are looked for
//! only in what an agent prints as its error.

use super::super::error::{ErrorKind, Fault};
use super::launch::Finished;

/// What an agent says when it has no account, or one that is not accepted.
const NOT_LOGGED_IN: &[&str] = &[
    "not logged in",
    "/login",
    "log in",
    "invalid api key",
    "incorrect api key",
    "no authentication information",
    "invalid auth method",
    "set an auth method",
    "401 unauthorized",
    "token has expired",
    "oauth token",
    "api key not valid",
    "missing api key",
];

/// What an agent says when the account is used up, for now or for good.
const NO_CREDIT: &[&str] = &[
    "credit balance",
    "quota",
    "billing",
    "usage limit",
    "hit your limit",
    "limit reached",
    "insufficient credits",
    "insufficient_quota",
    "out of credits",
    "premium requests",
    "payment required",
];

/// What an agent says when a question is too long.
const TOO_LONG: &[&str] = &[
    "prompt is too long",
    "context window",
    "context length",
    "context_length_exceeded",
    "maximum context",
    "input is too long",
    "too many tokens",
];

/// What an agent says when it does not know the model.
const UNKNOWN_MODEL: &[&str] = &[
    "issue with the selected model",
    "model not found",
    "unknown model",
    "no such model",
    "is not supported when using",
    "model does not exist",
];

/// What an agent says when it is to wait.
const RATE_LIMITED: &[&str] = &["rate limit", "rate_limit", "too many requests"];

/// The fault of an answer that an agent itself calls an error.
pub(super) fn fault(status: Option<u16>, said: &str, finished: &Finished) -> Fault {
    let kind = kind(status, &said.to_lowercase(), finished.code);
    Fault { kind, said: Some(said.to_owned()).filter(|said| !said.trim().is_empty()) }
}

fn kind(status: Option<u16>, said: &str, code: Option<i32>) -> ErrorKind {
    let says = |list: &[&str]| list.iter().any(|word| said.contains(word));
    match status {
        _ if says(TOO_LONG) => ErrorKind::ContextTooLong,
        _ if says(NO_CREDIT) => ErrorKind::Quota,
        Some(402) => ErrorKind::Quota,
        Some(401 | 403) => ErrorKind::NotLoggedIn,
        Some(404) => ErrorKind::UnknownModel,
        Some(413) => ErrorKind::ContextTooLong,
        Some(429) => ErrorKind::RateLimited { retry_after: None },
        Some(503 | 529) => ErrorKind::Overloaded { retry_after: None },
        Some(status @ 500..=599) => ErrorKind::Unavailable { status: Some(status) },
        Some(400..=499) => ErrorKind::BadRequest,
        _ if says(NOT_LOGGED_IN) => ErrorKind::NotLoggedIn,
        _ if says(RATE_LIMITED) => ErrorKind::RateLimited { retry_after: None },
        _ if says(UNKNOWN_MODEL) => ErrorKind::UnknownModel,
        Some(_) | None => ErrorKind::ProgramFailed { code },
    }
}

/// The fault of a program that ended without an answer: it says why on standard error, or in its last words.
pub(super) fn no_answer(finished: &Finished) -> Fault {
    let said = match finished.stderr.trim() {
        "" => ending(finished.stdout.trim()),
        said => said,
    };
    match finished.code {
        Some(0) if said.is_empty() => Fault::protocol("the program printed nothing"),
        Some(0) => Fault::protocol(said),
        Some(_) | None => fault(None, said, finished),
    }
}

/// The end of a text, where programs say what stopped them.
fn ending(text: &str) -> &str {
    const MAX_BYTES: usize = 500;
    let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_BYTES));
    text.get(from..).unwrap_or_default()
}

/// The status in words such as `unexpected status 401 Unauthorized`.
pub(super) fn status_in(said: &str) -> Option<u16> {
    let (_, rest) = said.split_once("status ")?;
    let digits = rest.get(..3)?;
    digits.parse().ok().filter(|status| (400..600).contains(status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_agents_are_understood() {
        let limited = ErrorKind::RateLimited { retry_after: None };
        let failed = Finished { code: Some(1), ..Finished::default() };
        for (status, said, kind) in [
            (None, "Not logged in · Please run /login", ErrorKind::NotLoggedIn),
            (Some(401), "Invalid API key · Fix external API key", ErrorKind::NotLoggedIn),
            (Some(400), "Credit balance is too low", ErrorKind::Quota),
            (None, "Claude usage limit reached. Your limit will reset at 3pm", ErrorKind::Quota),
            (None, "You've hit your limit · resets 3pm", ErrorKind::Quota),
            (None, "Quota exceeded. Check your plan and billing details.", ErrorKind::Quota),
            (Some(429), "API Error: Request rejected (429) · slow down", limited),
            (Some(400), "Prompt is too long · the request is ~250000", ErrorKind::ContextTooLong),
            (Some(404), "There's an issue with the selected model", ErrorKind::UnknownModel),
            (Some(529), "Overloaded", ErrorKind::Overloaded { retry_after: None }),
            (None, "Error: No authentication information found.", ErrorKind::NotLoggedIn),
            (
                None,
                "error: unknown option '--safe-mode'",
                ErrorKind::ProgramFailed { code: Some(1) },
            ),
        ] {
            let fault = fault(status, said, &failed);
            assert_eq!((fault.kind, fault.said.as_deref()), (kind, Some(said)));
        }
    }

    #[test]
    fn the_status_is_read_from_the_words_of_codex() {
        assert_eq!(status_in("unexpected status 401 Unauthorized: no"), Some(401));
        assert_eq!(status_in("exit status 1"), None);
        assert_eq!(status_in("status 999 x"), None);
    }
}
