//! `corpora page FILE|-`: one page as the extract stage reads it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use corpora_contracts::config::{Extract, Favor, TextFormat};
use corpora_contracts::outcome::ExitCode;
use corpora_extract::page::{Link, Metadata, Page, Reader, RightsSaid, language, place};
use serde::Serialize;

use crate::check;
use crate::output::Output;

#[derive(Debug, Args)]
pub(crate) struct PageArguments {
    /// The page, or `-` for stdin
    #[arg(value_name = "FILE|-")]
    file: PathBuf,
    /// The page's own address, which its links are relative to
    #[arg(long, value_parser = address)]
    url: Option<String>,
    #[command(flatten)]
    form: Form,
    /// Which error is worse: boilerplate kept or text lost [default: that of the config, else balanced]
    #[arg(long, value_enum)]
    favor: Option<Favored>,
    /// Read the page as `[extract]` of this corpus config says
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// What is printed.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct Form {
    /// The main text alone
    #[arg(long)]
    text: bool,
    /// One object with all there is (default)
    #[arg(long)]
    json: bool,
    /// The links, one a line: the address, a TAB and the text
    #[arg(long)]
    links: bool,
    /// The main text as Markdown
    #[arg(long)]
    markdown: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Favored {
    Precision,
    Recall,
    Balanced,
}

/// The object of a page.
#[derive(Debug, Serialize)]
struct PageSaid<'p> {
    title: &'p str,
    /// Of the text; the declared one stands in the metadata.
    language: &'p str,
    text: &'p str,
    links: Vec<LinkSaid<'p>>,
    metadata: MetadataSaid<'p>,
    rights: RightsSaid<'p>,
}

#[derive(Debug, Serialize)]
struct LinkSaid<'p> {
    url: &'p str,
    text: &'p str,
    #[serde(skip_serializing_if = "str::is_empty")]
    rel: &'p str,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct MetadataSaid<'p> {
    charset: &'static str,
    #[serde(flatten)]
    stated: Metadata<'p>,
}

/// Why a page was not read.
#[derive(Debug, thiserror::Error)]
enum PageError {
    #[error("read `{}`", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("read `{}`, which is packed with {tool}; unpack it first: `{tool} -dc FILE | corpora page -`", path.display())]
    Packed { path: PathBuf, tool: &'static str },
}

impl PageError {
    /// A file that is not there or no file is wrong next time, too; a disk may do better.
    fn exit(&self) -> ExitCode {
        use io::ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied};
        match self {
            Self::Unreadable { source, .. }
                if !matches!(source.kind(), IsADirectory | NotADirectory | NotFound | PermissionDenied) =>
            {
                ExitCode::Retry
            }
            _ => ExitCode::Data,
        }
    }
}

pub(crate) fn run(arguments: &PageArguments, output: Output) -> ExitCode {
    let mut extract = match &arguments.config {
        None => Extract::DEFAULT,
        Some(path) => match check::load(path) {
            Ok(loaded) => loaded.config.extract,
            Err(error) => return check::report(&error),
        },
    };
    extract.favor = match arguments.favor {
        None => extract.favor,
        Some(Favored::Precision) => Favor::Precision,
        Some(Favored::Recall) => Favor::Recall,
        Some(Favored::Balanced) => Favor::Balanced,
    };
    if arguments.form.markdown {
        extract.format = TextFormat::Markdown;
    }
    match read(&arguments.file, arguments.url.as_deref(), &Reader::of(&extract)) {
        Ok(page) => print(&page, &arguments.form, output),
        Err(error) => {
            tracing::error!("{}", corpora_stage::chain(&error));
            error.exit()
        }
    }
}

fn read(path: &Path, url: Option<&str>, reader: &Reader) -> Result<Page, PageError> {
    let unreadable = |source| PageError::Unreadable { path: path.to_owned(), source };
    let mut input: Box<dyn Read> = if path == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(path).map_err(unreadable)?)
    };
    let mut bytes = Vec::new();
    input.by_ref().take(reader.page_bytes()).read_to_end(&mut bytes).map_err(unreadable)?;
    let packed = |tool| Err(PageError::Packed { path: path.to_owned(), tool });
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => return packed("gzip"),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => return packed("zstd"),
        _ => {}
    }
    let more = io::copy(&mut input, &mut io::sink()).map_err(unreadable)?;
    Ok(reader.read_bytes(&bytes, more, url))
}

fn print(page: &Page, form: &Form, output: Output) -> ExitCode {
    if let Some(cut) = Metadata::of(page).cut {
        tracing::warn!("a limit of `[extract]` cut the page: {}", serde_json::to_string(&cut).unwrap_or_default());
    }
    if form.text || form.markdown {
        return output.text(&page.text);
    }
    if form.links {
        let lines: Vec<String> = page.links.iter().map(|link| format!("{}\t{}", link.url, link.text)).collect();
        return if lines.is_empty() { ExitCode::Success } else { output.text(&lines.join("\n")) };
    }
    let object = PageSaid {
        title: &page.title,
        language: language(&page.text),
        text: &page.text,
        links: page.links.iter().map(LinkSaid::of).collect(),
        metadata: MetadataSaid { charset: page.charset, stated: Metadata::of(page) },
        rights: RightsSaid::of(&page.rights),
    };
    output.json().result(&object, String::new)
}

impl<'p> LinkSaid<'p> {
    fn of(link: &'p Link) -> Self {
        Self { url: &link.url, text: &link.text, rel: &link.rel, kind: place(link) }
    }
}

/// An absolute address: another one leaves links as they are, which is hardly meant.
fn address(text: &str) -> Result<String, String> {
    let is_absolute = ["http://", "https://", "file://"].iter().any(|scheme| {
        text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)) && text.len() > scheme.len()
    });
    if is_absolute { Ok(text.to_owned()) } else { Err("expected an absolute http(s): or file: URL".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_absolute() {
        for (text, is_good) in [
            ("https://example.org/", true),
            ("HTTP://h", true),
            ("file:///a.html", true),
            ("example.org", false),
            ("https://", false),
            ("/a", false),
            ("", false),
        ] {
            assert_eq!(address(text).is_ok(), is_good, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_next_time_is_told_from_what_may_pass() {
        let error = |kind: io::ErrorKind| PageError::Unreadable { path: "a".into(), source: kind.into() };
        assert_eq!(error(io::ErrorKind::NotFound).exit(), ExitCode::Data);
        assert_eq!(error(io::ErrorKind::IsADirectory).exit(), ExitCode::Data);
        assert_eq!(error(io::ErrorKind::Other).exit(), ExitCode::Retry);
    }
}
