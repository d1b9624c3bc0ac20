//! Lists the configuration files, in the order they are read.

use nacre_api::wire::{ConfigFile, ConfigLayer, ConfigPathReport, ConfigPathRequest};
use nacre_core::config::NACRE_CONFIG;

use crate::error::OpError;
use crate::host::{Host, STORE_FOLDER};

pub fn path(host: &Host, request: &ConfigPathRequest) -> Result<ConfigPathReport, OpError> {
    let ConfigPathRequest {} = request;
    let mut files = vec![(ConfigLayer::Home, host.home()?.join("config.toml"))];
    if let Some(project) = &host.project {
        files.push((ConfigLayer::Repo, project.path.join(STORE_FOLDER).join("config.toml")));
    }
    if let Some(file) = host.environment.var(NACRE_CONFIG) {
        files.push((ConfigLayer::File, host.environment.absolute(file.as_ref())));
    }
    let files = files.into_iter().map(|(layer, path)| ConfigFile {
        layer,
        path: path.display().to_string(),
        exists: path.is_file(),
    });
    Ok(ConfigPathReport { files: files.collect() })
}
