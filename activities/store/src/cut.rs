//! Rows are told apart by split and cut into shards and groups: where the cuts are depends on the rows alone.

use std::mem;
use std::ops::ControlFlow;

use corpora_contracts::ids::Digest;
use corpora_contracts::manifest::SplitName;

use crate::columns::Rows;
use crate::group::{Group, MAX_ROWS, max_text_bytes};

/// Cuts rows.
#[derive(Debug)]
pub(crate) struct Cutter {
    shard_rows: u64,
    val_permille: u32,
    open: [Open; 2],
    /// By the index of the source among those of the plan.
    pub(crate) counts: Vec<Count>,
}

/// What was seen of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) n_docs: u64,
    pub(crate) n_val: u64,
}

/// What is gathered of a split.
#[derive(Debug)]
struct Open {
    split: SplitName,
    shard: u64,
    /// The number of the first gathered row in the shard.
    first_row: u64,
    rows: Rows,
}

impl Cutter {
    /// A cutter for the rows of so many sources.
    pub(crate) fn new(shard_rows: u64, val_permille: u32, n_sources: usize) -> Self {
        let open = [SplitName::Train, SplitName::Val];
        let open = open.map(|split| Open { split, shard: 0, first_row: 0, rows: Rows::default() });
        Self { shard_rows, val_permille, open, counts: vec![Count::default(); n_sources] }
    }

    /// Adds rows, in order; whole groups are handed to `emit`, which breaks when nobody wants them any more.
    pub(crate) fn add(&mut self, rows: &Rows, emit: &mut impl FnMut(Group) -> ControlFlow<()>) -> ControlFlow<()> {
        for at in 0..rows.len() {
            let split = SplitName::of(&Digest::from_bytes(rows.sha256[at]), self.val_permille);
            let count = &mut self.counts[rows.source[at]];
            count.n_docs += 1;
            count.n_val += u64::from(split == SplitName::Val);
            let open = &mut self.open[usize::from(split == SplitName::Val)];
            if open.is_full_for(rows.text_len(at)) {
                emit(open.take(false))?;
            }
            open.rows.push_from(rows, at);
            if open.first_row + open.rows.len() as u64 == self.shard_rows {
                emit(open.take(true))?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands on what is left; a dataset without rows has one shard without rows.
    pub(crate) fn finish(&mut self, emit: &mut impl FnMut(Group) -> ControlFlow<()>) -> ControlFlow<()> {
        let is_empty = self.counts.iter().all(|count| count.n_docs == 0);
        for open in &mut self.open {
            if open.rows.len() > 0 || is_empty && open.split == SplitName::Train {
                emit(open.take(true))?;
            }
        }
        ControlFlow::Continue(())
    }
}

impl Open {
    /// Whether the next row begins another group. A group is closed only then, so that the last one of a shard is never
    /// without rows.
    fn is_full_for(&self, text_bytes: usize) -> bool {
        let rows = self.rows.len();
        rows == MAX_ROWS || rows > 0 && self.rows.text_bytes() + text_bytes > max_text_bytes(self.split)
    }

    fn take(&mut self, ends_shard: bool) -> Group {
        let rows = mem::take(&mut self.rows).freeze();
        let (split, shard, first_row) = (self.split, self.shard, self.first_row);
        if ends_shard {
            self.shard += 1;
            self.first_row = 0;
        } else {
            self.first_row += rows.len() as u64;
        }
        Group { split, shard, first_row, rows, ends_shard }
    }
}
