//! Pure text: normalisation and the language of a text.
