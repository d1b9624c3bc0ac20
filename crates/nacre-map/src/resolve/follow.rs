//! Resolves every file's imports in parallel.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::external::package;
use super::files::folder_of;
use super::{Asking, OwnPlace, Resolution, Resolver, Target};
use crate::artifact::{Imports, Lists};
use crate::languages::{Import, ImportKind, Language};
use crate::shares::in_batches;

const BATCH: usize = 512;

/// Resolves imports one file at a time. This is fastest if the files are in path order.
///
/// Files in the same directory have similar imports, so results that depend only on the directory
/// are cached. Facts about the current file are cached too.
#[derive(Debug)]
pub struct Following<'q, 'a> {
    resolver: &'q Resolver<'a>,
    from: usize,
    own: OwnPlace,
    folder: &'a str,
    known: HashMap<(Language, ImportKind, &'a str), Resolution, RandomState>,
}

#[derive(Default)]
struct FileImports {
    inside: Vec<Target>,
    outside: Vec<String>,
    n_missing: u32,
}

impl<'q, 'a> Following<'q, 'a> {
    pub(super) fn new(resolver: &'q Resolver<'a>) -> Self {
        let (own, known) = (OwnPlace::default(), HashMap::default());
        Self { resolver, from: usize::MAX, own, folder: "", known }
    }

    pub fn resolve(&mut self, from: usize, import: &'a Import) -> Resolution {
        let source = self.resolver.sources.get(from);
        let Some((path, language)) = source.and_then(|one| Some((one.path, one.language?))) else {
            return Resolution::Outside;
        };
        if from != self.from {
            self.begin(from, folder_of(path));
        }
        let Self { resolver, own, known, .. } = self;
        let asking = Asking { resolver, from, path, import, own };
        // In Rust, paths depend on the file itself, because each file is a module.
        if language == Language::Rust {
            return asking.resolve(language);
        }
        let key = (language, import.kind, import.text.as_str());
        known.entry(key).or_insert_with(|| asking.resolve(language)).clone()
    }

    fn begin(&mut self, from: usize, folder: &'a str) {
        self.from = from;
        self.own = OwnPlace::default();
        if folder != self.folder {
            self.folder = folder;
            self.known.clear();
        }
    }

    fn follow(&mut self, from: usize) -> FileImports {
        let mut followed = FileImports::default();
        let source = &self.resolver.sources[from];
        for import in &source.outline.imports {
            match self.resolve(from, import) {
                Resolution::Inside(targets) => followed.inside.extend(targets),
                Resolution::Missing => followed.n_missing += 1,
                Resolution::Outside => followed.outside.push(package(source.language, import)),
            }
        }
        followed.inside.retain(|target| *target != Target::File(from));
        followed
    }
}

impl Resolver<'_> {
    pub fn follow_all(&self, n_threads: usize) -> Imports {
        let batches = in_batches(self.sources.len(), BATCH, n_threads, |batch| {
            let mut following = self.following();
            batch.map(|from| following.follow(from)).collect::<Vec<_>>()
        });
        let followed: Vec<FileImports> = batches.into_iter().flatten().collect();
        let mut imports = self.inside(&followed);
        add_packages(&mut imports, followed);
        imports
    }

    fn inside(&self, followed: &[FileImports]) -> Imports {
        let place = |idx: usize| (folder_of(self.sources[idx].path), self.sources[idx].language);
        let n_files = self.sources.len();
        let mut numbers: HashMap<(&str, Option<Language>), usize, RandomState> = HashMap::default();
        let mut nodes = Lists::default();
        for file in followed {
            let node = |target: &Target| match *target {
                Target::File(to) => to,
                Target::Folder(one) => {
                    let n_known = numbers.len();
                    n_files + *numbers.entry(place(one)).or_insert(n_known)
                }
            };
            nodes.push_set(file.inside.iter().map(node));
        }
        let number = |idx: usize| u32::try_from(*numbers.get(&place(idx))?).ok();
        let folders = (0..n_files).map(number).collect();
        Imports { nodes, folders, n_folders: numbers.len(), ..Imports::default() }
    }
}

fn add_packages(imports: &mut Imports, followed: Vec<FileImports>) {
    let mut numbers: HashMap<String, usize, RandomState> = HashMap::default();
    for file in followed {
        imports.n_missing += file.n_missing;
        let names = file.outside.into_iter().filter(|name| !name.is_empty());
        let packages = &mut imports.packages;
        imports.packages_of.push_set(names.map(|name| {
            let next = packages.len();
            *numbers.entry(name).or_insert_with_key(|name| {
                packages.push(name.clone());
                next
            })
        }));
    }
}
