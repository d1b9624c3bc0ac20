//! Frames and laws of the screen.

mod docs;
mod frames;
mod laws;
mod measure;
mod play;
mod protocol;
