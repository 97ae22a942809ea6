//! Reading SPDX expressions: licence terms joined by AND and OR.

use spdx::expression::{ExprNode, Operator};
use spdx::{Expression, LicenseItem, LicenseReq, ParseMode};

/// The spelling of the SPDX list and of its specification, with its deprecated ids.
const MODE: ParseMode = ParseMode { allow_deprecated: true, allow_postfix_plus_on_gpl: true, ..ParseMode::STRICT };

/// Why a string is not an SPDX expression, or not one term of one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LicenseError {
    /// It does not parse, or names no licence of the list.
    #[error("not an SPDX expression: {reason}{}", suggestion.as_ref().map(|it| format!("; did you mean `{it}`?")).unwrap_or_default())]
    NotSpdx {
        /// What the parser says, and about which part.
        reason: String,
        /// The same with the spelling of the SPDX list.
        suggestion: Option<String>,
    },
    /// Several terms, where the policy names one.
    #[error("an expression; expected one SPDX id, `LicenseRef-…` or `ID WITH exception`")]
    NotOneTerm,
}

/// Part of an expression in postfix order.
pub(crate) enum Part {
    /// One licence, with or without exception.
    Term(LicenseReq),
    /// What the last two permit together.
    Join(Operator),
}

/// The parts of an expression, in postfix order: every join has two before it, and one result is left.
pub(crate) fn parse(text: &str) -> Result<Vec<Part>, LicenseError> {
    let expression = Expression::parse_mode(text, MODE).map_err(|error| not_spdx(text, &error))?;
    expression.requirements().try_for_each(|requirement| whole_reference(&requirement.req))?;
    let part = |node: &ExprNode| match node {
        ExprNode::Req(requirement) => Part::Term(requirement.req.clone()),
        ExprNode::Op(operator) => Part::Join(*operator),
    };
    Ok(expression.iter().map(part).collect())
}

/// One term, as the policy names it.
pub(crate) fn parse_term(text: &str) -> Result<LicenseReq, LicenseError> {
    match parse(text)?.as_slice() {
        [Part::Term(term)] => Ok(term.clone()),
        _ => Err(LicenseError::NotOneTerm),
    }
}

/// One name for the spellings of one term: of the GNU licences, the deprecated ids become the current ones.
pub(crate) fn name(term: &LicenseReq) -> String {
    let license = match &term.license {
        LicenseItem::Spdx { id, or_later: false } if id.is_gnu() && id.is_deprecated() => {
            spdx::gnu_license_id(id.name, false).map_or(id.name, |current| current.name).to_owned()
        }
        license => license.to_string(),
    };
    match &term.addition {
        Some(addition) => format!("{license} WITH {addition}"),
        None => license,
    }
}

/// The parser takes `LicenseRef-` with nothing behind it (SPDX 2.3, annex D: at least one character).
fn whole_reference(term: &LicenseReq) -> Result<(), LicenseError> {
    let has_empty = match &term.license {
        LicenseItem::Other(reference) => {
            reference.lic_ref.is_empty() || reference.doc_ref.as_ref().is_some_and(String::is_empty)
        }
        LicenseItem::Spdx { .. } => false,
    };
    let reason = || format!("`{term}` names nothing");
    if has_empty { Err(LicenseError::NotSpdx { reason: reason(), suggestion: None }) } else { Ok(()) }
}

fn not_spdx(text: &str, error: &spdx::ParseError) -> LicenseError {
    let part = text.get(error.span.clone()).unwrap_or_default().trim();
    let reason = if part.is_empty() { error.reason.to_string() } else { format!("{} (`{part}`)", error.reason) };
    LicenseError::NotSpdx { reason, suggestion: respelt(text) }
}

/// The same expression with the ids and operators spelt as on the list; none when that does not mend it.
fn respelt(text: &str) -> Option<String> {
    // The crate also knows names in common use, such as `apache2` and `gplv3`.
    let mended = text.split(' ').map(respelt_word).collect::<Vec<_>>().join(" ");
    let mended = match Expression::parse_mode(&mended, MODE) {
        Ok(_) => mended,
        Err(_) => Expression::canonicalize(&mended).ok()??,
    };
    (mended != text && Expression::parse_mode(&mended, MODE).is_ok()).then_some(mended)
}

fn respelt_word(word: &str) -> String {
    let bare = word.trim_matches(['(', ')', '+']);
    let found = spdx::identifiers::LICENSES.iter().map(|license| license.name);
    let found = found.chain(spdx::identifiers::EXCEPTIONS.iter().map(|exception| exception.name));
    match found.into_iter().find(|name| name.eq_ignore_ascii_case(bare)) {
        Some(name) if !bare.is_empty() => word.replace(bare, name),
        _ => word.to_owned(),
    }
}
