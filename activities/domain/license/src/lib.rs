//! SPDX expressions judged by a policy of licence to permitted uses. Pure: values in, values out.
//!
//! # The default policy
//! Every id of the SPDX licence list has one [`Class`], and the class decides:
//!
//! | class | what belongs to it | train | eval |
//! |---|---|---|---|
//! | public domain | dedications and marks: CC0, PDDL, CC-PDM, the `-PD` notices | yes | yes |
//! | permissive | OSI-approved or FSF-free licences that are not share-alike; licences of their style in [`lists`] | yes | yes |
//! | attribution | content and data licences that ask for credit: CC-BY, ODC-By, CDLA-Permissive, OGL, NLOD, DL-DE-BY | yes | yes |
//! | share-alike | what is flagged as copyleft: GPL, CC-BY-SA, ODbL, GFDL; and CDLA-Sharing, LAL, LGPLLR | yes | yes |
//! | non-commercial | CC-BY-NC, CC-BY-NC-SA, NCGL, PolyForm-Noncommercial | no | yes |
//! | no derivatives | CC-BY-ND, CC-BY-NC-ND | no | no |
//! | unreviewed | every other id of the list (source-available, field-of-use, one-off terms, `NOASSERTION`), every `LicenseRef-…` | no | no |
//!
//! The rule, in this order: an id of [`lists`] has the class that stands there; else an id that the `spdx` crate flags
//! as copyleft is share-alike, and one flagged as OSI-approved or FSF-free is permissive; else it is unreviewed. A test
//! pins the class of every id of the list.
//!
//! # Expressions
//! `OR` permits what either side permits (the licensee chooses), `AND` what both permit. `X+` permits what `X` does,
//! since `X` is one of the licences offered. `X WITH exception` permits nothing until `[licenses]` names exactly that.
//! Deprecated ids are read: `GPL-2.0` is `GPL-2.0-only`, `GPL-2.0+` is `GPL-2.0-or-later`. Ids are written as on the
//! list; other capitals are refused with the right spelling.
//!
//! # Overrides
//! `[licenses]` of a config replaces the uses of single terms, in either direction: `"LicenseRef-x" = ["eval"]` permits,
//! `"GPL-3.0-only" = []` forbids.

mod class;
mod expression;
pub mod lists;
mod policy;

pub use self::class::Class;
pub use self::expression::LicenseError;
pub use self::policy::Policy;
