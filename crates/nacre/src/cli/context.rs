//! `nacre context`

use clap::Args;
use nacre_api::wire::ContextRequest;
use nacre_ops::{Host, OpError, map as ops};

use super::exit::Exit;
use super::map::{Format, MapArgs, print_payload};
use super::ui::Ui;

/// Collect the code that a task needs, within a budget of tokens
///
/// First the files, ranked by words and meaning in common with the task, by their distance in the graph of imports, and by what
/// memory knows of them. Then code of the best of them: symbols come whole where there is room, else by signature, else by name;
/// what did not fit is counted and listed. Text that looks like a secret is replaced.
#[derive(Debug, Args)]
pub(crate) struct ContextArgs {
    #[command(flatten)]
    map: MapArgs,
    /// What is to be done, in words; the words alone do, too: `nacre context "retry failed uploads"`
    #[arg(long, alias = "for", value_name = "TEXT")]
    task: Option<String>,
    /// A file that is surely meant (can be repeated, or several with commas)
    #[arg(long = "file", alias = "files", value_name = "PATH", value_delimiter = ',')]
    files: Vec<String>,
    /// Tokens that the answer may have
    #[arg(long, value_name = "TOKENS", default_value_t = ops::DEFAULT_BUDGET)]
    budget: usize,
    /// List files alone, without their code
    #[arg(long)]
    files_only: bool,
}

pub(crate) fn cmd_context(ui: &mut Ui, host: &Host, args: &ContextArgs) -> Result<Exit, OpError> {
    let ContextArgs { map, task, files, budget, files_only } = args;
    let MapArgs { place, refresh, strict, format, client } = map;
    // Without a task and a file, a word alone cannot mean a project: it is the task.
    let is_task = task.is_none() && files.is_empty();
    let (place, task) = if is_task { (&None, place) } else { (place, task) };
    let request = ContextRequest {
        project: place.clone(),
        refresh: *refresh,
        strict: *strict,
        format: Format::choose(*format, ui),
        client: client.clone(),
        task: task.clone(),
        files: files.clone(),
        budget: Some(*budget),
        files_only: *files_only,
    };
    let answer = ops::context(host, &request, &ui.events())?;
    print_payload(ui, &answer.payload)
}
