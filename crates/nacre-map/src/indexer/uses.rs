//! Finds the files that use a changed symbol.
//!
//! A file uses a symbol if its code mentions the name and the file is connected to the declaration.
//! A name alone is ambiguous, and an import does not show which symbols are used. What counts as a
//! connection depends on the language (`Reach`).

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

use super::delta::BrokenSymbol;
use super::mentions::{FileMentions, NameMentions, Origins, TypeOrigin, package, stem_of};
use crate::languages::{Language, SoughtNames, SymbolKind, Visibility};

const MAX_HOPS: u32 = 4;

/// A mention by itself counts as a use only if the name occurs in at most this many files.
const MAX_RARE_FILES: usize = 24;

/// If more files than this declare a method of the same name, importing the declaring file does not
/// count as a use.
const MAX_DECLARING: usize = 4;

const MAX_OWNERS: usize = 64;

/// Minimum length for a variable to match the end of a type name.
const MIN_END_BYTES: usize = 6;

/// A symbol that was removed or whose signature changed.
#[derive(Clone, Debug)]
pub(super) struct Sought {
    /// Index of the file that declares the symbol.
    pub(super) file: usize,
    pub(super) language: Language,
    pub(super) full_name: String,
    pub(super) kind: SymbolKind,
    pub(super) visibility: Visibility,
    /// Whether the symbol is the default export, which importers can give any name.
    pub(super) is_default: bool,
    name: usize,
    /// The method's type and its subtypes.
    owners: Vec<OwnerType>,
    /// Names that may precede the method in Rust paths besides its types: traits that the file
    /// implements (`Read::read(…)`) and aliases of the types. `None` for a trait's own method,
    /// which any type may implement.
    path_names: Option<HashSet<String>>,
}

impl Sought {
    pub(super) fn new(
        file: usize,
        language: Language,
        symbol: &BrokenSymbol,
        names: &mut SoughtNames,
    ) -> Option<Self> {
        let BrokenSymbol { name: full_name, kind, visibility } = symbol;
        let parts: Vec<&str> =
            full_name.split(['.', ':', '#']).filter(|part| !part.is_empty()).collect();
        let name = names.add(plain(parts.last()?)?);
        let owner = parts.len().checked_sub(2).and_then(|at| plain(parts[at]));
        let is_member = *kind == SymbolKind::Method;
        Some(Self {
            file,
            language,
            full_name: full_name.clone(),
            kind: *kind,
            visibility: *visibility,
            is_default: false,
            name,
            owners: owner
                .filter(|_| is_member)
                .map(|owner| OwnerType { name: names.add(owner), homes: vec![file] })
                .into_iter()
                .collect(),
            path_names: None,
        })
    }

    pub(super) fn read_traits(&mut self, text: &str, names: &SoughtNames) {
        let owner = self.owners.first().and_then(|owner| names.name(owner.name));
        let is_of_trait = owner.is_some_and(|owner| is_trait(text, owner));
        self.path_names = (!is_of_trait).then(|| find_implemented_traits(text));
    }

    /// Returns whether a file uses the method's name after a qualifier that may be one of its
    /// types. For example, `Vec::open` is not a use of another type's `open`.
    fn may_be_behind(&self, one: &NameMentions, owners: &[&str]) -> bool {
        let Some(others) = &self.path_names else { return one.is_qualified };
        let may_be = |of: &String| owners.contains(&of.as_str()) || others.contains(of);
        one.is_loose || one.path_types.iter().any(may_be)
    }

    /// Returns the subtypes of the method's type and the files that declare them. Some callers
    /// mention only a subtype.
    pub(super) fn heirs(&self, origins: &Origins<'_, '_>) -> BTreeSet<(String, usize)> {
        let mut heirs = BTreeSet::new();
        for (file, mentions) in origins.mentions {
            for owner in &self.owners {
                let named = mentions.of(owner.name).map_or(&[][..], |one| &one.heirs);
                let is_it = || self.origin_of(owner, *file, origins) != TypeOrigin::Other;
                if !named.is_empty() && is_it() {
                    heirs.extend(named.iter().map(|heir| (heir.clone(), *file)));
                }
            }
        }
        heirs
    }

    /// Adds subtypes. Returns whether any of the subtypes were new.
    pub(super) fn add_heirs(
        &mut self,
        heirs: BTreeSet<(String, usize)>,
        names: &mut SoughtNames,
    ) -> bool {
        let n_before = self.owners.len();
        for (heir, home) in heirs {
            let name = names.add(&heir);
            match self.owners.iter().position(|owner| owner.name == name) {
                Some(known) => self.owners[known].add_home(home),
                None if self.owners.len() < MAX_OWNERS => {
                    self.owners.push(OwnerType { name, homes: vec![home] });
                }
                None => {}
            }
        }
        n_before < self.owners.len()
    }

    pub(super) fn add_other_names(&mut self, mentions: &HashMap<usize, FileMentions>) {
        let Some(others) = &mut self.path_names else { return };
        for mentions in mentions.values() {
            let owners = self.owners.iter().filter_map(|owner| mentions.of(owner.name));
            others.extend(owners.flat_map(|one| one.other_names.iter().cloned()));
        }
    }

    fn origin_of(&self, owner: &OwnerType, file: usize, origins: &Origins<'_, '_>) -> TypeOrigin {
        origins.of(self.language, file, owner.name, &owner.homes)
    }
}

#[derive(Clone, Debug)]
struct OwnerType {
    name: usize,
    homes: Vec<usize>,
}

impl OwnerType {
    fn add_home(&mut self, home: usize) {
        if self.homes.len() < MAX_OWNERS && !self.homes.contains(&home) {
            self.homes.push(home);
        }
    }
}

fn is_trait(text: &str, name: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    text.split("trait ")
        .skip(1)
        .any(|rest| rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(is_name)))
}

/// Returns the traits that a Rust file may implement, such as `Read` in `impl<R> io::Read for
/// Pearl<R>`. The header may span two lines.
fn find_implemented_traits(text: &str) -> HashSet<String> {
    let heads = text.match_indices("for ").filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let is_apart = before.len() < at;
        is_apart.then(|| before.rsplit('\n').next()).flatten()
    });
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let words = heads.flat_map(|head| head.split(move |c: char| !is_name(c)));
    words.filter(|word| word.starts_with(char::is_uppercase)).map(str::to_owned).collect()
}

/// Returns the bare type name: `Store` for `Clone for Store<T>`.
fn plain(part: &str) -> Option<&str> {
    let part = part.rsplit(" for ").next()?.split(['<', '(', '[']).next()?;
    let part = part.rsplit([' ', '&', '*']).next()?;
    Some(part).filter(|part| !part.is_empty())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reach {
    /// The file must import the declaration, directly or through re-exports.
    Imports,
    /// The file must import the declaration or be in the same package.
    Package,
    /// The name is visible in all files.
    Everywhere,
}

fn reach_of(language: Language) -> Reach {
    if language.is_script() || matches!(language, Language::Python | Language::Rust) {
        Reach::Imports
    } else if language.is_jvm() || language == Language::Go {
        Reach::Package
    } else {
        Reach::Everywhere
    }
}

/// Returns whether code in one language can use symbols from the other.
pub(super) fn is_akin(one: Language, other: Language) -> bool {
    let is_c = |language: Language| matches!(language, Language::C | Language::Cpp);
    one == other
        || one.is_script() && other.is_script()
        || one.is_jvm() && other.is_jvm()
        || is_c(one) && is_c(other)
}

pub(super) struct Uses<'u> {
    pub(super) paths: &'u [&'u str],
    pub(super) mentions: &'u HashMap<usize, FileMentions>,
    pub(super) importers: &'u dyn Fn(usize) -> Vec<usize>,
    pub(super) names: &'u SoughtNames,
    pub(super) origins: &'u Origins<'u, 'u>,
}

impl Uses<'_> {
    pub(super) fn of(&self, sought: &Sought) -> Vec<(usize, u32)> {
        let hops = self.hops(sought.file);
        let found = if sought.kind == SymbolKind::Method {
            self.of_member(sought, &hops)
        } else {
            self.of_item(sought, &hops)
        };
        let is_other = |file: &usize| *file != sought.file && self.may_see(sought, *file);
        found
            .into_iter()
            .filter(is_other)
            .map(|file| (file, hops.get(&file).copied().unwrap_or(1).max(1)))
            .collect()
    }

    fn hops(&self, file: usize) -> HashMap<usize, u32> {
        let mut hops = HashMap::from([(file, 0)]);
        let mut waiting = VecDeque::from([(file, 0)]);
        while let Some((file, n_hops)) = waiting.pop_front() {
            if n_hops == MAX_HOPS {
                continue;
            }
            for importer in (self.importers)(file) {
                if let Entry::Vacant(place) = hops.entry(importer) {
                    place.insert(n_hops + 1);
                    waiting.push_back((importer, n_hops + 1));
                }
            }
        }
        hops
    }

    fn may_see(&self, sought: &Sought, file: usize) -> bool {
        match (sought.language, sought.visibility) {
            (Language::Go, Visibility::Internal) => self.is_same_package(sought, file),
            // Child modules can use a module's private items.
            (Language::Rust, Visibility::Private) => {
                self.paths[file].starts_with(&module_folder(self.paths[sought.file]))
            }
            _ => true,
        }
    }

    fn origin(&self, sought: &Sought, file: usize) -> TypeOrigin {
        self.origins.of(sought.language, file, sought.name, &[sought.file])
    }

    fn is_same_package(&self, sought: &Sought, file: usize) -> bool {
        package(self.paths[file]) == package(self.paths[sought.file])
    }

    fn of_item(&self, sought: &Sought, hops: &HashMap<usize, u32>) -> BTreeSet<usize> {
        let path_words = path_words(self.paths[sought.file]);
        let mut found = BTreeSet::new();
        let stem = stem_of(self.paths[sought.file]).to_lowercase();
        let n_declaring = self.n_declaring(sought);
        for (file, mentions) in self.mentions {
            let Some(one) = mentions.of(sought.name) else { continue };
            match self.origin(sought, *file) {
                TypeOrigin::Own => {
                    found.insert(*file);
                    continue;
                }
                TypeOrigin::Other => continue,
                TypeOrigin::Unknown => {}
            }
            let is_direct = hops.get(file) == Some(&1);
            let is_named = one.qualifiers.iter().any(|word| path_words.contains(word));
            // In Go, a package-level name is unique in its package, so any other declarations of it
            // are methods.
            let is_own = one.is_declared && !is_direct && sought.language != Language::Go;
            let is_connected = match reach_of(sought.language) {
                Reach::Everywhere => true,
                Reach::Package if sought.language == Language::Go => {
                    let is_mate = self.is_same_package(sought, *file) && one.is_plain;
                    is_mate || is_direct && one.is_qualified
                }
                Reach::Package => self.is_same_package(sought, *file) || is_direct || is_named,
                Reach::Imports if sought.language.is_script() => is_direct && mentions.takes(one),
                Reach::Imports => {
                    let is_rust = sought.language == Language::Rust;
                    // `super::` refers to a parent module.
                    let is_above = is_rust
                        && one.qualifiers.iter().any(|word| word == "super")
                        && self.paths[*file].starts_with(&module_folder(self.paths[sought.file]));
                    let is_rare = n_declaring == 0 && is_rust || is_above;
                    let is_module = one.qualifiers.contains(&stem);
                    let is_python = sought.language == Language::Python;
                    is_direct && one.is_plain
                        || is_rare
                        || is_named && (is_rust || hops.contains_key(file))
                        || is_python && is_module
                }
            };
            if is_connected && !is_own {
                found.insert(*file);
            }
        }
        // A Rust file can use or re-export the symbol through its full path without importing it.
        let seeds = found.iter().copied().filter(|_| sought.language == Language::Rust);
        let seeds: Vec<usize> = seeds.chain([sought.file]).collect();
        found.extend(self.find_indirect_users(sought, &seeds));
        found
    }

    fn find_indirect_users(&self, sought: &Sought, seeds: &[usize]) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        if reach_of(sought.language) != Reach::Imports {
            return found;
        }
        let path_words = path_words(self.paths[sought.file]);
        let mut seen: HashSet<usize> = seeds.iter().copied().collect();
        let mut waiting: VecDeque<(usize, u32)> = seeds.iter().map(|seed| (*seed, 0)).collect();
        while let Some((file, n_hops)) = waiting.pop_front() {
            for importer in (self.importers)(file) {
                let mentions = self.mentions.get(&importer);
                let one = mentions.and_then(|mentions| mentions.of(sought.name));
                // `export *` does not include the default export.
                let hands_on = mentions.is_some_and(|mentions| mentions.hands_all_on);
                let has_namespaces = mentions.is_some_and(|mentions| mentions.has_namespaces);
                let is_named = |one: &NameMentions| {
                    let is_module = one.qualifiers.iter().any(|word| path_words.contains(word));
                    one.is_qualified && (n_hops == 0 || has_namespaces || is_module)
                };
                let is_script = sought.language.is_script();
                let is_taken = |one: &NameMentions| {
                    mentions.is_some_and(|mentions| mentions.takes(one))
                        || 0 < n_hops && is_named(one)
                };
                let uses = |one: &NameMentions| match is_script {
                    true => is_taken(one),
                    false => one.is_plain || is_named(one),
                };
                let is_user =
                    one.is_some_and(uses) || sought.is_default && n_hops == 0 && !hands_on;
                let is_user = is_user && self.origin(sought, importer) != TypeOrigin::Other;
                // In a script, only an explicit re-export counts.
                let hands_on =
                    hands_on || is_user && (!is_script || one.is_some_and(|one| one.is_handed_on));
                if is_user {
                    found.insert(importer);
                }
                if hands_on && n_hops < MAX_HOPS && seen.insert(importer) {
                    waiting.push_back((importer, n_hops + 1));
                }
            }
        }
        found
    }

    fn n_declaring(&self, sought: &Sought) -> usize {
        let declares =
            |mentions: &&FileMentions| mentions.of(sought.name).is_some_and(|one| one.is_declared);
        let own = self.mentions.get(&sought.file).is_some_and(|own| declares(&own));
        self.mentions.values().filter(declares).count() - usize::from(own)
    }

    /// Returns the files that call a method. The receiver's type is unknown, so a name that is
    /// common or declared in several files requires more evidence: a mention of the type, a
    /// variable with a similar name, or an import.
    fn of_member(&self, sought: &Sought, hops: &HashMap<usize, u32>) -> BTreeSet<usize> {
        let has_implicit_self =
            matches!(reach_of(sought.language), Reach::Package | Reach::Everywhere)
                && sought.language != Language::Go;
        let owners: Vec<&str> =
            sought.owners.iter().filter_map(|owner| self.names.name(owner.name)).collect();
        let mentioned: Vec<(usize, &NameMentions)> = self
            .mentions
            .iter()
            .filter_map(|(file, mentions)| Some((*file, mentions.of(sought.name)?)))
            .filter(|(_, one)| {
                sought.may_be_behind(one, &owners) || one.is_declared || has_implicit_self
            })
            .collect();
        let n_declaring = self.n_declaring(sought);
        let is_rare = n_declaring == 0 && mentioned.len() <= MAX_RARE_FILES;
        let is_unusual = is_rare || n_declaring <= MAX_DECLARING;
        let is_connected = |file: usize, one: &NameMentions| {
            let is_script = sought.language.is_script();
            let is_like = |word: &String| {
                let is_called_so = |owner: &str| {
                    is_called_like(word, owner) || is_script && is_called_like_end(word, owner)
                };
                sought.owners.iter().any(|owner| {
                    self.names.name(owner.name).is_some_and(is_called_so)
                        && sought.origin_of(owner, file, self.origins) != TypeOrigin::Other
                })
            };
            let is_mate =
                reach_of(sought.language) == Reach::Package && self.is_same_package(sought, file);
            let is_declared_only = one.is_declared && !sought.may_be_behind(one, &owners);
            if is_script && !one.is_qualified {
                // The file declares its own method of that name, so it is affected only if that
                // method belongs to a subtype.
                return is_declared_only && self.has_heir(sought, file);
            }
            if is_declared_only && !one.is_plain {
                return self.mentions_owner(sought, file);
            }
            is_rare
                || is_unusual && hops.get(&file) == Some(&1)
                || one.qualifiers.iter().any(is_like)
                || self.mentions_owner(sought, file)
                || is_unusual && is_mate
        };
        let is_user = |(file, one): &(usize, &NameMentions)| {
            let is_call = one.is_called || one.is_declared || !must_call(sought.language);
            is_call && is_connected(*file, one)
        };
        mentioned.into_iter().filter(is_user).map(|(file, _)| file).collect()
    }

    fn has_heir(&self, sought: &Sought, file: usize) -> bool {
        let Some(mentions) = self.mentions.get(&file) else { return false };
        let mut known = sought.owners.iter().filter_map(|owner| mentions.of(owner.name));
        known.any(|one| !one.heirs.is_empty())
    }

    fn mentions_owner(&self, sought: &Sought, file: usize) -> bool {
        let Some(mentions) = self.mentions.get(&file) else { return false };
        sought.owners.iter().any(|owner| {
            let is_named = mentions
                .of(owner.name)
                .is_some_and(|one| (one.is_plain || one.is_qualified) && !one.is_declared);
            is_named && sought.origin_of(owner, file, self.origins) != TypeOrigin::Other
        })
    }
}

/// Returns whether using a method requires call syntax. In other languages, a method call may look
/// like a field access.
fn must_call(language: Language) -> bool {
    matches!(language, Language::Go | Language::Java | Language::Rust | Language::C | Language::Cpp)
}

/// Returns whether a variable is named after a type, such as `parent_issue` after `Issue`.
fn is_called_like(word: &str, owner: &str) -> bool {
    let (plain, owner) = (word.replace('_', ""), owner.to_lowercase());
    3 <= owner.len() && plain.ends_with(&owner) || 3 <= plain.len() && owner.starts_with(&plain)
}

/// Returns whether a variable is named after the end of a type name, such as `environment` after
/// `DevEnvironment`.
fn is_called_like_end(word: &str, owner: &str) -> bool {
    let at = owner.len().checked_sub(word.len()).filter(|_| MIN_END_BYTES <= word.len());
    let end = at.and_then(|at| owner.get(at..));
    end.is_some_and(|end| end.starts_with(char::is_uppercase) && end.eq_ignore_ascii_case(word))
}

/// Returns the directory names and file stem in a path, in lower case. Code may use these names as
/// qualifiers.
fn path_words(path: &str) -> HashSet<String> {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.split('/').map(|part| part.replace('-', "_").to_lowercase()).collect()
}

fn module_folder(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    match stem {
        "mod" | "lib" | "main" if folder.is_empty() => String::new(),
        "mod" | "lib" | "main" => format!("{folder}/"),
        stem if folder.is_empty() => format!("{stem}/"),
        stem => format!("{folder}/{stem}/"),
    }
}
