//! Converts an editor prompt to text and attachments. If content cannot be attached, the text only
//! mentions its name.

use std::fs;
use std::path::{Path, PathBuf};

use nacre_types::Attachment;

use super::json_rpc::{Result, RpcError};
use super::protocol::{EmbeddedResource, PromptBlock};

/// Larger files are only mentioned by name, so that the agent reads just the parts it needs.
const MAX_ATTACHED_BYTES: usize = 256 << 10;

const MAX_ATTACHMENTS: usize = 32;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Prompt {
    Turn { text: String, attachments: Vec<Attachment>, skill: Option<String> },
    Undo,
}

pub(super) fn read(blocks: Vec<PromptBlock>, root: &Path, skills: &[String]) -> Result<Prompt> {
    let mut builder = PromptBuilder { root, text: String::new(), attachments: Vec::new() };
    for block in blocks {
        builder.take(block)?;
    }
    let PromptBuilder { text, attachments, .. } = builder;
    let text = text.trim().to_owned();
    if text == "/undo" {
        return Ok(Prompt::Undo);
    }
    if let Some(command) = text.strip_prefix('/')
        && let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""))
        && skills.iter().any(|skill| skill == name)
    {
        return Ok(Prompt::Turn {
            skill: Some(name.to_owned()),
            text: rest.trim_start().to_owned(),
            attachments,
        });
    }
    Ok(Prompt::Turn { text, attachments, skill: None })
}

struct PromptBuilder<'r> {
    root: &'r Path,
    text: String,
    attachments: Vec<Attachment>,
}

impl PromptBuilder<'_> {
    fn take(&mut self, block: PromptBlock) -> Result<()> {
        match block {
            PromptBlock::Text { text } => self.text.push_str(&text),
            PromptBlock::ResourceLink { name, uri } => self.link(&name, &uri),
            PromptBlock::Resource { resource } => self.resource(resource),
            PromptBlock::Image | PromptBlock::Audio => {
                let message = "The agent does not support images or audio";
                return Err(RpcError::invalid_params(message));
            }
        }
        Ok(())
    }

    fn link(&mut self, name: &str, uri: &str) {
        let Some(file) = self.file(uri) else {
            let shown = if name.is_empty() { uri.to_owned() } else { format!("{name} ({uri})") };
            return self.name(&shown);
        };
        if let Some(path) = file.path.filter(|_| file.is_short_text) {
            self.attach(Attachment::File { path });
        }
        self.name(&file.shown);
    }

    /// Converts an embedded resource, whose content may be newer than the file on disk.
    fn resource(&mut self, resource: EmbeddedResource) {
        let EmbeddedResource { uri, text } = resource;
        let file = self.file(&uri);
        let shown = file.as_ref().map_or_else(|| uri.clone(), |file| file.shown.clone());
        match text {
            Some(text) if text.len() <= MAX_ATTACHED_BYTES => {
                self.attach(Attachment::Text { name: shown.clone(), text });
            }
            Some(_) | None => {}
        }
        self.name(&shown);
    }

    fn attach(&mut self, attachment: Attachment) {
        if self.attachments.len() < MAX_ATTACHMENTS && !self.attachments.contains(&attachment) {
            self.attachments.push(attachment);
        }
    }

    fn name(&mut self, name: &str) {
        if self.text.chars().next_back().is_some_and(|last| !last.is_whitespace() && last != '(') {
            self.text.push(' ');
        }
        self.text.push('`');
        self.text.extend(name.chars().map(|c| if c == '`' || c.is_control() { ' ' } else { c }));
        self.text.push('`');
    }

    fn file(&self, uri: &str) -> Option<NamedFile> {
        let (path, part) = file_of(uri)?;
        let real = nacre_base::platform::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let below = real.strip_prefix(self.root).ok().filter(|below| *below != Path::new(""));
        let below = below.map(|below| below.display().to_string());
        let named = below.clone().unwrap_or_else(|| path.display().to_string());
        let shown = match part {
            Some(part) => format!("{named}#{part}"),
            None => named,
        };
        Some(NamedFile { is_short_text: is_short_text(&real), path: below, shown })
    }
}

struct NamedFile {
    path: Option<String>,
    shown: String,
    is_short_text: bool,
}

fn is_short_text(path: &Path) -> bool {
    let is_short = fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_ATTACHED_BYTES as u64);
    is_short && fs::read_to_string(path).is_ok_and(|text| !text.contains('\0'))
}

/// Splits a `file:` URI into its path and the fragment after `#`.
fn file_of(uri: &str) -> Option<(PathBuf, Option<&str>)> {
    let rest = uri.strip_prefix("file://")?;
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let (rest, fragment) = match rest.split_once('#') {
        Some((rest, fragment)) => (rest, Some(fragment)),
        None => (rest, None),
    };
    let path = rest.split('?').next().unwrap_or_default();
    let mut escapes = path.split('%').skip(1).map(|after| after.as_bytes().get(..2));
    if !escapes.all(|digits| digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)))
    {
        return None;
    }
    let decoded = percent_encoding::percent_decode_str(path).decode_utf8().ok()?;
    let is_drive =
        decoded.len() > 3 && decoded.as_bytes()[0] == b'/' && decoded.as_bytes()[2] == b':';
    let path = if is_drive { &decoded[1..] } else { &*decoded };
    let path = PathBuf::from(path);
    (path.is_absolute() || is_drive).then_some((path, fragment))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[expect(clippy::disallowed_methods, reason = "the tests create their own files")]
    fn workspace() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(dir.path()).unwrap().join("w");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a b.rs"), "fn a() {}\n").unwrap();
        fs::write(root.join("binary"), b"\0\xff").unwrap();
        fs::write(root.join("long.txt"), "x".repeat(MAX_ATTACHED_BYTES + 1)).unwrap();
        fs::write(root.join("../outside.txt"), "x").unwrap();
        (dir, root)
    }

    fn blocks(blocks: &Value) -> Vec<PromptBlock> {
        serde_json::from_value(blocks.clone()).unwrap()
    }

    fn read_all(root: &Path, given: &Value) -> (String, Vec<Attachment>) {
        let prompt = read(blocks(given), root, &[]).unwrap();
        let Prompt::Turn { text, attachments, skill: None } = prompt else { panic!("{prompt:?}") };
        (text, attachments)
    }

    #[test]
    fn files_of_the_workspace_are_attached_and_others_named() {
        let (_dir, root) = workspace();
        let link = |path: &str| {
            let uri = format!("file://{}/{path}", root.display());
            json!({ "type": "resource_link", "name": "n", "uri": uri })
        };
        let text = |text: &str| json!({ "type": "text", "text": text });
        let all = json!([
            text("Look at"),
            link("src/a%20b.rs#L1:2"),
            text(" and "),
            link("binary"),
            link("long.txt"),
            link("src"),
            link("missing"),
            json!({ "type": "resource_link", "name": "page", "uri": "https://example.com/`x`" }),
        ]);
        let (words, attachments) = read_all(&root, &all);
        assert_eq!(
            words,
            "Look at `src/a b.rs#L1:2` and `binary` `long.txt` `src` `missing` `page (https://example.com/ x )`"
        );
        assert_eq!(attachments, [Attachment::File { path: "src/a b.rs".to_owned() }]);
        let outside = json!([link("../outside.txt")]);
        let (words, attachments) = read_all(&root, &outside);
        assert!(words.contains("outside.txt"), "{words}");
        assert_eq!(attachments, []);
    }

    #[test]
    fn contents_that_come_along_are_attached_as_text() {
        let (_dir, root) = workspace();
        let uri = format!("file://{}/src/a%20b.rs", root.display());
        let resource = |resource: Value| json!({ "type": "resource", "resource": resource });
        let all = json!([
            { "type": "text", "text": "Why?" },
            resource(json!({ "uri": uri, "text": "unsaved" })),
            resource(json!({ "uri": "zed:///rule", "text": "be brief" })),
            resource(json!({ "uri": "zed:///long", "text": "x".repeat(MAX_ATTACHED_BYTES + 1) })),
            resource(json!({ "uri": "zed:///bytes", "blob": "AAAA" })),
        ]);
        let (words, attachments) = read_all(&root, &all);
        assert_eq!(words, "Why? `src/a b.rs` `zed:///rule` `zed:///long` `zed:///bytes`");
        let text = |name: &str, text: &str| Attachment::Text {
            name: name.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(attachments, [text("src/a b.rs", "unsaved"), text("zed:///rule", "be brief")]);
    }

    #[test]
    fn a_skill_or_an_undo_begins_with_a_slash() {
        let (_dir, root) = workspace();
        let skills = ["review".to_owned()];
        let read = |text: &str| {
            let given = json!([{ "type": "text", "text": text }]);
            super::read(blocks(&given), &root, &skills).unwrap()
        };
        let turn = |text: &str, skill: Option<&str>| Prompt::Turn {
            text: text.to_owned(),
            attachments: Vec::new(),
            skill: skill.map(str::to_owned),
        };
        assert_eq!(read("/review the diff"), turn("the diff", Some("review")));
        assert_eq!(read("/review"), turn("", Some("review")));
        assert_eq!(read("/reviewer"), turn("/reviewer", None));
        assert_eq!(read(" /undo\n"), Prompt::Undo);
        assert_eq!(read("/undo it"), turn("/undo it", None));
    }

    #[test]
    fn pictures_are_refused_and_attachments_counted() {
        let (_dir, root) = workspace();
        let image = json!([{ "type": "image", "data": "AAAA", "mimeType": "image/png" }]);
        assert!(super::read(blocks(&image), &root, &[]).is_err());
        let many: Vec<Value> = (0..100)
            .map(|n| json!({ "type": "resource", "resource": { "uri": format!("a:{n}"), "text": "x" } }))
            .collect();
        assert_eq!(read_all(&root, &json!(many)).1.len(), MAX_ATTACHMENTS);
    }

    #[test]
    fn addresses_of_files_are_read() {
        for (uri, expected) in [
            ("file:///w/a%20b.rs", Some(("/w/a b.rs", None))),
            ("file://localhost/w/a#L3:5", Some(("/w/a", Some("L3:5")))),
            ("file:///w/a?symbol=x", Some(("/w/a", None))),
            ("file:///w/%zz", None),
            ("file:///w/%f", None),
            ("file:///w/%ff", None),
            ("file://w/a", None),
            ("https://example.com/a", None),
            ("zed:///agent/x", None),
        ] {
            let found = file_of(uri);
            let found = found.as_ref().map(|(path, part)| (path.to_str().unwrap(), *part));
            assert_eq!(found, expected, "{uri}");
        }
    }
}
