//! Tests of the extraction.
