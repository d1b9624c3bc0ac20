//! Answers with a shape: parsed, checked, and sent back with the errors, at most twice.
//!
//! The schema says what a model is told; serde says what the program gets. Both must agree with the answer, so that
//! a schema that is too wide cannot let through what the type does not hold.

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::content::Content;
use super::error::ModelError;
use super::loose_json::only_value;
use super::provider::Sink;
use super::request::{Message, OutputSchema, Request};
use super::response::{Response, StopReason};
use super::retry::{Control, Route, generate};
use super::schema::{Schema, SchemaError};
use super::usage::Usage;

/// How often a model may mend its answer.
pub const MAX_REPAIRS: usize = 2;

/// An answer of the asked shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Structured<T> {
    pub value: T,
    /// The last response, whose text the value was read from.
    pub response: Response,
    /// The tokens of all calls together.
    pub usage: Usage,
    pub n_repairs: usize,
}

/// Why there is no answer of the asked shape.
#[derive(Debug, thiserror::Error)]
pub enum StructuredError {
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Schema(#[from] SchemaError),
    #[error("`{}` stopped before its answer was complete: {stop:?}", response.model)]
    Incomplete { stop: StopReason, response: Box<Response> },
    #[error("The answer of `{}` has the wrong shape: {}", response.model, errors.join("; "))]
    Invalid { errors: Vec<String>, response: Box<Response> },
}

/// Asks for an answer of the given shape.
pub async fn structured<T: DeserializeOwned>(
    route: &Route,
    request: &Request,
    output: &OutputSchema,
    control: &Control,
    sink: &mut Sink<'_>,
) -> Result<Structured<T>, StructuredError> {
    let schema = Schema::new(&output.schema)?;
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
        match parse::<T>(&response.text(), &schema) {
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

/// Reads an answer, or says what is wrong with it in words for the model.
fn parse<T: DeserializeOwned>(text: &str, schema: &Schema) -> Result<T, Vec<String>> {
    let value: Value =
        only_value(text).ok_or_else(|| vec!["the answer holds no JSON".to_owned()])?;
    let violations = schema.violations(&value);
    if !violations.is_empty() {
        return Err(violations.iter().map(ToString::to_string).collect());
    }
    serde_json::from_value(value).map_err(|error| vec![error.to_string()])
}

/// Adds the answer and what is wrong with it. The answer is repeated as text, so that a call of the output tool
/// needs no result.
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
