//! Snapshot and invariant tests of the screen.

mod docs;
mod frames;
mod laws;
mod measure;
mod play;
mod protocol;

/// The terminal is set up when the loop runs, not when its future is created.
#[test]
fn the_loop_does_nothing_before_it_is_awaited() {
    let (requests, mut asked) = tokio::sync::mpsc::unbounded_channel();
    let (_, messages) = tokio::sync::mpsc::channel(1);
    let link = super::ChatLink { requests, messages };
    let mut outside = |_| Ok(super::OutsideResult::Note(String::new()));
    drop(super::run(link, super::ScreenOptions::default(), None, &mut outside));
    assert!(asked.try_recv().is_err());
}
