//! A forward proxy: absolute-form requests and CONNECT tunnels (RFC 9110 section 9.3.6), with a log.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use super::request::Request;

/// A proxy on a free port of 127.0.0.1.
///
/// Whatever host a client names, the proxy connects to the one server it was started for, so that tests can use names
/// that nobody else resolves.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    log: Arc<Mutex<Vec<Proxied>>>,
}

/// A request that went through the proxy.
#[derive(Debug, Clone)]
pub struct Proxied {
    /// What the client asked of the proxy; the method is `CONNECT` for a tunnel.
    pub request: Request,
}

impl Proxy {
    /// A proxy in front of the server on this port.
    #[must_use]
    pub fn start(server_port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let log: Arc<Mutex<Vec<Proxied>>> = Arc::default();
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let log = Arc::clone(&shared);
                thread::spawn(move || forward(client, server_port, &log));
            }
        });
        Self { address, log }
    }

    /// The proxy's own URL, with these credentials (`user:password@`) or none.
    #[must_use]
    pub fn url(&self, userinfo: &str) -> String {
        format!("http://{userinfo}{}", self.address)
    }

    /// Every request so far.
    #[must_use]
    pub fn log(&self) -> Vec<Proxied> {
        self.log.lock().unwrap().clone()
    }
}

/// One client connection: one request, then bytes both ways until either side ends.
fn forward(mut client: TcpStream, server_port: u16, log: &Mutex<Vec<Proxied>>) -> Option<()> {
    let mut rest = Vec::new();
    let request = Request::read(&mut client, &mut rest).ok()??;
    log.lock().unwrap().push(Proxied { request: request.clone() });
    let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, server_port)).ok()?;
    if request.method == "CONNECT" {
        client.write_all(b"HTTP/1.1 200 Connected\r\n\r\n").ok()?;
    } else {
        server.write_all(origin_form(&request)?.as_bytes()).ok()?;
    }
    server.write_all(&rest).ok()?;
    let upstream = (client.try_clone().ok()?, server.try_clone().ok()?);
    thread::spawn(move || pump(upstream.0, upstream.1));
    pump(server, client).ok()
}

/// The request as the server gets it: path only, one request per connection.
fn origin_form(request: &Request) -> Option<String> {
    let (_, after_scheme) = request.target.split_once("://")?;
    let path = after_scheme.find('/').map_or("/", |slash| &after_scheme[slash..]);
    let own = |name: &str| name.eq_ignore_ascii_case("proxy-authorization") || name.eq_ignore_ascii_case("connection");
    let headers = request.headers.iter().filter(|(name, _)| !own(name));
    let headers: String = headers.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    Some(format!("{} {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n", request.method))
}

fn pump(mut from: impl Read, mut to: TcpStream) -> io::Result<()> {
    let result = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
    result.map(|_| ())
}
