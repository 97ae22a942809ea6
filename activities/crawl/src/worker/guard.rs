//! Nobody is asked who is not of the public Internet, unless the config allows it.
//!
//! Names are resolved here, and what is connected to is what was judged: the client gets the judged addresses and no name.
//! A host that is an address is judged before it is asked, since clients do not resolve those. Asked through a proxy, a
//! site's name is resolved and judged here as well; the proxy resolves it once more, and is the one who has to keep its network.

use std::net::{IpAddr, SocketAddr};

use corpora_web::address::{Realm, realm};
use corpora_web::url::NormalUrl;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::Host;

/// A host that may not be asked.
#[derive(Debug, Clone, thiserror::Error)]
#[error("ask `{host}`, whose address `{address}` is {realm}; `allow_private_networks = true` allows it")]
pub(super) struct PrivateNetwork {
    host: String,
    address: IpAddr,
    realm: Realm,
}

/// Resolves names and judges addresses.
#[derive(Debug)]
pub(super) struct Guard {
    allows_all: bool,
    /// The proxies' own hosts, which may be anywhere.
    proxies: Vec<String>,
}

impl Guard {
    pub(super) fn new(allows_all: bool, proxies: Vec<String>) -> Self {
        Self { allows_all, proxies }
    }

    /// Judges what the client would not resolve: addresses, and every name where there is a proxy.
    pub(super) async fn check(&self, url: &NormalUrl) -> Result<(), PrivateNetwork> {
        if self.allows_all {
            return Ok(());
        }
        match url.as_url().host() {
            Some(Host::Ipv4(address)) => judge(address.into()),
            Some(Host::Ipv6(address)) => judge(address.into()),
            Some(Host::Domain(name)) if !self.proxies.is_empty() => {
                // A name that only the proxy can resolve is the proxy's to judge.
                let Ok(addresses) = tokio::net::lookup_host((name, 0)).await else { return Ok(()) };
                addresses.into_iter().try_for_each(|address| judged(name, address.ip()))
            }
            _ => Ok(()),
        }
    }
}

/// A name has addresses; those that may not be asked are left out, and are an error if none is left.
impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let allows_all = self.allows_all || self.proxies.iter().any(|proxy| proxy == name.as_str());
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let judged = addresses.map(|address| match allows_all {
                true => Ok(address),
                false => judged(name.as_str(), address.ip()).map(|()| address),
            });
            let (allowed, refused): (Vec<_>, Vec<_>) = judged.partition(Result::is_ok);
            let allowed: Vec<SocketAddr> = allowed.into_iter().flatten().collect();
            match refused.into_iter().find_map(Result::err).filter(|_| allowed.is_empty()) {
                Some(refusal) => Err(refusal.into()),
                None => Ok(Box::new(allowed.into_iter()) as Addrs),
            }
        })
    }
}

fn judge(address: IpAddr) -> Result<(), PrivateNetwork> {
    judged(&address.to_string(), address)
}

fn judged(host: &str, address: IpAddr) -> Result<(), PrivateNetwork> {
    match realm(address) {
        Some(realm) => Err(PrivateNetwork { host: host.to_owned(), address, realm }),
        None => Ok(()),
    }
}
