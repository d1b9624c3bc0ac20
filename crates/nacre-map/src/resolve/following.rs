//! Follows the imports of one file after the other, and remembers on the way.
//!
//! The files of a folder ask for much the same. Where only the folder decides what a name means, it is asked for once; and what
//! is asked about a file itself is found out once a file.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::files::folder_of;
use super::{Asking, OwnPlace, Resolution, Resolver};
use crate::languages::{ImportKind, ImportRef, Language};

/// Follows imports. It is best asked for the files in the order of their paths.
#[derive(Debug)]
pub struct Following<'q, 'a> {
    resolver: &'q Resolver<'a>,
    from: usize,
    own: OwnPlace,
    folder: &'a str,
    /// Where names lead in this folder.
    known: HashMap<Asked<'a>, Resolution, RandomState>,
    /// The last answer that is not worth remembering.
    last: Resolution,
}

/// What was asked for, and how that is read.
type Asked<'a> = (Language, ImportKind, &'a str);

impl<'q, 'a> Following<'q, 'a> {
    pub(super) fn new(resolver: &'q Resolver<'a>) -> Self {
        Self {
            resolver,
            from: usize::MAX,
            own: OwnPlace::default(),
            folder: "",
            known: HashMap::default(),
            last: Resolution::Outside,
        }
    }

    /// Follows one import of the file at this place of the list.
    pub fn resolve(&mut self, from: usize, import: &ImportRef<'a>) -> &Resolution {
        let Some(source) = self.resolver.sources.get(from) else { return &Resolution::Outside };
        let Some(language) = source.language else { return &Resolution::Outside };
        if from != self.from {
            self.begin(from, folder_of(source.path));
        }
        let Self { resolver, own, known, last, .. } = self;
        let asking = Asking { resolver, from, path: source.path, import: *import, own };
        if is_of_folder(language) {
            let asked = (language, import.kind, import.text);
            return known.entry(asked).or_insert_with(|| asking.resolve(language));
        }
        *last = asking.resolve(language);
        last
    }

    fn begin(&mut self, from: usize, folder: &'a str) {
        self.from = from;
        self.own = OwnPlace::default();
        if folder != self.folder {
            self.folder = folder;
            self.known.clear();
        }
    }
}

/// Whether all files of a folder mean the same by a name. In Rust each file is a module of its own.
fn is_of_folder(language: Language) -> bool {
    language != Language::Rust
}
