//! The body of an answer, unpacked, within its bounds.

use std::time::Instant;

use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::client::{Client, Failed};
use super::unpack::{Unpackable, Unpacked, unpack};

/// The whole body.
///
/// # Errors
/// When it is not whole, larger than `most`, late, or packed in a way that we do not know.
pub(super) async fn whole(
    client: &Client,
    headers: &HeaderMap,
    mut response: reqwest::Response,
    most: usize,
    deadline: Instant,
) -> Result<Vec<u8>, Failed> {
    let codings = codings(headers);
    if codings.is_empty() && response.content_length().is_some_and(|length| length > most as u64) {
        return Err(Failed::TooLarge { most });
    }
    // What is larger packed than it may be unpacked is too large.
    let (packed, is_whole) = received(client, &mut response, most, deadline).await?;
    if !is_whole {
        return Err(Failed::TooLarge { most });
    }
    if codings.is_empty() {
        return Ok(packed);
    }
    let unpacked = unpack(&packed, &codings, most, true).map_err(failed)?;
    if unpacked.is_cut { Err(Failed::TooLarge { most }) } else { Ok(unpacked.bytes.into_owned()) }
}

/// The start of a body, at most so many bytes.
///
/// # Errors
/// As for [`whole`], but that more than `most` is no error.
pub(super) async fn start(
    client: &Client,
    headers: &HeaderMap,
    mut response: reqwest::Response,
    most: usize,
    deadline: Instant,
) -> Result<Vec<u8>, Failed> {
    let (packed, is_whole) = received(client, &mut response, most, deadline).await?;
    let Unpacked { bytes, .. } = unpack(&packed, &codings(headers), most, is_whole).map_err(failed)?;
    Ok(bytes.into_owned())
}

/// What comes, at most a piece more than `most`, and whether that is all.
async fn received(
    client: &Client,
    response: &mut reqwest::Response,
    most: usize,
    deadline: Instant,
) -> Result<(Vec<u8>, bool), Failed> {
    let expected = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    let mut received = Vec::with_capacity(expected.min(most).min(1 << 20));
    while let Some(piece) = client.chunk(response, deadline).await? {
        received.extend_from_slice(&piece);
        if received.len() > most {
            return Ok((received, false));
        }
    }
    Ok((received, true))
}

/// The codings of all `Content-Encoding` headers, as one list.
fn codings(headers: &HeaderMap) -> String {
    let values =
        headers.get_all(CONTENT_ENCODING).iter().map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let all = values.collect::<Vec<_>>().join(",");
    if all.split(',').all(|coding| matches!(coding.trim(), "" | "identity")) { String::new() } else { all }
}

fn failed(unpackable: Unpackable) -> Failed {
    match unpackable {
        Unpackable::Unknown(coding) => Failed::UnknownCoding { coding },
        Unpackable::Malformed(coding, source) => Failed::BadCoding { coding, source },
        Unpackable::Cut(coding) => Failed::CutCoding { coding },
    }
}
