//! A connection, plain or encrypted, that can be ended in every way a connection ends.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use rustls::{ServerConnection, StreamOwned};
use socket2::SockRef;

/// What the client sent may still be on its way; a reset that overtakes our last bytes would destroy them.
const BEFORE_RESET: Duration = Duration::from_millis(30);

#[derive(Debug)]
pub(super) enum Stream {
    Plain(TcpStream),
    Encrypted(Box<StreamOwned<ServerConnection, TcpStream>>),
}

impl Stream {
    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Encrypted(stream) => &stream.sock,
        }
    }

    /// Closes in order (FIN), without a TLS closing alert.
    pub(super) fn close(self) {
        let _ = self.socket().shutdown(Shutdown::Both);
    }

    /// Resets (RST): a socket that lingers for no time is aborted when it is closed.
    pub(super) fn reset(self) {
        std::thread::sleep(BEFORE_RESET);
        let _ = SockRef::from(self.socket()).set_linger(Some(Duration::ZERO));
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.read(buffer),
            Self::Encrypted(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(socket) => socket.write(bytes),
            Self::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(socket) => socket.flush(),
            Self::Encrypted(stream) => stream.flush(),
        }
    }
}
