//! Counts how many imports in real repositories are resolved.
//!
//! Unresolved internal imports are listed for review: each is either a generated file or a defect
//! in the resolver.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use nacre_map::artifact::{FileOutline, RelativePath};
use nacre_map::languages::{Language, Outline, analyse};
use nacre_map::resolve::{Manifest, Resolution, Resolver, is_manifest};

use crate::Outcome;

const MAX_LISTED: usize = 60;

struct File {
    path: RelativePath,
    language: Option<Language>,
    outline: Outline,
}

/// Count how many imports in real repositories are resolved
#[derive(Debug, clap::Args)]
pub(crate) struct ResolutionArgs {
    #[arg(required = true)]
    folders: Vec<PathBuf>,
    /// Also list imports from other packages
    #[arg(long)]
    outside: bool,
}

pub(super) fn run(args: &ResolutionArgs) -> Outcome {
    args.folders.iter().for_each(|folder| count(folder, args.outside));
    Ok(true)
}

fn count(root: &Path, lists_outside: bool) {
    let (files, manifests) = read(root);
    let sources: Vec<FileOutline<'_>> = files
        .iter()
        .map(|file| FileOutline {
            path: file.path.as_str(),
            language: file.language,
            outline: file.outline.clone(),
        })
        .collect();
    let resolver = Resolver::new(&sources, &manifests);
    let mut following = resolver.following();
    let (mut n_inside, mut n_outside) = (0_usize, 0_usize);
    let mut missing = Vec::new();
    let mut outside: BTreeMap<String, usize> = BTreeMap::new();
    for (from, source) in sources.iter().enumerate() {
        for import in &source.outline.imports {
            match following.resolve(from, import) {
                Resolution::Inside(_) => n_inside += 1,
                Resolution::Missing => {
                    missing.push(format!("{}:{} {}", source.path, import.line, import.text));
                }
                Resolution::Outside => {
                    n_outside += 1;
                    let first = import.text.split([':', '.', '/']).next().unwrap_or_default();
                    *outside.entry(first.to_owned()).or_default() += 1;
                }
            }
        }
    }
    let n_internal = n_inside + missing.len();
    println!(
        "{}: {} files, {n_internal} internal imports, {n_inside} resolved ({:.1} %), {n_outside} \
         external",
        root.display(),
        files.len(),
        100.0 * f64::from(u32::try_from(n_inside).unwrap_or(u32::MAX))
            / f64::from(u32::try_from(n_internal.max(1)).unwrap_or(u32::MAX)),
    );
    for line in missing.iter().take(MAX_LISTED) {
        println!("  missing {line}");
    }
    for (name, n_times) in outside.iter().filter(|_| lists_outside) {
        println!("  outside {name} {n_times}");
    }
}

fn read(root: &Path) -> (Vec<File>, Vec<Manifest>) {
    let (mut files, mut manifests) = (Vec::new(), Vec::new());
    let mut waiting = vec![root.to_path_buf()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path: PathBuf = entry.path();
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let relative =
                path.strip_prefix(root).ok().and_then(Path::to_str).and_then(RelativePath::new);
            match relative {
                Some(_) if is_folder && entry.file_name() != ".git" => waiting.push(path),
                Some(relative) if !is_folder => {
                    let bytes = fs::read(&path).unwrap_or_default();
                    if is_manifest(relative.name()) {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        manifests.push(Manifest { path: relative.clone(), text });
                    }
                    let language = Language::of_path(relative.as_str());
                    let outline = language
                        .map(|language| analyse(language, &bytes).into_outline(language))
                        .unwrap_or_default();
                    files.push(File { path: relative, language, outline });
                }
                Some(_) | None => {}
            }
        }
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    (files, manifests)
}
