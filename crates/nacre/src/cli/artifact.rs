//! An artifact of a pipeline, put where the person wants it.

use nacre_ops::host::put_artifact;
use nacre_ops::{Host, OpError};
use serde::Serialize;

use super::ui::Ui;

/// Writes it to a file; `-` is standard output.
pub(crate) fn put(
    ui: &mut Ui,
    host: &Host,
    out: &str,
    artifact: &impl Serialize,
) -> Result<(), OpError> {
    if out == "-" {
        return ui.json(artifact);
    }
    put_artifact(host, out, artifact)
}
