//! How every HTTP client of ours begins.

use reqwest::ClientBuilder;

use crate::proxies::{self, InvalidProxy};
use crate::trust::{self, Protocols, TrustError};

/// Why there is no client: the environment or the config is wrong, and will be next time.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A proxy variable names no proxy.
    #[error(transparent)]
    Proxy(#[from] InvalidProxy),
    /// A CA variable gives no certificate.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The HTTP library refuses the settings.
    #[error("set up the HTTP client")]
    Settings {
        /// The library's error.
        source: reqwest::Error,
    },
}

/// A client to be: it asks through the proxies of the usual variables, trusts whom [`trust::tls`] says, follows no redirect and
/// tells nobody where it comes from.
///
/// # Errors
/// [`ClientError`] when the environment gives no client.
pub fn builder(protocols: Protocols) -> Result<ClientBuilder, ClientError> {
    proxies::check()?;
    let tls = trust::tls(protocols)?;
    let none = reqwest::redirect::Policy::none();
    Ok(reqwest::Client::builder().tls_backend_preconfigured(tls).redirect(none).referer(false))
}

/// The client.
///
/// # Errors
/// [`ClientError::Settings`].
pub fn build(builder: ClientBuilder) -> Result<reqwest::Client, ClientError> {
    builder.build().map_err(|source| ClientError::Settings { source })
}
