//! Which run of a crawl is gone on with, and which are of no use any more.

use corpora_contracts::config::Crawl;
use corpora_contracts::ids::Name;
use corpora_contracts::layout::Layout;
use corpora_crawl::runs::{self, Note, Run};
use corpora_stage::durable::{self, FileError};
use corpora_stage::holdings::Holding;

/// The run to work on.
#[derive(Debug)]
pub(super) struct Turn {
    /// It may have ended, and wait for nothing but its raw directory.
    pub(super) run: Run,
    /// The run whose pages it asks about, of a refresh.
    pub(super) earlier: Option<Run>,
}

/// Goes on with a run of this key that is not finished, or begins one; removes those that are of no use to it. Only under
/// the crawl's lock.
///
/// A run is finished when its pages stand as a raw directory. A refresh goes on with a refresh alone.
///
/// # Errors
/// When the folders cannot be read or written.
pub(super) fn begin(layout: &Layout, crawl: &Crawl, refresh: bool, held: &[Holding]) -> Result<Turn, FileError> {
    let all = runs::read(layout, &crawl.id)?;
    let is_ours = |run: &&Run| run.note.key == crawl.key;
    let unfinished = all.iter().rev().find(|run| is_ours(run) && !is_finished(run, held));
    let finished = all.iter().rev().find(|run| is_ours(run) && is_finished(run, held));
    let number = all.last().map_or(1, |run| run.number.saturating_add(1));
    let run = match (unfinished, finished) {
        (Some(run), _) => run.clone(),
        // Its pages are here; only how they are cut into parts is new.
        (None, Some(run)) if !refresh => run.clone(),
        (None, finished) => {
            let refreshes = finished.map(|run| run.number);
            // A folder without a note may stand under this name.
            durable::remove_tree(&layout.crawl_run(&crawl.id, number))?;
            Run::create(layout, &crawl.id, number, Note { key: crawl.key, refreshes, ended: None })?
        }
    };
    let earlier = run.note.refreshes.and_then(|number| all.iter().find(|run| run.number == number)).cloned();
    let keep = [Some(run.number), earlier.as_ref().map(|run| run.number)];
    for old in all.iter().filter(|old| !keep.contains(&Some(old.number))) {
        old.remove()?;
    }
    Ok(Turn { run, earlier })
}

/// Removes every run but this one, whose pages stand as a raw directory.
///
/// # Errors
/// When they cannot be removed.
pub(super) fn tidy(layout: &Layout, id: &Name, finished: &Run) -> Result<(), FileError> {
    for run in runs::read(layout, id)?.iter().filter(|run| run.number != finished.number) {
        run.remove()?;
    }
    Ok(())
}

fn is_finished(run: &Run, held: &[Holding]) -> bool {
    let raw = run.note.ended.as_ref().and_then(|ended| ended.raw.as_ref());
    raw.is_some_and(|raw| held.iter().any(|holding| holding.version == *raw))
}
