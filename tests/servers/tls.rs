//! Certificates: an authority that the client trusts, and the ways a server's certificate can be wrong.

use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::stream::Stream;

/// A certificate authority made for one test, and the file by which a client trusts it.
#[derive(Debug)]
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    /// A new authority of this name; its certificate is written to [`Authority::file`].
    #[must_use]
    pub fn create(name: &str) -> Self {
        Self::create_for(name, &["localhost", "127.0.0.1"], 2099)
    }

    /// The same, whose own certificate is for these hosts and until this year.
    #[must_use]
    pub fn create_for(name: &str, hosts: &[&str], expires: i32) -> Self {
        let hosts: Vec<String> = hosts.iter().map(|&host| host.to_owned()).collect();
        let mut params = CertificateParams::new(hosts).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(expires, 1, 1);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    /// The PEM file for `SSL_CERT_FILE`.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// A good certificate for `localhost` and `127.0.0.1`.
    #[must_use]
    pub fn identity(&self) -> Identity {
        self.issue(&["localhost", "127.0.0.1"], 2099)
    }

    /// A certificate for another host.
    #[must_use]
    pub fn identity_of_another_host(&self) -> Identity {
        self.issue(&["corpus.example"], 2099)
    }

    /// A certificate whose time is over.
    #[must_use]
    pub fn expired_identity(&self) -> Identity {
        self.issue(&["localhost", "127.0.0.1"], 2001)
    }

    /// The authority's own certificate, shown by a server; it is good for `localhost` and `127.0.0.1`.
    #[must_use]
    pub fn own_identity(&self) -> Identity {
        Identity::Certified(server_config(self.issuer.der().clone(), self.issuer.key()))
    }

    fn issue(&self, names: &[&str], expires: i32) -> Identity {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(expires, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Identity::Certified(server_config(certificate.der().clone(), &key))
    }
}

/// What a server shows in the TLS handshake.
#[derive(Debug, Clone)]
pub enum Identity {
    /// A certificate and its key.
    Certified(Arc<ServerConfig>),
    /// Nothing: the connection is cut in the middle of the handshake.
    CutHandshake,
}

impl Identity {
    /// Starts TLS on a new connection.
    pub(super) fn accept(&self, socket: TcpStream) -> Option<Stream> {
        match self {
            Self::Certified(config) => {
                let session = ServerConnection::new(Arc::clone(config)).unwrap();
                Some(Stream::Encrypted(Box::new(StreamOwned::new(session, socket))))
            }
            Self::CutHandshake => {
                // The client's hello is awaited, so that the cut comes after it.
                let _ = socket.peek(&mut [0]);
                Stream::Plain(socket).close();
                None
            }
        }
    }
}

fn server_config(certificate: CertificateDer<'static>, key: &KeyPair) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}
