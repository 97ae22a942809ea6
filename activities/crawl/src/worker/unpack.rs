//! Content codings undone (RFC 9110 section 8.4), as far as a bound and no further: a bomb costs what a page costs.

use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};

use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

/// More codings on top of each other are no body that a person has set up.
const MOST_CODINGS: usize = 3;

/// The largest window of zstd over HTTP (RFC 9659 section 3), as a power of two.
const WINDOW_BITS: u32 = 23;

/// What a gzip file starts with (RFC 1952 section 2.3.1).
const MAGIC: &[u8] = &[0x1F, 0x8B];

/// Why a body cannot be unpacked.
#[derive(Debug)]
pub(super) enum Unpackable {
    Unknown(String),
    Malformed(String, io::Error),
    Cut(String),
}

/// A body as far as the bound allows.
#[derive(Debug)]
pub(super) struct Unpacked<'b> {
    pub(super) bytes: Cow<'b, [u8]>,
    /// Whether there is more.
    pub(super) is_cut: bool,
}

/// Undoes the codings of a `Content-Encoding` header, the last first. `is_whole` says whether the body is; of one that is not,
/// what there is counts.
pub(super) fn unpack<'b>(
    body: &'b [u8],
    header: &str,
    most: usize,
    is_whole: bool,
) -> Result<Unpacked<'b>, Unpackable> {
    let codings: Vec<String> = header.split(',').map(|coding| coding.trim().to_ascii_lowercase()).collect();
    let codings: Vec<&str> =
        codings.iter().map(String::as_str).filter(|coding| !matches!(*coding, "" | "identity")).collect();
    if codings.len() > MOST_CODINGS {
        return Err(Unpackable::Unknown(header.to_owned()));
    }
    let mut unpacked = Unpacked { bytes: Cow::Borrowed(body), is_cut: !is_whole };
    for coding in codings.iter().rev() {
        let known = reader(coding, &unpacked.bytes).ok_or_else(|| Unpackable::Unknown((*coding).to_owned()))?;
        let reader = known.map_err(|error| Unpackable::Malformed((*coding).to_owned(), error))?;
        let (bytes, is_over, error) = read(reader, most);
        match error {
            Some(_) if unpacked.is_cut => {}
            Some(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(Unpackable::Cut((*coding).to_owned()));
            }
            Some(error) => return Err(Unpackable::Malformed((*coding).to_owned(), error)),
            None => {}
        }
        unpacked = Unpacked { bytes: Cow::Owned(bytes), is_cut: unpacked.is_cut || is_over };
    }
    if unpacked.bytes.len() > most {
        unpacked.is_cut = true;
        unpacked.bytes = match unpacked.bytes {
            Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..most]),
            Cow::Owned(mut bytes) => {
                bytes.truncate(most);
                Cow::Owned(bytes)
            }
        };
    }
    Ok(unpacked)
}

fn reader<'b>(coding: &str, body: &'b [u8]) -> Option<io::Result<Box<dyn Read + 'b>>> {
    Some(match coding {
        "gzip" | "x-gzip" | "deflate" | "br" | "zstd" if body.is_empty() => Ok(Box::new(io::empty())),
        "gzip" | "x-gzip" if !body.starts_with(MAGIC) => Err(ErrorKind::InvalidData.into()),
        "gzip" | "x-gzip" => Ok(Box::new(Members::of(body))),
        // Meant with the header of zlib, and sent without by some (RFC 9110 section 8.4.1.2).
        "deflate" if is_zlib(body) => Ok(Box::new(ZlibDecoder::new(body))),
        "deflate" => Ok(Box::new(DeflateDecoder::new(body))),
        "br" => Ok(Box::new(brotli_decompressor::Decompressor::new(body, 4096))),
        "zstd" => zstd::stream::read::Decoder::with_buffer(body).and_then(|mut decoder| {
            decoder.window_log_max(WINDOW_BITS)?;
            Ok(Box::new(decoder) as Box<dyn Read>)
        }),
        _ => return None,
    })
}

fn is_zlib(body: &[u8]) -> bool {
    matches!(body, [first, second, ..] if first & 15 == 8 && (u32::from(*first) << 8 | u32::from(*second)) % 31 == 0)
}

/// Reads until there is more than `most`: what was read, whether there is more, what went wrong.
fn read(reader: Box<dyn Read + '_>, most: usize) -> (Vec<u8>, bool, Option<io::Error>) {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    let error = reader.take(limit).read_to_end(&mut bytes).err();
    let is_over = bytes.len() > most;
    (bytes, is_over, if is_over { None } else { error })
}

/// The members of a gzip file, one after another (RFC 1952 section 2.2); what is none behind the last is passed over, as
/// browsers do.
struct Members<'b> {
    current: GzDecoder<&'b [u8]>,
}

impl<'b> Members<'b> {
    fn of(bytes: &'b [u8]) -> Self {
        Self { current: GzDecoder::new(bytes) }
    }
}

impl Read for Members<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.current.read(buffer)?;
            let rest: &[u8] = self.current.get_ref();
            if read > 0 || buffer.is_empty() || !rest.starts_with(MAGIC) {
                return Ok(read);
            }
            self.current = GzDecoder::new(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn zlib(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    const PAGE: &[u8] = b"<p>a page that is long enough to be worth packing, packing, packing</p>";

    fn unpacked(body: &[u8], header: &str) -> Vec<u8> {
        let unpacked = unpack(body, header, 1000, true).unwrap();
        assert!(!unpacked.is_cut);
        unpacked.bytes.into_owned()
    }

    #[test]
    fn codings_are_undone_the_last_first() {
        let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 1).unwrap();
        let table = [
            (PAGE.to_vec(), ""),
            (PAGE.to_vec(), "identity"),
            (PAGE.to_vec(), "identity, ,"),
            (gzip(PAGE), "gzip"),
            (gzip(PAGE), " X-GZIP "),
            ([gzip(&PAGE[..9]), gzip(&PAGE[9..])].concat(), "gzip"),
            ([gzip(PAGE), b"garbage".to_vec()].concat(), "gzip"),
            (zlib(PAGE), "deflate"),
            (zlib(PAGE)[2..].to_vec(), "deflate"),
            (zstd(PAGE), "zstd"),
            ([zstd(&PAGE[..9]), zstd(&PAGE[9..])].concat(), "zstd"),
            (gzip(&zstd(PAGE)), "zstd, gzip"),
        ];
        for (body, header) in table {
            assert_eq!(unpacked(&body, header), PAGE, "{header}");
        }
    }

    #[test]
    fn a_bomb_is_stopped_at_the_bound() {
        let zeros = vec![0; 50_000_000];
        for (body, header) in
            [(gzip(&zeros), "gzip"), (zstd::encode_all(&*zeros, 1).unwrap(), "zstd"), (zlib(&zeros), "deflate")]
        {
            let unpacked = unpack(&body, header, 1000, true).unwrap();
            assert_eq!((unpacked.bytes.len(), unpacked.is_cut), (1000, true), "{header}");
        }
        let packed = gzip(&gzip(&zeros));
        let twice = unpack(&packed, "gzip, gzip", 1_000_000, true).unwrap();
        assert!(twice.is_cut && twice.bytes.len() == 1_000_000);
    }

    #[test]
    fn what_cannot_be_undone_is_told() {
        let cut = gzip(PAGE);
        assert!(matches!(unpack(&cut[..30], "gzip", 1000, true), Err(Unpackable::Cut(coding)) if coding == "gzip"));
        let zstd = zstd::encode_all(PAGE, 1).unwrap();
        assert!(matches!(unpack(&zstd[..20], "zstd", 1000, true), Err(Unpackable::Cut(_))));
        assert!(matches!(unpack(b"<p>", "gzip", 1000, true), Err(Unpackable::Malformed(..))));
        assert_eq!(unpacked(b"", "gzip"), b"");
        assert!(matches!(unpack(PAGE, "br", 1000, true), Err(Unpackable::Malformed(..) | Unpackable::Cut(_))));
        assert!(
            matches!(unpack(PAGE, "gzip, rot13", 1000, true), Err(Unpackable::Unknown(coding)) if coding == "rot13")
        );
        assert!(matches!(unpack(PAGE, "gzip,gzip,gzip,gzip", 1000, true), Err(Unpackable::Unknown(_))));
        let part = unpack(&cut[..40], "gzip", 1000, false).unwrap();
        assert!(part.is_cut && PAGE.starts_with(&part.bytes));
    }
}
