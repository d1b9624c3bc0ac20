//! The laws of the artifact.
