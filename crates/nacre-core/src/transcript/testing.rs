//! What the tests of this room share: traces made on the spot, and events as short lines.

use std::fs;
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, ReadOutcome, Source, Trace, Watermark};
use super::event::{Event, Lane, Origin};
use super::sink::{Detail, Sink};
use super::walk::stamp;

/// A trace in a folder of its own.
pub(super) struct TestTrace {
    pub(super) folder: tempfile::TempDir,
    pub(super) path: PathBuf,
}

impl TestTrace {
    pub(super) fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        write(&path, content.as_ref());
        Self { folder, path }
    }

    pub(super) fn append(&self, content: &[u8]) {
        let mut whole = fs::read(&self.path).unwrap();
        whole.extend_from_slice(content);
        write(&self.path, &whole);
    }

    pub(super) fn rewrite(&self, content: &[u8]) {
        write(&self.path, content);
    }

    /// Reads the trace, from a watermark where one is given.
    pub(super) fn read(
        &self,
        adapter: &dyn Adapter,
        from: Option<&Watermark>,
    ) -> (Vec<Event>, ReadOutcome) {
        self.read_detail(adapter, from, Detail::Everything)
    }

    /// Reads as much of the trace as is wanted.
    pub(super) fn read_detail(
        &self,
        adapter: &dyn Adapter,
        from: Option<&Watermark>,
        detail: Detail,
    ) -> (Vec<Event>, ReadOutcome) {
        let stamp = stamp(&fs::metadata(&self.path).unwrap());
        let source = Source { agent: adapter.agent(), path: self.path.clone(), stamp };
        let mut events = Vec::new();
        let mut each = |event| events.push(event);
        let outcome =
            adapter.read(&Trace::whole(source), from, Sink::new(detail, &mut each)).unwrap();
        (events, outcome)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test makes its own traces")]
pub(super) fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Reads a trace of this name and content from the start.
pub(super) fn read(
    adapter: &dyn Adapter,
    name: &str,
    content: impl AsRef<[u8]>,
) -> (Vec<Event>, ReadOutcome) {
    TestTrace::new(name, content).read(adapter, None)
}

/// Events as lines: `kind origin [~lane] [!] [tool#call]: text`.
pub(super) fn show(events: &[Event]) -> String {
    events.iter().map(|event| show_event(event) + "\n").collect()
}

fn show_event(event: &Event) -> String {
    let origin = match event.origin {
        Origin::Person(source) => format!("person.{}", source.as_str()),
        Origin::Agent => "agent".to_owned(),
        Origin::Tool => "tool".to_owned(),
        Origin::Injected(reason) => format!("injected.{}", reason.as_str()),
        Origin::Host => "host".to_owned(),
    };
    let lane = if event.lane == Lane::Main { "" } else { " ~" };
    let lane_name = if event.lane == Lane::Main { "" } else { event.lane.as_str() };
    let error = if event.is_error { " !" } else { "" };
    let call = event.call.as_ref().map_or(String::new(), |call| {
        format!(" {}#{}", call.tool.as_deref().unwrap_or("?"), call.id)
    });
    let text = event.text.head().replace('\n', "\\n");
    format!("{} {origin}{lane}{lane_name}{error}{call}: {text}", event.kind.as_str())
}

/// Compares events, as lines, with what is expected.
#[track_caller]
pub(super) fn check(adapter: &dyn Adapter, name: &str, content: &str, expected: &[&str]) {
    let (events, _) = read(adapter, name, content);
    let shown = show(&events);
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(shown, expected);
}
