//! The pipeline from end to end.
