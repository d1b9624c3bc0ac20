//! Tests of whole runs with scripted models: each run has exactly one end, and the end is correct.

mod bench;
mod compacting;
mod ends;
mod forms;
mod limits;
mod talking;

use bench::{Bench, chat, play};
