//! What the database tells by itself: notifications of one channel.

use std::future::poll_fn;
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, timeout_at};
use tokio_postgres::{AsyncMessage, Client};

use super::error::DatabaseError;
use super::pool::Database;

/// The notifications of a channel, from the moment it was listened to.
pub struct Notifications {
    database: Database,
    /// Ends the connection when it is dropped.
    _client: Client,
    told: UnboundedReceiver<String>,
}

impl Database {
    /// Listens to a channel on a connection of its own. `channel` is a name of ours, never text from outside.
    pub fn listen(&self, channel: &'static str) -> Result<Notifications, DatabaseError> {
        let (client, mut connection) = self.connect_apart()?;
        let (tell, told) = unbounded_channel();
        self.spawn(async move {
            while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notification(notification) = message
                    && tell.send(notification.payload().to_owned()).is_err()
                {
                    break;
                }
            }
        });
        self.wait(async { Ok(client.batch_execute(&format!("LISTEN {channel}")).await?) })?;
        Ok(Notifications { database: self.clone(), _client: client, told })
    }
}

impl Notifications {
    /// Waits until `payload` is told; returns how much of the patience is left. After an error nothing more comes, and what was
    /// told meanwhile is lost: listen again, and look at everything.
    pub fn wait_for(
        &mut self,
        payload: &str,
        patience: Duration,
    ) -> Result<Duration, DatabaseError> {
        let Self { database, told, .. } = self;
        database.wait(async {
            let end = Instant::now() + patience;
            loop {
                match timeout_at(end, told.recv()).await {
                    Ok(Some(told)) if told == payload => {
                        return Ok(end.saturating_duration_since(Instant::now()));
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => {
                        return Err(DatabaseError::Away("the connection was closed".into()));
                    }
                    Err(_) => return Ok(Duration::ZERO),
                }
            }
        })
    }
}
