//! The Temporal service: where it is, and why it does not answer.

use std::time::Duration;

use corpora_contracts::outcome::Disposition;
use temporalio_client::envconfig::{ConfigError, LoadClientConfigProfileOptions};
use temporalio_client::errors::ClientConnectError;
use temporalio_client::tonic::{Code, Status};
use temporalio_client::{Client, ClientOptions, Connection};
use tokio::time::timeout;

/// How long the service is waited for; the answer to "does it run?" has to come within ten seconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// Why the service is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    /// The settings cannot be read.
    #[error("read the settings of the Temporal service (TEMPORAL_* and temporal.toml)")]
    Settings(#[source] ConfigError),
    /// Nobody answers there.
    #[error("reach the Temporal service at {address} within {} s; is it running, is TEMPORAL_ADDRESS right?", PATIENCE.as_secs())]
    Silent {
        /// Where.
        address: String,
    },
    /// There is no connection to be had.
    #[error("reach the Temporal service at {address}; is it running, is TEMPORAL_ADDRESS right?")]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        source: Box<ClientConnectError>,
    },
    /// The service answers, and refuses.
    #[error("{what}: the Temporal service says {code:?}", code = status.code())]
    Refused {
        /// What was asked.
        what: &'static str,
        /// What it says.
        #[source]
        status: Box<Status>,
    },
    /// What was sent or received is not what the other side takes.
    #[error("{what}")]
    Confused {
        /// What was asked.
        what: &'static str,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl ServiceError {
    /// A refusal of what was asked.
    pub(crate) fn refused(what: &'static str, status: Status) -> Self {
        Self::Refused { what, status: Box::new(status) }
    }

    /// Settings and refusals stay as they are; a service may come back.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Settings(_) | Self::Confused { .. } => Disposition::Fail,
            Self::Silent { .. } => Disposition::Retry,
            Self::Refused { status, .. } => of_status(status),
            Self::Unreachable { source, .. } => match &**source {
                ClientConnectError::SystemInfoCallError(status) => of_status(status),
                ClientConnectError::InvalidUri(_)
                | ClientConnectError::InvalidHeaders(_)
                | ClientConnectError::InvalidConfig(_) => Disposition::Fail,
                _ => Disposition::Retry,
            },
        }
    }
}

/// What a gRPC status means for a later attempt (gRPC, "Status codes and their use").
fn of_status(status: &Status) -> Disposition {
    match status.code() {
        Code::InvalidArgument
        | Code::NotFound
        | Code::PermissionDenied
        | Code::Unauthenticated
        | Code::Unimplemented => Disposition::Fail,
        _ => Disposition::Retry,
    }
}

/// A service that has answered.
pub(crate) struct Service {
    /// The connection to it.
    pub(crate) client: Client,
    address: String,
}

impl Service {
    /// Connects to the service that the environment names, or else its temporal.toml.
    ///
    /// # Errors
    /// [`ServiceError`], within [`PATIENCE`].
    pub(crate) async fn connect() -> Result<Self, ServiceError> {
        let settings = ClientOptions::load_from_config(LoadClientConfigProfileOptions::default());
        let (mut connection, client) = settings.map_err(ServiceError::Settings)?;
        connection.connect_timeout = Some(PATIENCE);
        let address = connection.target.to_string();
        let connected = timeout(PATIENCE, Connection::connect(connection)).await;
        let connected = connected.map_err(|_| ServiceError::Silent { address: address.clone() })?;
        let unreachable = |source| ServiceError::Unreachable { address: address.clone(), source: Box::new(source) };
        let client = Client::new(connected.map_err(unreachable)?, client);
        let confused = |source| ServiceError::Confused { what: "make a client of the Temporal service", source };
        Ok(Self { client: client.map_err(|error| confused(Box::new(error)))?, address })
    }

    /// The answer to a question that was put to the service, which has as long as a connection had.
    ///
    /// # Errors
    /// [`ServiceError::Silent`] when it does not come.
    pub(crate) async fn answer<T>(&self, question: impl Future<Output = T>) -> Result<T, ServiceError> {
        let answer = timeout(PATIENCE, question).await;
        answer.map_err(|_| ServiceError::Silent { address: self.address.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_final_and_an_outage_is_not() {
        let of = |code| ServiceError::refused("start the build", Status::new(code, "x")).disposition();
        for code in [Code::Unavailable, Code::DeadlineExceeded, Code::ResourceExhausted, Code::Internal, Code::Unknown]
        {
            assert_eq!(of(code), Disposition::Retry, "{code:?}");
        }
        for code in [Code::PermissionDenied, Code::Unauthenticated, Code::NotFound, Code::InvalidArgument] {
            assert_eq!(of(code), Disposition::Fail, "{code:?}");
        }
        let silent = ServiceError::Silent { address: "http://localhost:7233/".to_owned() };
        assert_eq!(silent.disposition(), Disposition::Retry);
    }
}
