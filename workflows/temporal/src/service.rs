//! The Temporal service: where it is, and why it does not answer.

use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;

use corpora_contracts::outcome::Disposition;
use temporalio_client::envconfig::{ConfigError, LoadClientConfigProfileOptions};
use temporalio_client::errors::ClientConnectError;
use temporalio_client::tonic::{Code, IntoRequest as _, Status};
use temporalio_client::{Client, ClientOptions, Connection, ConnectionOptions};
use temporalio_common::envconfig::load_client_config_profile;
use temporalio_common::protos::temporal::api::workflowservice::v1::DescribeNamespaceRequest;
use tokio::time::timeout;

use crate::environment;

/// How long the service is waited for; the answer to "does it run?" has to come within ten seconds.
const PATIENCE: Duration = Duration::from_secs(8);

/// The variable that names a temporal.toml.
const CONFIG_FILE: &str = "TEMPORAL_CONFIG_FILE";

/// The namespace when none is named.
const NAMESPACE: &str = "default";

/// Why the service is of no use.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    /// The settings cannot be read.
    #[error("read the settings of the Temporal service (TEMPORAL_* and temporal.toml)")]
    Settings(#[source] ConfigError),
    /// The library would go on without the file, and reach another service than was meant.
    #[error("find `{path}`, the file that {CONFIG_FILE} names")]
    NoConfigFile {
        /// As given.
        path: String,
    },
    /// The library would verify all the same, and the handshake fail for a reason that nobody sees.
    #[error(
        "connect without verifying the host, which is not supported; name its certificate authority with \
         TEMPORAL_TLS_SERVER_CA_CERT_PATH, or its name with TEMPORAL_TLS_SERVER_NAME"
    )]
    Unverified,
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
    /// The service has no such namespace.
    #[error(
        "find namespace `{namespace}` on the Temporal service at {address}; is TEMPORAL_NAMESPACE right, has it been \
         created?"
    )]
    NoNamespace {
        /// Its name.
        namespace: String,
        /// Where.
        address: String,
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

    /// Something that only a programming error or another release explains.
    pub(crate) fn confused<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        what: &'static str,
    ) -> impl FnOnce(E) -> Self {
        move |error| Self::Confused { what, source: error.into() }
    }

    /// Settings and refusals stay as they are; a service may come back.
    pub(crate) fn disposition(&self) -> Disposition {
        match self {
            Self::Settings(_)
            | Self::NoConfigFile { .. }
            | Self::Unverified
            | Self::NoNamespace { .. }
            | Self::Confused { .. } => Disposition::Fail,
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
        let (mut connection, client) = settings(&environment::orchestrators())?;
        connection.connect_timeout = Some(PATIENCE);
        let address = connection.target.to_string();
        let silent = || ServiceError::Silent { address: address.clone() };
        timeout(PATIENCE, Self::reach(connection, client)).await.map_err(|_| silent())?
    }

    async fn reach(connection: ConnectionOptions, client: ClientOptions) -> Result<Self, ServiceError> {
        let address = connection.target.to_string();
        let unreachable = |source| ServiceError::Unreachable { address: address.clone(), source: Box::new(source) };
        let connection = Connection::connect(connection).await.map_err(unreachable)?;
        let client = Client::new(connection, client);
        let client = client.map_err(ServiceError::confused("make a client of the Temporal service"))?;
        let service = Self { client, address };
        service.find_namespace().await?;
        Ok(service)
    }

    /// A namespace that is not there would be told by each question in words of its own. What else the service says to this
    /// one is passed over: it may be for others to ask.
    async fn find_namespace(&self) -> Result<(), ServiceError> {
        let namespace = self.client.options().namespace.clone();
        let request = DescribeNamespaceRequest { namespace: namespace.clone(), ..Default::default() };
        let mut service = self.client.connection().workflow_service();
        match service.describe_namespace(request.into_request()).await {
            Err(status) if status.code() == Code::NotFound => {
                Err(ServiceError::NoNamespace { namespace, address: self.address.clone() })
            }
            _ => Ok(()),
        }
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

/// Where the service is and how it is asked, from these variables and the file that they or convention name.
fn settings(variables: &HashMap<String, String>) -> Result<(ConnectionOptions, ClientOptions), ServiceError> {
    let file = variables.get(CONFIG_FILE).filter(|path| !path.is_empty());
    if let Some(path) = file.filter(|path| !Path::new(path).exists()) {
        return Err(ServiceError::NoConfigFile { path: path.clone() });
    }
    let profile = load_client_config_profile(LoadClientConfigProfileOptions::default(), Some(variables));
    let profile = profile.map_err(ServiceError::Settings)?;
    if profile.tls.as_ref().is_some_and(|tls| tls.disable_host_verification) {
        return Err(ServiceError::Unverified);
    }
    let namespace = profile.namespace.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| NAMESPACE.to_owned());
    let mut connection = ConnectionOptions::try_from(profile).map_err(ServiceError::Settings)?;
    if connection.tls_options.is_some() {
        // The library's own default address is an http one, and it would send an API key in plain.
        let _ = connection.target.set_scheme("https");
    }
    Ok((connection, ClientOptions::new(namespace).build()))
}

#[cfg(test)]
mod tests;
