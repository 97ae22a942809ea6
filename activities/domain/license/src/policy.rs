//! What may be done under which licence: the default, and what the corpus's owner says beyond it.

use std::collections::{BTreeMap, BTreeSet};

use corpora_contracts::config::{LicenseClaim, LicensePolicy, PolicyEntry, Problem, Use};
use corpora_contracts::ids::Digest;
use spdx::expression::Operator;
use spdx::{LicenseItem, LicenseReq};

use crate::class::Class;
use crate::expression::{LicenseError, Part, name, parse, parse_term};

/// The default policy with overrides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// Uses by the one name of each term.
    overrides: BTreeMap<String, BTreeSet<Use>>,
}

impl Policy {
    /// The default policy with the overrides of a validated config.
    ///
    /// # Errors
    /// When a key is not one SPDX term.
    pub fn new(overrides: &LicensePolicy) -> Result<Self, LicenseError> {
        let named = |(license, uses): (&String, &Vec<Use>)| {
            Ok((name(&parse_term(license)?), uses.iter().copied().collect::<BTreeSet<_>>()))
        };
        Ok(Self { overrides: overrides.iter().map(named).collect::<Result<_, _>>()? })
    }

    /// Adds the entries of one `[licenses]` table or of one policy file. What cannot be added is a problem: a key that
    /// is not one SPDX term, and a term that was named before, here or in another file.
    pub fn add(&mut self, entries: &[PolicyEntry]) -> Vec<Problem> {
        entries.iter().filter_map(|entry| self.add_entry(entry)).collect()
    }

    fn add_entry(&mut self, entry: &PolicyEntry) -> Option<Problem> {
        let problem = |why: String| Some(Problem::text(entry.line, &entry.key, &entry.license, why));
        let term = match parse_term(&entry.license) {
            Ok(term) => name(&term),
            Err(error) => return problem(error.to_string()),
        };
        if self.overrides.contains_key(&term) {
            return problem(format!("expected every licence once; `{term}` was named before"));
        }
        self.overrides.insert(term, entry.allowed_uses.iter().copied().collect());
        None
    }

    /// What an SPDX expression permits, in the order of [`Use`].
    ///
    /// # Errors
    /// [`LicenseError::NotSpdx`] when it is none.
    pub fn permits(&self, license_spdx: &str) -> Result<Vec<Use>, LicenseError> {
        Ok(self.evaluate(&parse(license_spdx)?).into_iter().collect())
    }

    /// The digest of all that this policy says: over the sorted lines `<term>\t<uses, joined by commas>\n` of every id of
    /// the SPDX list and of every term that is named beyond it. A default that a release changes changes it, too.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let listed = spdx::identifiers::LICENSES.iter().filter_map(|license| spdx::license_id(license.name));
        let mut says: BTreeMap<&str, Vec<Use>> = listed.map(|id| (id.name, Class::of(id).permits().to_vec())).collect();
        says.extend(self.overrides.iter().map(|(term, uses)| (term.as_str(), uses.iter().copied().collect())));
        let line = |(term, uses): (&str, Vec<Use>)| {
            let uses: Vec<&str> = uses.into_iter().map(Use::as_str).collect();
            format!("{term}\t{}\n", uses.join(","))
        };
        Digest::of(says.into_iter().map(line).collect::<String>().as_bytes())
    }

    /// The claims that this policy does not permit, each as a problem of the config that makes it.
    #[must_use]
    pub fn judge(&self, claims: &[LicenseClaim]) -> Vec<Problem> {
        claims.iter().filter_map(|claim| self.refusal(claim)).collect()
    }

    fn refusal(&self, claim: &LicenseClaim) -> Option<Problem> {
        let problem = |why: String| Some(Problem::text(claim.line, &claim.key, &claim.license_spdx, why));
        let parts = match parse(&claim.license_spdx) {
            Ok(parts) => parts,
            Err(error) => return problem(error.to_string()),
        };
        let permitted = self.evaluate(&parts);
        let beyond: Vec<Use> =
            claim.allowed_uses.iter().copied().filter(|claimed| !permitted.contains(claimed)).collect();
        if beyond.is_empty() { None } else { problem(self.explain(&parts, &permitted, claim)) }
    }

    fn explain(&self, parts: &[Part], permitted: &BTreeSet<Use>, claim: &LicenseClaim) -> String {
        let reasons: Vec<String> =
            terms(parts).filter(|term| !self.covers(term, claim)).map(|term| self.reason(term)).collect();
        let entries: Vec<String> = terms(parts)
            .filter(|term| !self.covers(term, claim))
            .map(|term| format!("\"{}\" = [{}]", name(term), list(claim.allowed_uses.iter(), "\"")))
            .collect();
        let permitted = if permitted.is_empty() { "no use".to_owned() } else { list(permitted.iter(), "`") };
        format!(
            "permits {permitted} ({}), claimed in `allowed_uses` are {}; claim what is permitted, or name under \
             `[licenses]` what you have the right to do: `{}`",
            reasons.join(", "),
            list(claim.allowed_uses.iter(), "`"),
            entries.join("`, `")
        )
    }

    fn covers(&self, term: &LicenseReq, claim: &LicenseClaim) -> bool {
        let permitted = self.term(term);
        claim.allowed_uses.iter().all(|claimed| permitted.contains(claimed))
    }

    fn reason(&self, term: &LicenseReq) -> String {
        let named = name(term);
        match (&term.license, &term.addition) {
            _ if self.overridden(term).is_some() => format!("`{named}` by `[licenses]`"),
            (_, Some(_)) => format!("`{named}` has an exception that `[licenses]` does not name"),
            (LicenseItem::Spdx { id, .. }, None) => format!("`{named}` is {}", Class::of(*id)),
            (LicenseItem::Other(_), None) => format!("`{named}` is not on the SPDX list"),
        }
    }

    /// OR: the licensee chooses. AND: both bind.
    fn evaluate(&self, parts: &[Part]) -> BTreeSet<Use> {
        let mut stack: Vec<BTreeSet<Use>> = Vec::new();
        for part in parts {
            let next = match part {
                Part::Term(term) => self.term(term),
                Part::Join(operator) => {
                    let (right, left) = (stack.pop().unwrap_or_default(), stack.pop().unwrap_or_default());
                    match operator {
                        Operator::Or => &left | &right,
                        Operator::And => &left & &right,
                    }
                }
            };
            stack.push(next);
        }
        stack.pop().unwrap_or_default()
    }

    fn term(&self, term: &LicenseReq) -> BTreeSet<Use> {
        match (self.overridden(term), &term.license, &term.addition) {
            (Some(uses), _, _) => uses.clone(),
            (None, LicenseItem::Spdx { id, .. }, None) => Class::of(*id).permits().iter().copied().collect(),
            _ => BTreeSet::new(),
        }
    }

    /// What `[licenses]` says about a term; `X+` is also covered by what it says about `X`, one of the licences offered.
    fn overridden(&self, term: &LicenseReq) -> Option<&BTreeSet<Use>> {
        let named = name(term);
        let exact = self.overrides.get(&named);
        match (&term.license, &term.addition) {
            (LicenseItem::Spdx { id, or_later: true }, None) if !id.is_gnu() => {
                exact.or_else(|| self.overrides.get(id.name))
            }
            _ => exact,
        }
    }
}

fn terms(parts: &[Part]) -> impl Iterator<Item = &LicenseReq> {
    parts.iter().filter_map(|part| match part {
        Part::Term(term) => Some(term),
        Part::Join(_) => None,
    })
}

fn list<'a>(uses: impl Iterator<Item = &'a Use>, quote: &str) -> String {
    uses.map(|it| format!("{quote}{it}{quote}")).collect::<Vec<_>>().join(", ")
}
