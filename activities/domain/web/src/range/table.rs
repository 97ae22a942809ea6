//! Every rule of the decision, a row each: what is on disk, what was asked, what came, what to do.

use super::*;

/// The date that rows call `sun`, and the one that they call `mon`.
const SUN: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const MON: &str = "Mon, 07 Nov 1994 08:49:37 GMT";

/// Columns: part (`bytes/total validator coding`, `-` for none) | offset asked | status | headers | decision.
const TABLE: &str = r#"
    # A 200 is the whole file, whatever was asked and whatever is on disk.
    -                | 0  | 200 |                                        | restart of ?
    -                | 0  | 200 | length 54                              | restart of 54
    -                | 0  | 200 | length 0                               | restart of 0
    -                | 0  | 200 | length junk                            | restart of ?
    -                | 0  | 200 | length 54, coding gzip, etag "b"       | restart of 54
    20/54            | 20 | 200 | length 54                              | restart of 54
    20/54 "a"        | 20 | 200 | length 60, etag "b"                    | restart of 60
    20/54 "a" gzip   | 20 | 200 | length 60, etag "a"                    | restart of 60
    54/54            | 54 | 200 | length 54                              | restart of 54
    20/54            | 0  | 200 | length 54                              | restart of 54
    20/54            | 20 | 203 | length 54                              | restart of 54

    # A 206 that goes on where the part ends.
    20/?             | 20 | 206 | range bytes 20-53/54                   | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/54                   | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/54, length 34        | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/*                    | append to 54 of 54
    20/?             | 20 | 206 | range bytes 20-53/*                    | append to 54 of ?
    20/54            | 20 | 206 | range bytes 20-29/54, length 10        | append to 30 of 54
    20/54            | 20 | 206 | range Bytes 20-53/54                   | append to 54 of 54

    # A 206 that starts elsewhere.
    20/54            | 20 | 206 | range bytes 0-53/54                    | from zero: start
    20/54            | 20 | 206 | range bytes 19-53/54                   | from zero: start
    20/54            | 20 | 206 | range bytes 21-53/54                   | from zero: start
    20/54            | 10 | 206 | range bytes 10-53/54                   | from zero: start
    -                | 20 | 206 | range bytes 20-53/54                   | from zero: start

    # A 206 of a file of another size.
    20/54            | 20 | 206 | range bytes 20-59/60                   | from zero: total
    20/54            | 20 | 206 | range bytes 20-39/40                   | from zero: total
    20/54            | 20 | 206 | range bytes 20-54/*                    | from zero: total
    54/54            | 54 | 206 | range bytes 54-59/60                   | from zero: total

    # A 206 that names another version. Naming none is no contradiction.
    20/54 "a"        | 20 | 206 | range bytes 20-53/54                   | append to 54 of 54
    20/54 "a"        | 20 | 206 | range bytes 20-53/54, etag "a"         | append to 54 of 54
    20/54 "a"        | 20 | 206 | range bytes 20-53/54, etag "b"         | from zero: validator
    20/54 "a"        | 20 | 206 | range bytes 20-53/54, etag W/"a"       | from zero: validator
    20/54 "a"        | 20 | 206 | range bytes 20-53/54, etag "A"         | from zero: validator
    20/54 "a"        | 20 | 206 | range bytes 20-53/54, modified mon     | append to 54 of 54
    20/54 sun        | 20 | 206 | range bytes 20-53/54                   | append to 54 of 54
    20/54 sun        | 20 | 206 | range bytes 20-53/54, modified sun     | append to 54 of 54
    20/54 sun        | 20 | 206 | range bytes 20-53/54, modified mon     | from zero: validator
    20/54 sun        | 20 | 206 | range bytes 20-53/54, etag "b"         | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/54, etag "b"         | append to 54 of 54

    # A 206 in another coding.
    20/54 - gzip     | 20 | 206 | range bytes 20-53/54, coding gzip      | append to 54 of 54
    20/54 - gzip     | 20 | 206 | range bytes 20-53/54, coding GZIP      | append to 54 of 54
    20/54 - gzip     | 20 | 206 | range bytes 20-53/54, coding x-gzip    | append to 54 of 54
    20/54 - identity | 20 | 206 | range bytes 20-53/54                   | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/54, coding identity  | append to 54 of 54
    20/54            | 20 | 206 | range bytes 20-53/54, coding gzip      | from zero: coding
    20/54 - gzip     | 20 | 206 | range bytes 20-53/54                   | from zero: coding
    20/54 - gzip     | 20 | 206 | range bytes 20-53/54, coding br        | from zero: coding

    # A 206 that does not say which bytes it holds, and a server that refuses ranges.
    20/54            | 20 | 206 |                                        | without range: absent
    20/54            | 20 | 206 | range junk                             | without range: unreadable
    20/54            | 20 | 206 | range bytes=20-53/54                   | without range: unreadable
    20/54            | 20 | 206 | range bytes 53-20/54                   | without range: unreadable
    20/54            | 20 | 206 | range bytes 20-54/54                   | without range: unreadable
    20/54            | 20 | 206 | range bytes 20-18446744073709551615/*  | without range: unreadable
    20/54            | 20 | 206 | range bytes */54                       | without range: unsatisfied
    20/54            | 20 | 206 | range bytes 20-53/54, length 33        | without range: length
    20/54            | 20 | 206 | type multipart/byteranges; boundary=x  | without range: multipart
    20/54            | 20 | 206 | range bytes 20-53/54, type Multipart/ByteRanges | without range: multipart
    20/54            | 20 | 403 |                                        | without range: forbidden

    # A 206 without having asked.
    -                | 0  | 206 | range bytes 0-53/54                    | append to 54 of 54
    0/54 "a"         | 0  | 206 | range bytes 0-59/60, etag "b"          | append to 60 of 60
    -                | 0  | 206 | range bytes 0-9/*                      | append to 10 of ?
    20/54            | 0  | 206 | range bytes 0-53/54                    | restart of 54
    -                | 0  | 206 | range bytes 20-53/54                   | fail: unasked start
    20/54            | 0  | 206 | range bytes 20-53/54                   | fail: unasked start
    -                | 0  | 206 |                                        | fail: unasked range
    -                | 0  | 206 | range junk                             | fail: unasked range
    -                | 0  | 206 | type multipart/byteranges              | fail: unasked range

    # A 416 says whether the part is whole.
    54/?             | 54 | 416 | range bytes */54                       | whole
    54/54            | 54 | 416 | range bytes */54                       | whole
    54/54            | 54 | 416 |                                        | whole
    54/54            | 54 | 416 | range junk                             | whole
    54/54            | 54 | 416 | range bytes 0-53/54                    | whole
    54/?             | 54 | 416 | range bytes */40                       | from zero: too long
    54/?             | 54 | 416 | range bytes */60                       | from zero: too long
    54/54            | 54 | 416 | range bytes */40                       | from zero: total
    54/60            | 54 | 416 | range bytes */54                       | from zero: total
    54/?             | 54 | 416 |                                        | from zero: too long
    54/60            | 54 | 416 |                                        | from zero: too long
    54/?             | 54 | 416 | range junk                             | from zero: too long
    -                | 0  | 416 | range bytes */0                        | fail: 416
    54/54            | 0  | 416 | range bytes */54                       | fail: 416

    # Redirects, with a part or without.
    -                | 0  | 301 | location /x                            | redirect to /x
    -                | 0  | 302 | location /x                            | redirect to /x
    -                | 0  | 303 | location /x                            | redirect to /x
    20/54            | 20 | 307 | location /x                            | redirect to /x
    20/54            | 20 | 308 | location https://cdn/x?a=b             | redirect to https://cdn/x?a=b
    -                | 0  | 302 |                                        | fail: no location
    -                | 0  | 302 | location                               | fail: no location
    -                | 0  | 300 | location /x                            | fail: 300
    -                | 0  | 304 | location /x                            | fail: 304
    20/54 "a"        | 20 | 304 |                                        | fail: 304

    # What a later attempt may change, and what none will.
    -                | 0  | 429 |                                        | retry 429
    -                | 0  | 429 | retry 7                                | retry 429 after 7
    20/54            | 20 | 429 | retry soon                             | retry 429 after soon
    20/54            | 20 | 500 |                                        | retry 500
    -                | 0  | 503 | retry 120                              | retry 503 after 120
    -                | 0  | 504 |                                        | retry 504
    -                | 0  | 400 |                                        | fail: 400
    20/54            | 20 | 401 |                                        | fail: 401
    -                | 0  | 403 |                                        | fail: 403
    20/54            | 0  | 403 |                                        | fail: 403
    -                | 0  | 404 | retry 7                                | fail: 404
    -                | 0  | 408 | retry 7                                | fail: 408
    20/54            | 20 | 410 |                                        | fail: 410
    20/54            | 20 | 412 |                                        | fail: 412
    -                | 0  | 425 |                                        | fail: 425
    -                | 0  | 451 |                                        | fail: 451
    -                | 0  | 204 |                                        | fail: unexpected 204
    -                | 0  | 226 | length 54                              | fail: unexpected 226
    20/54            | 20 | 202 | length 54                              | fail: unexpected 202
    -                | 0  | 101 |                                        | fail: unexpected 101
    -                | 0  | 600 |                                        | fail: unexpected 600
"#;

#[test]
fn every_row_of_the_table() {
    let rows = TABLE.lines().map(str::trim).filter(|row| !row.is_empty() && !row.starts_with('#'));
    for row in rows {
        let columns: Vec<&str> = row.split('|').map(str::trim).collect();
        let [part, offset, status, headers, expected] = columns[..] else { panic!("five columns: {row}") };
        let asked = Asked { offset: offset.parse().unwrap() };
        let decision = decide(read_part(part).as_ref(), asked, &read_answer(status, headers));
        assert_eq!(written(&decision), expected, "{row}");
    }
}

/// Every status there could be, over every kind of part: the rules hold where no row looks.
#[test]
fn every_status_has_its_decision() {
    let headers = "range bytes 20-53/54, length 34, location /x, retry 7";
    for status in 0..1000_u16 {
        for (part, offset) in
            [("-", 0), ("0/?", 0), ("20/54", 0), ("20/54", 20), ("20/? \"a\" gzip", 20), ("54/54", 54)]
        {
            let answer = read_answer(&status.to_string(), headers);
            let decision = decide(read_part(part).as_ref(), Asked { offset }, &answer);
            let fits = match status {
                200 | 203 => matches!(decision, Decision::Restart { total: Some(34) }),
                206 if offset == 0 => {
                    matches!(decision, Decision::Fail { reason: Refusal::UnaskedStart { start: 20 } })
                }
                206 => matches!(decision, Decision::Append { .. } | Decision::FromZero { .. }),
                301 | 302 | 303 | 307 | 308 => decision == Decision::Redirect { location: "/x".to_owned() },
                403 if offset > 0 => decision == Decision::WithoutRange { reason: Unusable::Forbidden },
                416 if offset > 0 => matches!(decision, Decision::Whole | Decision::FromZero { .. }),
                429 | 500..=599 => decision == Decision::Retry { status, retry_after: Some("7".to_owned()) },
                300..=499 => decision == Decision::Fail { reason: Refusal::Status(status) },
                _ => decision == Decision::Fail { reason: Refusal::UnexpectedStatus(status) },
            };
            assert!(fits, "{status} with {part} asked from {offset}: {decision:?}");
        }
    }
}

#[test]
fn a_part_is_asked_on_where_it_ends() {
    let asked = |part: &str| {
        let RequestHeaders { range, if_range } = request(read_part(part).as_ref());
        format!("{} {}", range.as_deref().unwrap_or("-"), if_range.as_deref().unwrap_or("-"))
    };
    assert_eq!(asked("-"), "- -");
    assert_eq!(asked("0/54 \"a\""), "- -");
    assert_eq!(asked("20/54"), "bytes=20- -");
    assert_eq!(asked("20/54 \"a\""), "bytes=20- \"a\"");
    assert_eq!(asked("20/? sun"), format!("bytes=20- {SUN}"));
}

#[test]
fn a_refusal_says_what_to_do() {
    let told = |status| Refusal::Status(status).to_string();
    assert_eq!(told(403), "status 403; a credential may be missing, or a signed URL has expired");
    assert_eq!(told(404), "status 404; look at the url: the file is not there");
    assert_eq!(told(418), "status 418");
    assert_eq!(Refusal::Status(404).disposition(), Disposition::Fail);
}

fn read_part(column: &str) -> Option<Part> {
    if column == "-" {
        return None;
    }
    let mut words = column.split_whitespace();
    let (bytes, total) = words.next()?.split_once('/')?;
    let validator = match words.next() {
        None | Some("-") => None,
        Some("sun") => Some(Validator::LastModified(SUN.to_owned())),
        Some(etag) => Some(Validator::StrongEtag(etag.to_owned())),
    };
    let coding = words.next().map(str::to_owned);
    Some(Part { bytes: bytes.parse().unwrap(), total: total.parse().ok(), validator, coding })
}

fn read_answer(status: &str, headers: &str) -> Answer {
    let mut answer = Answer { status: status.parse().unwrap(), ..Answer::default() };
    for header in headers.split(", ").filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(' ').unwrap_or((header, ""));
        let value = match value {
            "sun" => SUN,
            "mon" => MON,
            value => value,
        };
        let field = match name {
            "range" => &mut answer.content_range,
            "length" => &mut answer.content_length,
            "etag" => &mut answer.etag,
            "modified" => &mut answer.last_modified,
            "coding" => &mut answer.content_encoding,
            "type" => &mut answer.content_type,
            "retry" => &mut answer.retry_after,
            "location" => &mut answer.location,
            name => panic!("no header is called {name}"),
        };
        *field = Some(value.to_owned());
    }
    answer
}

fn written(decision: &Decision) -> String {
    let size = |total: &Option<u64>| total.map_or_else(|| "?".to_owned(), |total| total.to_string());
    match decision {
        Decision::Append { total, end } => format!("append to {end} of {}", size(total)),
        Decision::Restart { total } => format!("restart of {}", size(total)),
        Decision::Whole => "whole".to_owned(),
        Decision::FromZero { reason } => format!("from zero: {}", written_mismatch(reason)),
        Decision::WithoutRange { reason } => format!("without range: {}", written_unusable(reason)),
        Decision::Redirect { location } => format!("redirect to {location}"),
        Decision::Retry { status, retry_after: None } => format!("retry {status}"),
        Decision::Retry { status, retry_after: Some(after) } => format!("retry {status} after {after}"),
        Decision::Fail { reason } => format!("fail: {}", written_refusal(reason)),
    }
}

fn written_mismatch(reason: &Mismatch) -> &'static str {
    match reason {
        Mismatch::Start { .. } => "start",
        Mismatch::Total { .. } => "total",
        Mismatch::Validator => "validator",
        Mismatch::Coding => "coding",
        Mismatch::TooLong { .. } => "too long",
    }
}

fn written_unusable(reason: &Unusable) -> &'static str {
    match reason {
        Unusable::NoContentRange => "absent",
        Unusable::ContentRange(_) => "unreadable",
        Unusable::Unsatisfied => "unsatisfied",
        Unusable::Multipart => "multipart",
        Unusable::Length { .. } => "length",
        Unusable::Forbidden => "forbidden",
    }
}

fn written_refusal(reason: &Refusal) -> String {
    match reason {
        Refusal::Status(status) => status.to_string(),
        Refusal::NoLocation(_) => "no location".to_owned(),
        Refusal::UnexpectedStatus(status) => format!("unexpected {status}"),
        Refusal::UnaskedStart { .. } => "unasked start".to_owned(),
        Refusal::UnaskedRange(_) => "unasked range".to_owned(),
    }
}
