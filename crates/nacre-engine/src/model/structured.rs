//! Gets structured answers. Parses and validates each response, and returns an invalid one to the
//! model with its errors, at most twice.
//!
//! An answer must match the schema that the model received. It must also deserialize into the
//! caller's type, because the schema may be too permissive.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::model::conversation::{Content, Message, OutputSchema, Request, Response, StopReason};
use crate::model::error::ModelError;
use crate::model::price::Usage;
use crate::model::provider::Sink;
use crate::model::retry::{Control, Route, generate};
use crate::model::schema::violations;
use crate::model::textual_tools::only_value;

pub const MAX_REPAIRS: usize = 2;

#[derive(Clone, Debug, PartialEq)]
pub struct Structured<T> {
    pub value: T,
    pub response: Response,
    pub usage: Usage,
    pub n_repairs: usize,
}

#[derive(Debug, thiserror::Error)]
pub enum StructuredError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error("`{}` stopped before completing its answer: {stop:?}", response.model)]
    Incomplete { stop: StopReason, response: Box<Response> },
    #[error("The answer from `{}` does not match the schema: {}", response.model, errors.join("; "))]
    Invalid { errors: Vec<String>, response: Box<Response> },
}

pub async fn request_structured<T: DeserializeOwned>(
    route: &Route,
    request: &Request,
    output: &OutputSchema,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Structured<T>, StructuredError> {
    let mut request = Request { output: Some(output.clone()), ..request.clone() };
    let mut usage: Option<Usage> = None;
    let mut n_repairs = 0;
    loop {
        let response = generate(route, &request, control, sink).await?;
        usage = Some(usage.map_or(response.usage, |usage| usage.plus(response.usage)));
        match response.stop {
            StopReason::End | StopReason::Other(_) => {}
            StopReason::ToolUse
            | StopReason::MaxTokens
            | StopReason::ContextFull
            | StopReason::Refusal
            | StopReason::ContentFilter => {
                let (stop, response) = (response.stop.clone(), Box::new(response));
                return Err(StructuredError::Incomplete { stop, response });
            }
        }
        match parse::<T>(&response.text(), &output.schema) {
            Ok(value) => {
                let usage = usage.unwrap_or_default();
                return Ok(Structured { value, response, usage, n_repairs });
            }
            Err(errors) if n_repairs == MAX_REPAIRS => {
                return Err(StructuredError::Invalid { errors, response: Box::new(response) });
            }
            Err(errors) => ask_again(&mut request, &response, &errors),
        }
        n_repairs += 1;
    }
}

fn parse<T: DeserializeOwned>(text: &str, schema: &Value) -> Result<T, Vec<String>> {
    let value: Value =
        only_value(text).ok_or_else(|| vec!["the answer contains no JSON".to_owned()])?;
    let violations = violations(schema, &value);
    if !violations.is_empty() {
        return Err(violations);
    }
    serde_json::from_value(value).map_err(|error| vec![error.to_string()])
}

/// Adds the response and its errors to the request. The response is added as text, because a call
/// to the output tool would have to be followed by a tool result.
fn ask_again(request: &mut Request, response: &Response, errors: &[String]) {
    let mut answer = Message::assistant(response);
    if answer.content.is_empty() {
        answer = Message::assistant(&Response {
            content: vec![Content::Text("(no answer)".to_owned())],
            ..response.clone()
        });
    }
    let list: String = errors.iter().map(|error| format!("- {error}\n")).collect();
    let text = format!(
        "Your answer does not have the required shape:\n{list}Answer again, with the whole corrected JSON and nothing else."
    );
    request.messages.push(answer);
    request.messages.push(Message::user(&text));
}
