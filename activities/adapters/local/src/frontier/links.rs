//! The ways from a URL in few bytes: numbers of seven bits a byte (LEB128), the lowest bit tells a redirect.

use corpora_ports::frontier::{Link, UrlId};

pub(super) fn pack(links: &[Link]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(links.len() * 3);
    for link in links {
        let mut rest = link.to.0 << 1 | u64::from(link.is_redirect);
        while rest >= 0x80 {
            packed.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        packed.push(rest as u8);
    }
    packed
}

/// The links of packed bytes; what is cut off at the end is left out.
pub(super) fn unpack(packed: &[u8]) -> Vec<Link> {
    let mut links = Vec::new();
    let (mut number, mut shift) = (0u64, 0);
    for byte in packed {
        number |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        shift += 7;
        if byte & 0x80 == 0 {
            links.push(Link { to: UrlId(number >> 1), is_redirect: number & 1 == 1 });
            (number, shift) = (0, 0);
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        let numbers = [0, 1, 63, 64, 8191, 8192, u64::from(u32::MAX), u64::MAX >> 1];
        let links: Vec<Link> =
            numbers.iter().flat_map(|n| [true, false].map(|is_redirect| Link { to: UrlId(*n), is_redirect })).collect();
        assert_eq!(unpack(&pack(&links)), links);
        assert_eq!(pack(&links[..4]).len(), 4);
        assert_eq!(unpack(&[0x80; 20]), []);
    }
}
