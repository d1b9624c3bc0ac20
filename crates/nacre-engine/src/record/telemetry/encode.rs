//! Spans as OTLP/JSON: numbers of 64 bits are texts there, and ids are hexadecimal.

use serde_json::{Value, json};

use super::spans::{Attribute, Span, SpanKind};

/// One request's worth of spans.
pub(super) fn request(spans: &[Span]) -> Value {
    let spans: Vec<Value> = spans.iter().map(span).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            attribute("service.name", &"nacre".into()),
            attribute("service.version", &env!("CARGO_PKG_VERSION").into()),
        ] },
        "scopeSpans": [{ "scope": { "name": "nacre" }, "spans": spans }],
    }] })
}

fn span(span: &Span) -> Value {
    let Span { trace, id, parent, name, kind, start, end, attributes, failure } = span;
    let attributes: Vec<Value> =
        attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    let mut value = json!({
        "traceId": trace, "spanId": id, "name": name,
        "kind": match kind { SpanKind::Internal => 1, SpanKind::Client => 3 },
        "startTimeUnixNano": start.as_nanosecond().to_string(),
        "endTimeUnixNano": end.as_nanosecond().to_string(),
        "attributes": attributes,
        "status": match failure {
            Some(why) => json!({ "code": 2, "message": why }),
            None => json!({}),
        },
    });
    if let Some(parent) = parent {
        value["parentSpanId"] = json!(parent);
    }
    value
}

fn attribute(key: &str, value: &Attribute) -> Value {
    let value = match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Number(number) => json!({ "intValue": number.to_string() }),
    };
    json!({ "key": key, "value": value })
}
