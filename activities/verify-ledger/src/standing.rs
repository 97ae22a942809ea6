//! What is published, where nothing is staged: whether it is still what would be accepted now.
//!
//! The digests of manifest and rows, the ledger and the sizes of the shards tell; no shard is read.

use corpora_contracts::layout::Layout;
use corpora_contracts::manifest::Manifest;
use corpora_stage::durable::FileError;

use crate::evidence::read_ledger;
use crate::files::{self, Recorded};
use crate::folder::{Folder, VERIFIED};
use crate::judge::{self, Standard, shards};
use crate::problem::{FileProblem, Problem, TermsProblem};
use crate::swap::Places;

/// What is published.
#[derive(Debug)]
pub(crate) enum Standing {
    /// Nothing.
    Nothing,
    /// What would be accepted now, as it was accepted.
    Accepted(Manifest),
    /// What may well be accepted now, and was not, or under another policy.
    Unaccepted(Problem),
    /// What must be made again: it is not what the config and the ledger say, or not what was accepted.
    Differs(Vec<Problem>),
}

/// Looks at what is published.
///
/// # Errors
/// When the system does not let us.
pub(crate) fn read(layout: &Layout, places: &Places, standard: Standard<'_>) -> Result<Standing, FileError> {
    if !places.published.exists() {
        return Ok(Standing::Nothing);
    }
    let folder = match Folder::read(&places.published)? {
        Ok(folder) => folder,
        Err(problems) => return Ok(Standing::Differs(problems)),
    };
    let mut problems = match read_ledger(layout)? {
        Ok(ledger) => judge::of_terms(standard, &ledger, &folder),
        Err(reason) => vec![TermsProblem::Ledger { reason }.into()],
    };
    problems.extend(sizes(&folder)?);
    let acceptance = acceptance(&folder, standard)?;
    Ok(match acceptance {
        Acceptance::Contradicted(contradictions) => {
            problems.extend(contradictions);
            Standing::Differs(problems)
        }
        _ if !problems.is_empty() => Standing::Differs(problems),
        Acceptance::Lacking(problem) => Standing::Unaccepted(problem),
        Acceptance::Sound => Standing::Accepted(folder.manifest),
    })
}

/// What `_VERIFIED.json` says of the folder it stands in.
enum Acceptance {
    /// It was accepted as it is, under the current policy.
    Sound,
    /// There is no word of it, or one under another policy.
    Lacking(Problem),
    /// Something else was accepted.
    Contradicted(Vec<Problem>),
}

fn acceptance(folder: &Folder, standard: Standard<'_>) -> Result<Acceptance, FileError> {
    let verified = match folder.verified()? {
        None => return Ok(Acceptance::Lacking(FileProblem::Missing { path: VERIFIED.to_owned() }.into())),
        Some(Err(problem)) => return Ok(Acceptance::Lacking(problem.into())),
        Some(Ok(verified)) => verified,
    };
    let contradictions = folder.contradictions(&verified);
    let (found, expected) = (verified.policy_sha256, standard.policy.digest());
    Ok(match () {
        () if !contradictions.is_empty() => Acceptance::Contradicted(contradictions),
        () if found != expected => Acceptance::Lacking(TermsProblem::PolicyDigest { found, expected }.into()),
        () => Acceptance::Sound,
    })
}

/// Shards that are not there in their size.
fn sizes(folder: &Folder) -> Result<Vec<Problem>, FileError> {
    let mut problems = Vec::new();
    for named in shards::named(&folder.manifest) {
        let recorded = Recorded { name: &named.shard.name, bytes: named.shard.bytes, sha256: &named.shard.sha256 };
        problems.extend(files::stands(&folder.path.join(recorded.name), recorded)?.map(Problem::from));
    }
    Ok(problems)
}
