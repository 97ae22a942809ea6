//! Pure text: normalisation, the language of a text, the main text of a page.

pub mod language;
pub mod normalize;
pub mod page;
