//! Names and digests, parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// Why a string is not a [`Name`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("name `{value}` does not match `{}`", Name::PATTERN)]
pub struct InvalidName {
    /// What was given.
    pub value: String,
}

/// A dataset, version, source or crawl name: `^[a-z0-9][a-z0-9._-]*$`, hence always one safe path segment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// The regular expression that every name matches.
    pub const PATTERN: &'static str = "^[a-z0-9][a-z0-9._-]*$";

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Name {
    type Err = InvalidName;

    fn from_str(value: &str) -> Result<Self, InvalidName> {
        let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let starts_well = value.bytes().next().is_some_and(alphanumeric);
        if starts_well && value.bytes().all(|byte| alphanumeric(byte) || b"._-".contains(&byte)) {
            Ok(Self(value.to_owned()))
        } else {
            Err(InvalidName { value: value.to_owned() })
        }
    }
}

impl TryFrom<String> for Name {
    type Error = InvalidName;

    fn try_from(value: String) -> Result<Self, InvalidName> {
        value.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a string is not a [`Digest`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("digest `{value}` is not 64 lowercase hex digits")]
pub struct InvalidDigest {
    /// What was given.
    pub value: String,
}

/// A SHA-256 digest, written as 64 lowercase hex digits (FIPS 180-4).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// The digest that a finished hasher gave.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The 32 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(value: &str) -> Result<Self, InvalidDigest> {
        let invalid = || InvalidDigest { value: value.to_owned() };
        let hex = value.as_bytes();
        if hex.len() != 64 {
            return Err(invalid());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.chunks_exact(2)) {
            let high = nibble(pair[0]).ok_or_else(invalid)?;
            let low = nibble(pair[1]).ok_or_else(invalid)?;
            *byte = high << 4 | low;
        }
        Ok(Self(bytes))
    }
}

/// The value of one lowercase hex digit.
fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = InvalidDigest;

    fn try_from(value: String) -> Result<Self, InvalidDigest> {
        value.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_safe_segment() {
        for good in ["a", "0", "tiny", "cc-by.2024_v1"] {
            assert_eq!(good.parse::<Name>().unwrap().to_string(), good);
        }
        for bad in ["", ".", "..", "-a", "_a", "A", "a/b", "a b", "é", "a\n"] {
            assert!(bad.parse::<Name>().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn digests_round_trip_and_refuse_all_else() {
        let text = "e9d5b783f9fbf6ec94f8144919e20e8fea345376df3ad331cc01df785a7bd42b";
        assert_eq!(text.parse::<Digest>().unwrap().to_string(), text);
        let bytes = b"{\"text\": \"Tom has a red ball.\"}\n{\"text\": \"Mia naps.\"}\n";
        assert_eq!(Digest::of(bytes).to_string(), text, "the worked example of the fetch seed, section 3");
        for bad in ["", "e9", &text.to_uppercase(), &text.replace('e', "g"), &format!("{text}0")] {
            assert!(bad.parse::<Digest>().is_err(), "{bad:?}");
        }
    }
}
