//! Tests for complete runs with scripted models: each run must end exactly once, and in the correct
//! way.

mod bench;
mod compacting;
mod ends;
mod forms;
mod limits;
mod talking;

use bench::{Bench, chat, play};
