//! What kind of licence an id of the SPDX list is, and what that permits by default.

use std::fmt;

use corpora_contracts::config::Use;
use spdx::LicenseId;

use crate::lists;

/// What kind of licence an SPDX id is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// No rights are kept.
    PublicDomain,
    /// Nearly everything is permitted, notices are kept.
    Permissive,
    /// Everything is permitted as long as credit is given.
    Attribution,
    /// Everything is permitted as long as derivatives carry the same licence.
    ShareAlike,
    /// Commercial use is not permitted.
    NonCommercial,
    /// Derivatives are not permitted.
    NoDerivatives,
    /// Nothing is known that a default could rest on.
    Unreviewed,
}

impl Class {
    /// The class of an id; the rule stands in the crate's documentation.
    #[must_use]
    pub fn of(id: LicenseId) -> Self {
        let listed = lists::LISTS.iter().find(|(_, ids)| ids.contains(&id.name));
        match listed {
            Some((class, _)) => *class,
            None if id.is_copyleft() => Self::ShareAlike,
            None if id.is_osi_approved() || id.is_fsf_free_libre() => Self::Permissive,
            None => Self::Unreviewed,
        }
    }

    /// What the default policy permits.
    #[must_use]
    pub fn permits(self) -> &'static [Use] {
        match self {
            Self::PublicDomain | Self::Permissive | Self::Attribution | Self::ShareAlike => &[Use::Train, Use::Eval],
            Self::NonCommercial => &[Use::Eval],
            Self::NoDerivatives | Self::Unreviewed => &[],
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PublicDomain => "public domain",
            Self::Permissive => "permissive",
            Self::Attribution => "attribution",
            Self::ShareAlike => "share-alike",
            Self::NonCommercial => "non-commercial",
            Self::NoDerivatives => "no-derivatives",
            Self::Unreviewed => "unreviewed",
        })
    }
}
