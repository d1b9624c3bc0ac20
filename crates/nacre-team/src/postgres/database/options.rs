//! The database address, and limits for calls.

use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};

use super::error::{DatabaseError, Result};

#[derive(Clone)]
pub struct DatabaseOptions {
    /// `postgres://user@host:port/name`, or `postgres://user@%2Frun%2Fpostgresql/name` for a Unix
    /// socket.
    pub url: String,
    /// Kept out of the URL, which is stored in the settings.
    pub password: Option<String>,
    /// Additional trusted certificates in PEM format.
    pub certificates: Option<Vec<u8>>,
    pub max_connections: usize,
    pub wait_for_connection: Duration,
    pub connect_timeout: Duration,
    pub call_timeout: Duration,
}

impl DatabaseOptions {
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            password: None,
            certificates: None,
            max_connections: 8,
            wait_for_connection: Duration::from_secs(5),
            connect_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(30),
        }
    }

    /// Parses the URL. Connections to other machines require TLS, unless the URL contains
    /// `sslmode=disable`.
    pub(super) fn config(&self) -> Result<Config> {
        let is_postgres =
            ["postgres://", "postgresql://"].iter().any(|scheme| self.url.starts_with(scheme));
        if !is_postgres {
            return Err(DatabaseError::Url("it does not start with `postgres://`".into()));
        }
        let mut config: Config =
            self.url.parse().map_err(|error| DatabaseError::Url(Box::new(error)))?;
        if config.get_user().is_none() {
            return Err(DatabaseError::NoUser);
        }
        // The URL is shown along with the other settings, so it must not contain the password.
        if config.get_password().is_some() {
            return Err(DatabaseError::PasswordInUrl);
        }
        if let Some(password) = &self.password {
            config.password(password);
        }
        let attributes = config.get_target_session_attrs();
        if !config.get_hostaddrs().is_empty() || attributes != TargetSessionAttrs::Any {
            return Err(DatabaseError::Url(
                "it contains `hostaddr` or `target_session_attrs`".into(),
            ));
        }
        if config.get_ssl_mode() == SslMode::Prefer {
            let is_local = config.get_hosts().iter().all(is_this_machine);
            config.ssl_mode(if is_local { SslMode::Disable } else { SslMode::Require });
        }
        let limit = self.call_timeout.as_millis();
        config
            .application_name("nacre")
            // If a call times out on the client, the database must stop working on it too.
            .options(format!(
                "-c search_path=nacre,public -c statement_timeout={limit} -c lock_timeout={limit} \
                 -c idle_in_transaction_session_timeout={limit} -c client_min_messages=warning \
                 -c plan_cache_mode=force_custom_plan"
            ));
        Ok(config)
    }
}

// Omits the URL, which may contain a password.
nacre_base::debug_only!(DatabaseOptions { max_connections, call_timeout });

fn is_this_machine(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => ["localhost", "127.0.0.1", "::1"].contains(&name.as_str()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(url: &str) -> SslMode {
        DatabaseOptions::new(url).config().unwrap().get_ssl_mode()
    }

    #[test]
    fn another_machine_is_reached_by_tls_unless_the_url_says_otherwise() {
        assert_eq!(mode("postgres://nacre@db.example/memory"), SslMode::Require);
        assert_eq!(mode("postgres://nacre@db.example/memory?sslmode=disable"), SslMode::Disable);
        assert_eq!(mode("postgres://nacre@localhost/memory"), SslMode::Disable);
        assert_eq!(mode("postgres://nacre@%2Frun%2Fpostgresql/memory"), SslMode::Disable);
        assert_eq!(mode("postgres://nacre@localhost/memory?sslmode=require"), SslMode::Require);
    }

    #[test]
    fn what_is_no_address_is_refused_without_showing_it() {
        let wrong =
            ["mysql://u:secret@h/d", "postgres://u:secret@h/d?nonsense=1", "postgres://h/d"];
        for url in wrong.into_iter().chain(["postgres://u:secret@h/d"]) {
            let error = DatabaseOptions::new(url).config().unwrap_err();
            assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        }
        let options = DatabaseOptions::new("postgres://u:secret@h/d");
        assert!(!format!("{options:?}").contains("secret"));
    }
}
