//! Collects mentions of symbol names and resolves each one to a declaration.
//!
//! Several files may declare the same name. Imports and re-exports determine which declaration is
//! meant; if they do not lead to any of these declarations, the origin is unknown.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::languages::{
    FromImport, Import, ImportKind, Language, MentionForm, SoughtNames, each_mention, each_taken,
    script_bindings,
};
use crate::resolve::{Resolution, Resolver, Target};

const MAX_QUALIFIERS: usize = 16;

const MAX_TAKEN: usize = 256;

#[derive(Debug, Default)]
pub(super) struct FileMentions {
    pub(super) names: HashMap<usize, NameMentions>,
    /// Whether the file re-exports everything from another file.
    pub(super) hands_all_on: bool,
    /// Whether the file imports whole modules under local names (`* as`).
    pub(super) has_namespaces: bool,
    /// Local names, in lower case, of modules that a script imports as a whole.
    pub(super) modules: HashSet<String>,
    /// Whether a script imports modules without listing the imported names.
    pub(super) is_loose: bool,
    pub(super) taken: Vec<FromImport>,
}

#[derive(Debug, Default)]
pub(super) struct NameMentions {
    pub(super) is_plain: bool,
    pub(super) is_qualified: bool,
    pub(super) is_declared: bool,
    pub(super) is_called: bool,
    /// Whether a Python file assigns the name at top level: `open = …`.
    pub(super) is_assigned: bool,
    /// Whether the name is a member of an expression that does not end in a word, such as
    /// `f().open`.
    pub(super) is_behind_other: bool,
    pub(super) is_taken: bool,
    pub(super) is_handed_on: bool,
    pub(super) qualifiers: Vec<String>,
    /// The types that precede the name in Rust paths.
    pub(super) path_types: Vec<String>,
    pub(super) is_loose: bool,
    pub(super) heirs: Vec<String>,
    /// Local aliases of the name in a Rust file.
    pub(super) other_names: Vec<String>,
}

impl FileMentions {
    pub(super) fn read(language: Language, text: &str, names: &SoughtNames) -> Self {
        let mut found: HashMap<usize, NameMentions> = HashMap::new();
        each_mention(language, text, names, |mention| {
            let one = found.entry(mention.name).or_default();
            match mention.form {
                MentionForm::Plain => one.is_plain = true,
                MentionForm::Qualified => one.is_qualified = true,
                MentionForm::Declared => one.is_declared = true,
            }
            one.is_called |= mention.is_called && mention.form != MentionForm::Declared;
            let is_behind = mention.form == MentionForm::Qualified;
            one.is_behind_other |= is_behind && mention.qualifier.is_none();
            match mention.path_type.filter(|_| one.path_types.len() < MAX_QUALIFIERS) {
                Some(of) if one.path_types.iter().any(|known| known == of) => {}
                Some(of) => one.path_types.push(of.to_owned()),
                None => one.is_loose |= is_behind,
            }
            // A Python alias counts as a subtype, because classes often inherit through an alias.
            let (heir, other_name) = match (language, mention.other_name) {
                (Language::Python, other) => (mention.heir.or(other), None),
                (_, other) => (mention.heir, other),
            };
            for (word, list) in [(heir, &mut one.heirs), (other_name, &mut one.other_names)] {
                list.extend(word.filter(|_| list.len() < MAX_QUALIFIERS).map(str::to_owned));
            }
            let is_new = |word: &&str| !one.qualifiers.iter().any(|known| known == word);
            let word = mention.qualifier.filter(is_new).map(str::to_lowercase);
            one.qualifiers.extend(word.filter(|_| one.qualifiers.len() < MAX_QUALIFIERS));
        });
        let is_script = language.is_script();
        let stars = [
            (language == Language::Python, "import *"),
            (language == Language::Rust, "::*"),
            (is_script, "export *"),
        ];
        let (mut modules, mut is_loose) = (HashSet::new(), false);
        if is_script && !found.is_empty() {
            let bindings = script_bindings(text);
            for (name, one) in &mut found {
                let name = names.name(*name).unwrap_or_default();
                one.is_taken = bindings.named.contains(name);
                one.is_handed_on = bindings.exported.contains(name);
            }
            modules = bindings.modules.iter().map(|name| name.to_lowercase()).collect();
            is_loose = bindings.is_loose;
        }
        if language == Language::Python {
            for (name, one) in &mut found {
                one.is_assigned = names.name(*name).is_some_and(|name| is_assigned(text, name));
            }
        }
        let hands_all_on = stars.iter().any(|(is_own, star)| *is_own && text.contains(star));
        let is_asked = !found.is_empty() || hands_all_on;
        let taken =
            if is_asked { collect_imports(language, text, names, &found) } else { Vec::new() };
        Self {
            names: found,
            modules,
            is_loose,
            taken,
            hands_all_on,
            has_namespaces: text.contains("* as "),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.names.is_empty() && !self.hands_all_on
    }

    /// Returns whether a script uses the name from another file, either by importing it or through
    /// its module.
    pub(super) fn takes(&self, one: &NameMentions) -> bool {
        let is_in_module = || one.qualifiers.iter().any(|word| self.modules.contains(word));
        let is_plain = one.is_plain && (one.is_taken || self.is_loose);
        is_plain || one.is_qualified && (self.is_loose || is_in_module())
    }

    pub(super) fn of(&self, name: usize) -> Option<&NameMentions> {
        self.names.get(&name)
    }

    /// Returns the imports whose local name is `word`, which must be lower-case.
    pub(super) fn find_imports_as(&self, word: &str) -> impl Iterator<Item = &FromImport> {
        self.taken.iter().filter(move |one| one.own.to_lowercase() == word)
    }
}

/// Returns all star imports, and the imports of the searched names and their qualifiers.
fn collect_imports(
    language: Language,
    text: &str,
    names: &SoughtNames,
    found: &HashMap<usize, NameMentions>,
) -> Vec<FromImport> {
    let mut all = Vec::new();
    each_taken(language, text, |one| {
        let own = one.own.to_lowercase();
        let is_before = |name: &NameMentions| name.qualifiers.contains(&own);
        let is_asked =
            one.name == "*" || [&one.name, &one.own].iter().any(|name| names.place(name).is_some());
        if all.len() < MAX_TAKEN && (is_asked || found.values().any(is_before)) {
            all.push(one);
        }
    });
    all
}

fn is_assigned(text: &str, name: &str) -> bool {
    let is_it = |line: &str| {
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with([':', '=']) && !rest.starts_with("=="))
    };
    text.lines().any(is_it)
}

/// Maximum number of files to visit when following one import through re-exports.
const MAX_FOLLOWED: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TypeOrigin {
    /// The name refers to the symbol being searched for.
    Own,
    Other,
    Unknown,
}

pub(super) struct Origins<'o, 'a> {
    paths: &'o [&'o str],
    pub(super) mentions: &'o HashMap<usize, FileMentions>,
    names: &'o SoughtNames,
    /// Set only for Python.
    resolver: Option<&'o Resolver<'a>>,
    /// For each name, the files that declare it and are named after it.
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

    /// Determines which declaration a name in a file refers to. `homes` lists the files that
    /// declare the name.
    pub(super) fn of(
        &self,
        language: Language,
        file: usize,
        name: usize,
        homes: &[usize],
    ) -> TypeOrigin {
        if language == Language::Python {
            self.of_python(file, name, homes)
        } else if language.is_jvm() {
            self.of_jvm(file, name, homes)
        } else {
            TypeOrigin::Unknown
        }
    }

    /// Resolves a name in a JVM language. Imports take precedence over the file's own package,
    /// which takes precedence over all other packages.
    fn of_jvm(&self, file: usize, name: usize, homes: &[usize]) -> TypeOrigin {
        let Some(all) = self.mentions.get(&file) else { return TypeOrigin::Unknown };
        let Some(one) = all.of(name) else { return TypeOrigin::Unknown };
        let word = self.names.name(name).unwrap_or_default();
        let taken: Vec<&FromImport> = all.taken.iter().filter(|taken| taken.name == word).collect();
        let is_from = |home: &usize| taken.iter().any(|taken| self.is_in(*home, &taken.from));
        if homes.iter().any(is_from) {
            return TypeOrigin::Own;
        }
        // Qualified names in code, such as `web.Path` and `Outer.Path`.
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
            return TypeOrigin::Unknown;
        }
        let is_other = |other: usize| match taken.is_empty() {
            false => taken.iter().any(|taken| self.is_in(other, &taken.from)),
            true => package(self.paths[other]) == own && !homes.iter().any(is_mate),
        };
        let mut others = self.by_stem.get(&name).into_iter().flatten();
        match others.any(|other| !homes.contains(other) && is_other(*other)) {
            true => TypeOrigin::Other,
            false => TypeOrigin::Unknown,
        }
    }

    /// Returns whether `package` is the file's package (`a.b`) or a class in it (`a.b.Outer`).
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

    /// Returns `Other` only if every import and qualifier of the name leads to another declaration.
    fn of_python(&self, file: usize, name: usize, homes: &[usize]) -> TypeOrigin {
        let Some(all) = self.mentions.get(&file) else { return TypeOrigin::Unknown };
        let Some(one) = all.of(name) else { return TypeOrigin::Unknown };
        let word = self.names.name(name).unwrap_or_default();
        let by_name = all.taken.iter().filter(|taken| taken.name == word);
        let mut leads: Vec<BTreeSet<usize>> =
            by_name.map(|taken| self.resolve_import(file, taken, name, homes)).collect();
        if leads.is_empty() {
            let stars = all.taken.iter().filter(|taken| taken.name == "*");
            let starred = stars.map(|taken| self.resolve_import(file, taken, name, homes));
            leads.extend(starred.filter(|files| !files.is_empty()));
        }
        let is_unsaid = one.is_plain && leads.is_empty() && !one.is_declared;
        let is_unread = one.is_behind_other || MAX_QUALIFIERS <= one.qualifiers.len();
        leads.extend(one.qualifiers.iter().map(|word| self.behind(file, word, name, homes)));
        let is_home = |files: &BTreeSet<usize>| homes.iter().any(|home| files.contains(home));
        let is_all_known = !is_unsaid && !is_unread && leads.iter().all(|files| !files.is_empty());
        if leads.iter().any(is_home) {
            TypeOrigin::Own
        } else if is_all_known && !leads.is_empty() {
            TypeOrigin::Other
        } else {
            TypeOrigin::Unknown
        }
    }

    /// Returns the files that declare `name` in the module that `word` refers to.
    fn behind(&self, file: usize, word: &str, name: usize, homes: &[usize]) -> BTreeSet<usize> {
        let all = self.mentions.get(&file);
        let bound = all.into_iter().flat_map(|all| all.find_imports_as(word));
        let modules = bound.filter_map(|taken| match taken.name.as_str() {
            "" => self.lead(file, &taken.from),
            _ => self.submodule(file, taken),
        });
        modules.flat_map(|module| self.declaring(module, name, homes)).collect()
    }

    fn resolve_import(
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

    /// Returns the files that may declare `name` for a module: the module itself and any files it
    /// imports the name from. Returns an empty set if such an import cannot be resolved or if it
    /// renames `name`.
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

    fn submodule(&self, file: usize, taken: &FromImport) -> Option<usize> {
        let FromImport { from, name, .. } = taken;
        if name.is_empty() || name == "*" {
            return None;
        }
        let dot = if from.ends_with('.') { "" } else { "." };
        let module = self.lead(file, &format!("{from}{dot}{name}"))?;
        (self.lead(file, from) != Some(module)).then_some(module)
    }

    fn lead(&self, file: usize, text: &str) -> Option<usize> {
        let import = Import { text: text.to_owned(), line: 0, kind: ImportKind::Module };
        match self.resolver?.resolve_one(file, &import) {
            Resolution::Inside(targets) => targets.iter().find_map(|target| match target {
                Target::File(file) => Some(*file),
                Target::Folder(_) => None,
            }),
            Resolution::Missing | Resolution::Outside => None,
        }
    }
}

/// Returns the directory that determines a file's package. Java source roots are stripped, because
/// a Java package can span several of them.
pub(super) fn package(path: &str) -> &str {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let roots = ["/java/", "/kotlin/", "/scala/"];
    let root = roots.iter().filter_map(|root| Some(folder.rfind(root)? + root.len())).max();
    root.map_or(folder, |root| &folder[root..])
}

pub(super) fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}
