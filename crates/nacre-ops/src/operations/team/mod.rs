//! Memories between the machines of a team, over a server: what one machine sends and brings, and what the server takes in and offers.
//!
//! A memory moves as git would move it: its files, under its own id. Where it arrives it is foreign until a person trusts it, and what
//! lies there under its id stays unless nobody changed it since it came.

mod inbox;
mod offer;
mod pull;
mod push;
mod remote;
mod report;
mod take_in;
mod transcripts;
mod withdraw;

pub use inbox::{
    forget as forget_transcript, list as list_transcripts, put as put_transcript,
    share as share_transcript, show as show_transcript,
};
pub use offer::{hand_over, offer};
pub use pull::pull;
pub use push::push;
pub use report::report;
pub use take_in::take_in;
pub use transcripts::{sent, withdraw_transcript};
