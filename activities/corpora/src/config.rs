//! Loading a config: file, document, rules and licence policy, with every problem reported at once.
//!
//! Nothing else happens before this: no request, no file written. What goes wrong here goes wrong again next time.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use corpora_contracts::config::{
    Config, Document, LicenseClaim, Malformed, PolicyEntry, PolicyFile, Problem, Reading, SCHEMA, Syntax, decode,
    parse_json, parse_toml, validate, validate_policy,
};
use corpora_contracts::ids::{Digest, Name};
use corpora_contracts::outcome::Disposition;
use corpora_license::Policy;
use serde::Serialize;

/// A config that may be run.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// Complete and valid; its `licenses` hold the entries of the policy file, too.
    pub(crate) config: Config,
    /// The folder that relative urls start from, absolute.
    pub(crate) base: PathBuf,
    /// What is allowed and probably not meant.
    pub(crate) warnings: Vec<Finding>,
}

/// A problem or a warning, and the file it is in.
///
/// Displayed as `` corpus.toml:7: `sources[0].sha256` is `zz`: expected 64 lowercase hex digits ``.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// As given, or as named by the config.
    pub(crate) file: String,
    /// What it is.
    pub(crate) problem: Problem,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.at(&self.file))
    }
}

/// Why a config cannot be run; `path` is as given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    /// There is no such file.
    #[error("config `{}` does not exist", path.display())]
    Missing {
        /// The config.
        path: PathBuf,
    },
    /// The file cannot be read: permissions, a directory, a broken disk.
    #[error("config `{}` cannot be read", path.display())]
    Unreadable {
        /// The config.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The file holds nothing but blanks and comments.
    #[error("config `{}` is empty", path.display())]
    Empty {
        /// The config.
        path: PathBuf,
    },
    /// The file is not UTF-8, not TOML or not JSON.
    #[error("config `{}` is not {syntax}\n{}", path.display(), malformed_at(&path.display().to_string(), malformed))]
    Malformed {
        /// The config.
        path: PathBuf,
        /// What it should have been.
        syntax: Syntax,
        /// Where and why; part of the message, because its line is.
        malformed: Malformed,
    },
    /// Keys, values or licences are wrong: all of them.
    #[error("config `{}` is not valid ({} to correct)\n{}", path.display(), findings.len(), lines(findings))]
    Invalid {
        /// The config.
        path: PathBuf,
        /// All that is wrong, by file and line; never empty.
        findings: Vec<Finding>,
        /// What is doubtful besides.
        warnings: Vec<Finding>,
    },
}

impl LoadError {
    /// A config that is wrong now is wrong next time.
    #[must_use]
    pub(crate) fn disposition(&self) -> Disposition {
        Disposition::Fail
    }
}

/// What `config check` says about a config that may be run.
#[derive(Debug, Serialize)]
pub(crate) struct Check {
    /// The file as given.
    pub(crate) file: String,
    /// The dataset.
    pub(crate) dataset: Name,
    /// Its version.
    pub(crate) version: Name,
    /// The config's digest.
    pub(crate) digest: Digest,
    /// How many pinned files it lists.
    pub(crate) sources: usize,
    /// How many crawls it lists.
    pub(crate) crawls: usize,
    /// What is allowed and probably not meant.
    pub(crate) warnings: Vec<Finding>,
}

/// Loads a config that a person wrote.
///
/// # Errors
/// [`LoadError`], with every problem of a config that is not valid.
pub(crate) fn load(path: &Path) -> Result<Loaded, LoadError> {
    load_as(path, Syntax::Toml)
}

/// Loads the `spec.json` of a subprocess activity: the same document as JSON, and `base`.
///
/// # Errors
/// [`LoadError`], with every problem of a spec that is not valid.
pub(crate) fn load_spec(path: &Path) -> Result<Loaded, LoadError> {
    load_as(path, Syntax::Json)
}

/// Checks a config and says what is in it.
///
/// # Errors
/// As [`load`].
pub(crate) fn check(path: &Path) -> Result<Check, LoadError> {
    let Loaded { config, warnings, .. } = load(path)?;
    let digest = config.digest().map_err(|error| unreadable(path, error.into()))?;
    let (sources, crawls) = (config.sources.len(), config.crawls.len());
    let file = path.display().to_string();
    Ok(Check { file, dataset: config.dataset, version: config.version, digest, sources, crawls, warnings })
}

/// The JSON Schema that `config schema` prints.
#[must_use]
pub(crate) fn schema() -> &'static str {
    SCHEMA
}

fn load_as(path: &Path, syntax: Syntax) -> Result<Loaded, LoadError> {
    let document = read(path, syntax)?;
    let folder = folder(path).map_err(|source| unreadable(path, source))?;
    let mut reading = validate(&document);
    let base = reading.base.take().map_or(folder, PathBuf::from);
    let licenses = judge(&mut reading, &base);
    let file = path.display().to_string();
    let in_config = |problem| Finding { file: file.clone(), problem };
    reading.problems.sort_by_key(|problem| problem.line);
    let findings: Vec<_> = reading.problems.into_iter().map(in_config).chain(licenses.findings).collect();
    let warnings: Vec<_> = reading.warnings.into_iter().map(in_config).collect();
    match reading.config {
        Some(mut config) if findings.is_empty() => {
            config.licenses.extend(licenses.from_file.into_iter().map(|entry| (entry.license, entry.allowed_uses)));
            Ok(Loaded { config, base, warnings })
        }
        _ => Err(LoadError::Invalid { path: path.to_owned(), findings, warnings }),
    }
}

fn read(path: &Path, syntax: Syntax) -> Result<Document, LoadError> {
    let bytes = std::fs::read(path).map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => LoadError::Missing { path: path.to_owned() },
        _ => unreadable(path, source),
    })?;
    let malformed = |malformed| LoadError::Malformed { path: path.to_owned(), syntax, malformed };
    let text = decode(&bytes).map_err(malformed)?;
    let empty = || LoadError::Empty { path: path.to_owned() };
    if text.trim().is_empty() {
        return Err(empty());
    }
    let document = match syntax {
        Syntax::Toml => parse_toml(text),
        Syntax::Json => parse_json(text.as_bytes()),
    };
    let document = document.map_err(malformed)?;
    if document.root.entries.is_empty() { Err(empty()) } else { Ok(document) }
}

fn unreadable(path: &Path, source: io::Error) -> LoadError {
    LoadError::Unreadable { path: path.to_owned(), source }
}

/// The folder of a file, absolute, without resolving links: `../data` is meant from where the config is named.
fn folder(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    Ok(absolute.parent().unwrap_or(&absolute).to_owned())
}

/// What the policy file adds.
#[derive(Default)]
struct FromFile {
    from_file: Vec<PolicyEntry>,
    findings: Vec<Finding>,
}

/// Judges the licences that a config claims by the policy that it names; adds what is wrong to its problems.
fn judge(reading: &mut Reading, base: &Path) -> FromFile {
    let mut policy = Policy::default();
    reading.problems.extend(policy.add(&reading.policy));
    let mut licenses = FromFile::default();
    if let Some(file) = reading.policy_file.take() {
        match read_policy(&file, base) {
            Ok((entries, findings)) => {
                licenses.findings = findings;
                let problems = policy.add(&entries);
                licenses
                    .findings
                    .extend(problems.into_iter().map(|problem| Finding { file: file.path.clone(), problem }));
                licenses.from_file = entries;
            }
            Err(problem) => reading.problems.push(problem),
        }
    }
    let is_policys = |problem: &Problem| problem.key == "licenses" || problem.key.starts_with("licenses.");
    let is_whole = licenses.findings.is_empty() && !reading.problems.iter().any(is_policys);
    // Where part of the policy could not be read, only what no policy can permit is said.
    let claims: Vec<_> =
        reading.claims.iter().map(|claim| if is_whole { claim.clone() } else { unclaimed(claim) }).collect();
    reading.problems.extend(policy.judge(&claims));
    licenses
}

fn unclaimed(claim: &LicenseClaim) -> LicenseClaim {
    LicenseClaim { allowed_uses: Vec::new(), ..claim.clone() }
}

/// The entries of a policy file and what is wrong in it, or why it cannot be read: a problem of the config.
fn read_policy(file: &PolicyFile, base: &Path) -> Result<(Vec<PolicyEntry>, Vec<Finding>), Problem> {
    let problem = |why: String| Problem::text(file.line, &file.key, &file.path, why);
    let path = base.join(&file.path);
    let bytes = std::fs::read(&path).map_err(|error| problem(format!("expected a file that can be read: {error}")))?;
    let document = match decode(&bytes).and_then(parse_toml) {
        Ok(document) => document,
        Err(malformed) => {
            return Err(problem(format!("expected a TOML file; {}", malformed_at(&file.path, &malformed))));
        }
    };
    let reading = validate_policy(&document);
    let findings = reading.problems.into_iter().map(|problem| Finding { file: file.path.clone(), problem }).collect();
    Ok((reading.entries, findings))
}

fn malformed_at(file: &str, malformed: &Malformed) -> String {
    match malformed.line {
        Some(line) => format!("{file}:{line}: {malformed}"),
        None => format!("{file}: {malformed}"),
    }
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
