//! Classifies provider errors.
//!
//! Most providers use the same status codes but different body formats. All known formats are
//! accepted, whether they arrive in a response or in the middle of a stream.

use std::time::Duration;

use serde_json::Value;

use crate::model::error::{ErrorKind, Fault};

/// Upper limit for the delay that a provider requests.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

#[rustfmt::skip]
const TOO_LONG: &[&str] = &[
    "context length", "context size", "context window", "context_length_exceeded",
    "exceed_context_size", "maximum context", "model_context_window_exceeded",
    "prompt is too long", "request_too_large", "too many tokens",
];

const NO_CREDIT: &[&str] =
    &["billing_error", "credit balance is too low", "insufficient_quota", "insufficient credits"];

const REFUSED: &[&str] = &["content_filter", "content_policy_violation", "moderation"];

#[derive(Debug, Default)]
pub(super) struct Complaint {
    message: String,
    words: String,
    status: Option<u16>,
}

impl Complaint {
    pub(super) fn read(body: &str) -> Self {
        match serde_json::from_str::<Value>(body) {
            Ok(value) => Self::from_value(&value),
            Err(_) => Self { message: body.to_owned(), ..Self::default() },
        }
    }

    pub(super) fn from_value(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value.get("error").unwrap_or(value);
        let text = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default();
        let code = error.get("code").or_else(|| value.get("code"));
        let plain = error.as_str().unwrap_or(text("message"));
        let mut message = match plain {
            "" => error.get("detail").unwrap_or(error).to_string(),
            plain => plain.to_owned(),
        };
        if let Some(raw) = error.pointer("/metadata/raw").and_then(Value::as_str) {
            message = format!("{message}: {raw}");
        }
        let named_code = code.and_then(Value::as_str).unwrap_or_default();
        let words = format!("{} {named_code}", text("type")).to_lowercase();
        let number = code.and_then(Value::as_u64).or_else(|| named_code.parse().ok());
        let status = number.and_then(|code| u16::try_from(code).ok());
        Self { message, words, status: status.filter(|status| (400..600).contains(status)) }
    }

    pub(super) fn into_fault(self, status: Option<u16>, retry_after: Option<Duration>) -> Fault {
        let kind = self.kind(status.or(self.status), retry_after);
        Fault { kind, said: Some(self.message).filter(|message| !message.trim().is_empty()) }
    }

    fn kind(&self, status: Option<u16>, retry_after: Option<Duration>) -> ErrorKind {
        let message = self.message.to_lowercase();
        let says = |list: &[&str]| {
            list.iter().any(|word| message.contains(word) || self.words.contains(word))
        };
        match status.or_else(|| status_of_words(&self.words)) {
            Some(400 | 403 | 413 | 422 | 429 | 500) if says(NO_CREDIT) => ErrorKind::Quota,
            Some(400 | 413 | 422 | 500) if says(TOO_LONG) => ErrorKind::ContextTooLong,
            Some(400 | 403 | 422) if says(REFUSED) => ErrorKind::Refused,
            Some(401 | 403 | 407) => ErrorKind::Auth,
            Some(402) => ErrorKind::Quota,
            Some(404) => ErrorKind::UnknownModel,
            Some(413) => ErrorKind::ContextTooLong,
            Some(429) => ErrorKind::RateLimited { retry_after },
            Some(503 | 529) => ErrorKind::Overloaded { retry_after },
            Some(status @ (408 | 409 | 425 | 500..=599)) => {
                ErrorKind::Unavailable { status: Some(status) }
            }
            Some(400..=499) => ErrorKind::BadRequest,
            Some(_) | None => ErrorKind::Unavailable { status: None },
        }
    }
}

/// Returns the status code that the provider would have returned if the error had occurred before
/// the stream began.
fn status_of_words(words: &str) -> Option<u16> {
    const TABLE: &[(&str, u16)] = &[
        ("authentication", 401),
        ("invalid_api_key", 401),
        ("permission", 403),
        ("not_found", 404),
        ("request_too_large", 413),
        ("rate_limit", 429),
        ("overloaded", 529),
        ("unavailable", 503),
        ("timeout", 504),
        ("server_error", 500),
        ("api_error", 500),
        ("invalid_request", 400),
    ];
    TABLE.iter().find(|(word, _)| words.contains(word)).map(|row| row.1)
}

/// Parses `Retry-After` as milliseconds, seconds, or a date relative to the server's `Date`.
pub(super) fn retry_after(header: impl Fn(&str) -> Option<String>) -> Option<Duration> {
    let number = |text: String| text.trim().parse::<f64>().ok();
    let seconds = match header("retry-after-ms").and_then(number) {
        Some(millis) => Some(millis / 1000.0),
        None => {
            let text = header("retry-after")?;
            number(text.clone()).or_else(|| seconds_between(&header("date")?, &text))
        }
    };
    let wait = Duration::try_from_secs_f64(seconds?.max(0.0)).ok()?;
    Some(wait.min(MAX_RETRY_AFTER))
}

fn seconds_between(from: &str, to: &str) -> Option<f64> {
    let parse =
        |text: &str| jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text.trim()).ok();
    Some((parse(to)?.as_second() - parse(from)?.as_second()) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_of_many_shapes_are_understood() {
        let limited = ErrorKind::RateLimited { retry_after: None };
        let overloaded = ErrorKind::Overloaded { retry_after: None };
        let failed = |status| ErrorKind::Unavailable { status };
        for (status, body, kind, said) in [
            (Some(401), r#"{"error":{"message":"no key"}}"#, ErrorKind::Auth, "no key"),
            (Some(429), r#"{"error":"slow down"}"#, limited.clone(), "slow down"),
            (
                Some(429),
                r#"{"error":{"message":"pay","code":"insufficient_quota"}}"#,
                ErrorKind::Quota,
                "pay",
            ),
            (
                Some(529),
                r#"{"type":"error","error":{"type":"x","message":"m"}}"#,
                overloaded.clone(),
                "m",
            ),
            (None, r#"{"error":{"type":"overloaded_error","message":"m"}}"#, overloaded, "m"),
            (None, r#"{"error":{"code":429,"message":"m"}}"#, limited.clone(), "m"),
            (None, r#"{"error":{"code":"429","message":"m"}}"#, limited, "m"),
            (None, r#"{"error":{"message":"m"}}"#, failed(None), "m"),
            (
                Some(400),
                r#"{"error":{"message":"prompt is too long: 9 > 8"}}"#,
                ErrorKind::ContextTooLong,
                "prompt is too long: 9 > 8",
            ),
            (
                Some(400),
                r#"{"detail":[{"msg":"bad"}]}"#,
                ErrorKind::BadRequest,
                r#"[{"msg":"bad"}]"#,
            ),
            (Some(400), r#"[{"error":{"message":"m"}}]"#, ErrorKind::BadRequest, "m"),
            (
                Some(400),
                r#"{"error":{"message":"m","code":"content_filter"}}"#,
                ErrorKind::Refused,
                "m",
            ),
            (
                Some(404),
                r#"{"error":{"message":"no such model"}}"#,
                ErrorKind::UnknownModel,
                "no such model",
            ),
            (Some(502), "<html>Bad gateway</html>", failed(Some(502)), "<html>Bad gateway</html>"),
        ] {
            let fault = Complaint::read(body).into_fault(status, None);
            assert_eq!((&fault.kind, fault.said.as_deref()), (&kind, Some(said)), "{body}");
        }
        assert_eq!(Complaint::read("").into_fault(Some(500), None).said, None);
    }

    // Regression test: the error kind used to be derived from the message.
    #[test]
    fn a_code_in_the_words_of_a_complaint_is_only_words() {
        for words in ["[E_RATE_LIMITED] 429", "status 401: invalid_api_key", "[E_QUOTA] overloaded"]
        {
            let body = serde_json::json!({ "error": { "message": words } }).to_string();
            let told = Complaint::read(&body).into_fault(Some(502), None);
            assert_eq!(told.kind, ErrorKind::Unavailable { status: Some(502) }, "{words}");
            let streamed = Complaint::read(&body).into_fault(None, None);
            assert_eq!(streamed.kind, ErrorKind::Unavailable { status: None }, "{words}");
        }
    }

    #[test]
    fn the_wait_is_read_from_numbers_and_dates() {
        let read = |pairs: &[(&str, &str)]| {
            let found = |name: &str| pairs.iter().find(|pair| pair.0 == name);
            retry_after(|name| found(name).map(|pair| pair.1.to_owned()))
        };
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        let later = "Sun, 06 Nov 1994 08:50:07 GMT";
        for (headers, millis) in [
            (&[("retry-after", "7")][..], Some(7000)),
            (&[("retry-after", "0.5")], Some(500)),
            (&[("retry-after-ms", "250"), ("retry-after", "9")], Some(250)),
            (&[("retry-after", later), ("date", date)], Some(30_000)),
            (&[("retry-after", date), ("date", later)], Some(0)),
            (&[("retry-after", later)], None),
            (&[("retry-after", "-3")], Some(0)),
            (&[("retry-after", "soon")], None),
            (&[("retry-after", "1e300")], None),
            (&[("retry-after", "999999999")], Some(86_400_000)),
            (&[], None),
        ] {
            assert_eq!(read(headers), millis.map(Duration::from_millis), "{headers:?}");
        }
    }
}
