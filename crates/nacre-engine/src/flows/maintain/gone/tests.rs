//! What is gone from a real repository.
