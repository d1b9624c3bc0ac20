//! JSON-RPC 2.0, one message per line.

use nacre_types::{ErrorCode, Failure};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;
const METHOD_NOT_FOUND: i32 = -32601;
const INVALID_PARAMS: i32 = -32602;
const INTERNAL_ERROR: i32 = -32603;
const NOT_FOUND: i32 = -32002;

#[derive(Debug, PartialEq)]
pub(super) enum Incoming {
    Request { id: RequestId, method: String, params: Value },
    Notification { method: String, params: Value },
    Response { id: Value, result: Result<Value, Value> },
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub(super) struct RequestId(Value);

impl RequestId {
    pub(super) fn new(value: Value) -> Option<Self> {
        let is_id = value.is_null() || value.is_string() || value.is_i64() || value.is_u64();
        is_id.then_some(Self(value))
    }

    /// The id for replies to messages whose own id could not be read.
    pub(super) fn unknown() -> Self {
        Self(Value::Null)
    }
}

pub(super) type Result<T, E = RpcError> = std::result::Result<T, E>;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct RpcError {
    pub(super) code: i32,
    pub(super) message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl RpcError {
    fn new(code: i32, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    pub(super) fn parse(message: impl Into<String>) -> Self {
        Self::new(PARSE_ERROR, message)
    }

    pub(super) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(INVALID_REQUEST, message)
    }

    pub(super) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(INVALID_PARAMS, message)
    }

    pub(super) fn internal(message: impl Into<String>) -> Self {
        Self::new(INTERNAL_ERROR, message)
    }

    pub(super) fn unknown_method(method: &str) -> Self {
        let shown: String = method.chars().take(80).collect();
        Self::new(METHOD_NOT_FOUND, format!("Unknown method `{shown}`"))
    }

    pub(super) fn unknown_session(session: &str) -> Self {
        let shown: String = session.chars().take(80).collect();
        Self::new(NOT_FOUND, format!("Session `{shown}` is not open"))
    }
}

impl From<Failure> for RpcError {
    /// Causes and hints are part of the message, because editors do not show other fields.
    fn from(failure: Failure) -> Self {
        let code = if failure.code == ErrorCode::Usage {
            INVALID_PARAMS
        } else if failure.code == ErrorCode::NotFound {
            NOT_FOUND
        } else {
            INTERNAL_ERROR
        };
        let mut message = failure.message;
        for cause in &failure.causes {
            message = format!("{message}: {cause}");
        }
        for hint in &failure.hints {
            message = format!("{message}\n{hint}");
        }
        Self { code, message, data: Some(json!({ "code": failure.code.as_str() })) }
    }
}

/// Parses a line. On failure, returns the error together with the message's id, if that could be
/// read.
pub(super) fn parse(line: &str) -> Result<Incoming, (RequestId, RpcError)> {
    let value: Value = serde_json::from_str(line)
        .map_err(|error| (RequestId::unknown(), RpcError::parse(format!("Not JSON: {error}"))))?;
    let Value::Object(mut message) = value else {
        return Err((RequestId::unknown(), RpcError::invalid_request("Not a JSON-RPC object")));
    };
    let id = message.remove("id");
    let own = id.clone().and_then(RequestId::new);
    let invalid = |why: &str| {
        Err((own.clone().unwrap_or_else(RequestId::unknown), RpcError::invalid_request(why)))
    };
    if message.get("jsonrpc") != Some(&Value::from("2.0")) {
        return invalid("`jsonrpc` is not \"2.0\"");
    }
    if id.is_some() && own.is_none() {
        return invalid("`id` must be an integer, a string or null");
    }
    let Some(method) = message.remove("method") else {
        return match (id, message.remove("result"), message.remove("error")) {
            (Some(id), Some(result), None) => Ok(Incoming::Response { id, result: Ok(result) }),
            (Some(id), None, Some(error)) => Ok(Incoming::Response { id, result: Err(error) }),
            _ => invalid("Expected a request, a notification or a response"),
        };
    };
    let Value::String(method) = method else { return invalid("`method` must be a string") };
    let params = message.remove("params").unwrap_or_default();
    if !(params.is_object() || params.is_array() || params.is_null()) {
        return invalid("`params` must be an object or an array");
    }
    Ok(match own {
        Some(id) => Incoming::Request { id, method, params },
        None => Incoming::Notification { method, params },
    })
}

pub(super) fn params<P: DeserializeOwned>(params: Value) -> Result<P> {
    // Parameters may be left out if all of them are optional.
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| RpcError::invalid_params(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(value: impl Into<Value>) -> RequestId {
        RequestId::new(value.into()).unwrap()
    }

    #[test]
    fn a_line_is_a_request_a_notification_or_a_response() {
        let method = "session/new".to_owned();
        for (line, expected) in [
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"session/new","params":{"cwd":"/"}}"#,
                Incoming::Request { id: id(7), method: method.clone(), params: json!({"cwd":"/"}) },
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"session/new"}"#,
                Incoming::Request { id: id("a"), method: method.clone(), params: Value::Null },
            ),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"session/new"}"#,
                Incoming::Request {
                    id: id(Value::Null),
                    method: method.clone(),
                    params: Value::Null,
                },
            ),
            (
                r#"{"jsonrpc":"2.0","method":"session/new"}"#,
                Incoming::Notification { method, params: Value::Null },
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":null}"#,
                Incoming::Response { id: json!(1), result: Ok(Value::Null) },
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#,
                Incoming::Response { id: json!(1), result: Err(json!({"code":1})) },
            ),
        ] {
            assert_eq!(parse(line), Ok(expected), "{line}");
        }
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_it_has_one() {
        let deep = "[".repeat(10_000);
        for (line, code, to) in [
            ("{", PARSE_ERROR, Value::Null),
            (deep.as_str(), PARSE_ERROR, Value::Null),
            ("[]", INVALID_REQUEST, Value::Null),
            ("3", INVALID_REQUEST, Value::Null),
            (r#"{"id":3,"method":"a"}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"1.0","id":3,"method":"a"}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"a"}"#, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":{},"method":"a"}"#, INVALID_REQUEST, Value::Null),
            (r#"{"jsonrpc":"2.0","id":"x","method":5}"#, INVALID_REQUEST, json!("x")),
            (r#"{"jsonrpc":"2.0","id":3,"method":"a","params":5}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"2.0","id":3,"result":1,"error":{}}"#, INVALID_REQUEST, json!(3)),
            (r#"{"jsonrpc":"2.0"}"#, INVALID_REQUEST, Value::Null),
        ] {
            let (id, error) = parse(line).unwrap_err();
            assert_eq!((error.code, id.0), (code, to), "{line:.60}");
        }
    }
}
