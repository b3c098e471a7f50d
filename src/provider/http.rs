//! The HTTP side that the wire formats share: the client, and what its failures mean in words.

use std::net::IpAddr;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, StatusCode, Url};

use super::retry::{Again, Failure, retry_after};
use super::{Error, Kind};
use crate::config::{Connection, Secret};

/// To make a connection.
const CONNECT: Duration = Duration::from_secs(20);
/// To the first byte of an answer: a large prompt takes a small machine minutes.
pub(super) const FIRST_BYTE: Duration = Duration::from_secs(10 * 60);
/// From one piece of an answer to the next.
pub(super) const NEXT_BYTE: Duration = Duration::from_secs(3 * 60);
/// The most that is read of an answer that is no stream, in bytes.
pub(super) const LARGEST: usize = 64 << 20;

/// A server, and what is needed to ask it.
pub(super) struct Server {
    base: Url,
    /// Host and port as people write them.
    pub host: String,
    /// The variable that holds the key.
    variable: Option<String>,
    key: Option<Secret>,
    headers: HeaderMap,
    loopback: bool,
    /// Made with the first request: it reads the system's certificates.
    client: OnceLock<Client>,
}

impl Server {
    /// Checks the connection's URL, headers and key; asks nothing yet.
    pub fn new(connection: &Connection) -> Result<Self, Error> {
        let settings = |message: String, hint: &str| Error::new(Kind::Settings, message, hint);
        let base = Url::parse(&connection.base_url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| {
                settings(
                    format!("{} has no usable URL: {:?}", connection.provider, connection.base_url),
                    "Set baseUrl, or OPENAI_BASE_URL, to a URL such as http://127.0.0.1:8080/v1.",
                )
            })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &connection.headers {
            let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            let Some((header, mut value)) = header else {
                return Err(settings(format!("the header {name:?} cannot be sent"), "Correct it under headers."));
            };
            value.set_sensitive(true);
            headers.insert(header, value);
        }
        if let Some(key) = &connection.key {
            let Ok(mut value) = HeaderValue::try_from(format!("Bearer {}", key.reveal())) else {
                let variable = connection.key_variable.as_deref().unwrap_or("the key");
                return Err(settings(
                    format!("{variable} holds characters that no key has"),
                    "Set it again, without line breaks, and start nebula again.",
                ));
            };
            value.set_sensitive(true);
            headers.entry(reqwest::header::AUTHORIZATION).or_insert(value);
        }
        let server = Self {
            host: host(&base),
            loopback: is_loopback(&base),
            variable: connection.key_variable.clone(),
            key: connection.key.clone(),
            base,
            headers,
            client: OnceLock::new(),
        };
        if !server.loopback && server.key.is_none() && !server.has_own_key() {
            return Err(server.no_key());
        }
        Ok(server)
    }

    /// The URL of `path` below the base, whose query stays.
    pub fn url(&self, path: &str) -> Url {
        let mut url = self.base.clone();
        let below = format!("{}/{path}", self.base.path().trim_end_matches('/'));
        url.set_path(&below);
        url
    }

    /// Scheme, host and port.
    pub fn place(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    /// The client; an error only where the system's TLS or proxy settings cannot be used.
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
        let client = builder.build().map_err(|why| {
            Error::new(
                Kind::Settings,
                format!("no connection can be made from here: {}", root(&why)),
                "Check the proxy settings and the certificates of this computer.",
            )
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    /// What a request that got no answer, or not all of it, means.
    pub fn broken(&self, why: &reqwest::Error) -> Failure {
        let host = &self.host;
        let cause = root(why);
        if why.is_connect() && cause.contains("certificate") {
            let message = format!("the certificate of {host} is not trusted: {}", distrust(&cause));
            let hint = "Your message is saved. Add who signed it to this computer's certificates, or name a PEM file \
                        with it in SSL_CERT_FILE, and start nebula again.";
            return Failure { error: Error::new(Kind::Settings, message, hint), again: Again::Never };
        }
        let (message, hint) = if why.is_connect() {
            let hint = if self.loopback {
                "Your message is saved. Start the server, or choose another provider."
            } else {
                "Your message is saved. Check the network and the URL."
            };
            (format!("{host} cannot be reached: {cause}"), hint)
        } else if why.is_timeout() {
            (format!("{host} does not answer"), "Your message is saved.")
        } else {
            (format!("{host} closed the connection"), "Your message is saved.")
        };
        Failure { error: Error::new(BROKEN, message, hint), again: Again::Later }
    }

    /// The stream ended before the answer did.
    pub fn closed(&self) -> Failure {
        let message = format!("{} closed the connection", self.host);
        Failure { error: Error::new(BROKEN, message, "Your message is saved."), again: Again::Later }
    }

    /// Nothing came for too long.
    pub fn silent(&self) -> Failure {
        let message = format!("{} stopped answering", self.host);
        Failure { error: Error::new(BROKEN, message, "Your message is saved."), again: Again::Later }
    }

    /// The server's answer is not what it should be.
    pub fn bad_answer(&self, what: &str) -> Failure {
        let message = format!("{} answers with {what}", self.host);
        let hint =
            "Check that baseUrl is the address of a server that speaks Chat Completions; most want /v1 at its end.";
        Failure { error: Error::new(Kind::BadAnswer, message, hint), again: Again::Never }
    }

    /// Reads the body of an answer that is a refusal, and says what it means.
    pub async fn refused(&self, response: Response, model: &str) -> Failure {
        let status = response.status();
        let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = header("retry-after").and_then(|value| retry_after(value, SystemTime::now()));
        let location = header("location").map(|to| self.clean(to));
        let url = response.url().clone();
        let body = read_limited(response, 64 << 10).await.unwrap_or_default();
        let told = ErrorBody::read(&body);
        self.explain(status, &told, wait, location, &url, model)
    }

    /// What an error object inside a stream means; it has no status of its own but may name one.
    pub fn complaint(&self, error: &serde_json::Value, model: &str) -> Failure {
        let told = ErrorBody::of(error);
        let status = told.code.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.filter(|status| !status.is_success()).unwrap_or(match told.code.as_str() {
            "rate_limit_exceeded" | "rate_limit_error" => StatusCode::TOO_MANY_REQUESTS,
            "context_length_exceeded" | "invalid_request_error" => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        });
        self.explain(status, &told, None, None, &self.base, model)
    }

    fn explain(
        &self,
        status: StatusCode,
        told: &ErrorBody,
        wait: Option<Duration>,
        location: Option<String>,
        url: &Url,
        model: &str,
    ) -> Failure {
        let (host, code) = (&self.host, status.as_u16());
        let says = self.clean(&told.message);
        let quoted = if says.is_empty() { UNSAID.into() } else { format!("It says: {says}") };
        let never = |kind, message: String, hint: String| Failure {
            error: Error::new(kind, message, hint),
            again: Again::Never,
        };
        match code {
            401 | 403 => Failure { error: self.not_accepted(code, &quoted), again: Again::Never },
            404 | 400 | 422 if told.is_about_model(model) => never(
                Kind::NotFound,
                format!("there is no model {model} at {host} ({code})"),
                "Choose another, or start with --model NAME.".into(),
            ),
            404 | 405 => never(
                Kind::NotFound,
                format!("there is nothing at {} ({code})", plain(url)),
                "Check baseUrl or OPENAI_BASE_URL; most servers want /v1 at its end.".into(),
            ),
            300..=399 => never(
                Kind::NotFound,
                format!("{host} sends on to {} ({code})", location.unwrap_or_else(|| "another address".into())),
                "Set baseUrl or OPENAI_BASE_URL to that address.".into(),
            ),
            413 => self.too_long(model, &quoted),
            400 | 422 if told.is_about_length() => self.too_long(model, &quoted),
            429 if told.code == "insufficient_quota" => never(
                Kind::RateLimited,
                format!("the quota of this key is used up (429 from {host})"),
                "Add to it, or choose another model or provider. Your message is saved.".into(),
            ),
            429 => Failure {
                error: Error::new(
                    Kind::RateLimited,
                    format!("{host} asks to wait (429)"),
                    "Your message is saved. Ask again later, or choose another model.",
                ),
                again: wait.map_or(Again::Later, Again::After),
            },
            408 | 425 | 500..=599 => Failure {
                error: Error::new(
                    Kind::Server,
                    format!("{host} failed ({code})"),
                    format!("Your message is saved. {quoted}"),
                ),
                again: wait.map_or(Again::Later, Again::After),
            },
            _ => never(Kind::BadRequest, format!("{host} refuses the request ({code})"), quoted),
        }
    }

    fn too_long(&self, model: &str, quoted: &str) -> Failure {
        let error = Error::new(
            Kind::ContextTooLong,
            format!("the conversation does not fit {model}"),
            format!("/compact makes it shorter; a model with a larger context window takes it whole. {quoted}"),
        );
        Failure { error, again: Again::Never }
    }

    fn not_accepted(&self, code: u16, quoted: &str) -> Error {
        let host = &self.host;
        let variable = self.variable.as_deref();
        match (variable, &self.key) {
            (Some(variable), Some(_)) if code == 401 => Error::new(
                Kind::Auth,
                format!("{variable} was not accepted (401 from {host})"),
                "The variable is set, but the server does not know this key. Set a valid one and start nebula again; \
                 this session will be here.",
            ),
            (Some(variable), Some(_)) => Error::new(
                Kind::Auth,
                format!("{variable} may not do this (403 from {host})"),
                format!("The key has no right to this model or address. {quoted}"),
            ),
            (Some(variable), None) if !self.has_own_key() => Error::new(
                Kind::Auth,
                format!("{host} wants a key ({code}), and {variable} is not set"),
                match quoted {
                    UNSAID => "Set it and start nebula again; this session will be here.".to_string(),
                    _ => format!("Set it and start nebula again; this session will be here. {quoted}"),
                },
            ),
            _ => Error::new(
                Kind::Auth,
                format!("{host} does not let nebula in ({code})"),
                format!("Check headers in the configuration. {quoted}"),
            ),
        }
    }

    fn no_key(&self) -> Error {
        let message = match &self.variable {
            Some(variable) => format!("no key for {}: {variable} is not set", self.host),
            None => format!("no key for {}: apiKeyEnv names no variable", self.host),
        };
        Error::new(Kind::NoKey, message, "Set it and start nebula again, or start a local server.")
    }

    /// Whether the configured headers let in by themselves.
    fn has_own_key(&self) -> bool {
        let own = ["authorization", "api-key", "x-api-key", "x-goog-api-key"];
        self.key.is_none() && own.iter().any(|name| self.headers.contains_key(*name))
    }

    /// A server's words, fit for one line of the screen: no control characters, not long, no key.
    fn clean(&self, text: &str) -> String {
        let text = match &self.key {
            // A stand-in such as `x`, as local servers take it, is no secret and would take every `x` with it.
            Some(key) if key.reveal().len() >= 8 => text.replace(key.reveal(), "…"),
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

/// What stands for a server's words where there are none.
const UNSAID: &str = "The server does not say why.";

const BROKEN: Kind = Kind::Broken { after_first_token: false };

/// What a server says about a failure.
#[derive(Debug, Default)]
struct ErrorBody {
    message: String,
    /// `code`, else `type`, else `status`.
    code: String,
}

impl ErrorBody {
    /// From the body of a refusal: JSON in one of the usual shapes, or any text.
    fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<serde_json::Value>(body) {
            Ok(serde_json::Value::Array(mut list)) if list.len() == 1 => Self::of(&list.remove(0)),
            Ok(value) => Self::of(&value),
            Err(_) => {
                let text = String::from_utf8_lossy(body);
                let message = if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() };
                Self { message, code: String::new() }
            }
        }
    }

    fn of(value: &serde_json::Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| match error.get(name)? {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let message = error.as_str().map(Into::into).or_else(|| text("message")).or_else(|| text("detail"));
        let message = message.or_else(|| error.get("detail").map(listed).filter(|text| !text.is_empty()));
        let code = text("code").or_else(|| text("type")).or_else(|| text("status"));
        Self { message: message.unwrap_or_default(), code: code.unwrap_or_default() }
    }

    fn is_about_model(&self, model: &str) -> bool {
        if model.is_empty() {
            return false;
        }
        let message = self.message.to_lowercase();
        matches!(self.code.as_str(), "model_not_found" | "invalid_model" | "not_found_error")
            || (message.contains("model") && (message.contains(&model.to_lowercase()) || message.contains("load")))
                && ["not found", "not exist", "unknown", "no model", "invalid model"]
                    .iter()
                    .any(|part| message.contains(part))
    }

    fn is_about_length(&self) -> bool {
        let message = self.message.to_lowercase();
        self.code == "context_length_exceeded"
            || [
                "context length",
                "context window",
                "context size",
                "maximum context",
                "too many tokens",
                "prompt is too long",
            ]
            .iter()
            .any(|part| message.contains(part))
    }
}

/// The complaints that a server with a checked form lists, each with the field it is about.
fn listed(detail: &serde_json::Value) -> String {
    let one = |entry: &serde_json::Value| {
        let words = entry.get("msg")?.as_str()?;
        let field = entry.get("loc").and_then(|at| at.as_array()?.last()?.as_str());
        Some(field.map_or_else(|| words.to_string(), |field| format!("{field}: {words}")))
    };
    detail.as_array().into_iter().flatten().filter_map(one).collect::<Vec<_>>().join("; ")
}

/// The whole body, up to `limit` bytes; more, or a broken connection, is `None`.
pub(super) async fn read_limited(mut response: Response, limit: usize) -> Option<Vec<u8>> {
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

/// The innermost reason, which is the one that helps.
fn root(error: &dyn std::error::Error) -> String {
    let mut reason = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

/// Why a certificate is not trusted, in words.
fn distrust(cause: &str) -> &str {
    let reasons = [
        ("UnknownIssuer", "nobody this computer trusts has signed it"),
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

/// Host, and port where it is not the usual one.
fn host(url: &Url) -> String {
    match (url.host_str(), url.port()) {
        (Some(host), Some(port)) => format!("{host}:{port}"),
        (host, _) => host.unwrap_or_default().into(),
    }
}

/// The URL without name, password and query.
fn plain(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host(url), url.path())
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse::<IpAddr>() {
        Ok(ip) => ip.is_loopback() || ip.is_unspecified(),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_distrusted_in_words() {
        let unknown = "invalid peer certificate: UnknownIssuer";
        assert_eq!(distrust(unknown), "nobody this computer trusts has signed it");
        assert_eq!(distrust("invalid peer certificate: NotValidForNameContext { .. }"), "it is another server's");
        assert_eq!(distrust("invalid peer certificate: BadEncoding"), "BadEncoding");
    }
}
