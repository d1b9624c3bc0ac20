//! Which file a name comes from, where a file takes it by an import or from its own package.
//!
//! Two files may declare the same name. An import that leads to one of them, itself or by files that hand the name on, says which one
//! is meant. Where it leads to none that is known to declare the name, nothing is said.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::mentioned::{FileMentions, FromImport, MAX_QUALIFIERS};
use crate::languages::{ImportKind, ImportRef, Language, SoughtNames};
use crate::resolve::{Resolution, Resolver, Target};

/// Files that hand a name on are followed for one import at most so many times.
const MAX_FOLLOWED: usize = 64;

/// What a file means by a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// What is asked about.
    Own,
    /// Something else of that name.
    Other,
    Unknown,
}

/// Tells what files mean by names.
pub(super) struct Origins<'o, 'a> {
    paths: &'o [&'o str],
    pub(super) mentions: &'o HashMap<usize, FileMentions>,
    names: &'o SoughtNames,
    /// Where there is something of Python to ask about.
    resolver: Option<&'o Resolver<'a>>,
    /// The files that declare a name and are called like it.
    by_stem: HashMap<usize, Vec<usize>>,
}

impl<'o, 'a> Origins<'o, 'a> {
    pub(super) fn new(
        paths: &'o [&'o str],
        mentions: &'o HashMap<usize, FileMentions>,
        names: &'o SoughtNames,
        resolver: Option<&'o Resolver<'a>>,
    ) -> Self {
        let mut by_stem: HashMap<usize, Vec<usize>> = HashMap::new();
        for (file, all) in mentions {
            let name = names.place(stem_of(paths[*file]));
            let declared = |name: &usize| all.of(*name).is_some_and(|one| one.is_declared);
            if let Some(name) = name.filter(declared) {
                by_stem.entry(name).or_default().push(*file);
            }
        }
        Self { paths, mentions, names, resolver, by_stem }
    }

    /// What a file means by a name that some files, its homes, declare.
    pub(super) fn of(
        &self,
        language: Language,
        file: usize,
        name: usize,
        homes: &[usize],
    ) -> Origin {
        match language {
            Language::Python => self.of_python(file, name, homes),
            Language::Java | Language::Kotlin | Language::Scala => self.of_jvm(file, name, homes),
            Language::Bash
            | Language::C
            | Language::Cpp
            | Language::CSharp
            | Language::Elixir
            | Language::Go
            | Language::JavaScript
            | Language::Lua
            | Language::Php
            | Language::Ruby
            | Language::Rust
            | Language::Swift
            | Language::Tsx
            | Language::TypeScript => Origin::Unknown,
        }
    }

    /// An import of the type is before one of the file's own package, and that before all others.
    fn of_jvm(&self, file: usize, name: usize, homes: &[usize]) -> Origin {
        let Some(all) = self.mentions.get(&file) else { return Origin::Unknown };
        let Some(one) = all.of(name) else { return Origin::Unknown };
        let word = self.names.name(name).unwrap_or_default();
        let taken: Vec<&FromImport> = all.taken.iter().filter(|taken| taken.name == word).collect();
        let is_from = |home: &usize| taken.iter().any(|taken| self.is_in(*home, &taken.from));
        if homes.iter().any(is_from) {
            return Origin::Own;
        }
        // `web.Path` in the code, and `Outer.Path`.
        let is_imported = |word: &String| {
            taken.iter().any(|taken| taken.from.to_lowercase().rsplit('.').next() == Some(word))
        };
        let is_of_home = |word: &String| {
            let parts = homes.iter().flat_map(|home| self.paths[*home].split(['/', '.']));
            !is_imported(word) && parts.into_iter().any(|part| part.eq_ignore_ascii_case(word))
        };
        let own = package(self.paths[file]);
        let is_mate = |home: &usize| package(self.paths[*home]) == own;
        if one.qualifiers.iter().any(is_of_home) {
            return Origin::Unknown;
        }
        let is_other = |other: usize| match taken.is_empty() {
            false => taken.iter().any(|taken| self.is_in(other, &taken.from)),
            true => package(self.paths[other]) == own && !homes.iter().any(is_mate),
        };
        let mut others = self.by_stem.get(&name).into_iter().flatten();
        match others.any(|other| !homes.contains(other) && is_other(*other)) {
            true => Origin::Other,
            false => Origin::Unknown,
        }
    }

    /// Whether a file lies in a package, or is a class that another lies in: `a.b`, `a.b.Outer`.
    fn is_in(&self, file: usize, package: &str) -> bool {
        let package = package.replace('.', "/");
        let path = self.paths[file];
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        [folder, stem].iter().any(|place| {
            let before = place.strip_suffix(package.as_str());
            before.is_some_and(|before| before.is_empty() || before.ends_with('/'))
        })
    }

    /// All that a file says about a name must lead to others before it means another one.
    fn of_python(&self, file: usize, name: usize, homes: &[usize]) -> Origin {
        let Some(all) = self.mentions.get(&file) else { return Origin::Unknown };
        let Some(one) = all.of(name) else { return Origin::Unknown };
        let word = self.names.name(name).unwrap_or_default();
        let by_name = all.taken.iter().filter(|taken| taken.name == word);
        let mut leads: Vec<BTreeSet<usize>> =
            by_name.map(|taken| self.taken_from(file, taken, name, homes)).collect();
        if leads.is_empty() {
            let stars = all.taken.iter().filter(|taken| taken.name == "*");
            let starred = stars.map(|taken| self.taken_from(file, taken, name, homes));
            leads.extend(starred.filter(|files| !files.is_empty()));
        }
        let is_unsaid = one.is_plain && leads.is_empty() && !one.is_declared;
        let is_unread = one.is_behind_other || MAX_QUALIFIERS <= one.qualifiers.len();
        leads.extend(one.qualifiers.iter().map(|word| self.behind(file, word, name, homes)));
        let is_home = |files: &BTreeSet<usize>| homes.iter().any(|home| files.contains(home));
        let is_all_known = !is_unsaid && !is_unread && leads.iter().all(|files| !files.is_empty());
        match () {
            () if leads.iter().any(is_home) => Origin::Own,
            () if is_all_known && !leads.is_empty() => Origin::Other,
            () => Origin::Unknown,
        }
    }

    /// The files that declare a name which stands behind the name of a module.
    fn behind(&self, file: usize, word: &str, name: usize, homes: &[usize]) -> BTreeSet<usize> {
        let all = self.mentions.get(&file);
        let bound = all.into_iter().flat_map(|all| all.taken_as(word));
        let modules = bound.filter_map(|taken| match taken.name.as_str() {
            "" => self.lead(file, &taken.from),
            _ => self.submodule(file, taken),
        });
        modules.flat_map(|module| self.declaring(module, name, homes)).collect()
    }

    /// The files that declare a name which an import takes.
    fn taken_from(
        &self,
        file: usize,
        taken: &FromImport,
        name: usize,
        homes: &[usize],
    ) -> BTreeSet<usize> {
        if let Some(module) = self.submodule(file, taken) {
            return BTreeSet::from([module]);
        }
        let module = self.lead(file, &taken.from);
        module.map_or_else(BTreeSet::new, |module| self.declaring(module, name, homes))
    }

    /// The files that declare what a module has under a name: itself, and those from which it takes the name. None where one of its imports
    /// of the name leads nowhere, or to something that is called otherwise.
    fn declaring(&self, module: usize, name: usize, homes: &[usize]) -> BTreeSet<usize> {
        let word = self.names.name(name).unwrap_or_default();
        let (mut found, mut seen) = (BTreeSet::new(), HashSet::from([module]));
        let mut waiting = vec![module];
        while let Some(file) = waiting.pop() {
            let all = self.mentions.get(&file);
            let one = all.and_then(|all| all.of(name));
            if homes.contains(&file) || one.is_some_and(|one| one.is_declared || one.is_assigned) {
                found.insert(file);
            }
            for taken in all.map_or(&[][..], |all| &all.taken) {
                let is_star = taken.name == "*";
                if !is_star && taken.own != word {
                    continue;
                }
                if !is_star && taken.name != word {
                    return BTreeSet::new();
                }
                if let Some(module) = self.submodule(file, taken) {
                    found.insert(module);
                    continue;
                }
                match self.lead(file, &taken.from) {
                    Some(next) if seen.len() < MAX_FOLLOWED && seen.insert(next) => {
                        waiting.push(next);
                    }
                    None if !is_star => return BTreeSet::new(),
                    Some(_) | None => {}
                }
            }
        }
        found
    }

    /// The module that an import takes by name from a package.
    fn submodule(&self, file: usize, taken: &FromImport) -> Option<usize> {
        let FromImport { from, name, .. } = taken;
        if name.is_empty() || name == "*" {
            return None;
        }
        let dot = if from.ends_with('.') { "" } else { "." };
        let module = self.lead(file, &format!("{from}{dot}{name}"))?;
        (self.lead(file, from) != Some(module)).then_some(module)
    }

    /// Where an import of a file leads.
    fn lead(&self, file: usize, text: &str) -> Option<usize> {
        let import = ImportRef { text, line: 0, kind: ImportKind::Module };
        match self.resolver?.resolve_one(file, import) {
            Resolution::Inside(targets) => targets.iter().find_map(|target| match target {
                Target::File(file) => Some(*file),
                Target::Folder(_) => None,
            }),
            Resolution::Missing | Resolution::Outside => None,
        }
    }
}

/// The folder of a file as its language sees it: Java's packages lie below several roots.
pub(super) fn package(path: &str) -> &str {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let roots = ["/java/", "/kotlin/", "/scala/"];
    let root = roots.iter().filter_map(|root| Some(folder.rfind(root)? + root.len())).max();
    root.map_or(folder, |root| &folder[root..])
}

/// The name of a file without what stands behind the first dot.
pub(super) fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
