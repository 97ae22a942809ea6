//! What a request failed of, told by the errors that the client wraps.

use std::error::Error as _;
use std::io;

/// The kinds of failed connection or message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TransportFault {
    /// The name was not resolved.
    #[error("the host's name cannot be resolved")]
    Dns,
    /// Refused, unreachable, or cut during the TLS handshake.
    #[error("no connection")]
    Connect,
    /// The server's certificate is not valid for us.
    #[error("bad certificate; add the issuer's CA to SSL_CERT_FILE if it is yours")]
    Certificate,
    /// The connection ended in mid-message.
    #[error("the connection was cut")]
    Cut,
    /// What came is not HTTP.
    #[error("malformed response")]
    Malformed,
}

impl TransportFault {
    /// The stable name of the kind.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Dns => "dns",
            Self::Connect => "connect",
            Self::Certificate => "certificate",
            Self::Cut => "cut",
            Self::Malformed => "malformed_response",
        }
    }

    /// Tells the kinds apart; in doubt a cut, which is tried again.
    #[must_use]
    pub fn of(error: &reqwest::Error) -> Self {
        let mut cause = error.source();
        while let Some(current) = cause {
            if let Some(tls) = find_tls(current) {
                return of_tls(tls);
            }
            if is_malformed(current) {
                return Self::Malformed;
            }
            cause = current.source();
        }
        match error {
            _ if error.is_dns() => Self::Dns,
            _ if error.is_connect() => Self::Connect,
            _ => Self::Cut,
        }
    }
}

/// Whether this link says that what came is not HTTP: a head that cannot be parsed, or chunk framing that is none. A
/// body that only ends early is another kind of error.
fn is_malformed(link: &(dyn std::error::Error + 'static)) -> bool {
    let is_parse = link.downcast_ref::<hyper::Error>().is_some_and(hyper::Error::is_parse);
    let kind = link.downcast_ref::<io::Error>().map(io::Error::kind);
    is_parse || matches!(kind, Some(io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData))
}

/// The TLS error in this link of the chain; the connector wraps it in one [`io::Error`] or more.
fn find_tls<'a>(link: &'a (dyn std::error::Error + 'static)) -> Option<&'a rustls::Error> {
    if let Some(tls) = link.downcast_ref() {
        return Some(tls);
    }
    find_tls(link.downcast_ref::<io::Error>()?.get_ref()?)
}

fn of_tls(error: &rustls::Error) -> TransportFault {
    match error {
        rustls::Error::InvalidCertificate(_) | rustls::Error::NoCertificatesPresented => TransportFault::Certificate,
        _ => TransportFault::Connect,
    }
}
