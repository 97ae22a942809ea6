//! The name of a download: from the URL that the config names, never from the server, and always one safe segment.

use percent_encoding::percent_decode_str;
use url::Url;

/// The longest name in bytes: a suffix of ours still fits into the 255 bytes that file systems allow.
pub const LONGEST: usize = 200;

/// The name of a URL whose path ends in none.
pub const UNNAMED: &str = "download";

/// The name of what stands at this URL: the last segment of its path, percent-decoded and made [`safe`].
#[must_use]
pub fn from_url(url: &Url) -> String {
    let segment = url.path().rsplit('/').next().unwrap_or_default();
    let decoded: Vec<u8> = percent_decode_str(segment).collect();
    safe(&text(&decoded))
}

/// `name` as one path segment that can never leave its folder: control characters, `/`, `\`, `:` and leading dots are
/// `_`, at most [`LONGEST`] bytes of it, [`UNNAMED`] when empty.
///
/// A download in progress is `<name>.part`, with `<name>.part.json` beside it; a name that ends like these gets `_` for
/// that dot, so that no name is another one's side file.
#[must_use]
pub fn safe(name: &str) -> String {
    let dots = name.len() - name.trim_start_matches('.').len();
    let replaced = name.char_indices().map(|(at, char)| if at < dots || is_unsafe(char) { '_' } else { char });
    let mut safe: String = replaced.collect();
    safe.truncate(safe.floor_char_boundary(LONGEST));
    if safe.is_empty() {
        return UNNAMED.to_owned();
    }
    if let Some(dot) = side_file_dot(&safe) {
        safe.replace_range(dot..=dot, "_");
    }
    safe
}

/// Whether a character could leave the folder, or a terminal's line, on some system.
fn is_unsafe(char: char) -> bool {
    char.is_control() || matches!(char, '/' | '\\' | ':')
}

/// Where the dot stands that makes this the name of a side file; some file systems ignore case.
fn side_file_dot(name: &str) -> Option<usize> {
    [".part", ".part.json"].iter().find_map(|suffix| {
        let dot = name.len().checked_sub(suffix.len())?;
        name.get(dot..)?.eq_ignore_ascii_case(suffix).then_some(dot)
    })
}

/// The bytes as text, with `_` for each sequence that is not UTF-8.
fn text(bytes: &[u8]) -> String {
    let chunk = |chunk: std::str::Utf8Chunk<'_>| {
        let replacement = if chunk.invalid().is_empty() { "" } else { "_" };
        format!("{}{replacement}", chunk.valid())
    };
    bytes.utf8_chunks().map(chunk).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_segment_made_safe() {
        let long = "a".repeat(300);
        let accented = "é".repeat(150);
        let table = [
            ("http://h/tiny.jsonl", "tiny.jsonl"),
            ("http://h/a/b/tiny.jsonl.gz?download=true#part", "tiny.jsonl.gz"),
            ("http://h", "download"),
            ("http://h/", "download"),
            ("http://h/a/", "download"),
            ("file:///data/my%20file.jsonl", "my file.jsonl"),
            ("http://h/caf%C3%A9.txt", "café.txt"),
            ("http://h/a%2Fb", "a_b"),
            ("http://h/%2E%2E%2Fetc%2Fpasswd", "___etc_passwd"),
            ("http://h/..%2F..%2Fetc", "___.._etc"),
            ("http://h/%2F..", "_.."),
            ("http://h/a%5Cb", "a_b"),
            ("http://h/c:%5Cx", "c__x"),
            ("http://h/.hidden", "_hidden"),
            ("http://h/...", "___"),
            ("http://h/%00%0A%7F%C2%85x", "____x"),
            ("http://h/a%FFb%C3", "a_b_"),
            ("http://h/100%25.txt", "100%.txt"),
            ("http://h/100%.txt", "100%.txt"),
            ("http://h/a%252Fb", "a%2Fb"),
            ("http://h/x.part", "x_part"),
            ("http://h/x.PART.json", "x_PART.json"),
            ("http://h/x.part01", "x.part01"),
            ("http://h/part", "part"),
            (&format!("http://h/{long}"), &long[..200]),
            (&format!("http://h/{accented}"), &"é".repeat(100)),
            (&format!("http://h/a{accented}"), &format!("a{}", "é".repeat(99))),
        ];
        for (url, name) in table {
            assert_eq!(from_url(&Url::parse(url).unwrap()), name, "{url}");
        }
    }

    #[test]
    fn a_cut_that_ends_like_a_side_file_is_none() {
        let name = format!("{}.part.gz", "a".repeat(195));
        assert_eq!(safe(&name), format!("{}_part", "a".repeat(195)));
    }

    proptest! {
        #[test]
        fn always_one_safe_segment_that_is_no_side_file(bytes: Vec<u8>, prefix in "[./:\\\\]{0,4}", suffix in "(\\.part|\\.part\\.json)?") {
            let mut url = Url::parse("http://h/").unwrap();
            let encoded = percent_encoding::percent_encode(&bytes, percent_encoding::NON_ALPHANUMERIC);
            url.set_path(&format!("a/{prefix}{encoded}{suffix}"));
            let name = from_url(&url);
            prop_assert!((1..=LONGEST).contains(&name.len()));
            prop_assert!(!name.starts_with('.') && !name.contains(is_unsafe), "{}", name);
            prop_assert!(!name.ends_with(".part") && !name.ends_with(".part.json"), "{}", name);
            prop_assert_eq!(std::path::Path::new(&name).components().count(), 1);
            prop_assert_eq!(safe(&name), name, "safe twice is safe once");
        }
    }
}
