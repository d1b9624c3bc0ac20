//! Selects the files to search by path globs and language.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::languages::{Language, UnknownLanguage};

const MAX_GLOBS: usize = 32;
const MAX_GLOB_BYTES: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum FilterError {
    #[error("`{glob}` is not a valid glob: {why}")]
    Glob { glob: String, why: String },
    #[error("A search takes at most {MAX_GLOBS} globs")]
    TooMany,
    #[error(transparent)]
    Language(#[from] UnknownLanguage),
}

#[derive(Debug, Default)]
pub struct FileFilter {
    /// If set, one of these globs must match.
    wanted: Option<GlobSet>,
    unwanted: Option<GlobSet>,
    language: Option<Language>,
}

impl FileFilter {
    /// A glob without `/` applies in every directory, a glob that names a directory includes
    /// everything below it, and a glob with a leading `!` excludes its matches.
    pub fn new(globs: &[String], language: Option<&str>) -> Result<Self, FilterError> {
        if MAX_GLOBS < globs.len() {
            return Err(FilterError::TooMany);
        }
        let (unwanted, wanted): (Vec<&str>, Vec<&str>) =
            globs.iter().map(String::as_str).partition(|glob| glob.starts_with('!'));
        let language = language.map(str::parse).transpose()?;
        Ok(Self { wanted: set(&wanted)?, unwanted: set(&unwanted)?, language })
    }

    pub(super) fn takes(&self, path: &str) -> bool {
        let is_in = |set: &GlobSet| set.is_match(path);
        self.language.is_none_or(|language| Language::of_path(path) == Some(language))
            && self.wanted.as_ref().is_none_or(is_in)
            && !self.unwanted.as_ref().is_some_and(is_in)
    }
}

fn set(globs: &[&str]) -> Result<Option<GlobSet>, FilterError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for given in globs {
        let bad = |why: String| FilterError::Glob { glob: given.chars().take(80).collect(), why };
        if MAX_GLOB_BYTES < given.len() {
            return Err(bad("it is too long".to_owned()));
        }
        let glob = given.trim_start_matches('!').trim_start_matches("./").trim_end_matches('/');
        let anywhere = if glob.contains('/') { "" } else { "**/" };
        let glob = format!("{anywhere}{}", glob.trim_start_matches('/'));
        for glob in [format!("{glob}/**"), glob] {
            let built = GlobBuilder::new(&glob).literal_separator(true).build();
            set.add(built.map_err(|error| bad(error.kind().to_string()))?);
        }
    }
    let built = set.build();
    built.map(Some).map_err(|error| FilterError::Glob {
        glob: globs.join(" ").chars().take(80).collect(),
        why: error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_take_files_folders_and_names_anywhere() {
        let cases: [(&[&str], Option<&str>, &[&str]); 6] = [
            (&["*.rs"], None, &["a.rs", "src/b.rs"]),
            (&["src"], None, &["src/b.rs", "src/c.py"]),
            (&["./src/"], Some("python"), &["src/c.py"]),
            (&["!src"], None, &["a.rs", "d.md"]),
            (&["src/*.py", "d.md"], None, &["src/c.py", "d.md"]),
            (&["*", "!*.{rs,py}"], None, &["d.md"]),
        ];
        for (globs, language, expected) in cases {
            let globs: Vec<String> = globs.iter().map(|glob| (*glob).to_owned()).collect();
            let filter = FileFilter::new(&globs, language).unwrap();
            let all = ["a.rs", "src/b.rs", "src/c.py", "d.md"];
            let taken: Vec<&str> = all.into_iter().filter(|path| filter.takes(path)).collect();
            assert_eq!(taken, expected, "{globs:?} {language:?}");
        }
        for bad in ["a[", &"x".repeat(MAX_GLOB_BYTES + 1)] {
            assert!(FileFilter::new(&[bad.to_owned()], None).is_err());
        }
        assert!(FileFilter::new(&[], Some("klingon")).is_err());
    }
}
