//! Tests of the judgement of sentences.
