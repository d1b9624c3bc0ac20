//! A question as it comes on a line, and its answer.
//!
//! Its keys are the flags of the command that it names, and are read by the same parser: what a flag means, which values it
//! takes and what is wrong with them is said in one place.

use clap::Parser;
use nacre_api::wire::ErrorReport;
use serde_json::{Map as Object, Value};

use super::super::context::{self, ContextQuestion};
use super::super::delta::{self, DeltaQuestion};
use super::super::explore::{self, Answers, ExploreQuestion};
use super::super::map::Map;
use super::super::payload::json_line;
use super::super::ui::{Ui, usage_message};
use super::turns::MAX_LINE_BYTES;
use nacre_ops::Host;
use nacre_ops::OpError;

const EXAMPLE: &str =
    r#"Write a line such as {"command":"explore"}; `nacre watch --help` says more"#;

/// What can be asked.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_help_subcommand = true)]
enum Question {
    Explore(ExploreQuestion),
    Context(ContextQuestion),
    Delta(DeltaQuestion),
}

/// What came on a line.
#[derive(Debug)]
pub(super) struct Asked {
    /// What the answer is known by.
    id: Option<Value>,
    question: Result<Question, OpError>,
}

impl Asked {
    pub(super) fn parse(line: &[u8]) -> Self {
        let mut object: Object<String, Value> = match serde_json::from_slice(line) {
            Ok(object) => object,
            Err(error) => {
                let wrong = OpError::usage("The line is no JSON object");
                let wrong = OpError { causes: vec![error.to_string()], ..wrong };
                return Self { id: None, question: Err(wrong.hint(EXAMPLE)) };
            }
        };
        Self { id: object.remove("id"), question: question(object) }
    }

    /// A line that nobody read.
    pub(super) fn too_long() -> Self {
        let wrong = OpError::usage(format!("A line has at most {MAX_LINE_BYTES} bytes"));
        Self { id: None, question: Err(wrong) }
    }

    /// The answer, or why there is none: one object.
    pub(super) fn answered(
        self,
        ui: &mut Ui,
        host: &Host,
        map: &mut Map,
        answers: &mut Answers,
    ) -> String {
        let answer = self.question.and_then(|question| match &question {
            Question::Explore(question) => explore::answered(ui, map, answers, question),
            Question::Context(question) => context::answered(ui, host, map, question),
            Question::Delta(question) => {
                let output = delta::answered(ui, map, question)?;
                Ok(json_line(&map.envelope("delta", Some(output), None::<()>)))
            }
        });
        let answer = answer.unwrap_or_else(|error| json_line(&ErrorReport::from(error)));
        let answer = answer.trim_end_matches('\n');
        match (self.id, answer.strip_prefix('{')) {
            (Some(id), Some(rest)) => format!("{{\"id\":{},{rest}", json_line(&id)),
            _ => answer.to_owned(),
        }
    }
}

fn question(mut object: Object<String, Value>) -> Result<Question, OpError> {
    let Some(Value::String(command)) = object.remove("command") else {
        return Err(OpError::usage("The line names no `command`").hint(EXAMPLE));
    };
    let mut words = vec![command];
    for (key, value) in object {
        add_flag(&mut words, &key, value)?;
    }
    Question::try_parse_from(words)
        .map_err(|error| OpError::usage(usage_message(&error)).hint(EXAMPLE))
}

/// Adds a key as the flag that it is, once for each of its values.
fn add_flag(words: &mut Vec<String>, key: &str, value: Value) -> Result<(), OpError> {
    let is_name = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
    let values = match value {
        Value::Null => Vec::new(),
        Value::Array(values) => values,
        value @ (Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
            vec![value]
        }
    };
    for value in values {
        let text = match value {
            Value::String(text) => text,
            Value::Number(number) => number.to_string(),
            Value::Bool(is_on) => is_on.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                return Err(OpError::usage(format!(
                    "`{key}` takes a text, a number, or a list of them"
                )));
            }
        };
        if !is_name || key.is_empty() {
            return Err(OpError::usage(format!("`{key}` is no flag of any question")));
        }
        words.push(format!("--{key}={text}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> String {
        let Asked { id, question } = Asked::parse(line.as_bytes());
        let id = id.map(|id| format!("{id}: ")).unwrap_or_default();
        match question {
            Ok(question) => format!("{id}{question:?}"),
            Err(error) => format!("{id}{} {:?}", error.message, error.causes),
        }
    }

    #[test]
    fn a_question_has_the_words_of_the_command_line() {
        let table = [
            r#"{"command":"explore"}"#,
            r#"{"command":"explore","detail":"verbose","budget":2000,"client":"me","id":7}"#,
            r#"{"id":["a"],"command":"delta","since":"git:HEAD","limit":"3","after":"-x"}"#,
            r#"{"command":"context","for":"--help","files":["a.rs","b.rs"],"budget":null}"#,
            r#"{"command":"context"}"#,
            r#"{"command":"explore","detail":"all","id":1}"#,
            r#"{"command":"explore","colour":"red"}"#,
            r#"{"command":"explore","refresh":true}"#,
            r#"{"command":"explore","Detail=normal":1}"#,
            r#"{"command":"explore","help":"x"}"#,
            r#"{"command":"explore","budget":[[1]]}"#,
            r#"{"command":"watch"}"#,
            r#"{"command":"--help"}"#,
            r#"{"command":7}"#,
            r#"{"id":1}"#,
            "[]",
            "",
            "{",
        ];
        let told: Vec<String> = table.iter().map(|line| shown(line)).collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        Explore(ExploreQuestion { client: ClientArgs { client: None }, detail: Compact, budget: None })
        7: Explore(ExploreQuestion { client: ClientArgs { client: Some("me") }, detail: Verbose, budget: Some(2000) })
        ["a"]: Delta(DeltaQuestion { client: ClientArgs { client: None }, since: Some(Git("HEAD")), page: PageArgs { limit: 3, after: Some("-x") } })
        Context(ContextQuestion { client: ClientArgs { client: None }, task: Some("--help"), files: ["a.rs", "b.rs"], budget: 4000 })
        the following required arguments were not provided: --for <TASK> []
        1: invalid value 'all' for '--detail <DETAIL>' [possible values: compact, normal, verbose] []
        unexpected argument '--colour' found []
        unexpected argument '--refresh' found []
        `Detail=normal` is no flag of any question []
        unexpected argument '--help' found []
        `budget` takes a text, a number, or a list of them []
        unrecognized subcommand 'watch' []
        unexpected argument '--help' found []
        The line names no `command` []
        1: The line names no `command` []
        The line is no JSON object ["invalid type: sequence, expected a map at line 1 column 0"]
        The line is no JSON object ["EOF while parsing a value at line 1 column 0"]
        The line is no JSON object ["EOF while parsing an object at line 1 column 1"]
        "#);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_a_question_or_an_error(line in prop::collection::vec(any::<u8>(), 0..200)) {
            drop(Asked::parse(&line));
        }

        #[test]
        fn whatever_a_flag_holds_is_its_value(task in ".*") {
            let line = serde_json::json!({ "command": "context", "for": task }).to_string();
            let Ok(Question::Context(question)) = Asked::parse(line.as_bytes()).question else {
                return Err(TestCaseError::fail("no question"));
            };
            prop_assert_eq!(question.task.as_deref(), Some(task.as_str()));
        }
    }
}
