//! The laws of the indexer.
