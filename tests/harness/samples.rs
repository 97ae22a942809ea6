//! Bytes to fetch.

use std::io::Write as _;

/// The two documents of the fetch seed's worked example, section 3: 54 bytes.
pub const TINY: &[u8] = b"{\"text\": \"Tom has a red ball.\"}\n{\"text\": \"Mia naps.\"}\n";

/// Four blocks of text, one of them a document of [`TINY`]; the last but one is changed by normalisation.
pub const NOTES: &[u8] =
    "First note,\nin two lines.\n\nMia naps.\n\n\u{feff}Cafe\u{301} \u{b}au lait. \t\n\nÜber allen Gipfeln ist Ruh.\n"
        .as_bytes();

/// The digest that the seed gives for [`TINY`].
pub const TINY_SHA256: &str = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";

/// `count` JSON lines of text; `tag` makes sources differ.
#[must_use]
pub fn documents(tag: &str, count: usize) -> Vec<u8> {
    let line = |number: usize| format!("{{\"text\":\"{tag} {number}: el niño, 雪, {}\"}}\n", number * 7919);
    (0..count).map(line).collect::<String>().into_bytes()
}

/// JSON lines of about `bytes` bytes in all that hardly compress; the same for the same `seed`.
#[must_use]
pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    // xorshift64 (Marsaglia 2003): no dependency, no state beyond one number, never zero.
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(LETTERS[usize::try_from(state >> 58).unwrap()])
    };
    let mut lines = String::with_capacity(bytes + 1024);
    while lines.len() < bytes {
        let text: String = (0..1000).map(|_| letter()).collect();
        lines.push_str(&format!("{{\"text\":\"{text}\"}}\n"));
    }
    lines.into_bytes()
}

/// The bytes as one gzip member.
#[must_use]
pub fn pack_gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// The bytes as one zstd frame.
#[must_use]
pub fn pack_zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).unwrap()
}
