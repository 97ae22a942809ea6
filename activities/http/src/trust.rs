//! Whom we trust: the CA certificates that `SSL_CERT_FILE` and `SSL_CERT_DIR` name, else the system's.
//!
//! A certificate is verified as rustls does it, with one addition, which curl has too: a server may show the very
//! certificate that a person has put into one of these variables, also when it is a CA's, as self-signed certificates are
//! unless their maker took care. That gives nothing away: whoever has a CA's key could sign a certificate for the name.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{self, CryptoProvider, WebPkiSupportedAlgorithms};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

/// Why nobody can be trusted.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// What a variable names cannot be read, or is no PEM.
    #[error("read the CA certificates that `{variable}` names; correct it, or unset it to trust the system's")]
    Unreadable {
        /// The variable.
        variable: &'static str,
        /// What failed, and on which file.
        source: rustls_native_certs::Error,
    },
    /// What a variable names holds no certificate.
    #[error(
        "find a CA certificate in `{}`, which `{variable}` names; put PEM there, or unset it to trust the system's",
        Path::new(value).display()
    )]
    Empty {
        /// The variable.
        variable: &'static str,
        /// Its value.
        value: OsString,
    },
    /// The TLS library has none of the protocol versions that we ask for.
    #[error("set up TLS")]
    Tls {
        /// The library's error.
        source: rustls::Error,
    },
}

/// What a server may answer in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protocols {
    /// HTTP/1.1: one body a connection, which is what a download wants.
    Http1,
    /// HTTP/2 where the server has it.
    Http2,
}

/// The TLS settings of every connection: whom we trust, and in what servers may answer.
///
/// # Errors
/// [`TrustError`] when a variable is set and gives no certificate. A system without any is no error: plain HTTP needs
/// none, and over TLS the certificate will be refused.
pub fn tls(protocols: Protocols) -> Result<ClientConfig, TrustError> {
    let own = own_certificates(std::env::var_os("SSL_CERT_FILE"), std::env::var_os("SSL_CERT_DIR"))?;
    let provider = Arc::new(crypto::ring::default_provider());
    let verifier = Arc::new(Verifier::new(own, &provider));
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder.map_err(|source| TrustError::Tls { source })?;
    let mut config = builder.dangerous().with_custom_certificate_verifier(verifier).with_no_client_auth();
    config.alpn_protocols = match protocols {
        Protocols::Http1 => vec![b"http/1.1".to_vec()],
        Protocols::Http2 => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
    };
    Ok(config)
}

/// The certificates that the variables name, in place of the system's; none when neither is set.
fn own_certificates(
    file: Option<OsString>,
    folders: Option<OsString>,
) -> Result<Option<Vec<CertificateDer<'static>>>, TrustError> {
    if file.is_none() && folders.is_none() {
        return Ok(None);
    }
    let mut all = Vec::new();
    if let Some(file) = file {
        all.extend(load("SSL_CERT_FILE", &file, [Path::new(&file)], |path| (Some(path), None))?);
    }
    if let Some(folders) = folders {
        let paths: Vec<_> = std::env::split_paths(&folders).collect();
        let paths = paths.iter().map(AsRef::as_ref).filter(|path: &&Path| !path.as_os_str().is_empty());
        all.extend(load("SSL_CERT_DIR", &folders, paths, |path| (None, Some(path)))?);
    }
    Ok(Some(all))
}

/// The certificates of each path, where the library finds them as `place` says: in a file, or in the files of a folder.
fn load<'a>(
    variable: &'static str,
    value: &OsStr,
    paths: impl IntoIterator<Item = &'a Path>,
    place: impl Fn(&'a Path) -> (Option<&'a Path>, Option<&'a Path>),
) -> Result<Vec<CertificateDer<'static>>, TrustError> {
    let mut all = Vec::new();
    for path in paths {
        let (file, folder) = place(path);
        let found = rustls_native_certs::load_certs_from_paths(file, folder);
        if let Some(source) = found.errors.into_iter().next() {
            return Err(TrustError::Unreadable { variable, source });
        }
        all.extend(found.certs);
    }
    let has_usable = RootCertStore::empty().add_parsable_certificates(all.iter().cloned()).0 > 0;
    if has_usable { Ok(all) } else { Err(TrustError::Empty { variable, value: value.to_owned() }) }
}

/// Verifies a server's certificate.
#[derive(Debug)]
struct Verifier {
    roots: RootCertStore,
    /// Those of them that a person has named.
    own: Vec<CertificateDer<'static>>,
    algorithms: WebPkiSupportedAlgorithms,
}

impl Verifier {
    fn new(own: Option<Vec<CertificateDer<'static>>>, provider: &CryptoProvider) -> Self {
        let mut roots = RootCertStore::empty();
        let trusted = own.clone().unwrap_or_else(|| rustls_native_certs::load_native_certs().certs);
        // A bundle may hold certificates of a form that is not supported; the others count all the same.
        let (_added, ignored) = roots.add_parsable_certificates(trusted);
        if ignored > 0 || roots.is_empty() {
            tracing::debug!(trusted = roots.len(), ignored, "CA certificates");
        }
        Self { roots, own: own.unwrap_or_default(), algorithms: provider.signature_verification_algorithms }
    }

    /// Whether a certificate was refused for being a CA's alone, and is one that a person has named. Its dates are
    /// checked before, so they are right.
    fn is_named(&self, certificate: &CertificateDer<'_>, refusal: &rustls::Error) -> bool {
        let rustls::Error::InvalidCertificate(CertificateError::Other(other)) = refusal else { return false };
        let is_ca = matches!(other.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity));
        is_ca && self.own.iter().any(|own| own.as_ref() == certificate.as_ref())
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        let algorithms = self.algorithms.all;
        match verify_server_cert_signed_by_trust_anchor(&certificate, &self.roots, intermediates, now, algorithms) {
            Err(refusal) if !self.is_named(end_entity, &refusal) => return Err(refusal),
            _ => verify_server_name(&certificate, server_name)?,
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        crypto::verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_gives_no_certificate_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).into_os_string();
        for (name, text) in [
            ("empty.pem", ""),
            ("text.pem", "no certificate\n"),
            ("torn.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n"),
            ("garbage.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
        ] {
            std::fs::write(path(name), text).unwrap();
            let error = own_certificates(Some(path(name)), None).unwrap_err();
            assert!(error.to_string().contains("`SSL_CERT_FILE`"), "{name}: {error}");
        }
        for value in [path("absent"), path("empty.pem"), OsString::new(), path("")] {
            let error = own_certificates(None, Some(value.clone())).unwrap_err();
            assert!(error.to_string().contains("`SSL_CERT_DIR`"), "{value:?}: {error}");
        }
        for value in [path("absent"), OsString::new(), folder.path().into()] {
            let error = own_certificates(Some(value.clone()), None).unwrap_err();
            assert!(error.to_string().contains("`SSL_CERT_FILE`"), "{value:?}: {error}");
        }
        assert!(own_certificates(None, None).unwrap().is_none());
    }
}
