//! The HTTP side that the wire formats share: the client, and what its failures mean in words.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, RequestBuilder, Response, Url};

use super::key_command::KeyCommand;
use super::retry::{Again, Failure};
use crate::config::providers::url_variable;
use crate::config::{Connection, Secret};
use crate::messages::provider as say;
use crate::messages::records::localized;
use crate::provider::{Error, ErrorKind, Wire};

/// The time limit to make a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// The time limit for the first byte of an answer of a server elsewhere.
const FIRST_BYTE: Duration = Duration::from_secs(60);
/// The time limit for the first byte of an answer of a model that thinks before it says anything.
const FIRST_BYTE_THINKING: Duration = Duration::from_secs(5 * 60);
/// To the first byte of an answer from this computer or its own network: a large prompt takes a small machine minutes.
const FIRST_BYTE_NEARBY: Duration = Duration::from_secs(10 * 60);
/// The longest pause between one piece of an answer and the next.
pub(in crate::provider) const NEXT_BYTE: Duration = Duration::from_secs(3 * 60);
/// The most that is read of an answer that is no stream, in bytes.
pub(in crate::provider) const LARGEST: usize = 64 << 20;

/// The place of the key in a request.
#[derive(Debug, Clone, Copy)]
pub(in crate::provider) enum Auth {
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of its own.
    Header(&'static str),
}

/// A server, and what is needed to ask it.
pub(in crate::provider) struct Server {
    base: Url,
    /// Host and port as people write them.
    pub host: String,
    /// The format that is used, for messages.
    wire: Wire,
    /// The variable that holds the key.
    pub(super) variable: Option<String>,
    /// The key is one that the person pasted.
    pasted: bool,
    auth: Auth,
    /// The key that is configured.
    key: Option<Secret>,
    /// Prints the key, where no variable holds it.
    command: Option<Arc<KeyCommand>>,
    pub(super) headers: HeaderMap,
    loopback: bool,
    /// The proxy in between, for error messages.
    proxy: Option<String>,
    /// Made with the first request: it reads the system's certificates.
    client: OnceLock<Client>,
}

/// The origin of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeySource<'a> {
    /// The environment variable of this name.
    Variable(&'a str),
    /// `apiKeyCommand`.
    Command,
    /// The person pasted it.
    Pasted,
}

impl Server {
    /// Checks the connection's URL, headers and key; asks nothing yet.
    pub fn new(connection: &Connection, wire: Wire, auth: Auth) -> Result<Self, Error> {
        let settings = |message: String, hint: &str| Error::new(ErrorKind::Settings, message, hint);
        let base = Url::parse(&connection.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                let message = say::no_url(&connection.provider, &format!("{:?}", connection.base_url));
                settings(message, &say::set_url(&url_variable(wire.name())))
            })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &connection.headers {
            let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            let Some((header, mut value)) = header else {
                return Err(settings(say::no_header(&format!("{name:?}")), say::correct_headers()));
            };
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        let server = Self {
            host: host(&base),
            wire,
            loopback: is_loopback(&base),
            proxy: connection.proxy.clone(),
            variable: connection.key_variable.clone(),
            pasted: connection.pasted,
            auth,
            key: connection.key.clone(),
            command: KeyCommand::new(&connection.key_command).filter(|_| connection.key.is_none()),
            base,
            headers,
            client: OnceLock::new(),
        };
        if let Some(key) = &connection.key {
            server.check_key(key)?;
        }
        match &server.variable {
            Some(variable) if !server.loopback && !server.authorizes() => {
                let message = say::key_not_set(&server.host, &variable);
                Err(Error::new(ErrorKind::NoKey, message, say::set_key()))
            }
            // Where no variable is named, the server may need no key; it says so if it does.
            _ => Ok(server),
        }
    }

    /// Returns the key that the next request carries, if any. The first one runs the command that prints it, if one is
    /// configured.
    pub async fn know_key(&self) -> Result<Option<Secret>, Failure> {
        match (self.key(), &self.command) {
            (None, Some(command)) => command.key_after(None).await.map_err(never),
            (key, _) => Ok(key),
        }
    }

    /// Returns the request with the key in its header.
    pub async fn authorized(&self, request: RequestBuilder) -> Result<RequestBuilder, Failure> {
        let Some(key) = self.know_key().await? else { return Ok(request) };
        let (name, mut value) = self.check_key(&key).map_err(never)?;
        if self.headers.contains_key(self.key_header()) {
            return Ok(request);
        }
        value.set_sensitive(true);
        Ok(request.header(name, value))
    }

    /// Asks, after a 401, for another key than the one that was refused from the command that prints them. Whether there
    /// is one, so that another request may help.
    pub async fn renew_key(&self, refused: Option<Secret>) -> Result<bool, Failure> {
        match &self.command {
            Some(command) => Ok(command.key_after(refused).await.map_err(never)?.is_some()),
            None => Ok(false),
        }
    }

    /// Records that the server accepted this key.
    pub fn accepted(&self, key: Option<&Secret>) {
        if let (Some(command), Some(key)) = (&self.command, key) {
            command.accepted(key);
        }
    }

    /// Returns the key, once it is known.
    pub(super) fn key(&self) -> Option<Secret> {
        self.key.clone().or_else(|| self.command.as_ref()?.printed())
    }

    /// Returns the header that carries the key.
    fn check_key(&self, key: &Secret) -> Result<(HeaderName, HeaderValue), Error> {
        if key.reveal().starts_with("sk-ant-oat") {
            return Err(Error::new(ErrorKind::Settings, say::subscription_token(), say::set_api_key()));
        }
        let text = match self.auth {
            Auth::Bearer => format!("Bearer {}", key.reveal()),
            Auth::Header(_) => key.reveal().to_string(),
        };
        let value = HeaderValue::try_from(text).map_err(|_| {
            let (message, hint) = match &self.variable {
                _ if self.pasted => (say::bad_key_pasted().to_string(), say::paste_key_again()),
                _ if self.command.is_some() => (say::bad_key_printed().to_string(), say::print_key_alone()),
                variable => (say::bad_key(&variable.as_deref().unwrap_or("apiKeyEnv")), say::set_key_again()),
            };
            Error::new(ErrorKind::Settings, message, hint)
        })?;
        Ok((self.key_header(), value))
    }

    /// Returns the URL of `path` below the base, whose query stays.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let below = format!("{}/{path}", self.base.path().trim_end_matches('/'));
        url.set_path(&below);
        url
    }

    /// Returns whether it is on this computer.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }

    /// Returns how long to wait for the first byte of an answer, of a model that `thinks` before it says anything or
    /// not.
    pub fn patience(&self, thinks: bool) -> Duration {
        match (is_nearby(&self.base), thinks) {
            (true, _) => FIRST_BYTE_NEARBY,
            (false, true) => FIRST_BYTE_THINKING,
            (false, false) => FIRST_BYTE,
        }
    }

    /// Returns the host for words about the network, with the proxy if one stands between.
    fn reached(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} (through the proxy {proxy})", self.host),
            None => self.host.clone(),
        }
    }

    /// Returns the format that is used.
    pub fn wire(&self) -> Wire {
        self.wire
    }

    /// Returns the base, for words.
    pub(super) fn base(&self) -> &Url {
        &self.base
    }

    /// Returns the URL of a path of the server, wherever the base leads.
    pub fn root(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        url.set_path(path);
        url.set_query(None);
        url
    }

    /// Returns the format and the whole address, without what may be secret in it.
    pub fn address(&self) -> String {
        format!("{} {}", self.wire.name(), plain(&self.base))
    }

    /// Returns scheme, host and port.
    pub fn place(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// Returns the client; an error only where the system's TLS or proxy settings cannot be used.
    pub fn client(&self) -> Result<&Client, Error> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Fails only where a provider is installed already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(CONNECT)
            .tcp_keepalive(Duration::from_secs(30))
            // A redirected POST loses its body, and a key would go where nobody sent it.
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("nebula/", env!("CARGO_PKG_VERSION")))
            .default_headers(self.headers.clone());
        if self.loopback {
            builder = builder.no_proxy();
            // Hundreds of certificates that a plain connection to this computer never looks at.
            if self.base.scheme() == "http" {
                builder = builder.tls_certs_only([]);
            }
        }
        let client = builder
            .build()
            .map_err(|why| Error::new(ErrorKind::Settings, say::no_connection(&root(&why)), say::check_proxy()))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Returns the error for a request that got no answer, or not all of it.
    pub fn broken(&self, why: &reqwest::Error) -> Failure {
        let host = self.reached();
        let cause = root(why);
        if why.is_connect() && cause.contains("certificate") {
            let message = say::untrusted(&host, &distrust(&cause));
            let error = Error::new(ErrorKind::Settings, message, say::trust_authority());
            return Failure { error, again: Again::Never };
        }
        // The answer to the first bytes of TLS was none: a server of plain HTTP.
        if why.is_connect() && cause.contains("corrupt message") {
            let error = Error::new(ErrorKind::Settings, say::no_tls(&self.host), say::try_plain());
            return Failure { error, again: Again::Never };
        }
        let (message, hint) = if why.is_connect() {
            let hint = if self.loopback {
                say::start_server()
            } else if self.proxy.is_some() {
                say::check_network_proxy()
            } else {
                say::check_network()
            };
            (say::unreachable(&host, &localized(&cause)), hint)
        } else if why.is_timeout() {
            (say::no_answer(&host), say::ask_later())
        } else {
            // Typical of servers that close kept connections between two requests.
            let error = Error::new(BROKEN, say::closed(&host), say::ask_later());
            return Failure { error, again: Again::AtOnce };
        };
        Failure { error: Error::new(BROKEN, message, hint), again: Again::Later }
    }

    /// Creates the failure of a stream that ended before the answer did.
    pub fn closed(&self) -> Failure {
        let message = say::closed(&self.reached());
        Failure { error: Error::new(BROKEN, message, say::ask_later()), again: Again::Later }
    }

    /// Creates the failure of a server that sent nothing for too long.
    pub fn silent(&self) -> Failure {
        let message = say::silent(&self.reached());
        Failure { error: Error::new(BROKEN, message, say::ask_later()), again: Again::Later }
    }

    /// Creates the failure of an answer that is not what it should be.
    pub fn bad_answer(&self, what: &str) -> Failure {
        let message = say::answers_with(&self.host, &what);
        let hint = say::check_base_url(&self.wire.words());
        Failure { error: Error::new(ErrorKind::BadAnswer, message, hint), again: Again::Never }
    }

    /// Returns whether there is a key, a command that prints one, or headers in its place.
    pub(super) fn authorizes(&self) -> bool {
        self.key().is_some() || self.command.is_some() || self.has_own_key()
    }

    /// Returns where the key is from that the requests carry; `None`: they carry none.
    pub(super) fn key_source(&self) -> Option<KeySource<'_>> {
        self.key().filter(|_| !self.headers.contains_key(self.key_header()))?;
        Some(match self.variable.as_deref() {
            _ if self.pasted => KeySource::Pasted,
            _ if self.command.is_some() => KeySource::Command,
            Some(variable) => KeySource::Variable(variable),
            None => return None,
        })
    }

    /// Returns whether the configured headers authorize the requests by themselves.
    pub(super) fn has_own_key(&self) -> bool {
        let own = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
        self.key_source().is_none() && own.iter().any(|name| self.headers.contains_key(*name))
    }

    /// Returns the header that the key goes in. Where the configuration sets it, no other key is sent.
    fn key_header(&self) -> HeaderName {
        match self.auth {
            Auth::Bearer => reqwest::header::AUTHORIZATION,
            Auth::Header(name) => HeaderName::from_static(name),
        }
    }

    /// Returns a server's words, fit for one line of the screen: no control characters, not long, no key.
    pub(super) fn clean(&self, text: &str) -> String {
        let text = match &self.key() {
            // A stand-in such as `x`, as local servers take it, is no secret and would take every `x` with it.
            Some(key) if key.reveal().len() >= 8 => text.replace(key.reveal(), "…"),
            // A short one may be a word of any sentence: only where it stands alone, and not where stand-ins are usual.
            Some(key) if key.reveal().len() >= 4 && !self.loopback => without_word(text, key.reveal()),
            _ => text.to_string(),
        };
        let mut words = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()) {
            if words.chars().count() + word.chars().count() > 300 {
                words.push_str(" …");
                break;
            }
            if !words.is_empty() {
                words.push(' ');
            }
            words.push_str(word);
        }
        words
    }
}

const BROKEN: ErrorKind = ErrorKind::Broken { after_first_token: false };

/// Creates a failure that no other request avoids.
pub(in crate::provider) fn never(error: Error) -> Failure {
    Failure { error, again: Again::Never }
}

/// Returns the whole body, up to `limit` bytes; more, or a broken connection, is `None`.
pub(in crate::provider) async fn read_limited(response: &mut Response, limit: usize) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    while let Ok(Ok(chunk)) = tokio::time::timeout(Duration::from_secs(20), response.chunk()).await {
        let Some(chunk) = chunk else { return Some(body) };
        body.extend_from_slice(&chunk);
        if body.len() > limit {
            break;
        }
    }
    None
}

/// Returns the innermost reason, which is the one that helps.
fn root(error: &dyn std::error::Error) -> String {
    let mut reason = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

/// Returns why a certificate is not trusted, in words.
fn distrust(cause: &str) -> &str {
    let reasons = [
        ("UnknownIssuer", "no authority this computer trusts has signed it"),
        ("CaUsedAsEndEntity", "it is an authority's own, which no server may show"),
        // Some are named, and some told in a sentence.
        ("NotValidForName", "it is another server's"),
        ("not valid for name", "it is another server's"),
        ("NotValidYet", "it is not valid yet, by this computer's clock"),
        ("not valid yet", "it is not valid yet, by this computer's clock"),
        ("Expired", "it has expired, by this computer's clock"),
        ("certificate expired", "it has expired, by this computer's clock"),
        ("Revoked", "it was revoked"),
    ];
    let known = reasons.into_iter().find(|(name, _)| cause.contains(name)).map(|(_, words)| words);
    known.unwrap_or_else(|| cause.trim_start_matches("invalid peer certificate: "))
}

/// Returns `text` with `…` for a word, where no letter or digit stands beside it.
fn without_word(text: &str, word: &str) -> String {
    let mut rest = text;
    let mut out = String::new();
    while let Some(at) = rest.find(word) {
        let after = &rest[at + word.len()..];
        let joined = [rest[..at].chars().next_back().or(out.chars().next_back()), after.chars().next()];
        let stands_alone = !joined.into_iter().flatten().any(char::is_alphanumeric);
        out.push_str(&rest[..at]);
        out.push_str(if stands_alone { "…" } else { word });
        rest = after;
    }
    out + rest
}

/// Returns the host, and the port where it is not the usual one.
fn host(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().into(),
    }
}

/// Returns the URL without name, password and query.
pub(super) fn plain(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host(url), url.path())
}

/// Returns whether a server is on this computer or on its own network.
fn is_nearby(url: &Url) -> bool {
    let Some(host) = url.host_str().filter(|_| !is_loopback(url)) else { return true };
    match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => ip.is_private() || ip.is_link_local(),
        Ok(IpAddr::V6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => host.ends_with(".local") || host.ends_with(".lan") || !host.contains('.'),
    }
}

pub(in crate::provider) fn is_loopback(url: &Url) -> bool {
    crate::config::is_loopback(url.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::{Language, with};

    #[test]
    fn a_short_key_is_hidden_where_it_stands_alone() {
        for (text, shown) in [
            ("Incorrect API key provided: abc123.", "Incorrect API key provided: …."),
            ("abc123, abc1234, xabc123 and 'abc123'", "…, abc1234, xabc123 and '…'"),
            ("abc123abc123", "abc123abc123"),
        ] {
            assert_eq!(without_word(text, "abc123"), shown);
        }
    }

    #[test]
    fn a_key_that_cannot_be_sent_is_named_by_where_it_is_from() {
        let connection = |pasted, variable: Option<&str>, command: &[&str]| Connection {
            base_url: "http://127.0.0.1:1/v1".into(),
            key: Some(Secret::new("two\nlines")),
            key_variable: variable.map(str::to_string),
            key_command: command.iter().map(|word| (*word).to_string()).collect(),
            pasted,
            ..Connection::default()
        };
        let refused = |connection| Server::new(&connection, Wire::Chat, Auth::Bearer).err().expect("it is refused");
        let pasted = refused(connection(true, Some("OPENAI_API_KEY"), &[]));
        assert_eq!(pasted.message, "the key that was pasted holds characters that no key has");
        assert_eq!(pasted.hint, "Paste it again under connect, without line breaks.");
        let set = refused(connection(false, Some("OPENAI_API_KEY"), &[]));
        assert_eq!(set.message, "OPENAI_API_KEY holds characters that no key has");
        let in_japanese = with(Language::Japanese, || refused(connection(true, None, &[])));
        assert!(!in_japanese.message.is_ascii() && !in_japanese.hint.is_ascii(), "{in_japanese:?}");
    }

    #[test]
    fn a_host_that_is_not_found_is_said_in_the_language_of_the_screen() {
        let cause = "failed to lookup address information: Name or service not known";
        let said = with(Language::Japanese, || say::unreachable(&"nowhere.example", &localized(cause)));
        assert_eq!(said, "nowhere.exampleに接続できません: ホスト名が見つかりません");
        let said = with(Language::English, || say::unreachable(&"nowhere.example", &localized(cause)));
        assert_eq!(said, format!("nowhere.example cannot be reached: {cause}"));
    }

    #[test]
    fn a_certificate_is_distrusted_in_words() {
        let unknown = "invalid peer certificate: UnknownIssuer";
        assert_eq!(distrust(unknown), "no authority this computer trusts has signed it");
        assert_eq!(distrust("invalid peer certificate: NotValidForNameContext { .. }"), "it is another server's");
        assert_eq!(distrust("invalid peer certificate: BadEncoding"), "BadEncoding");
    }
}
