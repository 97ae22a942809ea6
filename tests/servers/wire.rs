//! One answer onto one connection, with its pauses and its cut.

use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use super::answer::{Answer, Before, Framing};
use super::gate::InFlight;
use super::ranges::Reply;
use super::request::Logged;
use super::stream::Stream;

/// Body bytes written at once where the answer sets no pace.
const PIECE: usize = 64 * 1024;

/// The longest that a server waits for the next request on a connection that was kept.
pub(super) const IDLE: Duration = Duration::from_secs(30);

/// How the connection goes on after an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Keep,
    Close,
    Reset,
}

/// Sends `answer`; an error is a client that went away.
pub(super) fn send(
    stream: &mut Stream,
    logged: &Logged,
    answer: &Answer,
    in_flight: &mut InFlight,
) -> io::Result<After> {
    if let Some(gate) = &answer.gate {
        gate.pass();
    }
    sleep(answer.head_after);
    match &answer.before {
        Before::Answer => {}
        Before::HangUp => return Ok(After::Close),
        Before::Garbage(bytes) => {
            stream.write_all(bytes)?;
            return Ok(After::Close);
        }
    }
    let reply = Reply::to(&logged.request, answer);
    let last = logged.request.header("connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
    stream.write_all(head(&reply, answer.framing, last).as_bytes())?;
    let after = send_body(stream, logged, answer, &reply.body, in_flight)?;
    Ok(if last && after == After::Keep { After::Close } else { after })
}

fn head(reply: &Reply, framing: Framing, last: bool) -> String {
    let (version, end) = match framing {
        Framing::Length => ("1.1", format!("Content-Length: {}\r\n", reply.body.len())),
        Framing::ClaimLength(bytes) => ("1.1", format!("Content-Length: {bytes}\r\n")),
        Framing::Chunked => ("1.1", "Transfer-Encoding: chunked\r\n".to_owned()),
        Framing::UntilClose => ("1.0", String::new()),
    };
    let connection = if last { "Connection: close\r\n" } else { "" };
    let headers: String = reply.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!("HTTP/{version} {} Said\r\n{end}{connection}{headers}\r\n", reply.status)
}

fn send_body(
    stream: &mut Stream,
    logged: &Logged,
    answer: &Answer,
    body: &[u8],
    in_flight: &mut InFlight,
) -> io::Result<After> {
    let whole = body.len();
    let end = answer.cut.map_or(whole, |cut| whole.min(usize::try_from(cut.after).unwrap()));
    let mut sent = 0;
    while sent < end {
        if let Some((after, pause)) = answer.stall
            && sent as u64 == after
        {
            sleep(pause);
        }
        let piece = &body[sent..next_stop(answer, sent, end)];
        if sent + piece.len() == end {
            in_flight.leave();
        }
        send_piece(stream, piece, answer.framing)?;
        sent += piece.len();
        logged.count(piece.len());
        if let Some((_, pause)) = answer.pace {
            sleep(pause);
        }
    }
    in_flight.leave();
    match answer.cut {
        Some(cut) if cut.by_reset => return Ok(After::Reset),
        Some(_) => return Ok(After::Close),
        None => {}
    }
    match answer.framing {
        Framing::Length => Ok(After::Keep),
        Framing::Chunked => stream.write_all(b"0\r\n\r\n").map(|()| After::Keep),
        Framing::ClaimLength(_) | Framing::UntilClose => Ok(After::Close),
    }
}

/// Where the next piece ends: at the pace, at the stall, or at the end.
fn next_stop(answer: &Answer, sent: usize, end: usize) -> usize {
    let piece = answer.pace.map_or(PIECE, |(bytes, _)| bytes);
    let stall = answer.stall.map_or(end, |(after, _)| usize::try_from(after).unwrap());
    let stop = end.min(sent + piece);
    if sent < stall { stop.min(stall) } else { stop }
}

fn send_piece(stream: &mut Stream, piece: &[u8], framing: Framing) -> io::Result<()> {
    if framing == Framing::Chunked {
        write!(stream, "{:x}\r\n", piece.len())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
    } else {
        stream.write_all(piece)?;
    }
    stream.flush()
}
