//! Gets embedding vectors for search from an OpenAI-compatible service.
//!
//! Search is synchronous, so the embedder has its own small runtime. All text is redacted again
//! before it is sent, because a user may have written a secret into a memory.

use std::time::Duration;

use nacre_base::redact::ExtraWords;
use nacre_memory::search::{EmbedError, Embedder, ModelId, normalize};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::time::{sleep, timeout};

use crate::model::error::{ErrorKind, Fault, NextStep, Result, Said, Wait};
use crate::model::hosted::{read_whole, truncate_error};
use crate::model::http::{Endpoint, EndpointError};
use crate::model::secret::Secret;

const MAX_TEXTS: usize = 64;

/// Maximum bytes sent per text. Services reject text that exceeds their model's input limit.
const MAX_TEXT_BYTES: usize = 8 << 10;

const MAX_ANSWER_BYTES: usize = 32 << 20;

const MAX_DIMS: usize = 8192;

/// Text embedded once when connecting, to determine the length of the service's vectors.
const PROBE: &str = "memory";

/// Number of attempts per request, including the first.
const ATTEMPTS: u32 = 4;

#[derive(Clone, Debug)]
pub struct EmbeddingService {
    pub base_url: String,
    pub model: String,
    pub key: Option<Secret>,
    /// Project-specific words to redact from every request, in addition to secrets.
    pub words: ExtraWords,
    /// Timeout for a request and all its retries.
    pub patience: Duration,
    /// Delay before the second attempt. It doubles with each attempt after that.
    pub first_wait: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum EmbeddingError {
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error("Cannot prepare connections")]
    Runtime(#[source] std::io::Error),
    #[error("Cannot get vectors from `{model}`: {kind}")]
    Service {
        model: String,
        kind: ErrorKind,
        #[source]
        said: Option<Said>,
    },
}

#[derive(Debug)]
pub struct ServiceEmbedder {
    endpoint: Endpoint,
    service: EmbeddingService,
    id: ModelId,
    dims: usize,
    runtime: Runtime,
}

#[derive(Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl ServiceEmbedder {
    /// Requests one vector to determine its length, which is part of the model's identity.
    pub fn connect(service: EmbeddingService) -> Result<Self, EmbeddingError> {
        let key = service.key.as_ref();
        let endpoint = Endpoint::new("embedding", &service.base_url, key, None)?;
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(EmbeddingError::Runtime)?;
        let unknown = ModelId::from_description("endpoint", "");
        let mut made = Self { endpoint, service, id: unknown, dims: 0, runtime };
        let probe = made.ask(&[PROBE.to_owned()])?.pop().unwrap_or_default();
        made.dims = probe.len();
        let what = format!("{} {} {}", made.service.base_url, made.service.model, made.dims);
        made.id = ModelId::from_description("endpoint", &what);
        Ok(made)
    }

    fn ask(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let asked = self.runtime.block_on(async {
            let late = |_| Err(Fault::new(ErrorKind::Timeout(Wait::Total)));
            timeout(self.service.patience, self.attempts(texts)).await.unwrap_or_else(late)
        });
        asked.map_err(|fault| EmbeddingError::Service {
            model: self.service.model.clone(),
            kind: fault.kind,
            said: fault.said.map(|said| Said::new(&self.endpoint.scrub(truncate_error(&said)))),
        })
    }

    async fn attempts(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut attempt = 1;
        loop {
            let fault = match self.attempt(texts).await {
                Ok(vectors) => return Ok(vectors),
                Err(fault) => fault,
            };
            if fault.kind.next_step() != NextStep::Retry || attempt == ATTEMPTS {
                return Err(fault);
            }
            let own = self.service.first_wait.saturating_mul(1 << attempt);
            sleep(fault.kind.retry_after().unwrap_or(own)).await;
            attempt += 1;
        }
    }

    async fn attempt(&self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let body = json!({
            "model": self.service.model,
            "input": texts,
            "encoding_format": "float",
        });
        let key = self.endpoint.key.as_ref();
        let headers: Vec<_> = key.map(Secret::bearer).into_iter().collect();
        let body = body.to_string().into_bytes();
        let response = self.endpoint.post("/embeddings", &headers, body).await?;
        let answer = read_whole(response, MAX_ANSWER_BYTES).await?;
        let mut answer: Value = serde_json::from_str(&answer).unwrap_or_default();
        let items = answer.get_mut("data").map(Value::take).unwrap_or_default();
        let items = serde_json::from_value(items)
            .map_err(|_| Fault::protocol("the response contains no vectors"))?;
        in_order(items, texts.len(), self.dims)
    }
}

/// Returns the vectors in the order of their texts. `dims` is 0 if the vector length is not known
/// yet.
fn in_order(items: Vec<Item>, n_texts: usize, dims: usize) -> Result<Vec<Vec<f32>>> {
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; n_texts];
    for (place, item) in items.into_iter().enumerate() {
        let length = item.embedding.len();
        let is_fitting = (1..=MAX_DIMS).contains(&length) && (dims == 0 || length == dims);
        let slot = vectors.get_mut(item.index.unwrap_or(place)).filter(|_| is_fitting);
        let slot =
            slot.ok_or_else(|| Fault::protocol("a vector has an unexpected length or index"))?;
        *slot = Some(item.embedding);
    }
    let vectors: Option<Vec<Vec<f32>>> = vectors.into_iter().collect();
    vectors.ok_or_else(|| Fault::protocol("no vectors for some texts"))
}

impl Embedder for ServiceEmbedder {
    fn model(&self) -> &ModelId {
        &self.id
    }

    fn dims(&self) -> usize {
        self.dims
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut vectors = Vec::with_capacity(texts.len());
        for piece in texts.chunks(MAX_TEXTS) {
            // Services reject empty text, so it gets a zero vector.
            let sent: Vec<&&str> = piece.iter().filter(|text| !text.trim().is_empty()).collect();
            let prepared: Vec<String> =
                sent.iter().map(|text| prepare(text, &self.service.words)).collect();
            let mut asked = if prepared.is_empty() {
                Vec::new()
            } else {
                self.ask(&prepared).map_err(|error| EmbedError::Service(Box::new(error)))?
            };
            asked.iter_mut().for_each(|vector| normalize(vector));
            let mut asked = asked.into_iter();
            let zero = || vec![0.0; self.dims];
            vectors.extend(piece.iter().map(|text| match text.trim().is_empty() {
                true => zero(),
                false => asked.next().unwrap_or_else(zero),
            }));
        }
        Ok(vectors)
    }
}

fn prepare(text: &str, words: &ExtraWords) -> String {
    // Redact before truncating, because the redactor may not recognize an incomplete secret.
    let text = words.redact(text);
    text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_owned()
}
