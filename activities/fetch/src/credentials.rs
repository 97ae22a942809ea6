//! Credentials: from the environment variable that the config names, else from netrc; never from a URL.

use std::fmt;
use std::path::PathBuf;

use corpora_contracts::config::Auth;
use reqwest::header::HeaderValue;
use url::Url;

/// A credential for one origin; its value is in no `Debug` output, message or file.
#[derive(Clone)]
pub enum Credential {
    /// `Authorization: Bearer` (RFC 6750).
    Bearer(String),
    /// `Authorization: Basic` (RFC 7617).
    Basic {
        /// The user.
        login: String,
        /// The password.
        password: String,
    },
}

impl fmt::Debug for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Credential(***)")
    }
}

/// Why a source's credential cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum CredentialError {
    /// The variable that the config names is not set.
    #[error("read the token from `{variable}`: set it, or remove `auth` from the source")]
    Unset {
        /// The variable.
        variable: String,
    },
    /// The token holds what no header can carry: a control character, a line end.
    #[error("send the token from `{variable}`, which holds characters that no header can carry; set it anew")]
    Unusable {
        /// The variable.
        variable: String,
    },
    /// The netrc file is there and cannot be used. Its content may be secret and is not quoted.
    #[error("read the netrc file `{}`; mend it, or point `NETRC` elsewhere", path.display())]
    Netrc {
        /// The file.
        path: PathBuf,
    },
}

/// The credential for the origin of `url`, if there is one.
///
/// # Errors
/// [`CredentialError`]; a missing netrc file is none.
pub fn find(auth: Option<&Auth>, url: &Url) -> Result<Option<Credential>, CredentialError> {
    if let Some(auth) = auth {
        let unset = || CredentialError::Unset { variable: auth.bearer_env.clone() };
        let token = std::env::var(&auth.bearer_env).ok().filter(|token| !token.is_empty()).ok_or_else(unset)?;
        if HeaderValue::from_str(&token).is_err() {
            return Err(CredentialError::Unusable { variable: auth.bearer_env.clone() });
        }
        return Ok(Some(Credential::Bearer(token)));
    }
    let Some(path) = netrc::Netrc::get_file() else { return Ok(None) };
    let file = netrc::Netrc::from_file(&path).map_err(|_| CredentialError::Netrc { path })?;
    let host = url.host_str().unwrap_or_default();
    let entry = file.hosts.get(host).or_else(|| file.hosts.get("default"));
    Ok(entry.map(|entry| Credential::Basic { login: entry.login.clone(), password: entry.password.clone() }))
}
