//! JSON at rest: compact, on one line that ends with a newline.

use serde::Serialize;

/// A value as it is stored.
///
/// # Errors
/// Never for the types of this crate; the serializer's error is passed on all the same.
pub fn to_line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    Ok(line)
}
