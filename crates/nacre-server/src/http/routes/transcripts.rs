//! Transcripts that people send: each is its sender's, until they share it.

use nacre_ops::team;

use super::super::route::{Route, Verb};
use crate::permit::Permit;

pub(super) fn routes() -> Vec<Route> {
    use Verb::{Get, Post};
    vec![
        Route::operation(
            (Post, "/api/transcripts"),
            "Takes a piece of a transcript in",
            team::put_transcript,
        )
        .needs(Permit::Write),
        Route::operation(
            (Get, "/api/transcripts"),
            "Lists your transcripts and shared ones",
            team::list_transcripts,
        )
        .needs(Permit::Read),
        Route::operation(
            (Get, "/api/transcripts/{id}"),
            "Shows a transcript",
            team::show_transcript,
        )
        .needs(Permit::Read),
        Route::operation(
            (Post, "/api/transcripts/{id}/share"),
            "Lets others read it",
            team::share_transcript,
        )
        .needs(Permit::Write),
        Route::operation(
            (Post, "/api/transcripts/{id}/forget"),
            "Removes it for good",
            team::forget_transcript,
        )
        .needs(Permit::Write),
    ]
}
