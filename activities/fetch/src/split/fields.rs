//! Named fields as the heads of records and of recorded answers have them, a line each or folded over several.

/// The fields of one head, their names in lower case, in their order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Takes the next line of the head: a field, or one that goes on (RFC 9112 section 5.2). Whether it is either.
    pub(super) fn take(&mut self, line: &str) -> bool {
        match (line.strip_prefix([' ', '\t']), self.0.last_mut(), line.split_once(':')) {
            (Some(folded), Some((_, value)), _) => {
                value.push_str(if value.is_empty() { "" } else { " " });
                value.push_str(folded.trim());
            }
            (None, _, Some((name, value))) => {
                self.0.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
            _ => return false,
        }
        true
    }

    /// Every field.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All values of this name, which is written in lower case.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &str> {
        self.iter().filter(move |(other, _)| *other == name).map(|(_, value)| value)
    }
}
