//! The model that searches go by: one that ships with the program, or a service that the person set.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nacre_core::config::{EmbeddingChoice, NACRE_EMBEDDING_KEY, SearchSettings, Settings};
use nacre_core::search::{Builtin, EmbedError, Embedder};
use nacre_engine::model::{EmbeddingService, Secret, ServiceEmbedder};

use super::Host;
use super::settings::words;
use crate::error::OpError;

/// How long the embedding service may take for one request, and how soon it is asked again.
const EMBEDDING_PATIENCE: Duration = Duration::from_secs(30);
const EMBEDDING_FIRST_WAIT: Duration = Duration::from_millis(250);

/// The model that ships with the program, opened once: it is sent nothing, so that all stores may share it.
#[derive(Default)]
pub(super) struct LocalModel(pub(super) Mutex<Option<Arc<dyn Embedder>>>);

impl fmt::Debug for LocalModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalModel")
    }
}

impl Host {
    /// The model that searches go by, for what belongs to no project.
    pub fn own_embedder(&self) -> Result<Arc<dyn Embedder>, OpError> {
        self.embedder(&self.own_settings())
    }

    /// The model that searches go by, under the settings of the project or person whose texts it reads.
    pub fn embedder(&self, settings: &Settings) -> Result<Arc<dyn Embedder>, OpError> {
        if settings.search.embedding == EmbeddingChoice::Endpoint {
            return Ok(Arc::new(self.embedding_service(settings)?));
        }
        let mut opened = self.shared.model.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(model) = &*opened {
            return Ok(Arc::clone(model));
        }
        let model: Arc<dyn Embedder> = Arc::new(Builtin::shipped()?);
        *opened = Some(Arc::clone(&model));
        Ok(model)
    }

    fn embedding_service(&self, settings: &Settings) -> Result<ServiceEmbedder, OpError> {
        let SearchSettings { endpoint_url, endpoint_model, .. } = &settings.search;
        for (key, value, example) in [
            ("search.endpoint_url", endpoint_url, "http://localhost:11434/v1"),
            ("search.endpoint_model", endpoint_model, "nomic-embed-text"),
        ] {
            if value.is_empty() {
                return Err(OpError::failed(format!("`{key}` is not set"))
                    .hint(format!("nacre config set {key} {example}")));
            }
        }
        let key = self.environment.vars.iter().find(|(name, _)| name == NACRE_EMBEDDING_KEY);
        let service = EmbeddingService {
            base_url: endpoint_url.clone(),
            model: endpoint_model.clone(),
            key: key.and_then(|(_, key)| Secret::new(key)),
            words: words(settings),
            patience: EMBEDDING_PATIENCE.min(settings.limits.model_time),
            first_wait: EMBEDDING_FIRST_WAIT,
        };
        let connected = ServiceEmbedder::connect(service);
        connected.map_err(|error| EmbedError::Service(Box::new(error)).into())
    }
}
