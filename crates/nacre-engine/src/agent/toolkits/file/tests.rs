//! The file tools through the pipeline.
