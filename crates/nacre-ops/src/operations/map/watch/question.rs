//! A question as it comes on a line. What is wrong with one is an error of one line that names the key.

use nacre_api::wire::WatchQuestion;
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::turns::MAX_LINE_BYTES;
use crate::error::OpError;

const EXAMPLE: &str =
    r#"Write a line such as {"command":"explore"}; `nacre watch --help` says more"#;

/// What came on a line.
#[derive(Debug)]
pub(super) struct Question {
    /// What the answer is known by.
    pub(super) id: Option<Value>,
    pub(super) asked: Result<WatchQuestion, OpError>,
}

impl Question {
    pub(super) fn parse(line: &[u8]) -> Self {
        let mut object: Map<String, Value> = match serde_json::from_slice(line) {
            Ok(object) => object,
            Err(error) => {
                let wrong = OpError::usage("The line is no JSON object");
                let wrong = OpError { causes: vec![error.to_string()], ..wrong };
                return Self { id: None, asked: Err(wrong.hint(EXAMPLE)) };
            }
        };
        let id = object.remove("id");
        Self { id, asked: question(object).map_err(|wrong| OpError::usage(wrong).hint(EXAMPLE)) }
    }

    /// A line that was not read to its end.
    pub(super) fn too_long() -> Self {
        let wrong = OpError::usage(format!("A line has at most {MAX_LINE_BYTES} bytes"));
        Self { id: None, asked: Err(wrong) }
    }
}

fn question(object: Map<String, Value>) -> Result<WatchQuestion, String> {
    if !matches!(object.get("command"), Some(Value::String(_))) {
        return Err("The line names no `command`".to_owned());
    }
    let object = Value::Object(object);
    WatchQuestion::deserialize(&object).map_err(|error| {
        let wrong = object.as_object().and_then(wrong_key);
        wrong.unwrap_or_else(|| error.to_string())
    })
}

/// What is wrong with the first key that is. No key depends on another but `command`, so each is tried with that alone.
fn wrong_key(object: &Map<String, Value>) -> Option<String> {
    let is_command = |key: &str| key == "command";
    let keys = object.keys().map(String::as_str);
    ["command"].into_iter().chain(keys).find_map(|key| {
        let tried = object.iter().filter(|(other, _)| is_command(other) || *other == key);
        let tried: Map<String, Value> =
            tried.map(|(key, value)| (key.clone(), value.clone())).collect();
        let error = WatchQuestion::deserialize(Value::Object(tried)).err()?.to_string();
        let names_key = error.contains(&format!("field `{key}`"));
        Some(if names_key { error } else { format!("Wrong `{key}`: {error}") })
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(line: &str) -> String {
        let Question { id, asked } = Question::parse(line.as_bytes());
        let id = id.map(|id| format!("{id}: ")).unwrap_or_default();
        match asked {
            Ok(asked) => format!("{id}{asked:?}"),
            Err(error) => format!("{id}{} {:?}", error.message, error.causes),
        }
    }

    #[test]
    fn a_line_is_a_request_or_an_error_that_names_the_key() {
        let table = [
            r#"{"command":"explore"}"#,
            r#"{"command":"explore","detail":"verbose","budget":2000,"client":"me","id":7}"#,
            r#"{"id":["a"],"command":"delta","since":"git:HEAD","limit":3,"after":"-x"}"#,
            r#"{"command":"context","for":"--help","files":["a.rs","b.rs"],"budget":null}"#,
            r#"{"command":"context","files":"a.rs"}"#,
            r#"{"command":"context","files":null}"#,
            r#"{"command":"context","files":[1]}"#,
            r#"{"command":"delta","since":"yesterday"}"#,
            r#"{"command":"delta","limit":"3"}"#,
            r#"{"command":"explore","detail":"all","id":1}"#,
            r#"{"command":"explore","budget":-1,"detail":"normal"}"#,
            r#"{"command":"explore","colour":"red"}"#,
            r#"{"command":"explore","refresh":true}"#,
            r#"{"command":"explore","Detail=normal":1}"#,
            r#"{"command":"explore","help":"x"}"#,
            r#"{"command":"explore","budget":[[1]]}"#,
            r#"{"command":"watch"}"#,
            r#"{"command":"--help"}"#,
            r#"{"command":"rm","colour":"red"}"#,
            r#"{"command":7}"#,
            r#"{"id":1}"#,
            "[]",
            "",
            "{",
        ];
        let told: Vec<String> = table.iter().map(|line| shown(line)).collect();
        insta::assert_snapshot!(told.join("\n"), @r#"
        Explore(ExploreQuestion { client: None, detail: None, budget: None })
        7: Explore(ExploreQuestion { client: Some("me"), detail: Some(Verbose), budget: Some(2000) })
        ["a"]: Delta(DeltaQuestion { client: None, since: Some(Git("HEAD")), limit: Some(3), after: Some("-x"), budget: None })
        Context(ContextQuestion { client: None, task: Some("--help"), files: ["a.rs", "b.rs"], budget: None, files_only: false })
        Context(ContextQuestion { client: None, task: None, files: ["a.rs"], budget: None, files_only: false })
        Context(ContextQuestion { client: None, task: None, files: [], budget: None, files_only: false })
        Wrong `files`: expected a path, or a list of paths []
        Wrong `since`: give a revision such as 6af1b3c4.17, git:REF, client:NAME, or 0 for everything []
        Wrong `limit`: invalid type: string "3", expected usize []
        1: Wrong `detail`: unknown variant `all`, expected one of `compact`, `normal`, `verbose` []
        Wrong `budget`: invalid value: integer `-1`, expected usize []
        unknown field `colour`, expected one of `client`, `detail`, `budget` []
        unknown field `refresh`, expected one of `client`, `detail`, `budget` []
        unknown field `Detail=normal`, expected one of `client`, `detail`, `budget` []
        unknown field `help`, expected one of `client`, `detail`, `budget` []
        Wrong `budget`: invalid type: sequence, expected usize []
        Wrong `command`: unknown variant `watch`, expected one of `explore`, `context`, `delta` []
        Wrong `command`: unknown variant `--help`, expected one of `explore`, `context`, `delta` []
        Wrong `command`: unknown variant `rm`, expected one of `explore`, `context`, `delta` []
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
            drop(Question::parse(&line));
        }

        #[test]
        fn whatever_a_task_says_is_its_value(task in ".*") {
            let line = serde_json::json!({ "command": "context", "for": task }).to_string();
            let Ok(WatchQuestion::Context(question)) = Question::parse(line.as_bytes()).asked else {
                return Err(TestCaseError::fail("not a question"));
            };
            prop_assert_eq!(question.task.as_deref(), Some(task.as_str()));
        }
    }
}
