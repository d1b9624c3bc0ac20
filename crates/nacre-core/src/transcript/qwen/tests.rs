//! Hand-made traces and what they must turn into.
