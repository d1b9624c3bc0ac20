//! Tests which memories are shown for a prompt, and when none are.

#![expect(clippy::disallowed_methods, reason = "the tests play the person who writes files")]

use std::fs;

use jiff::Timestamp;
use nacre_base::fs::{Access, WriteScope};
use tempfile::TempDir;

use super::*;
use crate::{Rules, Store};

const MEMORIES: &[(&str, &str, &str)] = &[
    (
        "20261101-deploy",
        "Deploy with `make ship` from the release branch, never from main",
        "The pipeline of main has no credentials for production. `make ship` tags and deploys.",
    ),
    (
        "20261102-queue",
        "The job queue is a SQLite table, not Redis",
        "One file to back up. Redis lost jobs when it ran out of memory.",
    ),
    (
        "20261103-invoices",
        "Invoice totals are rounded half-even, per line",
        "Accounting compares them with its own system to the cent.",
    ),
    (
        "20261104-timezone",
        "Reports are cut at midnight in Berlin",
        "The acquirer's settlement file is, too.",
    ),
];

struct World {
    folder: TempDir,
}

impl World {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Self { folder };
        for (id, title, body) in MEMORIES {
            world.write("decisions", id, title, "", body);
        }
        world
    }

    fn write(&self, place: &str, id: &str, title: &str, keys: &str, body: &str) {
        let memory = self.folder.path().join("memory").join(place);
        fs::create_dir_all(&memory).unwrap();
        let title = serde_json::to_string(title).unwrap();
        let text = format!("---\nid: {id}\ntitle: {title}\n{keys}---\n\n{body}\n");
        fs::write(memory.join(format!("{id}.md")), text).unwrap();
        let evidence = self.folder.path().join("meta/evidence");
        fs::create_dir_all(&evidence).unwrap();
        let quote = r#"{"text":"q","speaker":"human","place":"1","at":"2026"}"#;
        let text = format!(r#"{{"version":1,"id":"{id}","quotes":[{quote}]}}"#);
        fs::write(evidence.join(format!("{id}.json")), text).unwrap();
    }

    fn told(&self, text: &str, budget: usize, known: &[&str]) -> Prompted {
        self.told_in(text, budget, known, Rules { trusts_evidence: true, ..Rules::default() })
    }

    fn told_in(&self, text: &str, budget: usize, known: &[&str], rules: Rules) -> Prompted {
        let is_told = |id: &str| known.contains(&id);
        let occasion = Occasion::Prompt;
        self.answer(&Prompt { text, past: &[], budget, is_told: &is_told, occasion }, rules)
    }

    fn told_after(&self, text: &str, past: &[String]) -> Vec<String> {
        let rules = Rules { trusts_evidence: true, ..Rules::default() };
        let occasion = Occasion::Prompt;
        let prompt = Prompt { text, past, budget: 500, is_told: &|_| false, occasion };
        self.answer(&prompt, rules).items.into_iter().map(|item| item.id).collect()
    }

    fn answer(&self, prompt: &Prompt<'_>, rules: Rules) -> Prompted {
        let scope = WriteScope::open(self.folder.path(), Access::Private).unwrap();
        let store = Store::new(scope, rules);
        let now: Timestamp = "2026-11-15T08:30:00Z".parse().unwrap();
        let index = MemoryIndex::peek(&store, now).unwrap();
        let sources = [Source { index: &index, scope: nacre_types::StoreScope::Project }];
        match_prompt(&sources, prompt)
    }

    fn ids(&self, text: &str) -> Vec<String> {
        self.told(text, 500, &[]).items.into_iter().map(|item| item.id).collect()
    }
}

#[test]
fn a_fitting_memory_is_told() {
    let world = World::new();
    for (prompt, id) in [
        ("how do we deploy to production?", "20261101-deploy"),
        ("move the job queue to redis", "20261102-queue"),
        ("the invoice total is off by one cent, find the rounding error", "20261103-invoices"),
    ] {
        assert_eq!(world.ids(prompt).first().map(String::as_str), Some(id), "{prompt}");
    }
}

#[test]
fn others_come_along_only_when_they_are_close_and_never_more_than_three_are_told() {
    let world = World::new();
    assert_eq!(world.ids("move the job queue to redis"), ["20261102-queue"]);
    for part in ["docs", "worker", "mailer", "proxy"] {
        let title = format!("Deploy the {part} with `make ship` as well");
        let body = "The release branch has the credentials for production.";
        world.write("decisions", &format!("20261105-{part}"), &title, "", body);
    }
    let prompt = "after the deploy of the worker to production we want to ship the proxy as well";
    assert_eq!(world.ids(prompt).len(), USUAL.max_items);
}

#[test]
fn a_first_prompt_gets_more_memories_and_the_outcome_of_an_earlier_session() {
    let world = World::new();
    let folder = world.folder.path().join("memory/summaries/20261105/080000");
    fs::create_dir_all(&folder).unwrap();
    let text = "---\nid: 20261105-rounding\ntitle: Find the rounding error in invoice totals\n\
                created: 2026-11-05T08:00:00Z\n---\n\n## Asked\n\nFind the rounding error.\n\n\
                ## Outcome\n\nThe totals were rounded twice; `round_total` now rounds once.\n\n\
                ## Files\n\n- billing.py\n";
    fs::write(folder.join("20261105-rounding.md"), text).unwrap();
    let evidence = world.folder.path().join("meta/evidence/20261105-rounding.json");
    let quote = r#"{"text":"q","speaker":"human","place":"1","at":"2026"}"#;
    let proof = format!(r#"{{"version":1,"id":"20261105-rounding","quotes":[{quote}]}}"#);
    fs::write(evidence, proof).unwrap();
    let told = |text: &str, is_first: bool| {
        let rules = Rules { trusts_evidence: true, ..Rules::default() };
        let occasion = if is_first { Occasion::FirstPrompt } else { Occasion::Prompt };
        let prompt = Prompt { text, past: &[], budget: 500, is_told: &|_| false, occasion };
        let items = world.answer(&prompt, rules).items;
        items.into_iter().map(|item| line(&item, &ShortIds::default())).collect::<Vec<_>>()
    };
    let prompts = ["the invoice totals still have a rounding error", "ship the worker", "hello"];
    let told = prompts.map(|prompt| (prompt, told(prompt, false), told(prompt, true)));
    insta::assert_debug_snapshot!(told, @r#"
    [
        (
            "the invoice totals still have a rounding error",
            [
                "- Invoice totals are rounded half-even, per line. Accounting compares them with its own system to the cent. [20261103-invoices]",
            ],
            [
                "- Invoice totals are rounded half-even, per line. Accounting compares them with its own system to the cent. [20261103-invoices]",
            ],
        ),
        (
            "ship the worker",
            [
                "- Deploy with `make ship` from the release branch, never from main. The pipeline of main has no credentials for production. … [20261101-deploy]",
            ],
            [
                "- Deploy with `make ship` from the release branch, never from main. The pipeline of main has no credentials for production. … [20261101-deploy]",
            ],
        ),
        (
            "hello",
            [],
            [],
        ),
    ]
    "#);
}

#[test]
fn a_prompt_of_every_day_is_not_answered() {
    let world = World::new();
    for prompt in [
        "",
        " \n",
        "yes",
        "continue",
        "fix the tests",
        "run the tests",
        "commit this",
        "thanks, that works now",
        "rename the variable inv to invoice",
        "what does this function do?",
        "add a favicon",
        "ﷺ \u{0} ###",
    ] {
        assert_eq!(world.ids(prompt), [""; 0], "{prompt}");
    }
}

#[test]
fn what_the_session_knows_is_not_told_again_and_nothing_takes_its_place() {
    let world = World::new();
    let known = ["20261101-deploy"];
    assert_eq!(world.told("how do we deploy?", 500, &known), Prompted::default());
}

#[test]
fn the_budget_is_a_promise() {
    let world = World::new();
    for budget in 0..200 {
        let told = world.told("how do we deploy?", budget, &[]);
        assert_eq!(count_tokens(&told.text(&ShortIds::default())), told.tokens);
        assert!(told.tokens <= budget, "{budget}: {}", told.text(&ShortIds::default()));
    }
    assert_eq!(world.told("how do we deploy?", 10, &[]), Prompted::default());
}

#[test]
fn what_does_not_hold_or_nobody_stands_behind_is_not_told() {
    for keys in ["status: superseded\n", "status: candidate\n", "status: stale\n"] {
        let world = World::new();
        let (id, title, body) = MEMORIES[0];
        world.write("decisions", id, title, keys, body);
        assert_eq!(world.ids("how do we deploy?"), [""; 0], "{keys}");
    }
    let stranger = World::new().told_in("how do we deploy?", 500, &[], Rules::default());
    assert_eq!(stranger, Prompted::default(), "a clone brought it");
}

#[test]
fn what_the_session_has_discussed_is_not_given_and_a_change_of_topic_is() {
    let world = World::new();
    let about = |topic: &str| vec![topic.to_owned(); 30];
    let deploy = "We deploy with `make ship` from the release branch, never from main: the pipeline \
                  of main has no credentials for production.";
    let queue = "The job queue is a SQLite table, not Redis, which lost jobs without memory.";
    for (past, expected) in [
        (Vec::new(), &["20261101-deploy"][..]),
        (about(queue), &["20261101-deploy"]),
        (about(deploy), &[]),
        (about("\u{0} [[[[ {{{{ \u{202e}"), &["20261101-deploy"]),
    ] {
        assert_eq!(
            world.told_after("how do we deploy to production?", &past),
            expected,
            "{past:?}"
        );
    }
    let long = vec!["deploy production ship release branch main ".repeat(100_000); 200];
    assert_eq!(world.told_after("how do we deploy to production?", &long), [""; 0]);
}

#[test]
fn memories_without_common_terms_are_no_twins() {
    for (one, other, expected) in [
        ("发票金额按行四舍五入", "发布前必须运行迁移脚本", false),
        ("請求は行ごとに丸める", "本番への配備は金曜日にしない", false),
        ("Счета округляются построчно", "Перед выпуском запускать миграции", false),
        ("Счета округляются построчно", "Счета построчно округляются", true),
        ("Round invoices per line", "Invoices are rounded per line", true),
    ] {
        let found = may_be_twins(&Profile::of(one, ""), &Profile::of(other, ""));
        assert_eq!(found, expected, "{one} / {other}");
    }
}

#[test]
fn memories_of_the_same_claim_share_a_line() {
    let world = World::new();
    let (_, title, body) = MEMORIES[0];
    world.write("learnings", "20261109-again", title, "", body);
    let told = world.told("how do we deploy to production?", 500, &[]);
    assert_eq!((told.items.len(), told.twins.len()), (1, 1), "{}", told.text(&ShortIds::default()));
    assert!(
        told.text(&ShortIds::default()).contains("20261109-again")
            && told.text(&ShortIds::default()).contains("20261101-deploy")
    );
}

#[test]
fn a_failed_command_gets_one_pitfall_or_procedure_that_shares_rare_words() {
    let world = World::new();
    let title = "staticcheck reports SA5011 after t.Fatal";
    world.write("learnings", "20261110-lint", title, "kind: pitfall\n", "Add `return` after it.");
    world.write(
        "learnings",
        "20261111-lint",
        title,
        "kind: insight\n",
        "It is a known bug of theirs.",
    );
    let failed = |text: &str| {
        let prompt = Prompt {
            text,
            past: &[],
            budget: 500,
            is_told: &|_| false,
            occasion: Occasion::Failure,
        };
        let told = world.answer(&prompt, Rules { trusts_evidence: true, ..Rules::default() });
        told.items.into_iter().map(|item| item.id).collect::<Vec<_>>()
    };
    let lint = "staticcheck ./...\nuser_test.go:41:7: possible nil pointer dereference (SA5011)";
    assert_eq!(failed(lint), ["20261110-lint"]);
    for other in [
        "",
        "staticcheck ./...\nuser.go:3:2: undefined: User",
        "make deploy\nerror: the pipeline of main has no credentials for production",
        "go test ./...\n--- FAIL: TestUser\nreports after add return",
    ] {
        assert_eq!(failed(other), [""; 0], "{other}");
    }
}
