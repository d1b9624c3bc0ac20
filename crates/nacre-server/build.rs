//! Embeds the dashboard and the minified API description into the program. The dashboard's built
//! files are committed, so that building Nacre does not need Node.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

#[expect(
    clippy::disallowed_methods,
    reason = "cargo passes settings to build scripts as variables, and accepts output only in its \
     own directory"
)]
fn main() -> io::Result<()> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap_or_default());
    let dist = manifest.join("../../dashboard/dist");
    println!("cargo:rerun-if-changed={}", dist.display());
    println!("cargo:rerun-if-changed=build.rs");
    let mut files = Vec::new();
    collect(&dist, "", &mut files)?;
    files.sort();
    let out = PathBuf::from(env::var("OUT_DIR").unwrap_or_default());
    let mut table = String::from("static ASSETS: &[(&str, &[u8])] = &[\n");
    for (name, path) in &files {
        // Writing to a `String` cannot fail.
        let _ =
            writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    table.push_str("];\n");
    fs::write(out.join("assets.rs"), table)?;
    let description = manifest.join("../../docs/openapi.json");
    println!("cargo:rerun-if-changed={}", description.display());
    let description = without_space(&fs::read_to_string(description)?);
    fs::write(out.join("openapi.json"), description)
}

fn without_space(json: &str) -> String {
    let (mut in_text, mut is_escaped) = (false, false);
    let is_part = |c: &char| {
        let is_kept = in_text || !c.is_ascii_whitespace();
        if *c == '"' && !is_escaped {
            in_text = !in_text;
        }
        is_escaped = *c == '\\' && !is_escaped;
        is_kept
    };
    json.chars().filter(is_part).collect()
}

fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.push((name, fs::canonicalize(entry.path())?));
        }
    }
    Ok(())
}
