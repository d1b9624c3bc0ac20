//! Prints what speaks for the best memories of each prompt of a data set, as JSON lines: what the floor of the prompt hook is
//! fitted on.
//!
//! Usage: prompt_fit DATASET     a folder with `.nacre/memory/` and `prompts.jsonl`, as `nacre eval hook` takes it

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a developer's program"
)]

use std::path::Path;

use nacre_core::memory::{Rules, Store};
use nacre_core::safefs::{Access, WriteScope};
use nacre_core::search::{Builtin, MemoryIndex};

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let folder = Path::new(&folder);
    let scope = WriteScope::open(&folder.join(".nacre"), Access::Private).unwrap();
    // Whose memories these are is not the question here.
    let store = Store::new(scope, Rules { is_personal: true, ..Rules::default() });
    let model = Builtin::shipped().unwrap();
    let index = MemoryIndex::peek(&store, &model, jiff::Timestamp::now()).unwrap();
    let prompts = std::fs::read_to_string(folder.join("prompts.jsonl")).unwrap();
    for line in prompts.lines() {
        let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
        let prompt = labelled["prompt"].as_str().unwrap();
        let fitting = index.fitting(prompt, &model).unwrap();
        let fits: Vec<serde_json::Value> = fitting
            .fits
            .iter()
            .map(|fit| {
                let of = fit.signals;
                serde_json::json!({
                    "id": fit.id, "score": fit.score, "similarity": of.similarity, "words": of.words,
                })
            })
            .collect();
        println!(
            "{}",
            serde_json::json!({
                "prompt": prompt, "want": labelled["want"], "n_terms": fitting.n_terms,
                "chore": fitting.chore, "tidying": fitting.wording.tidying,
                "surroundings": fitting.wording.surroundings, "n_memories": fitting.n_memories,
                "fits": fits,
            })
        );
    }
}
