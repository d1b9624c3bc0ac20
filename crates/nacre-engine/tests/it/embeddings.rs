//! Tests for embeddings from a service: requests, accepted responses and rejected ones.

use std::time::Duration;

use nacre_base::redact::ExtraWords;
use nacre_engine::model::{EmbeddingError, EmbeddingService, Secret, ServiceEmbedder};
use nacre_memory::search::{EmbedError, Embedder as _};
use serde_json::json;

use crate::harness::KEY;
use crate::loopback::{Loopback, Reply};

fn vectors(of: &[&[f32]]) -> Reply {
    let data: Vec<_> = of
        .iter()
        .enumerate()
        .map(|(index, embedding)| json!({ "index": index, "embedding": embedding }))
        .collect();
    Reply::with_type("application/json", [json!({ "data": data }).to_string()])
}

/// Runs `work` alongside a server. The embedder blocks, so it gets its own thread.
async fn beside<T: Send + 'static>(
    replies: Vec<Reply>,
    work: impl FnOnce(EmbeddingService) -> T + Send + 'static,
) -> (T, Loopback) {
    let server = Loopback::start(replies).await;
    let service = EmbeddingService {
        base_url: format!("{}/v1", server.address),
        model: "small".to_owned(),
        key: Secret::new(KEY),
        words: ExtraWords::new(&["Acme Corp".to_owned()]),
        patience: Duration::from_secs(60),
        first_wait: Duration::from_millis(1),
    };
    (tokio::task::spawn_blocking(move || work(service)).await.unwrap(), server)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn texts_become_vectors_of_length_one_in_their_order() {
    let swapped = Reply::with_type(
        "application/json",
        [json!({ "data": [
            { "index": 1, "embedding": [0.0, 2.0] },
            { "index": 0, "embedding": [3.0, 4.0] },
        ] })
        .to_string()],
    );
    let replies = vec![vectors(&[&[1.0, 0.0]]), swapped];
    let (made, server) = beside(replies, |service| {
        let embedder = ServiceEmbedder::connect(service).unwrap();
        let secret = format!("deploy with AKIA{}", "IOSFODNN7EXAMPL3");
        embedder.embed(&["first of Acme Corp", "", &secret]).unwrap()
    })
    .await;
    assert_eq!(made, [vec![0.6, 0.8], vec![0.0, 0.0], vec![0.0, 1.0]]);
    let received = server.requests();
    assert_eq!(received.len(), 2);
    assert!(received[1].head.contains(&format!("authorization: Bearer {KEY}")));
    assert!(received[1].head.starts_with("POST /v1/embeddings"));
    let sent = received[1].body["input"].to_string();
    assert!(sent.contains("first") && sent.contains("[redacted:"), "{sent}");
    assert!(!sent.contains("IOSFODNN7") && !sent.contains("Acme"), "{sent}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_model_or_length_is_another_identity() {
    let ids = |replies: Vec<Reply>, model: &'static str| async move {
        let (id, server) = beside(replies, move |service| {
            // The port differs in each run, so the identity must depend only on the user's
            // settings.
            let service = EmbeddingService { model: model.to_owned(), ..service };
            ServiceEmbedder::connect(service).unwrap().model().as_str().to_owned()
        })
        .await;
        drop(server);
        id
    };
    let small = ids(vec![vectors(&[&[1.0, 0.0]])], "small").await;
    let large = ids(vec![vectors(&[&[1.0, 0.0]])], "large").await;
    assert!(small.starts_with("endpoint-"));
    assert_ne!(small, large);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_service_is_asked_again() {
    let busy = Reply::status(429, &[("retry-after", "0")], "{}");
    let (dims, server) = beside(vec![busy, vectors(&[&[1.0, 0.0, 0.0]])], |service| {
        ServiceEmbedder::connect(service).unwrap().dims()
    })
    .await;
    assert_eq!(dims, 3);
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_says_nothing_is_asked_within_one_deadline() {
    let (result, server) = beside(vec![vectors(&[&[1.0]]).stall()], |service| {
        let patience = Duration::from_millis(60);
        ServiceEmbedder::connect(EmbeddingService { patience, ..service })
    })
    .await;
    let error = result.map(|_| ()).unwrap_err();
    let shown = error.to_string();
    assert!(shown.contains("took too long"), "{shown}");
    assert_eq!(server.requests().len(), 1, "another attempt would double the time");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_answers_are_errors_without_the_key() {
    let complaint = format!("{{\"error\": {{\"message\": \"bad key {KEY}\"}}}}");
    for reply in [
        Reply::status(401, &[], &complaint),
        Reply::with_type("application/json", ["{}".to_owned()]),
        Reply::with_type("application/json", ["{\"data\": []}".to_owned()]),
        Reply::with_type("application/json", ["{\"data\": [{\"embedding\": []}]}".to_owned()]),
        Reply::with_type("text/html", ["<p>hello".to_owned()]),
    ] {
        let (result, _server) = beside(vec![reply], ServiceEmbedder::connect).await;
        let error = result.map(|_| ()).unwrap_err();
        let shown = format!("{error} {error:?}");
        assert!(matches!(error, EmbeddingError::Service { .. }), "{shown}");
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn vectors_of_another_length_are_refused() {
    let replies = vec![vectors(&[&[1.0, 0.0]]), vectors(&[&[1.0, 0.0, 0.0]])];
    let (result, _server) =
        beside(replies, |service| ServiceEmbedder::connect(service).unwrap().embed(&["text"]))
            .await;
    assert!(matches!(result, Err(EmbedError::Service(_))), "{result:?}");
}
