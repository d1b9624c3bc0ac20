//! The test environment for a campaign: a workspace full of traps, files outside it, and a thread
//! that keeps replacing files and directories with symbolic links.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// Content of files outside the workspace. No result may contain it.
pub(crate) const SECRET: &str = "canary-that-must-not-sing";

/// Content of workspace files that programs may print but tools may not.
pub(crate) const INNER_SECRET: &str = "finch-that-must-not-sing";

/// Directories that the lead may write to.
pub(crate) const OPEN_TO_LEAD: [&str; 2] = ["notes", "swap"];

pub(crate) struct Site {
    folder: tempfile::TempDir,
}

type Tree = BTreeMap<PathBuf, Vec<u8>>;

impl Site {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let site = Self { folder };
        for name in
            ["workspace/notes", "workspace/swap", "workspace/src/deep", "outside", "nacre", "spill"]
        {
            fs::create_dir_all(site.path(name)).unwrap();
        }
        site.fill();
        site
    }

    fn fill(&self) {
        let write = |path: &str, text: &str| {
            fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
            fs::write(self.path(path), text).unwrap();
        };
        write("outside/secret.txt", SECRET);
        write("outside/a.md", SECRET);
        write("outside/.git/config", SECRET);
        write("workspace/.env", &format!("TOKEN={INNER_SECRET}\n"));
        write("workspace/src/id_rsa", INNER_SECRET);
        write("workspace/swap/a.md", "harmless\n");
        write("workspace/flip.txt", "harmless\n");
        write("workspace/notes/a.md", "one\ntwo\nthree\n");
        write("workspace/src/main.rs", "fn main() {\n    open(\"a\").unwrap();\n}\n");
        write("workspace/src/deep/app.ts", "export const a = () => b().then(c => c);\n");
        write("workspace/long.txt", &"a".repeat(2 << 20));
        write("workspace/many.txt", &"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n".repeat(20_000));
        write("workspace/wide.txt", &format!("{}\n", "ab".repeat(2_000)).repeat(100));
        write("workspace/nested.py", &"(".repeat(50_000));
        write("workspace/binary.bin", "\u{0}\u{1}\u{2}");
        symlink(self.path("outside"), self.path("workspace/link")).unwrap();
        symlink(self.path("outside/secret.txt"), self.path("workspace/link.txt")).unwrap();
        symlink(self.path("outside/new.txt"), self.path("workspace/notes/dangling.md")).unwrap();
        symlink("/", self.path("workspace/notes/root")).unwrap();
        symlink(".", self.path("workspace/src/loop")).unwrap();
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["add", "src/main.rs", "notes/a.md", ".env", "-f"],
            &["-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "-qm", "first"],
        ] {
            let workspace = self.workspace();
            let _ = Command::new("git").args(arguments).current_dir(workspace).output();
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn workspace(&self) -> PathBuf {
        self.path("workspace")
    }

    pub(crate) fn untouchable(&self, may_change: &dyn Fn(&str) -> bool) -> Tree {
        let mut tree = Tree::new();
        collect(&self.path("outside"), &mut tree);
        for entry in fs::read_dir(self.workspace()).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Swapped entries change constantly, and their targets are checked above.
            let is_swapped = ["swap", "flip.txt", "swap.other", "flip.other"].contains(&&*name);
            if !may_change(&name) && !is_swapped {
                collect(&entry.path(), &mut tree);
            }
        }
        tree
    }

    /// Starts a thread that repeatedly replaces a directory and a file with links to the outside,
    /// and then restores them.
    pub(crate) fn swapper(&self) -> Swapper {
        let stop = Arc::new(AtomicBool::new(false));
        let n_swaps = Arc::new(AtomicU64::new(0));
        let (root, outside) = (self.workspace(), self.path("outside"));
        let (stopped, counted) = (Arc::clone(&stop), Arc::clone(&n_swaps));
        symlink(&outside, root.join("swap.other")).unwrap();
        symlink(outside.join("secret.txt"), root.join("flip.other")).unwrap();
        let thread = thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                swap(&root, "swap");
                swap(&root, "flip");
                counted.fetch_add(1, Ordering::Relaxed);
                thread::yield_now();
            }
        });
        Swapper { stop, n_swaps, thread }
    }
}

/// Swaps the original and the link.
fn swap(root: &Path, name: &str) {
    let place = if name == "flip" { root.join("flip.txt") } else { root.join(name) };
    let (other, spare) = (root.join(format!("{name}.other")), root.join(format!(".git/{name}")));
    let _ = fs::rename(&place, &spare);
    let _ = fs::rename(&other, &place);
    let _ = fs::rename(&spare, &other);
}

pub(crate) struct Swapper {
    stop: Arc<AtomicBool>,
    n_swaps: Arc<AtomicU64>,
    thread: JoinHandle<()>,
}

impl Swapper {
    pub(crate) fn finish(self) -> u64 {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().unwrap();
        self.n_swaps.load(Ordering::Relaxed)
    }
}

fn collect(path: &Path, tree: &mut Tree) {
    let Ok(metadata) = fs::symlink_metadata(path) else { return };
    if metadata.is_dir() {
        tree.insert(path.to_owned(), Vec::new());
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(&entry.path(), tree);
        }
    } else if metadata.is_symlink() {
        let target = fs::read_link(path).unwrap_or_default();
        tree.insert(path.to_owned(), target.to_string_lossy().into_owned().into_bytes());
    } else {
        tree.insert(path.to_owned(), fs::read(path).unwrap_or_default());
    }
}
