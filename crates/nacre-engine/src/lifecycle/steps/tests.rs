//! Whole runs against a script: whatever the model does, there is one end, and it is the true one.

mod bench;
mod compacting;
mod ends;
mod forms;
mod limits;
mod talking;

use bench::{Bench, chat, play};
