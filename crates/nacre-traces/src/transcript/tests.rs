//! Helpers for this module's tests: temporary traces, and events formatted as short lines.

use std::fs;
use std::path::{Path, PathBuf};

use super::adapter::{Adapter, ReadOutcome, Trace, TraceSource, Watermark};
use super::emit::{Detail, Sink};
use super::event::{Lane, TextOrigin, TranscriptEvent};
use super::walk::stamp;

pub(crate) struct TestTrace {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl TestTrace {
    pub(crate) fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        write(&path, content.as_ref());
        Self { folder, path }
    }

    pub(crate) fn append(&self, content: &[u8]) {
        let mut whole = fs::read(&self.path).unwrap();
        whole.extend_from_slice(content);
        write(&self.path, &whole);
    }

    pub(crate) fn rewrite(&self, content: &[u8]) {
        write(&self.path, content);
    }

    pub(crate) fn read(
        &self,
        adapter: &dyn Adapter,
        from: Option<&Watermark>,
    ) -> (Vec<TranscriptEvent>, ReadOutcome) {
        self.read_detail(adapter, from, Detail::Everything)
    }

    pub(crate) fn read_detail(
        &self,
        adapter: &dyn Adapter,
        from: Option<&Watermark>,
        detail: Detail,
    ) -> (Vec<TranscriptEvent>, ReadOutcome) {
        let stamp = stamp(&fs::metadata(&self.path).unwrap());
        let source = TraceSource { agent: adapter.agent(), path: self.path.clone(), stamp };
        let mut events = Vec::new();
        let mut each = |event| events.push(event);
        let outcome =
            adapter.read(&Trace::whole(source), from, Sink::new(detail, &mut each)).unwrap();
        (events, outcome)
    }
}

#[expect(clippy::disallowed_methods, reason = "a test makes its own traces")]
pub(crate) fn write(path: &Path, content: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

pub(crate) fn read(
    adapter: &dyn Adapter,
    name: &str,
    content: impl AsRef<[u8]>,
) -> (Vec<TranscriptEvent>, ReadOutcome) {
    TestTrace::new(name, content).read(adapter, None)
}

/// Formats events as lines: `kind origin [~lane] [!] [tool#call]: text`.
pub(crate) fn show(events: &[TranscriptEvent]) -> String {
    events.iter().map(|event| show_event(event) + "\n").collect()
}

fn show_event(event: &TranscriptEvent) -> String {
    let origin = match event.origin {
        TextOrigin::Person(source) => format!("person.{}", source.as_str()),
        TextOrigin::Agent => "agent".to_owned(),
        TextOrigin::Tool => "tool".to_owned(),
        TextOrigin::Injected(reason) => format!("injected.{}", reason.as_str()),
        TextOrigin::Host => "host".to_owned(),
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

/// Compares a trace's events, formatted as lines, with the expected ones.
#[track_caller]
pub(crate) fn check(adapter: &dyn Adapter, name: &str, content: &str, expected: &[&str]) {
    let (events, _) = read(adapter, name, content);
    let shown = show(&events);
    let shown: Vec<&str> = shown.lines().collect();
    assert_eq!(shown, expected);
}
