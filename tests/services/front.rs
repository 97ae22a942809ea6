//! TLS in front of a service that has none: what comes encrypted goes on in plain.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{sleep, spawn};
use std::time::Duration;

use rustls::{ServerConfig, ServerConnection};

use crate::servers::Identity;

/// How long the front rests when nothing moves.
const REST: Duration = Duration::from_millis(1);

/// A front on a free port of 127.0.0.1, for as long as the test runs.
#[derive(Debug)]
pub struct Front {
    port: u16,
}

impl Front {
    /// Starts a front that shows this identity and speaks HTTP/2 alone, as gRPC asks for, before this port.
    ///
    /// # Panics
    /// When the identity is no certificate.
    #[must_use]
    pub fn start(identity: &Identity, behind: u16) -> Self {
        let Identity::Certified(config) = identity else { panic!("a front needs a certificate") };
        let mut config = ServerConfig::clone(config);
        config.alpn_protocols = vec![b"h2".to_vec()];
        let config = Arc::new(config);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let session = ServerConnection::new(Arc::clone(&config)).unwrap();
                spawn(move || {
                    TcpStream::connect((Ipv4Addr::LOCALHOST, behind)).and_then(|to| pass(session, client, to))
                });
            }
        });
        Self { port }
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

/// Passes bytes on in both directions until one side ends.
fn pass(mut session: ServerConnection, mut client: TcpStream, mut service: TcpStream) -> io::Result<()> {
    client.set_nonblocking(true)?;
    service.set_nonblocking(true)?;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let mut moved = came(session.read_tls(&mut client))?;
        session.process_new_packets().map_err(io::Error::other)?;
        while let Some(length @ 1..) = came(session.reader().read(&mut buffer))? {
            write_all(&mut service, &buffer[..length])?;
        }
        if let Some(length) = came(service.read(&mut buffer))? {
            session.writer().write_all(&buffer[..length])?;
            moved = Some(length);
        }
        while session.wants_write() && came(session.write_tls(&mut client))?.is_some() {}
        match moved {
            Some(0) => return Ok(()),
            Some(_) => {}
            None => sleep(REST),
        }
    }
}

/// How much came; none when nothing is there yet.
fn came(length: io::Result<usize>) -> io::Result<Option<usize>> {
    match length {
        Ok(length) => Ok(Some(length)),
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

fn write_all(to: &mut TcpStream, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match came(to.write(bytes))? {
            Some(length) => bytes = &bytes[length..],
            None => sleep(REST),
        }
    }
    Ok(())
}
