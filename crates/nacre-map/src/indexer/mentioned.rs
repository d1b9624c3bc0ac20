//! What the files of a project mention of the names that are looked for, and what they take by imports.

use std::collections::{HashMap, HashSet};

use crate::languages::{
    Language, MentionForm, SoughtNames, each_mention, each_taken, script_bindings,
};

/// Words before a name that are kept of one file.
pub(super) const MAX_QUALIFIERS: usize = 16;

/// Imports that are kept of one file.
const MAX_TAKEN: usize = 256;

/// What one file mentions of the names.
#[derive(Debug, Default)]
pub(super) struct FileMentions {
    pub(super) names: HashMap<usize, NameMentions>,
    /// Whether it hands everything of another file on.
    pub(super) hands_all_on: bool,
    /// Whether it imports modules as a whole, under a name of its own.
    pub(super) has_namespaces: bool,
    /// The names that a script has for whole modules, in small letters.
    pub(super) modules: HashSet<String>,
    /// Whether a script takes modules in a way that tells no names.
    pub(super) is_loose: bool,
    /// What it takes by imports that say where from, as far as the names may come from there.
    pub(super) taken: Vec<FromImport>,
}

/// `from a.b import c as d`.
#[derive(Clone, Debug)]
pub(super) struct FromImport {
    /// The module or package: `a.b`.
    pub(super) from: String,
    /// What of it: `c`; `*` for all, and nothing for the module itself.
    pub(super) name: String,
    /// What it is called here: `d`.
    pub(super) own: String,
}

#[derive(Debug, Default)]
pub(super) struct NameMentions {
    pub(super) is_plain: bool,
    pub(super) is_qualified: bool,
    pub(super) is_declared: bool,
    pub(super) is_called: bool,
    /// Whether a text of Python assigns it at the top: `open = …`.
    pub(super) is_assigned: bool,
    /// Whether it is behind something that is no word: `f().open`.
    pub(super) is_behind_other: bool,
    /// Whether a script takes the name from another file, and whether it hands it out in a list.
    pub(super) is_taken: bool,
    pub(super) is_handed_on: bool,
    pub(super) qualifiers: Vec<String>,
    /// The types that paths of Rust name before it, and whether it is behind anything else.
    pub(super) path_types: Vec<String>,
    pub(super) is_loose: bool,
    pub(super) heirs: Vec<String>,
    /// Other names that a file of Rust gives to it.
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
            // A class of Python often builds on one by another name.
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
        let marks: &[&str] = match language {
            Language::Python => &["import *"],
            Language::JavaScript | Language::Tsx | Language::TypeScript => &["export *"],
            Language::Rust => &["::*"],
            Language::Bash
            | Language::C
            | Language::Cpp
            | Language::CSharp
            | Language::Elixir
            | Language::Go
            | Language::Java
            | Language::Kotlin
            | Language::Lua
            | Language::Php
            | Language::Ruby
            | Language::Scala
            | Language::Swift => &[],
        };
        let (mut modules, mut is_loose) = (HashSet::new(), false);
        if is_script(language) && !found.is_empty() {
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
        let hands_all_on = marks.iter().any(|mark| text.contains(mark));
        let is_asked = !found.is_empty() || hands_all_on;
        let taken = if is_asked { taken(language, text, names, &found) } else { Vec::new() };
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

    /// Whether a script means something of another file: it takes the name, or names the module.
    pub(super) fn takes(&self, one: &NameMentions) -> bool {
        let is_in_module = || one.qualifiers.iter().any(|word| self.modules.contains(word));
        let is_plain = one.is_plain && (one.is_taken || self.is_loose);
        is_plain || one.is_qualified && (self.is_loose || is_in_module())
    }

    pub(super) fn of(&self, name: usize) -> Option<&NameMentions> {
        self.names.get(&name)
    }

    /// The imports that give a name, in small letters, to something here, whatever it is called where it comes from.
    pub(super) fn taken_as(&self, word: &str) -> impl Iterator<Item = &FromImport> {
        self.taken.iter().filter(move |one| one.own.to_lowercase() == word)
    }
}

/// What a file takes of the names, of what stands before them, and as a whole.
fn taken(
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
            one.name == "*" || [one.name, one.own].iter().any(|name| names.place(name).is_some());
        if all.len() < MAX_TAKEN && (is_asked || found.values().any(is_before)) {
            let [from, name, own] = [one.from, one.name, one.own].map(str::to_owned);
            all.push(FromImport { from, name, own });
        }
    });
    all
}

/// Whether a text of Python gives a name a value at its top.
fn is_assigned(text: &str, name: &str) -> bool {
    let is_it = |line: &str| {
        let rest = line.strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with([':', '=']) && !rest.starts_with("=="))
    };
    text.lines().any(is_it)
}

/// Whether a file gets at others by imports that name what they take.
pub(super) fn is_script(language: Language) -> bool {
    matches!(language, Language::JavaScript | Language::Tsx | Language::TypeScript)
}
