//! Resolves imports to files in the project.
//!
//! Resolution depends on the list of files and on the manifests that map names to directories, so
//! it is done for the project as a whole. This module reads no files: the caller passes the paths,
//! outlines and manifest contents.

mod external;
mod files;
mod follow;
mod manifests;
mod packages;
mod paths;
mod python;
mod rust;
mod script;
#[cfg(test)]
mod tests;

use std::cell::{Cell, OnceCell};

use crate::artifact::{FileOutline, RelativePath};
use crate::languages::{Import, Language};

use files::SourceFiles;
use manifests::Manifests;

pub use follow::Following;
pub use manifests::is_manifest;

/// A file that maps names to directories, such as `Cargo.toml`, `go.mod` or `package.json`.
#[derive(Clone, Debug)]
pub struct Manifest {
    pub path: RelativePath,
    pub text: String,
}

/// The target of an import. The variants' numbers are indexes into the list of sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    File(usize),
    /// All of a directory's files in one language, such as a Go package. One of the files
    /// represents the directory.
    Folder(usize),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resolution {
    Inside(Vec<Target>),
    /// The import refers to a file in this project that does not exist. The file may be generated
    /// or ignored, or the import may be wrong.
    Missing,
    /// An external package or a standard library.
    Outside,
}

const MAX_TARGETS: usize = 16;

/// Maximum number of name comparisons for one file's imports. This limit is enough for a thousand
/// imports from a package with two thousand names. Only malicious files exceed this limit, and
/// their remaining imports stay unresolved.
const MAX_COMPARED: usize = 2_000_000;

#[derive(Debug)]
pub struct Resolver<'a> {
    sources: &'a [FileOutline<'a>],
    files: SourceFiles<'a>,
    manifests: Manifests,
}

impl<'a> Resolver<'a> {
    /// Creates a resolver. `sources` must be sorted by path.
    pub fn new(sources: &'a [FileOutline<'a>], manifests: &[Manifest]) -> Self {
        let manifests = Manifests::read(manifests);
        Self { sources, files: SourceFiles::new(sources), manifests }
    }

    /// Returns a resolver that caches results across many files' imports.
    pub fn following(&self) -> Following<'_, 'a> {
        Following::new(self)
    }

    /// Resolves one import as if it were in the file at index `from`.
    pub fn resolve_one(&self, from: usize, import: &Import) -> Resolution {
        let source = self.sources.get(from);
        let Some((source, language)) = source.and_then(|source| Some((source, source.language?)))
        else {
            return Resolution::Outside;
        };
        let own = OwnPlace::default();
        Asking { resolver: self, from, path: source.path, import, own: &own }.resolve(language)
    }
}

struct Asking<'q, 'a> {
    resolver: &'q Resolver<'a>,
    from: usize,
    path: &'q str,
    import: &'q Import,
    own: &'q OwnPlace,
}

#[derive(Debug, Default)]
struct OwnPlace {
    rust_module: OnceCell<rust::Module>,
    rust_root: OnceCell<rust::Module>,
    is_python_script: OnceCell<bool>,
    n_compared: Cell<usize>,
}

impl<'a> Asking<'_, 'a> {
    fn resolve(&self, language: Language) -> Resolution {
        let mut resolution = match language {
            Language::Rust => rust::resolve(self),
            Language::Python => python::resolve(self),
            Language::JavaScript | Language::Tsx | Language::TypeScript => script::resolve(self),
            Language::Go => packages::go(self),
            Language::Java | Language::Kotlin | Language::Scala => packages::jvm(self),
            Language::C | Language::Cpp => paths::c(self),
            Language::Bash => paths::bash(self),
            Language::Lua => paths::lua(self),
            Language::Ruby => paths::ruby(self),
            Language::CSharp => packages::c_sharp(self),
            Language::Elixir => packages::elixir(self),
            Language::Php => packages::php(self),
            Language::Swift => packages::swift(self),
        };
        if let Resolution::Inside(targets) = &mut resolution {
            targets.truncate(MAX_TARGETS);
        }
        resolution
    }

    /// Adds `n_names` comparisons to the file's cost. Returns false once the limit is reached.
    fn affords(&self, n_names: usize) -> bool {
        let n_compared = self.own.n_compared.get().saturating_add(n_names);
        self.own.n_compared.set(n_compared);
        n_compared <= MAX_COMPARED
    }

    fn files(&self) -> &SourceFiles<'a> {
        &self.resolver.files
    }

    fn manifests(&self) -> &Manifests {
        &self.resolver.manifests
    }

    fn text(&self) -> &str {
        &self.import.text
    }

    fn folder(&self) -> &str {
        files::folder_of(self.path)
    }
}

fn file(idx: usize) -> Resolution {
    Resolution::Inside(vec![Target::File(idx)])
}
