//! The config of a build, read as far as its driver must: which steps it has, and what they are handed. Whether the
//! licences are permitted is judged by the stages, which get the policy with the spec.

use std::io;
use std::path::{Path, PathBuf};

use corpora_contracts::config::{
    Config, Document, Malformed, PolicyEntry, PolicyFile, Problem, Reading, Syntax, decode, parse_json, parse_toml,
    validate, validate_policy,
};
use corpora_contracts::ids::Digest;
use serde_json::Value;

/// A config that a build may be started with.
#[derive(Debug)]
pub(crate) struct Reviewed {
    /// Complete and valid; its `licenses` hold the entries of the policy file, too.
    pub(crate) config: Config,
    /// The same as the document of `spec.json`, with `base`.
    pub(crate) document: Value,
    /// The config's digest.
    pub(crate) digest: Digest,
    /// What is allowed and probably not meant, with file and line.
    pub(crate) warnings: Vec<String>,
}

/// Why a config or spec is of no use. All of it is wrong input: a later attempt reads the same.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SpecError {
    /// The file is not there or cannot be read.
    #[error("read config `{}`", path.display())]
    Unreadable {
        /// The config.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file is not UTF-8, not TOML or not JSON.
    #[error("read {file} as {syntax}")]
    Malformed {
        /// Its name, and the line where there is one.
        file: String,
        /// What it should have been.
        syntax: Syntax,
        /// Why it is not.
        source: Malformed,
    },
    /// Keys or values are wrong.
    #[error("accept config `{file}` ({} to correct)\n{}", problems.len(), problems.join("\n"))]
    Invalid {
        /// Its name.
        file: String,
        /// All that is wrong, each with file and line.
        problems: Vec<String>,
    },
    /// The config cannot be written as JSON.
    #[error("write the config as JSON")]
    Unwritable {
        /// Why.
        #[from]
        source: serde_json::Error,
    },
}

/// Reads a config that a person wrote.
///
/// # Errors
/// [`SpecError`], with every problem of a config that is not valid.
pub(crate) fn read_config(path: &Path) -> Result<Reviewed, SpecError> {
    let unreadable = |source| SpecError::Unreadable { path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(unreadable)?;
    let absolute = std::path::absolute(path).map_err(unreadable)?;
    let folder = absolute.parent().unwrap_or(&absolute);
    let file = path.display().to_string();
    let mut reading = validate(&parse(&file, &bytes, Syntax::Toml)?);
    let warnings = reading.warnings.iter().map(|warning| warning.at(&file)).collect();
    let entries = policy(&mut reading, folder);
    let mut config = accepted(reading, &file)?;
    config.licenses.extend(entries.into_iter().map(|entry| (entry.license, entry.allowed_uses)));
    let mut document = config.to_document()?;
    document["base"] = folder.to_string_lossy().into();
    Ok(Reviewed { digest: config.digest()?, config, document, warnings })
}

/// Reads the bytes of a `spec.json`.
///
/// # Errors
/// As [`read_config`].
pub(crate) fn read_spec(bytes: &[u8]) -> Result<Config, SpecError> {
    let file = "spec.json";
    accepted(validate(&parse(file, bytes, Syntax::Json)?), file)
}

fn parse(file: &str, bytes: &[u8], syntax: Syntax) -> Result<Document, SpecError> {
    let text = decode(bytes);
    let document = text.and_then(|text| match syntax {
        Syntax::Toml => parse_toml(text),
        Syntax::Json => parse_json(text.as_bytes()),
    });
    document.map_err(|source| {
        let line = source.line.map(|line| format!(":{line}")).unwrap_or_default();
        SpecError::Malformed { file: format!("{file}{line}"), syntax, source }
    })
}

fn accepted(mut reading: Reading, file: &str) -> Result<Config, SpecError> {
    reading.problems.sort_by_key(|problem| problem.line);
    match reading.config {
        Some(config) if reading.problems.is_empty() => Ok(config),
        _ => {
            let problems = reading.problems.iter().map(|problem| problem.at(file)).collect();
            Err(SpecError::Invalid { file: file.to_owned(), problems })
        }
    }
}

/// The entries of the policy file that a config names; what is wrong with it is a problem of the config.
fn policy(reading: &mut Reading, folder: &Path) -> Vec<PolicyEntry> {
    let Some(file) = reading.policy_file.take() else { return Vec::new() };
    match read_policy(&file, folder) {
        Ok(entries) => entries,
        Err(problem) => {
            reading.problems.push(problem);
            Vec::new()
        }
    }
}

fn read_policy(file: &PolicyFile, folder: &Path) -> Result<Vec<PolicyEntry>, Problem> {
    let problem = |why: String| Problem::text(file.line, &file.key, &file.path, why);
    let bytes = std::fs::read(folder.join(&file.path));
    let bytes = bytes.map_err(|error| problem(format!("expected a file that can be read: {error}")))?;
    let document = decode(&bytes).and_then(parse_toml);
    let document = document.map_err(|malformed| problem(format!("expected a TOML file; {malformed}")))?;
    let policy = validate_policy(&document);
    if policy.problems.is_empty() {
        return Ok(policy.entries);
    }
    let problems: Vec<String> = policy.problems.iter().map(|problem| problem.at(&file.path)).collect();
    Err(problem(format!("expected a policy without problems\n{}", problems.join("\n"))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(id: &str) -> String {
        let sha256 = "0".repeat(64);
        format!("[[sources]]\nid = \"{id}\"\nurl = \"{id}.jsonl\"\nsha256 = \"{sha256}\"\nlicense_spdx = \"MIT\"\n")
    }

    fn read(text: &str, policy: &str) -> Result<Reviewed, SpecError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("licenses.toml"), policy).unwrap();
        let path = folder.path().join("corpus.toml");
        std::fs::write(&path, text).unwrap();
        read_config(&path)
    }

    #[test]
    fn a_config_and_its_spec_are_the_same() {
        let text = format!("dataset = \"d\"\nversion = \"v1\"\n{}[licenses]\nfile = \"licenses.toml\"\n", source("a"));
        let reviewed = read(&text, "\"CC-BY-NC-4.0\" = [\"eval\"]\n").unwrap();
        assert!(reviewed.document["base"].as_str().unwrap().starts_with('/'), "{}", reviewed.document);
        let config = read_spec(&serde_json::to_vec(&reviewed.document).unwrap()).unwrap();
        assert_eq!(config, reviewed.config);
        assert_eq!(config.digest().unwrap(), reviewed.digest);
        assert!(config.licenses.contains_key("CC-BY-NC-4.0"), "the policy file travels with the spec");
    }

    #[test]
    fn every_problem_is_told_with_its_line() {
        let text = format!("dataset = \"D\"\nversion = \"v1\"\nnonsense = 1\n{}", source("a"));
        let error = read(&text, "").unwrap_err().to_string();
        assert!(error.contains("corpus.toml:1: `dataset`") && error.contains("corpus.toml:3: `nonsense`"), "{error}");
        let error = read("dataset = ", "").unwrap_err().to_string();
        assert!(error.contains("corpus.toml:1 as TOML"), "{error}");
        let text = format!("dataset = \"d\"\nversion = \"v1\"\n{}[licenses]\nfile = \"licenses.toml\"\n", source("a"));
        let error = read(&text, "MIT = 7\n").unwrap_err().to_string();
        assert!(error.contains("licenses.toml:1: `MIT`"), "{error}");
        let missing = read_config(Path::new("/nowhere/corpus.toml")).unwrap_err();
        assert_eq!(missing.to_string(), "read config `/nowhere/corpus.toml`");
    }
}
