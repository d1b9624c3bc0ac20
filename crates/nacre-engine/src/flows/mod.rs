//! Workflows that prompt a model and verify its answer.

pub mod ask;
