//! Why a port did not do what was asked.

use corpora_contracts::outcome::Disposition;

/// Why a port did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The service behind the port failed, or is not there now.
    #[error("{action} `{service}`")]
    Service {
        /// What was tried: `read`, `write`.
        action: &'static str,
        /// Which service, without secrets.
        service: String,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What was asked is more than the port takes, or malformed: a later attempt fails the same way.
    #[error("{action} `{service}`: {reason}")]
    Request {
        /// What was tried.
        action: &'static str,
        /// Which service.
        service: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl PortError {
    /// What the caller should do.
    #[must_use]
    pub fn disposition(&self) -> Disposition {
        match self {
            Self::Service { .. } => Disposition::Retry,
            Self::Request { .. } => Disposition::Fail,
        }
    }

    /// An error of the service with this name.
    pub fn service<E: std::error::Error + Send + Sync + 'static>(
        action: &'static str,
        service: &str,
    ) -> impl FnOnce(E) -> Self {
        let service = service.to_owned();
        move |source| Self::Service { action, service, source: Box::new(source) }
    }
}
