//! What `metadata.sqlite` and a shard both say of a row, summed up so that the two are compared in constant memory.

use sha2::{Digest as _, Sha256};

/// A row as it is looked up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlacedRow<'a> {
    /// `id`, `source_id`, `url`, `lang`, `sha256`.
    pub(crate) strings: [&'a [u8]; 5],
    pub(crate) n_chars: i64,
    /// The number of the row in its shard, 0-based.
    pub(crate) at: u64,
}

/// Rows of one shard in any order: their number, and the sum of a digest of each. Equal for equal rows; that others give
/// the same takes an attacker who finds it among 2^128.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PlacedRows {
    rows: u64,
    sum: u128,
}

impl PlacedRows {
    /// Adds a row.
    pub(crate) fn add(&mut self, row: &PlacedRow<'_>) {
        let mut hasher = Sha256::new();
        for string in row.strings {
            hasher.update((string.len() as u64).to_le_bytes());
            hasher.update(string);
        }
        hasher.update(row.n_chars.to_le_bytes());
        hasher.update(row.at.to_le_bytes());
        let digest: [u8; 32] = hasher.finalize().into();
        let mut first = [0; 16];
        first.copy_from_slice(&digest[..16]);
        self.sum = self.sum.wrapping_add(u128::from_le_bytes(first));
        self.rows += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(rows: &[PlacedRow<'_>]) -> PlacedRows {
        let mut sum = PlacedRows::default();
        rows.iter().for_each(|row| sum.add(row));
        sum
    }

    #[test]
    fn any_order_is_the_same_and_nothing_else_is() {
        let first = PlacedRow { strings: [b"a:0", b"a", b"u#1", b"en", b"0"], n_chars: 3, at: 0 };
        let second = PlacedRow { strings: [b"a:1", b"a", b"u#2", b"en", b"1"], n_chars: 3, at: 1 };
        assert_eq!(sum(&[first, second]), sum(&[second, first]));
        let others = [
            PlacedRow { strings: [b"a:0a", b"", b"u#1", b"en", b"0"], ..first },
            PlacedRow { strings: [b"a:0", b"a", b"u#1", b"en", b"1"], ..first },
            PlacedRow { n_chars: 4, ..first },
            PlacedRow { at: 1, ..first },
        ];
        for other in others {
            assert_ne!(sum(&[other, second]), sum(&[first, second]), "{other:?}");
        }
        assert_ne!(sum(&[first]), sum(&[first, first, first]));
    }
}
