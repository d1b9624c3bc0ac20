//! The tools of skills, called as the registry calls them.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::super::super::skills::SkillPlaces;
use super::super::super::tool::{Output, ToolContext, ToolError};
use super::*;
use crate::model::Cancel;
use crate::record::Fault;
use crate::record::TaskId;
use crate::record::{Clock, Event, Heard, Listener};

struct Run {
    tools: Vec<Arc<dyn AnyTool>>,
    active: Arc<ActiveSkills>,
    heard: Arc<Heard>,
}

fn run() -> Run {
    let heard = Arc::new(Heard::default());
    let clock: Clock = Arc::new(|| Timestamp::UNIX_EPOCH);
    let events =
        Events::new(TaskId::from_random(1), clock, vec![Arc::clone(&heard) as Arc<dyn Listener>]);
    let active = Arc::new(ActiveSkills::default());
    let tools = tools(&Arc::new(SkillRegistry::new(SkillPlaces::default())), &active, &events);
    Run { tools, active, heard }
}

impl Run {
    fn call(&self, name: &str, arguments: Value) -> Result<Output, ToolError> {
        let tool = self.tools.iter().find(|tool| tool.spec().name == name).unwrap();
        assert!(tool.footprint(&arguments)?.is_read_only());
        let none = Arc::new(std::path::PathBuf::new());
        let ctx = ToolContext {
            workspace: Arc::clone(&none),
            cancel: Cancel::never(),
            now: Timestamp::UNIX_EPOCH,
            spill: none,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(tool.run(arguments, &ctx))
    }
}

#[test]
fn skills_are_listed_with_whose_they_are() {
    let listed = run().call("skill_list", json!({})).unwrap();
    assert!(listed.text.starts_with("commit (bundled): Turn the changes"), "{}", listed.text);
    assert_eq!(listed.value["skills"][1], json!({ "name": "review", "origin": "bundled" }));
}

#[test]
fn a_skill_that_is_taken_up_narrows_and_is_told_once() {
    let run = run();
    for _ in 0..2 {
        let output = run
            .call("skill_activate", json!({ "name": "commit", "arguments": "Only the docs." }))
            .unwrap();
        assert!(
            output.text.starts_with("Skill `commit`. It came with Nacre. While it is active"),
            "{}",
            output.text
        );
        assert!(output.text.contains("Commit the changes in this repository. Only the docs."));
    }
    let narrowing = run.active.narrowing().unwrap();
    assert!(narrowing.contains("git_commit") && !narrowing.contains("shell_run"));
    let told: Vec<Event> = run.heard.records().iter().map(|record| record.event.clone()).collect();
    assert_eq!(told, [Event::SkillOn { skill: "commit".into() }]);
}

#[test]
fn a_skill_that_is_not_there_is_an_error_with_the_names_that_are() {
    let run = run();
    let error = run.call("skill_activate", json!({ "name": "nothing" })).unwrap_err();
    assert_eq!((error.fault, error.hint.as_str()), (Fault::NotFound, "There are: commit, review."));
    assert!(run.active.names().is_empty() && run.heard.records().is_empty());
}
