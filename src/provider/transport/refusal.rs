//! The meaning of a server's refusals: from status, code and words to a kind of error, its words for the person, and
//! whether another request may help.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Response, StatusCode, Url};
use serde_json::Value;

use super::http::{KeySource, Server, plain, read_limited};
use super::named_window::named_window;
use super::retry::{Again, Failure, retry_after, retry_after_ms};
use crate::config::providers::{maker_of, url_variable};
use crate::messages::provider as say;
use crate::provider::models::Model;
use crate::provider::{Error, ErrorKind, ServerWords};
use crate::text::distance::nearest_few;
use crate::text::time;

/// The parts of a refusal beside its words.
#[derive(Default)]
struct Circumstances {
    wait: Option<Duration>,
    /// The server says that no other request helps.
    final_word: bool,
    location: Option<String>,
    request_id: Option<String>,
}

impl Server {
    /// Reads the body of an answer that is a refusal, and says what it means.
    pub async fn refused(&self, mut response: Response, model: &str) -> Failure {
        let status = response.status();
        let mut with = self.circumstances(response.headers());
        let url = response.url().clone();
        let bytes = read_limited(&mut response, 64 << 10).await.unwrap_or_default();
        let body = ErrorBody::read(&bytes);
        with.wait = with.wait.or(body.delay);
        self.explain(status, &body, &with, &url, model)
    }

    /// Returns the error for an error object inside a stream; it has no status of its own but may name one.
    pub fn complaint(&self, error: &Value, model: &str) -> Failure {
        let body = ErrorBody::of(error);
        let status = body.code.parse().ok().and_then(|code| StatusCode::from_u16(code).ok());
        let status = status.filter(|status| !status.is_success()).unwrap_or_else(|| body.status());
        let with = Circumstances { wait: body.delay, ..Circumstances::default() };
        self.explain(status, &body, &with, self.base(), model)
    }

    fn circumstances(&self, headers: &HeaderMap) -> Circumstances {
        let header = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let wait = header("retry-after-ms").and_then(retry_after_ms);
        Circumstances {
            wait: wait.or_else(|| header("retry-after").and_then(|value| retry_after(value, time::now()))),
            final_word: header("x-should-retry").is_some_and(|said| said.trim() == "false"),
            location: header("location").map(|to| self.clean(to)),
            request_id: self.request_id(headers),
        }
    }

    /// Returns the id by which the server knows the request that this is the answer to.
    pub fn request_id(&self, headers: &HeaderMap) -> Option<String> {
        let header = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        let id = header("request-id").or_else(|| header("x-request-id"))?;
        Some(self.clean(id)).filter(|id| !id.is_empty())
    }

    fn explain(&self, status: StatusCode, body: &ErrorBody, with: &Circumstances, url: &Url, model: &str) -> Failure {
        let code = status.as_u16();
        let says = self.clean(&body.message);
        let quoted = if says.is_empty() { say::unsaid().into() } else { say::it_says(&says) };
        let (mut error, again) = self.meaning(code, body, with, url, model, &quoted);
        (error.status, error.request_id) = (Some(code), with.request_id.clone());
        let named = || body.window.or_else(|| named_window(&body.message));
        let window = if error.kind == ErrorKind::ContextTooLong { named() } else { None };
        error.said = Some(Box::new(ServerWords { words: says, window, ..ServerWords::default() }));
        let again = match again {
            Again::Later if with.final_word => Again::Never,
            Again::Later => with.wait.map_or(Again::Later, Again::After),
            other => other,
        };
        Failure { error, again }
    }

    fn meaning(
        &self,
        code: u16,
        body: &ErrorBody,
        with: &Circumstances,
        url: &Url,
        model: &str,
        quoted: &str,
    ) -> (Error, Again) {
        let host = &self.host;
        let never = |kind, message: String, hint: &str| (Error::new(kind, message, hint), Again::Never);
        match code {
            400..=499 if code == 402 || body.is_about_quota() => {
                never(ErrorKind::Quota, say::quota(&code, &host), &with_words(say::quota_hint(), body, quoted))
            }
            400 | 404 | 405 | 422 | 500 | 501 if body.is_about_tools() => {
                never(ErrorKind::NoTools, say::takes_no_tools(&model, &host, &code), quoted)
            }
            401 => (self.key_refused(code, quoted), Again::Never),
            400 | 403 if body.is_about_key() => (self.key_refused(code, quoted), Again::Never),
            403 if self.key_source().is_none() && !self.has_own_key() => {
                let hint = if self.authorizes() { say::no_right_hint(&quoted) } else { say::no_access_hint(&quoted) };
                never(ErrorKind::Permission, say::no_access(&host, &code), &hint)
            }
            403 => {
                never(ErrorKind::Permission, say::no_right(&host, &code, &self.lets_in()), &say::no_right_hint(&quoted))
            }
            404 | 400 | 422 if body.is_about_model(model) => {
                self.not_there(ErrorKind::NoModel, say::no_such_model(&model, &host, &code), body, quoted)
            }
            404 if body.is_about_routes() && !body.is_about_files() => {
                self.not_there(ErrorKind::NoModel, say::no_route(&host, &model, &code), body, quoted)
            }
            404 | 405 if !body.is_about_files() => {
                self.not_there(ErrorKind::NotFound, say::nothing_at(&plain(url), &code), body, quoted)
            }
            300..=399 => {
                let to = with.location.clone().unwrap_or_else(|| say::another_address().into());
                let message = say::redirects(&host, &to, &code);
                never(ErrorKind::NotFound, message, &say::set_base_url(&url_variable(self.wire().name())))
            }
            413 | 429 if code == 413 || body.is_too_large() => (Self::too_long(model, quoted), Again::Never),
            400 | 422 if body.is_about_length() => (Self::too_long(model, quoted), Again::Never),
            429 => (Error::new(ErrorKind::RateLimited, say::rate_limited(&host), say::ask_later()), Again::Later),
            500 | 502..=504 | 529 if !body.is_final(code) => {
                let message = say::overloaded(&host, &code);
                (Error::new(ErrorKind::Server, message, quoted), Again::Later)
            }
            408 | 425 | 500..=599 if !body.is_final(code) => {
                let message = say::server_failed(&host, &code);
                (Error::new(ErrorKind::Server, message, quoted), Again::Later)
            }
            _ => never(
                ErrorKind::BadRequest,
                say::refused(&host, &code),
                &format!("{quoted}{} nebula doctor --last shows the request without its contents.", stop(quoted)),
            ),
        }
    }

    /// Returns the error for a model or an address that is none, with what the server says of it.
    fn not_there(&self, kind: ErrorKind, message: String, body: &ErrorBody, quoted: &str) -> (Error, Again) {
        let hint = match kind {
            ErrorKind::NoModel => say::choose_other().to_string(),
            _ => say::check_wire(&self.wire().words()),
        };
        (Error::new(kind, message, with_words(&hint, body, quoted)), Again::Never)
    }

    fn too_long(model: &str, quoted: &str) -> Error {
        let hint = format!("{} {quoted}", say::shorter_hint());
        Error::new(ErrorKind::ContextTooLong, say::does_not_fit(&model), hint)
    }

    /// Returns the name of what is to authorize the requests.
    fn lets_in(&self) -> &str {
        match (self.key_source(), self.variable.as_deref()) {
            (Some(KeySource::Pasted), _) => say::pasted_key(),
            (Some(KeySource::Command), _) => "apiKeyCommand",
            (_, Some(variable)) if !self.has_own_key() => variable,
            _ => say::own_headers(),
        }
    }

    fn key_refused(&self, code: u16, quoted: &str) -> Error {
        let host = &self.host;
        let hint = match (self.key_source(), self.variable.as_deref()) {
            (None, Some(variable)) if !self.has_own_key() => {
                let hint = match quoted {
                    unsaid if unsaid == say::unsaid() => say::set_it().to_string(),
                    _ => say::set_it_quoted(&quoted),
                };
                return Error::new(ErrorKind::Auth, say::wants_key(&host, &code, &variable), hint);
            }
            (Some(KeySource::Pasted), _) => say::paste_another(&quoted),
            (Some(KeySource::Command), _) => say::check_command(&quoted),
            (Some(KeySource::Variable(_)), _) => say::key_not_taken(&quoted),
            (None, None) if !self.has_own_key() => {
                return Error::new(ErrorKind::Auth, say::wants_any_key(&host, &code), say::name_variable(&quoted));
            }
            (None, _) => say::check_headers(&quoted),
        };
        Error::new(ErrorKind::Auth, say::rejected_key(&host, &code, &self.lets_in()), hint)
    }
}

/// Returns what to do, and what the server says, where it says anything.
fn with_words(hint: &str, body: &ErrorBody, quoted: &str) -> String {
    if body.message.is_empty() { hint.into() } else { format!("{hint} {quoted}") }
}

/// Returns the full stop for a sentence that has no end.
fn stop(sentence: &str) -> &'static str {
    if sentence.ends_with(['.', '!', '?']) { "" } else { "." }
}

/// Names the models on offer whose names are nearest to the one that is not there, or the provider that makes that one.
pub(in crate::provider) fn suggest(error: &mut Error, model: &str, offered: &[Model]) {
    // A server that offers models of many makers names them `maker/model`.
    let made = |known: &Model| known.name.rsplit('/').next().and_then(maker_of);
    if let Some(maker) = maker_of(model).filter(|maker| offered.iter().all(|known| made(known) != Some(maker))) {
        error.hint = say::made_by(&model, &maker);
        return;
    }
    if offered.iter().any(|known| known.name == model) {
        // It is there, and the server has said why it does not answer.
        return;
    }
    let names = nearest_few(model, offered.iter().map(|model| model.name.as_str()), NEAREST);
    if !names.is_empty() {
        error.hint = say::nearest(&names.join(", "), &say::choose_other());
    }
}

/// The number of names that are suggested.
const NEAREST: usize = 3;

/// Returns the server's words about a failure.
#[derive(Debug, Default)]
struct ErrorBody {
    message: String,
    /// `code`, else `type`, else `status`.
    code: String,
    /// All of `code`, `type`, `status` and the reasons in the details.
    reasons: String,
    /// The time it asks to wait.
    delay: Option<Duration>,
    /// The context window, where it stands in a field of its own (llama.cpp).
    window: Option<u32>,
}

impl ErrorBody {
    /// Reads the body of a refusal: JSON in one of the usual shapes, or any text.
    fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(Value::Array(mut list)) if list.len() == 1 => Self::of(&list.remove(0)),
            Ok(value) => Self::of(&value),
            Err(_) => {
                let text = String::from_utf8_lossy(body);
                let message = if text.trim_start().starts_with('<') { String::new() } else { text.into_owned() };
                Self { message, ..Self::default() }
            }
        }
    }

    fn of(value: &Value) -> Self {
        let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
        let text = |name: &str| match error.get(name)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        };
        let message = error.as_str().map(Into::into).or_else(|| text("message")).or_else(|| text("detail"));
        // Mistral puts the list of a checked form into an object `message`.
        let detail = error.get("detail").or_else(|| error.get("message")?.get("detail"));
        let message = message.or_else(|| detail.map(listed).filter(|text| !text.is_empty()));
        let code = text("code").or_else(|| text("type")).or_else(|| text("status"));
        let details = || error.get("details").and_then(Value::as_array).into_iter().flatten();
        let mut reasons: Vec<String> = ["code", "type", "status"].into_iter().filter_map(text).collect();
        reasons.extend(details().filter_map(|d| Some(d.get("reason")?.as_str()?.to_string())));
        let quotas = details().filter_map(|d| d.get("violations")?.as_array()).flatten();
        reasons.extend(quotas.filter_map(|v| Some(v.get("quotaId")?.as_str()?.to_string())));
        let delay = details().find_map(|d| d.get("retryDelay")?.as_str()?.strip_suffix('s')?.parse().ok());
        Self {
            message: message.unwrap_or_default(),
            code: code.unwrap_or_default(),
            reasons: reasons.join(" "),
            delay: delay.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            window: error.get("n_ctx").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
        }
    }

    /// Returns the status that stands for an error inside a stream.
    fn status(&self) -> StatusCode {
        let all = self.reasons.as_str();
        let has = |words: &[&str]| words.iter().any(|word| all.contains(word));
        match () {
            () if has(&["rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED", "insufficient_quota"]) => {
                StatusCode::TOO_MANY_REQUESTS
            }
            () if has(&["overloaded_error"]) => StatusCode::from_u16(529).unwrap_or(StatusCode::SERVICE_UNAVAILABLE),
            () if has(&["UNAVAILABLE"]) => StatusCode::SERVICE_UNAVAILABLE,
            () if has(&["authentication_error", "invalid_api_key", "UNAUTHENTICATED"]) => StatusCode::UNAUTHORIZED,
            () if has(&["model_not_found"]) => StatusCode::NOT_FOUND,
            // Of a prompt or a picture that is refused, no other try is taken.
            () if has(&["context_length_exceeded", "invalid_", "INVALID_ARGUMENT", "policy_violation", "image"]) => {
                StatusCode::BAD_REQUEST
            }
            () if has(&["permission_error", "PERMISSION_DENIED"]) => StatusCode::FORBIDDEN,
            () if has(&["billing_error"]) => StatusCode::PAYMENT_REQUIRED,
            () if has(&["not_found_error", "NOT_FOUND"]) => StatusCode::NOT_FOUND,
            () if has(&["request_too_large"]) => StatusCode::PAYLOAD_TOO_LARGE,
            () => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn is_about_model(&self, model: &str) -> bool {
        if model.is_empty() {
            return false;
        }
        let message = self.message.to_lowercase();
        matches!(self.code.as_str(), "model_not_found" | "invalid_model" | "not_found_error" | "model_decommissioned")
            || ["not a valid model", "has been decommissioned", "model not exist"].iter().any(|part| message.contains(part))
            || (message.contains("model") && (message.contains(&model.to_lowercase()) || message.contains("load")))
                && ["not found", "not exist", "unknown", "no model", "invalid model"]
                    .iter()
                    .any(|part| message.contains(part))
            // Ollama and Gemini: `model 'x' not found`, `models/x is not found for API version`.
            || message.contains(&format!("models/{}", model.to_lowercase())) && message.contains("not found")
    }

    /// Returns whether a router has no server for the model that the person's settings allow (OpenRouter).
    fn is_about_routes(&self) -> bool {
        self.message.to_lowercase().contains("no endpoints found")
    }

    /// Returns whether it is the tools of the request that are refused, not one of them for what it is.
    fn is_about_tools(&self) -> bool {
        const WORDS: [&str; 18] = [
            "not support tool",
            "n't support tool",
            "that support tool",
            "not support function call",
            "n't support function call",
            "function calling is not",
            "function calling is un",
            "tool calling is not",
            "tool use is not",
            "tools is not supported",
            "tools are not supported",
            "tool choice requires",
            "tools param requires",
            "unsupported parameter: 'tools'",
            "unsupported parameter: tools",
            "argument supplied: tools",
            "unknown field \"tools\"",
            "unknown name \"tools\"",
        ];
        let message = self.message.to_lowercase();
        WORDS.iter().any(|part| message.contains(part))
    }

    fn is_about_key(&self) -> bool {
        ["API_KEY_INVALID", "authentication_error", "UNAUTHENTICATED"].iter().any(|word| self.reasons.contains(word))
            || has_words(&self.message.to_lowercase(), &["api key not valid", "incorrect api key", "invalid api key"])
    }

    fn is_about_quota(&self) -> bool {
        // Anthropic calls it an invalid request, xAI a missing permission.
        const WORDS: [&str; 5] = [
            "credit balance is too low",
            "specified api usage limits",
            "insufficient balance",
            "have any credits",
            "used all available credits",
        ];
        let reasons = ["insufficient_quota", "exceeded_current_quota", "billing_error", "PerDay", "Arrearage"];
        reasons.iter().any(|word| self.reasons.contains(word)) || has_words(&self.message.to_lowercase(), &WORDS)
    }

    /// Returns whether a limit of tokens a minute is one that this request alone exceeds: waiting does not help.
    fn is_too_large(&self) -> bool {
        let message = self.message.to_lowercase();
        message.contains("request too large") && message.contains("token")
    }

    /// Returns whether it is about the roles of the messages: where a template refuses them, llama.cpp has failed.
    fn is_about_roles(&self) -> bool {
        let message = self.message.to_lowercase();
        has_words(&message, &NO_SYSTEM) || has_words(&message, &IN_TURNS)
    }

    /// Returns whether a failure has a cause that the same request meets again, so that no other try helps.
    fn is_final(&self, code: u16) -> bool {
        // What a template does not take it takes the next time neither.
        const LASTING: [&str; 3] = ["requires more system memory", "jinja", "chat template"];
        let is_lasting = || has_words(&self.message.to_lowercase(), &LASTING);
        self.is_about_roles() || code == 500 && (self.is_about_files() || is_lasting())
    }

    /// Returns whether it is about pictures or documents that the model, or its server, does not take.
    fn is_about_files(&self) -> bool {
        const WORDS: [&str; 6] =
            ["image input", "image:", "support image", "multimodal", "mmproj", "failed to load image"];
        has_words(&self.message.to_lowercase(), &WORDS)
    }

    fn is_about_length(&self) -> bool {
        const WORDS: [&str; 23] = [
            // DashScope, Volcengine.
            "input length",
            "exceeded model token limit",
            "exceeds max length",
            "prompt exceeds",
            // Text Generation Inference, Together.
            "`inputs` must have less than",
            "input tokens exceed",
            "too many input tokens",
            "reduce the length of the",
            "max_seq_len",
            "context length",
            "max_new_tokens` must be",
            "prompt token count",
            "prompt tokens exceed",
            "context window",
            "context size",
            "context limit",
            "maximum context",
            "maximum prompt length",
            "too many tokens",
            "prompt is too long",
            "exceeds the maximum number of tokens",
            "input is too long",
            "exceed_context_size",
        ];
        let message = self.message.to_lowercase();
        self.reasons.contains("context_length_exceeded")
            || self.reasons.contains("exceed_context_size")
            || self.reasons.contains("model_max_prompt_tokens_exceeded")
            || WORDS.iter().any(|part| message.contains(part))
    }
}

/// Words of a refusal of system prompts, in lower case.
pub(in crate::provider) const NO_SYSTEM: [&str; 6] = [
    "system role not supported",
    "system role is not supported",
    "system messages are not supported",
    "developer instruction is not enabled",
    "system instruction is not enabled",
    "only user and assistant roles are supported",
];
/// Words of a refusal of messages that do not take turns, in lower case.
pub(in crate::provider) const IN_TURNS: [&str; 4] =
    ["roles must alternate", "must alternate between", "unexpected role", "after role"];

/// Returns whether a text in lower case has one of these words.
pub(in crate::provider) fn has_words(says: &str, words: &[&str]) -> bool {
    words.iter().any(|word| says.contains(word))
}

/// Returns the whole numbers in a text, with or without commas between their digits.
pub(in crate::provider) fn numbers(text: &str) -> impl Iterator<Item = u32> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != ',');
    words.filter_map(|word| word.replace(',', "").parse().ok())
}

/// Returns the complaints that a server with a checked form lists, each with the field it is about.
fn listed(detail: &Value) -> String {
    let one = |entry: &Value| {
        let words = entry.get("msg")?.as_str()?;
        let field = entry.get("loc").and_then(|at| at.as_array()?.last()?.as_str());
        Some(field.map_or_else(|| words.to_string(), |field| format!("{field}: {words}")))
    };
    detail.as_array().into_iter().flatten().filter_map(one).collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_window_stands_in_the_words_or_in_a_field_of_its_own() {
        let refusal_json = json!({"error": {"code": 400, "type": "exceed_context_size_error", "n_prompt_tokens": 9000,
            "n_ctx": 8192, "message": "the request exceeds the available context size"}});
        let body = ErrorBody::of(&refusal_json);
        assert!(body.is_about_length());
        assert_eq!(body.window, Some(8_192));
        let limit = "input length and `max_tokens` exceed context limit: 188240 + 64000 > 200000";
        assert!(ErrorBody::of(&json!({"error": {"message": limit}})).is_about_length());
    }

    #[test]
    fn refusals_are_known_by_their_words() {
        let body = |message: &str| ErrorBody::of(&json!({"error": {"message": message}}));
        assert!(body("foo/bar is not a valid model ID").is_about_model("foo/bar"));
        assert!(body("The model `x` has been decommissioned and is no longer supported.").is_about_model("y"));
        assert!(body("Model Not Exist").is_about_model("m"));
        assert!(body("Unexpected role 'system' after role 'user'").is_about_roles());
        assert!(!body("the server is busy").is_about_roles());
        assert!(body("`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000").is_about_length());
        for words in [
            "Range of input length should be [1, 30720]",
            "Your request exceeded model token limit: 8192",
            "Prompt exceeds max length",
            "Input validation error: `inputs` must have less than 8192 tokens. Given: 9000",
            "Input length 140000 exceeds the maximum length 131072",
            "Input Tokens Exceeded: Number of input tokens exceeds maximum length.",
            "max_total_tokens (40000) must be less than or equal to max_seq_len (32768)",
        ] {
            assert!(body(words).is_about_length(), "{words}");
        }
        assert!(body("Incorrect API key provided: xa***x. You can obtain an API key from …").is_about_key());
        for words in [
            "You have reached your specified API usage limits. You will regain access on 2026-01-01 at 00:00 UTC.",
            "Your newly created team doesn't have any credits yet.",
        ] {
            assert!(body(words).is_about_quota(), "{words}");
        }
        assert!(body("prompt token count of 140000 exceeds the limit of 128000").is_about_length());
        let large = body("Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 41000.");
        assert!(large.is_too_large() && named_window(&large.message) == Some(30_000));
        assert!(!body("Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000").is_too_large());
        let detail = json!({"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"});
        let body = ErrorBody::of(&json!({"object": "error", "message": {"detail": [detail]}, "code": null}));
        assert_eq!(body.message, "stream_options: Extra inputs are not permitted");
    }

    #[test]
    fn a_model_that_is_there_is_not_suggested_for_itself() {
        let offered = ["m", "m2"].map(|name| Model { name: name.into(), ..Model::default() });
        let hint = |model: &str| {
            let mut error = Error::new(ErrorKind::NoModel, "no", "as said");
            suggest(&mut error, model, &offered);
            error.hint
        };
        assert_eq!(hint("m"), "as said");
        assert!(hint("m1").contains("m, m2"), "{}", hint("m1"));
        assert!(hint("claude-x").ends_with("--model anthropic:claude-x."), "{}", hint("claude-x"));
        let route =
            ErrorBody::of(&json!({"error": {"message": "No endpoints found matching your data policy", "code": 404}}));
        assert!(route.is_about_routes() && !route.is_about_files());
    }

    #[test]
    fn an_error_inside_a_stream_has_the_status_that_its_type_stands_for() {
        let status = |kind: &str| ErrorBody::of(&json!({"error": {"type": kind, "message": "no"}})).status().as_u16();
        let kinds = ["overloaded_error", "UNAVAILABLE", "rate_limit_error", "api_error", "server_error"];
        assert_eq!(kinds.map(status), [529, 503, 429, 500, 500]);
        let refused = ["invalid_prompt", "cyber_policy_violation", "image_too_large", "invalid_image_url"];
        assert_eq!(refused.map(status), [400; 4]);
        assert_eq!(["model_not_found", "invalid_api_key"].map(status), [404, 401]);
    }

    #[test]
    fn details_tell_how_long_to_wait_and_which_quota_is_used_up() {
        let body = ErrorBody::of(
            &json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "slow", "details": [
                {"@type": "…QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}]},
                {"@type": "…RetryInfo", "retryDelay": "37.5s"}
            ]}}),
        );
        assert_eq!(body.delay, Some(Duration::from_millis(37_500)));
        assert!(body.is_about_quota());
    }
}
