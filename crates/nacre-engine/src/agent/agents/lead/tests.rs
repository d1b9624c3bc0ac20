//! The lead from end to end, with a script for its models.
