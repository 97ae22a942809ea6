//! What many URLs of a trap have in common.

use url::Url;

/// Host and path with each run of digits as `#`, and the names of the query's parameters, sorted and each once.
///
/// The pages of an endless calendar have one pattern, and so have those of a search whose answers link to more searches.
#[must_use]
pub fn pattern(url: &Url) -> String {
    let mut pattern = url.host_str().unwrap_or_default().to_owned();
    let mut in_number = false;
    for char in url.path().chars() {
        if !char.is_ascii_digit() {
            pattern.push(char);
        } else if !in_number {
            pattern.push('#');
        }
        in_number = char.is_ascii_digit();
    }
    let mut names: Vec<_> = url.query_pairs().map(|(name, _)| name).collect();
    names.sort_unstable();
    names.dedup();
    for (index, name) in names.iter().enumerate() {
        pattern.push(if index == 0 { '?' } else { '&' });
        pattern.push_str(name);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_values_do_not_count() {
        let table = [
            ("http://h/", "h/"),
            ("http://h/2026/11/30", "h/#/#/#"),
            ("http://h/a1b22c", "h/a#b#c"),
            ("http://h:8080/cal?year=2026&month=1", "h/cal?month&year"),
            ("http://h/cal?month=12&year=1999&month=2", "h/cal?month&year"),
            ("http://h/٣", "h/%D#%A#"),
        ];
        for (url, expected) in table {
            assert_eq!(pattern(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
