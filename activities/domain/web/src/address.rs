//! Which addresses are of the public Internet.
//!
//! A name can resolve to anything, and a redirect lead anywhere: who crawls for others does not let a site reach the services
//! beside the crawler, least of all those that hand out credentials. Every address is judged after resolution and before it
//! is connected to.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address that is not of the public Internet is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Realm {
    /// This host: `127.0.0.0/8`, `::1`.
    Loopback,
    /// A link, where cloud providers keep their metadata service too: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// A private network: RFC 1918, unique local addresses (RFC 4193), and the site-local ones they replaced.
    Private,
    /// A provider's network behind its NAT: `100.64.0.0/10` (RFC 6598).
    Shared,
    /// No host: unspecified, multicast, broadcast, documentation, benchmarks, and what is reserved (RFC 6890).
    Special,
}

impl fmt::Display for Realm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback => "loopback",
            Self::LinkLocal => "link-local",
            Self::Private => "private",
            Self::Shared => "shared",
            Self::Special => "special-purpose",
        })
    }
}

/// What an address is of; nothing for one of the public Internet. One that carries an IPv4 address is judged by that.
#[must_use]
pub fn realm(address: IpAddr) -> Option<Realm> {
    match address {
        IpAddr::V4(address) => realm_v4(address),
        IpAddr::V6(address) => match carried(address) {
            Some(inside) => realm_v4(inside),
            None => realm_v6(address),
        },
    }
}

fn realm_v4(address: Ipv4Addr) -> Option<Realm> {
    match address.octets() {
        [127, ..] => Some(Realm::Loopback),
        [169, 254, ..] => Some(Realm::LinkLocal),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Some(Realm::Private),
        [100, 64..=127, ..] => Some(Realm::Shared),
        [0 | 224.., ..] | [192, 0, 0 | 2, _] | [192, 88, 99, _] | [198, 18 | 19, ..] => Some(Realm::Special),
        [198, 51, 100, _] | [203, 0, 113, _] => Some(Realm::Special),
        // The metadata service of one more provider.
        [168, 63, 129, 16] => Some(Realm::LinkLocal),
        _ => None,
    }
}

fn realm_v6(address: Ipv6Addr) -> Option<Realm> {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Realm::Loopback),
        [0xfe80..=0xfebf, ..] => Some(Realm::LinkLocal),
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => Some(Realm::Private),
        // Of 2000::/3, protocols have 2001::/23, documentation 2001:db8::/32 and 3fff::/20; the rest of all is not given out.
        [0x2001, 0x0000..=0x01ff | 0x0db8, ..] | [0x3fff, 0x0000..=0x0fff, ..] => Some(Realm::Special),
        [0x2000..=0x3fff, ..] => None,
        _ => Some(Realm::Special),
    }
}

/// The IPv4 address that an IPv6 one stands for: mapped, compatible, translated (RFC 6052, RFC 8215), 6to4 (RFC 3056).
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let from = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] => Some(from(high, low)),
        [0, 0, 0, 0, 0xffff, 0, high, low] => Some(from(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(from(high, low)),
        [0x2002, high, low, ..] => Some(from(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> Option<Realm> {
        realm(address.parse().unwrap())
    }

    #[test]
    fn a_realm_has_a_name_for_people() {
        let all = [Realm::Loopback, Realm::LinkLocal, Realm::Private, Realm::Shared, Realm::Special];
        let names = all.map(|realm| realm.to_string());
        assert_eq!(names, ["loopback", "link-local", "private", "shared", "special-purpose"]);
    }

    #[test]
    fn what_is_not_of_the_internet_is_told() {
        let table = [
            (
                Realm::Loopback,
                "127.0.0.1 127.255.0.1 ::1 ::ffff:127.0.0.1 ::ffff:0:7f00:1 64:ff9b::7f00:1 2002:7f00:1::1 ::7f00:1",
            ),
            (Realm::LinkLocal, "169.254.169.254 fe80::1 febf::1 ::ffff:169.254.169.254 168.63.129.16"),
            (
                Realm::Private,
                "10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 fc00::1 fd00:ec2::254 fec0::1 ::ffff:10.1.2.3",
            ),
            (Realm::Shared, "100.64.0.1 100.100.100.200 100.127.255.255"),
            (Realm::Special, "0.0.0.0 :: 224.0.0.1 255.255.255.255 240.0.0.1 192.0.2.1 198.18.0.1 203.0.113.9 ff02::1"),
            (Realm::Special, "2001:db8::1 2001::1 64:ff9b:1::1 100::1 3fff::1 4000::1 ::ffff:0.0.0.0"),
        ];
        for (realm, addresses) in table {
            for address in addresses.split(' ') {
                assert_eq!(of(address), Some(realm), "{address}");
            }
        }
    }

    #[test]
    fn the_internet_is_asked() {
        let addresses = "1.1.1.1 8.8.8.8 93.184.216.34 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.20.0.1 \
            223.255.255.255 2606:4700::1111 2a00:1450::1 2001:4860::8888 64:ff9b::808:808 ::ffff:8.8.8.8 2002:808:808::1";
        for address in addresses.split_ascii_whitespace() {
            assert_eq!(of(address), None, "{address}");
        }
    }
}
