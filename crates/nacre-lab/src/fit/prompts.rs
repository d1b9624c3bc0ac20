//! Prints the features of the best memories for each prompt as JSON lines. The prompt hook's
//! threshold is fitted to this output.

use std::path::PathBuf;

use nacre_base::fs::{Access, WriteScope};
use nacre_memory::recall::{Occasion, Prompt, PromptMatches};
use nacre_memory::search::MemoryIndex;
use nacre_memory::{Rules, Store};

use crate::Outcome;

/// Print the features of the best memories for each prompt as JSON lines
#[derive(Debug, clap::Args)]
pub(crate) struct PromptsArgs {
    /// Directory with `.nacre/memory/` and `prompts.jsonl`, as in `eval hook`
    dataset: PathBuf,
}

pub(super) fn run(args: &PromptsArgs) -> Outcome {
    let folder = &args.dataset;
    let scope = WriteScope::open(&folder.join(".nacre"), Access::Private).unwrap();
    // All memories are treated as the user's own, because their origin does not matter here.
    let store = Store::new(scope, Rules { is_personal: true, ..Rules::default() });
    let index = MemoryIndex::peek(&store, jiff::Timestamp::now()).unwrap();
    let prompts = std::fs::read_to_string(folder.join("prompts.jsonl")).unwrap();
    for line in prompts.lines() {
        let labelled: serde_json::Value = serde_json::from_str(line).unwrap();
        let prompt = labelled["prompt"].as_str().unwrap();
        let past: Vec<String> =
            serde_json::from_value(labelled["past"].clone()).unwrap_or_default();
        let (is_told, occasion) = (&|_: &str| false, Occasion::Prompt);
        let asked = Prompt { text: prompt, past: &past, budget: 0, is_told, occasion };
        let matches = PromptMatches::find(&index, &asked);
        let best: Vec<serde_json::Value> = matches
            .best
            .iter()
            .map(|one| {
                serde_json::json!({
                    "id": one.id, "score": one.score, "features": matches.features(one),
                })
            })
            .collect();
        println!(
            "{}",
            serde_json::json!({
                "want": labelled["want"], "best": best, "meaning": matches.vector,
            })
        );
    }
    Ok(true)
}
