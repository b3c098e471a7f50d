//! The proxy that requests to an address go through, for messages: the HTTP client reads the same variables.

use crate::config::key_use;
use crate::config::paths::Variables;

/// Returns the proxy of an address as host and port; `None`: it is reached directly.
pub(in crate::config) fn of(env: &Variables, url: &str) -> Option<String> {
    let (scheme, _) = url.split_once("://")?;
    let host = key_use::host(url);
    let own: &[&str] = match scheme {
        "https" => &["HTTPS_PROXY", "https_proxy"],
        _ => &["HTTP_PROXY", "http_proxy"],
    };
    let proxy = own.iter().chain(&["ALL_PROXY", "all_proxy"]).find_map(|name| env.get(name))?;
    if key_use::is_loopback(url)
        || ["NO_PROXY", "no_proxy"].iter().find_map(|name| env.get(name)).is_some_and(|not| spares(not, host))
    {
        return None;
    }
    let proxy = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let proxy = proxy.split(['/', '?']).next().unwrap_or(proxy);
    // A name and a password are nobody's business.
    Some(proxy.rsplit_once('@').map_or(proxy, |(_, host)| host).to_string())
}

/// Returns whether a list of hosts and domains that are reached directly names this one.
fn spares(list: &str, host: &str) -> bool {
    list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).any(|entry| {
        let domain = entry.trim_start_matches('.');
        entry == "*" || host == domain || host.strip_suffix(domain).is_some_and(|head| head.ends_with('.'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_proxy_of_an_address() {
        let env = |pairs: &[(&str, &str)]| pairs.iter().copied().collect::<Variables>();
        let both =
            env(&[("HTTPS_PROXY", "http://me:secret@proxy.test:3128/"), ("NO_PROXY", "corp.test, .example.com")]);
        for (url, wanted) in [
            ("https://api.openai.com/v1", Some("proxy.test:3128")),
            ("http://api.openai.com/v1", None),
            ("https://llm.corp.test/v1", None),
            ("https://corp.test:8443", None),
            ("https://notcorp.test", Some("proxy.test:3128")),
            ("https://a.example.com", None),
            ("https://localhost:9000/v1", None),
            ("nonsense", None),
        ] {
            assert_eq!(of(&both, url).as_deref(), wanted, "{url}");
        }
        assert_eq!(of(&env(&[("all_proxy", "socks5://s:1080")]), "http://a.b").as_deref(), Some("s:1080"));
        assert_eq!(of(&env(&[("ALL_PROXY", "s:1"), ("no_proxy", "*")]), "https://a.b"), None);
    }
}
