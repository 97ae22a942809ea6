//! Pure text: normalisation and the language of a text.

pub mod language;
pub mod normalize;
