//! Prompts that users select by name. They contain no memories, because agents send the prompt text
//! as if the user had written it.

use rmcp::model::{
    ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role,
};

const MAX_CHARS: usize = 2_000;

/// The argument replaces `{}` in the text.
struct PromptSpec {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    argument: &'static str,
    about: &'static str,
    text: &'static str,
}

const PROMPTS: &[PromptSpec] = &[
    PromptSpec {
        name: "recall",
        title: "Recall",
        description: "Find what this project remembers about a topic",
        argument: "topic",
        about: "The topic",
        text: "Look up what Nacre remembers about: {}\n\nCall memory_search, then memory_get for relevant results. \
                 Summarize what applies, each with its id, and say so if nothing is remembered.",
    },
    PromptSpec {
        name: "remember",
        title: "Remember",
        description: "Record a decision or a learning for this project",
        argument: "what",
        about: "The text to remember, in your words",
        text: "Remember this for the project: {}\n\nCall memory_search first. If it is not known, call memory_add: a \
                 title that is clear without context in a year, the reason in the body, and my words above as the quote.",
    },
];

pub(super) fn all() -> Vec<Prompt> {
    let prompt = |spec: &PromptSpec| {
        let argument = PromptArgument::new(spec.argument).with_description(spec.about);
        let arguments = vec![argument.with_required(true)];
        Prompt::new(spec.name, Some(spec.description), Some(arguments)).with_title(spec.title)
    };
    PROMPTS.iter().map(prompt).collect()
}

pub(super) fn get(
    name: &str,
    arguments: Option<&JsonObject>,
) -> Result<GetPromptResult, ErrorData> {
    let Some(spec) = PROMPTS.iter().find(|spec| spec.name == name) else {
        return Err(ErrorData::invalid_params(
            "The available prompts are `recall` and `remember`",
            None,
        ));
    };
    let given = arguments.and_then(|arguments| arguments.get(spec.argument)?.as_str());
    let given = given.map(str::trim).filter(|given| !given.is_empty());
    let Some(given) = given.filter(|given| given.chars().count() <= MAX_CHARS) else {
        let message =
            format!("`{}` is required, with at most {MAX_CHARS} characters", spec.argument);
        return Err(ErrorData::invalid_params(message, None));
    };
    let message = PromptMessage::new_text(Role::User, spec.text.replacen("{}", given, 1));
    Ok(GetPromptResult::new(vec![message]).with_description(spec.description))
}
