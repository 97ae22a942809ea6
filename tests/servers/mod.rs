//! HTTP servers on loopback that misbehave on request, and remember what they were asked.
//!
//! They are threads and blocking sockets, without an HTTP library and without async, so that every byte, every pause
//! and every cut is under the test's control.

mod answer;
mod faulty;
mod gate;
mod proxy;
mod ranges;
mod request;
mod site;
mod stream;
mod tls;
mod wire;

pub use answer::{Answer, Ranges};
pub use faulty::FaultyServer;
pub use gate::{Gate, Gauge};
pub use proxy::{Proxied, Proxy};
pub use request::{Logged, Request};
pub use site::{Site, html};
pub use tls::{Authority, Identity};
