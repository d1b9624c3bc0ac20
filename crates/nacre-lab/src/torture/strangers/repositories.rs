//! Hostile `.git` directories: settings that run programs, missing objects, pipes, links and bogus
//! repository pointers.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use super::victims::Victims;
use super::{Site, Verbs, git_bombs, settings};
use crate::AnyError;

pub(super) type Maker = Box<dyn Fn(&'static str, &Victims) -> Result<Site, AnyError> + Send + Sync>;

type Plant = fn(&Victims) -> Result<(), AnyError>;

/// Time limit for commands that map a whole project.
const LIMITS: &str = "[limits]\nmap_seconds = 3\n";

const SITES: &[(&str, Verbs, Plant)] = &[
    ("settings", Verbs::All, settings::plant),
    ("promisor", Verbs::Git, promisor),
    ("promisor-sparse", Verbs::Git, promisor_sparse),
    ("include", Verbs::Git, include),
    ("fifo-index", Verbs::All, |victims| fifo(victims, ".git/index")),
    ("fifo-head", Verbs::All, |victims| fifo(victims, ".git/HEAD")),
    ("fifo-config", Verbs::Git, |victims| fifo(victims, ".git/config")),
    ("fifo-branch", Verbs::Git, |victims| fifo(victims, ".git/refs/heads/main")),
    ("fifo-attributes", Verbs::Git, |victims| fifo(victims, ".gitattributes")),
    ("fifo-ignore", Verbs::Git, |victims| fifo(victims, ".gitignore")),
    ("fifo-exclude", Verbs::Git, |victims| fifo(victims, ".git/info/exclude")),
    ("fifo-included", Verbs::Git, fifo_included),
    ("fifo-objects", Verbs::Git, fifo_objects),
    ("endless-refs", Verbs::Git, endless_refs),
    ("endless-index", Verbs::Git, |victims| endless(victims, ".git/index")),
    ("endless-head", Verbs::Git, |victims| endless(victims, ".git/HEAD")),
    ("git-file", Verbs::All, git_file),
    ("git-link", Verbs::Git, git_link),
    ("common-folder", Verbs::Git, common_folder),
    ("false-worktree", Verbs::Git, false_worktree),
    ("work-tree-elsewhere", Verbs::Git, work_tree_elsewhere),
    ("name-not-text", Verbs::Git, name_not_text),
    ("paths-that-lead-out", Verbs::Git, paths_that_lead_out),
    ("objects-of-another", Verbs::Git, objects_of_another),
    ("linked-objects", Verbs::Git, link_objects),
    ("split-index-elsewhere", Verbs::Git, split_index_elsewhere),
    ("many-imports", Verbs::Git, many_imports),
    ("fifo-submodules", Verbs::Git, fifo_submodules),
    ("pipe-of-rules", Verbs::All, |victims| fifo(victims, ".ignore")),
    ("bombs", Verbs::Git, bombs),
    ("many-settings", Verbs::Git, git_bombs::many_settings),
    ("many-filters", Verbs::Git, git_bombs::many_filters),
    ("deep-index", Verbs::Git, git_bombs::deep_index),
    ("tree-bomb", Verbs::Git, git_bombs::tree_bomb),
];

pub(super) fn makers() -> Vec<(&'static str, Maker)> {
    let maker = |(name, verbs, plant): &'static (&'static str, Verbs, Plant)| {
        let make: Maker = Box::new(move |name, victims| {
            repository(victims)?;
            plant(victims)?;
            let root = victims.site();
            Ok(Site { name: name.to_owned(), root, home_config: LIMITS.to_owned(), verbs: *verbs })
        });
        (*name, make)
    };
    SITES.iter().map(maker).collect()
}

/// A harmless repository with two commits and an uncommitted file.
pub(super) fn repository(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    fs::create_dir_all(&root)?;
    git(&root, &["init", "-q", "-b", "main"])?;
    for (name, text) in [("a.txt", "one\n"), ("lib.rs", "pub fn a() {}\n"), ("m.py", "import os\n")]
    {
        fs::write(root.join(name), text)?;
    }
    git(&root, &["add", "."])?;
    git(&root, &["commit", "-q", "-m", "first"])?;
    fs::write(root.join("lib.rs"), "pub fn b() {}\n")?;
    git(&root, &["commit", "-q", "-a", "-m", "second"])?;
    fs::write(root.join("lib.rs"), "pub fn c() {}\n")?;
    fs::write(root.join("trace.jsonl"), "{}\n")?;
    Ok(())
}

pub(super) fn git(root: &Path, args: &[&str]) -> Result<(), AnyError> {
    ask(root, args).map(drop)
}

pub(super) fn ask(root: &Path, args: &[&str]) -> Result<String, AnyError> {
    let output = Command::new("git")
        .args(["-c", "user.name=e", "-c", "user.email=e@e", "-c", "commit.gpgsign=false"])
        .args(["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"])
        .args(args)
        .current_dir(root)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()?;
    if !output.status.success() {
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(format!("git {args:?}: {told}").into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A repository with missing objects and a remote whose setting starts a command.
fn promisor(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let url = format!("ext::sh -c {}", victims.marking("promisor").replace(' ', "% "));
    for (key, value) in [
        ("remote.origin.url", url.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.partialclonefilter", "blob:none"),
        ("extensions.partialClone", "origin"),
        ("core.repositoryFormatVersion", "1"),
        ("protocol.ext.allow", "always"),
        ("protocol.allow", "always"),
    ] {
        git(&root, &["config", key, value])?;
    }
    for entry in fs::read_dir(root.join(".git/objects"))?.flatten() {
        if entry.file_name().len() == 2 {
            fs::remove_dir_all(entry.path())?;
        }
    }
    let _ = Command::new("git").args(["show", "HEAD"]).current_dir(&root).output();
    if victims.marks()?.is_empty() {
        return Err("git does not start a program for missing objects".into());
    }
    victims.clear_marks()
}

fn promisor_sparse(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    fs::create_dir(root.join("deep"))?;
    fs::write(root.join("deep/x.rs"), "fn x() {}\n")?;
    git(&root, &["add", "."])?;
    git(&root, &["commit", "-q", "-m", "third"])?;
    git(&root, &["sparse-checkout", "set", "--cone", "--sparse-index", "nothing"])?;
    promisor(victims)
}

fn include(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let program = victims.marking("included");
    fs::write(
        root.join("more"),
        format!("[filter \"evil\"]\n\tclean = {program}\n[core]\n\tfsmonitor = {program}\n"),
    )?;
    git(&root, &["config", "include.path", "../more"])?;
    fs::write(root.join(".gitattributes"), "* filter=evil\n")?;
    Ok(())
}

fn mkfifo(path: &Path) -> Result<(), AnyError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let _ = fs::remove_file(path);
    match Command::new("mkfifo").arg(path).status()?.success() {
        true => Ok(()),
        false => Err("mkfifo failed".into()),
    }
}

fn fifo(victims: &Victims, name: &str) -> Result<(), AnyError> {
    mkfifo(&victims.site().join(name))
}

fn fifo_included(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    git(&root, &["config", "include.path", "../pipe"])?;
    mkfifo(&root.join("pipe"))
}

fn fifo_objects(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    for entry in fs::read_dir(root.join(".git/objects"))?.flatten() {
        if entry.file_name().len() == 2 {
            for object in fs::read_dir(entry.path())?.flatten() {
                mkfifo(&object.path())?;
            }
        }
    }
    Ok(())
}

fn endless(victims: &Victims, name: &str) -> Result<(), AnyError> {
    let path = victims.site().join(name);
    let _ = fs::remove_file(&path);
    Ok(symlink("/dev/zero", path)?)
}

fn endless_refs(victims: &Victims) -> Result<(), AnyError> {
    fs::remove_file(victims.site().join(".git/refs/heads/main"))?;
    endless(victims, ".git/packed-refs")
}

fn git_file(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    fs::remove_dir_all(root.join(".git"))?;
    let text = format!("gitdir: {}\n", victims.own().join(".git").display());
    Ok(fs::write(root.join(".git"), text)?)
}

fn git_link(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    fs::remove_dir_all(root.join(".git"))?;
    Ok(symlink(victims.own().join(".git"), root.join(".git"))?)
}

fn common_folder(victims: &Victims) -> Result<(), AnyError> {
    let common = victims.own().join(".git").display().to_string();
    Ok(fs::write(victims.site().join(".git/commondir"), common)?)
}

fn false_worktree(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let inside = root.join("inside");
    fs::create_dir(&inside)?;
    fs::write(inside.join("commondir"), victims.own().join(".git").display().to_string())?;
    fs::write(inside.join("gitdir"), root.join(".git").display().to_string())?;
    fs::write(inside.join("HEAD"), "ref: refs/heads/main\n")?;
    fs::remove_dir_all(root.join(".git"))?;
    Ok(fs::write(root.join(".git"), "gitdir: inside\n")?)
}

fn work_tree_elsewhere(victims: &Victims) -> Result<(), AnyError> {
    let own = victims.own().display().to_string();
    git(&victims.site(), &["config", "core.worktree", &own])
}

fn name_not_text(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let mut config = fs::read(root.join(".git/config"))?;
    config.extend(b"[filter \"\xff\"]\n\tclean = ");
    config.extend(victims.program("not-text")?.display().to_string().bytes());
    config.push(b'\n');
    fs::write(root.join(".git/config"), config)?;
    fs::write(root.join(".gitattributes"), b"* filter=\xff\n")?;
    let _ = Command::new("git").args(["status"]).current_dir(&root).output();
    if victims.marks()?.is_empty() {
        return Err("git does not start the filter".into());
    }
    victims.clear_marks()
}

fn paths_that_lead_out(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let own = victims.own().join("secret.txt").display().to_string();
    let short = "a".repeat(own.len());
    let beside = "../own/secret.txt";
    let names = [(short, own), ("b".repeat(beside.len()), beside.to_owned())];
    for (name, _) in &names {
        fs::write(root.join(name), "x\n")?;
    }
    git(&root, &["add", "."])?;
    let mut index = fs::read(root.join(".git/index"))?;
    for (name, path) in &names {
        let at = index.windows(name.len()).position(|part| part == name.as_bytes());
        let at = at.ok_or("the name is missing from the index")?;
        index[at..at + name.len()].copy_from_slice(path.as_bytes());
        fs::remove_file(root.join(name))?;
    }
    Ok(fs::write(root.join(".git/index"), index)?)
}

fn objects_of_another(victims: &Victims) -> Result<(), AnyError> {
    let git = victims.site().join(".git");
    for name in ["objects", "refs"] {
        fs::remove_dir_all(git.join(name))?;
        symlink(victims.own().join(".git").join(name), git.join(name))?;
    }
    Ok(())
}

/// A repository that has links to the user's object directories, and a branch that points to one of
/// the user's commits.
fn link_objects(victims: &Victims) -> Result<(), AnyError> {
    let (git, own) = (victims.site().join(".git"), victims.own().join(".git"));
    for entry in fs::read_dir(own.join("objects"))? {
        let entry = entry?;
        let place = git.join("objects").join(entry.file_name());
        if !place.exists() {
            symlink(entry.path(), place)?;
        }
    }
    Ok(fs::write(git.join("refs/heads/main"), ask(&victims.own(), &["rev-parse", "HEAD"])?)?)
}

/// A repository whose split index is in the user's directory. Git updates the modification time of
/// a split index when it reads it.
fn split_index_elsewhere(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    git(&root, &["update-index", "--split-index"])?;
    for entry in fs::read_dir(root.join(".git"))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("sharedindex.") {
            let moved = victims.own().join(entry.file_name());
            fs::rename(entry.path(), &moved)?;
            let time = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
            fs::File::options().write(true).open(&moved)?.set_modified(time)?;
            symlink(moved, entry.path())?;
        }
    }
    Ok(())
}

/// Files that each have thousands of imports and names; a naive resolver would compare every pair.
fn many_imports(victims: &Victims) -> Result<(), AnyError> {
    let n_files = if cfg!(debug_assertions) { 4 } else { 60 };
    let folder = victims.site().join("sea/pearl");
    fs::create_dir_all(&folder)?;
    for n in 0..n_files {
        let names =
            |line: &dyn Fn(usize) -> String, most: usize| (0..most).map(line).collect::<String>();
        let rust = names(&|_| "pub fn f(){}\nuse x::y;\n".to_owned(), 20_000);
        fs::write(folder.join(format!("f{n}.rs")), format!("{rust}// {n}\n"))?;
        let imports = names(&|m| format!("import sea.pearl.q{n}x{m}\n"), 1_999);
        let functions = names(&|m| format!("fun f{n}x{m}() {{}}\n"), 4_900);
        fs::write(
            folder.join(format!("f{n}.kt")),
            format!("package sea.pearl\n{imports}{functions}"),
        )?;
    }
    Ok(())
}

/// Nested repositories whose settings are pipes.
fn fifo_submodules(victims: &Victims) -> Result<(), AnyError> {
    let root = victims.site();
    let head = ask(&root, &["rev-parse", "HEAD"])?;
    for name in ["s1", "s2", "s3", "s4"] {
        let inner = root.join(name);
        fs::create_dir(&inner)?;
        git(&inner, &["init", "-q"])?;
        git(&inner, &["config", "include.path", "../../pipe"])?;
        fs::write(inner.join(".git/index"), "invalid file that only git can read")?;
        let entry = format!("160000,{},{name}", head.trim());
        git(&root, &["update-index", "--add", "--cacheinfo", &entry])?;
    }
    mkfifo(&root.join("pipe"))
}

/// Debug builds are about ten times slower, so they use fewer, shorter strings.
const BOMBS: &[&str] = if cfg!(debug_assertions) {
    &["a<b(", "\""]
} else {
    &["a<b(", "\"", "(", "[{", "`${", "if(a)", "/*"]
};
const BOMB_BYTES: usize = if cfg!(debug_assertions) { 1 << 17 } else { 1 << 20 };

fn bombs(victims: &Victims) -> Result<(), AnyError> {
    let folder = victims.site().join("bombs");
    fs::create_dir(&folder)?;
    for (idx, text) in BOMBS.iter().enumerate() {
        for end in ["ts", "tsx", "cpp", "cs", "java", "kt", "py", "rb", "rs", "go", "php", "swift"]
        {
            let bomb = text.repeat(BOMB_BYTES / text.len());
            fs::write(folder.join(format!("bomb{idx}.{end}")), bomb)?;
        }
    }
    Ok(())
}
