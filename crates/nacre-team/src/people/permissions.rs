//! Permissions per project.

pub use nacre_types::AccessScope;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const MAX_NAME_CHARS: usize = 64;

/// Permissions for all projects and for individual ones. By default, nothing is permitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    pub everywhere: Option<AccessScope>,
    projects: BTreeMap<String, AccessScope>,
}

impl Permissions {
    pub fn owner() -> Self {
        Self::everywhere(AccessScope::Admin)
    }

    pub fn everywhere(scope: AccessScope) -> Self {
        Self { everywhere: Some(scope), projects: BTreeMap::new() }
    }

    /// Adds a scope, unless the project already has a higher one.
    #[must_use]
    pub fn with(mut self, project: &str, scope: AccessScope) -> Self {
        let known = self.projects.entry(project.to_owned()).or_insert(scope);
        *known = scope.max(*known);
        self
    }

    pub fn projects(&self) -> impl Iterator<Item = (&str, AccessScope)> {
        self.projects.iter().map(|(name, scope)| (name.as_str(), *scope))
    }

    pub fn allow(&self, project: &str, scope: AccessScope) -> bool {
        self.everywhere.max(self.projects.get(project).copied()) >= Some(scope)
    }

    pub fn allow_anywhere(&self, scope: AccessScope) -> bool {
        let best = self.projects.values().copied().max();
        self.everywhere.max(best) >= Some(scope)
    }

    /// Returns whether every request is permitted, including those that affect the whole machine.
    pub fn allow_everything(&self) -> bool {
        self.everywhere == Some(AccessScope::Admin)
    }

    /// Formats each permission as one line: the scope, a tab, and the project or `*`.
    pub fn encode(&self) -> String {
        let mut text = String::new();
        if let Some(scope) = self.everywhere {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{}\t*", scope.as_str());
        }
        for (project, scope) in &self.projects {
            let _ = writeln!(text, "{}\t{project}", scope.as_str());
        }
        text
    }

    pub fn decode(text: &str) -> Option<Self> {
        let mut permissions = Self::default();
        for line in text.lines() {
            let (scope, project) = line.split_once('\t')?;
            let scope = AccessScope::from_name(scope)?;
            match project {
                "" => return None,
                "*" => permissions.everywhere = Some(scope),
                project => permissions = permissions.with(project, scope),
            }
        }
        Some(permissions)
    }
}

/// Returns whether a name is unreserved and safe to use in lists, headers and paths.
pub fn is_person_name(text: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".@_-+".contains(letter);
    let starts = text.chars().next().is_some_and(|letter| letter.is_ascii_alphanumeric());
    // Lists use these names for the owner and for requests without a token.
    let is_free = !["owner", "nobody"].contains(&text);
    is_free
        && starts
        && text.len() <= MAX_NAME_CHARS
        && text.chars().all(is_plain)
        && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_scope_includes_the_ones_before_it() {
        let some = Permissions::default()
            .with("pearl", AccessScope::Write)
            .with("shell", AccessScope::Read)
            .with("pearl", AccessScope::Read);
        let allowed = |project| AccessScope::ALL.map(|scope| some.allow(project, scope));
        assert_eq!(allowed("pearl"), [true, true, false]);
        assert_eq!(allowed("shell"), [true, false, false]);
        assert_eq!(allowed("other"), [false, false, false]);
        assert_eq!(AccessScope::ALL.map(|scope| some.allow_anywhere(scope)), [true, true, false]);
        assert!(!some.clone().with("pearl", AccessScope::Admin).allow_everything());
        assert!(Permissions::owner().allow_everything());
        let all = Permissions::everywhere(AccessScope::Read).with("pearl", AccessScope::Admin);
        assert!(all.allow("any", AccessScope::Read) && all.allow("pearl", AccessScope::Admin));
        assert!(!all.allow("any", AccessScope::Write) && !all.allow_everything());
    }

    #[test]
    fn names_of_people_fit_into_a_header_and_a_path() {
        for good in ["ana", "ana.b@example.org", "7", "a+b"] {
            assert!(is_person_name(good), "{good}");
        }
        let long = "x".repeat(MAX_NAME_CHARS + 1);
        for bad in
            ["", "owner", "nobody", "../x", "a/b", "a b", ".hidden", "a..b", "ä", "a\n", &*long]
        {
            assert!(!is_person_name(bad), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_back(
            everywhere in proptest::option::of(0..3_usize),
            projects in proptest::collection::btree_map("[a-z][a-z0-9._-]{0,8}", 0..3_usize, 0..5),
        ) {
            let mut permissions = Permissions {
                everywhere: everywhere.map(|number| AccessScope::ALL[number]),
                projects: BTreeMap::new(),
            };
            for (project, number) in projects {
                permissions = permissions.with(&project, AccessScope::ALL[number]);
            }
            prop_assert_eq!(Permissions::decode(&permissions.encode()), Some(permissions));
        }

        #[test]
        fn no_text_that_was_stored_breaks_the_reader(text in ".{0,60}") {
            let _ = Permissions::decode(&text);
        }
    }
}
