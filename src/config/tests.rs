use super::keys::KEYS;
use super::*;
use std::fs;

struct World {
    home: tempfile::TempDir,
    root: tempfile::TempDir,
    env: Vec<(&'static str, &'static str)>,
    flags: Flags,
}

impl World {
    fn new() -> Self {
        let temp = || tempfile::tempdir().unwrap();
        Self { home: temp(), root: temp(), env: Vec::new(), flags: Flags::default() }
    }

    fn user(self, keys: Value) -> Self {
        fs::create_dir_all(self.home.path().join(".nebula")).unwrap();
        fs::write(self.home.path().join(".nebula/config.json"), keys.to_string()).unwrap();
        self
    }

    fn workspace(self, keys: Value) -> Self {
        fs::create_dir_all(self.root.path().join(".nebula")).unwrap();
        fs::write(self.root.path().join(".nebula/config.json"), keys.to_string()).unwrap();
        self
    }

    fn env(mut self, name: &'static str, value: &'static str) -> Self {
        self.env.push((name, value));
        self
    }

    fn load(&self) -> Config {
        let env = self.env.iter().copied().collect();
        Config::load(Paths::below(self.home.path()), env, self.flags.clone(), Some(self.root.path()))
    }
}

#[test]
fn defaults_without_anything() {
    let config = Config::default();
    assert_eq!((config.provider.as_str(), config.model.as_str()), ("openai", "gpt-4.1-nano"));
    assert_eq!((config.edit_format.as_str(), config.approval.as_str(), config.max_steps), ("auto", "ask", 50));
    assert_eq!((config.archive_max_size, config.mouse, config.ascii), (2 << 30, true, false));
    assert_eq!(config.warnings, Vec::<String>::new());
    let connection = config.connection();
    assert_eq!(connection.base_url, "https://api.openai.com/v1");
    assert_eq!(connection.key_variable.as_deref(), Some("OPENAI_API_KEY"));
    assert!(Config::default().set("model", "x").unwrap_err().hint.contains("NEBULA_HOME"));
}

#[test]
fn each_layer_covers_the_one_below() {
    let mut world = World::new()
        .user(json!({"model": "user", "maxSteps": 1, "theme": "light", "models": {"a": {"contextWindow": 1}}}))
        .workspace(json!({"model": "workspace", "models": {"a": {"editFormat": "xml"}}, "maxSteps": 2}));
    let config = world.load();
    assert_eq!((config.model.as_str(), config.max_steps), ("workspace", 2));
    assert_eq!(config.models["a"].context_window, Some(1));
    assert_eq!(config.format_for("a"), "xml");
    assert_eq!(config.format_for("b"), "auto");
    world.flags = Flags { model: Some("flag".into()), edit_format: Some("lines".into()), ..Flags::default() };
    let config = world.env("NO_COLOR", "1").load();
    assert_eq!((config.model.as_str(), config.theme.as_deref()), ("flag", Some("plain")));
    assert_eq!(config.format_for("a"), "lines");
    let origins: BTreeMap<_, _> = config.listing().into_iter().map(|(name, _, origin)| (name, origin)).collect();
    assert_eq!(
        (origins["model"], origins["theme"], origins["maxSteps"], origins["mouse"]),
        (ValueSource::Flag, ValueSource::Environment, ValueSource::Workspace, ValueSource::Default)
    );
}

#[test]
fn an_untrusted_workspace_sets_harmless_keys_alone() {
    let hostile = json!({
        "baseUrl": "http://evil.example", "headers": {"a": "b"}, "approval": "all", "apiKeyEnv": "MY_KEY",
        "provider": "evil", "providers": {"openai": {"baseUrl": "http://evil.example"}}, "mouse": false,
        "archiveDir": "/tmp", "archiveExclude": ["*"], "trusted": ["/"], "model": "m", "language": "ja", "mergiraf": true
    });
    let world = World::new().workspace(hostile).env("OPENAI_API_KEY", "sk-1");
    let mut config = world.load();
    assert_eq!(config.connection().base_url, "https://api.openai.com/v1");
    assert_eq!((config.approval.as_str(), config.model.as_str()), ("ask", "m"));
    assert_eq!((config.language.as_deref(), config.mouse, config.trusted.len()), (Some("ja"), true, 0));
    assert_eq!(config.untrusted.len(), 9);
    // Two are the person's alone, in a folder that is trusted too.
    let own = |config: &Config| {
        config.warnings.iter().any(|w| w.ends_with("only your own configuration sets trusted, mergiraf"))
    };
    assert!(own(&config), "{:?}", config.warnings);
    config.trust().unwrap();
    assert_eq!((config.approval.as_str(), config.warnings.len()), ("all", 1));
    assert!(own(&config) && config.untrusted.is_empty() && !config.mergiraf, "{:?}", config.warnings);
    assert_eq!(config.trusted, [world.root.path()]);
    config.set("mergiraf", "true").unwrap();
    assert!(config.mergiraf);
    let world = World::new().workspace(json!({"model": "./hostile.gguf", "language": "ja"}));
    let mut config = world.load();
    assert!(config.model != "./hostile.gguf" && config.untrusted == ["model"], "{:?}", config.untrusted);
    config.trust().unwrap();
    assert_eq!(config.model, "./hostile.gguf");
}

#[test]
fn what_is_added_to_a_list_joins_what_the_file_holds_by_then() {
    let world = World::new().user(json!({"shell": {"rules": [{"prefix": ["ls"], "decision": "alow"}]}}));
    let mut config = world.load();
    // The rule is there, and its missing decision can be told.
    assert_eq!(config.shell.rules[0].decision, "");
    let rules = json!([{"prefix": ["git", "push"], "decision": "refuse", "later": 1}]);
    let path = config.paths.config().unwrap();
    fs::write(&path, json!({"shell": {"rules": rules}, "trusted": ["/other"]}).to_string()).unwrap();
    config.append("shell.rules", json!({"prefix": ["npm"], "decision": "allow"})).unwrap();
    config.trust().unwrap();
    let file: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(file["shell"]["rules"][0], rules[0]);
    assert_eq!(file["shell"]["rules"][1]["prefix"], json!(["npm"]));
    assert_eq!((config.trusted.len(), config.shell.rules.len()), (2, 2));
    fs::write(&path, r#"{"shell": {"rules": "none"}}"#).unwrap();
    assert!(config.append("shell.rules", json!({})).unwrap_err().to_string().contains("not a list"));
    assert_eq!(fs::read_to_string(&path).unwrap(), r#"{"shell": {"rules": "none"}}"#);
}

#[test]
fn a_port_is_kept_for_the_workspace_where_all_of_its_file_counts_and_else_in_the_persons_own() {
    let world = World::new().user(json!({"shell": {"ports": [5432]}})).workspace(json!({"model": "m"}));
    let mut config = world.load();
    let workspace = || fs::read_to_string(workspace_config(world.root.path())).unwrap();
    config.add_port(6379).unwrap();
    config.add_port(6379).unwrap();
    assert_eq!((config.shell.ports.clone(), workspace().contains("ports")), (vec![5432, 6379], false));
    config.trust().unwrap();
    config.add_port(8080).unwrap();
    assert_eq!((config.shell.ports.clone(), config.model.as_str()), (vec![5432, 6379, 8080], "m"));
    assert!(workspace().contains("8080"), "{}", workspace());
    let user = fs::read_to_string(config.paths.config().unwrap()).unwrap();
    assert!(user.contains("6379") && !user.contains("8080"), "{user}");
    let files = fs::read_dir(workspace_config(world.root.path()).parent().unwrap()).unwrap().count();
    assert_eq!(files, 1, "nothing but the file itself is made in the workspace");
}

#[test]
fn a_key_goes_to_a_server_of_the_workspace_only_once_the_person_agrees() {
    let world = World::new()
        .user(json!({"providers": {"mine": {"baseUrl": "https://mine.example/v1", "apiKeyEnv": "MINE_KEY"}}}))
        .workspace(json!({"baseUrl": "https://team.example/v1", "apiKeyEnv": "TEAM_TOKEN"}))
        .env("TEAM_TOKEN", "t")
        .env("MINE_KEY", "m");
    let mut config = world.load();
    assert_eq!(config.connection().withheld, None, "an untrusted folder has no say");
    config.trust().unwrap();
    let connection = config.connection();
    let wanted = KeyUse { variable: "TEAM_TOKEN".into(), server: "https://team.example".into() };
    assert_eq!((connection.key, connection.withheld.as_ref()), (None, Some(&wanted)));
    config.agree(&wanted).unwrap();
    let connection = world.load().connection();
    assert_eq!((connection.key, connection.withheld), (Some(Secret::new("t")), None));
    // Agreed by server and variable: neither another key there nor this one elsewhere.
    for hostile in [
        json!({"baseUrl": "https://team.example/v1", "apiKeyEnv": "MINE_KEY"}),
        json!({"baseUrl": "http://team.example/v1", "apiKeyEnv": "TEAM_TOKEN"}),
        json!({"baseUrl": "https://team.example.evil.example", "apiKeyEnv": "TEAM_TOKEN"}),
        json!({"provider": "x", "providers": {"x": {"baseUrl": "https://evil.example", "apiKeyEnv": "MINE_KEY"}}}),
    ] {
        fs::write(world.root.path().join(".nebula/config.json"), hostile.to_string()).unwrap();
        let connection = world.load().connection();
        assert!(connection.key.is_none() && connection.withheld.is_some(), "{hostile}");
    }
    // What the person's own settings say needs no question.
    fs::write(world.root.path().join(".nebula/config.json"), json!({"provider": "mine"}).to_string()).unwrap();
    assert_eq!(world.load().connection().key, Some(Secret::new("m")));
}

#[test]
fn a_workspace_names_no_variable_but_a_keys() {
    let world = World::new()
        .workspace(json!({"apiKeyEnv": "HOME", "providers": {"p": {"apiKeyEnv": "SSH_AUTH_SOCK", "model": "m"}}}))
        .env("HOME", "/home/me");
    let mut config = world.load();
    config.trust().unwrap();
    assert_eq!((config.api_key_env.as_deref(), config.providers["p"].api_key_env.as_deref()), (None, None));
    assert_eq!(config.providers["p"].model.as_deref(), Some("m"));
    assert!(
        config.warnings[0]
            .ends_with(":1:2: HOME is no variable a workspace may name: its name must end in _KEY or _TOKEN"),
        "{:?}",
        config.warnings
    );
    assert_eq!(config.warnings.len(), 2);
}

#[test]
fn the_url_of_the_environment_is_for_openai_alone() {
    let mut world = World::new()
        .user(json!({"baseUrl": "https://file.example/v1/", "headers": {"X": "1"}, "model": "m"}))
        .env("OPENAI_BASE_URL", "http://127.0.0.1:9/v1/")
        .env("OPENAI_API_KEY", " sk-1\n")
        .env("GEMINI_API_KEY", "g");
    let config = world.load();
    let connection = config.connection();
    assert_eq!(connection.base_url, "http://127.0.0.1:9/v1");
    let listed =
        |config: &Config| config.listing().into_iter().find(|(name, ..)| name == "baseUrl").map(|l| (l.1, l.2));
    let url = Some(r#""http://127.0.0.1:9/v1/""#.to_string());
    assert_eq!(listed(&config), Some((url, ValueSource::Environment)));
    assert_eq!(config.get("baseUrl").unwrap(), Some("http://127.0.0.1:9/v1/".into()));
    let untouched = World::new().load();
    assert_eq!(listed(&untouched), Some((Some(r#""https://api.openai.com/v1""#.into()), ValueSource::Default)));
    assert_eq!(connection.key, Some(Secret::new("sk-1")));
    // Another provider gets neither the URL nor the headers nor the model that were meant for the first.
    world.flags.provider = Some("gemini".into());
    let config = world.load();
    let connection = config.connection();
    assert!(connection.base_url.starts_with("https://generativelanguage."));
    assert_eq!((connection.key, connection.headers), (Some(Secret::new("g")), vec![]));
    assert_eq!((config.model.as_str(), config.model_key()), ("gemini-2.5-flash", "providers.gemini.model"));
}

#[test]
fn a_named_provider_has_its_own_four() {
    let world = World::new()
        .user(json!({
            "provider": "mine", "model": "general",
            "providers": {"mine": {"baseUrl": "http://10.0.0.1/v1", "apiKeyEnv": "MINE", "model": "own"}}
        }))
        .env("MINE", "k");
    let mut config = world.load();
    assert_eq!(config.model, "own");
    assert_eq!(config.connection().key, Some(Secret::new("k")));
    let key = config.model_key().to_string();
    config.set(&key, "other").unwrap();
    assert_eq!(config.model, "other");
    assert_eq!(config.get("model").unwrap(), Some("other".into()));
}

#[test]
fn values_are_read_and_set() {
    let mut config = World::new().load();
    let world = World::new();
    config.paths = Paths::below(world.home.path());
    config.set("models.gpt-4.1-nano.price.input", "0.1").unwrap();
    config.set("archiveMaxSize", "5 GB").unwrap();
    assert_eq!(config.archive_max_size, 5_000_000_000);
    assert_eq!(config.get("models.gpt-4.1-nano.price.input").unwrap(), Some(0.1.into()));
    assert_eq!(config.get("archiveMaxSize").unwrap(), Some("5 GB".into()));
    assert_eq!(config.get("language").unwrap(), None);
    assert!(config.get("langauge").unwrap_err().message.contains("did you mean language?"));
    config.unset("archiveMaxSize").unwrap();
    assert_eq!(config.archive_max_size, 2 << 30);
    assert!(check("approval", "yes").unwrap_err().message.contains("ask, edits, review, all, none"));
    assert!(check("maxSteps", "0").is_ok() && check("approval", "all").is_ok());
}

#[test]
fn a_value_that_matters_and_cannot_be_read_is_a_fault_unless_something_stands_in_its_place() {
    let fault = |world: &World| world.load().connection().fault;
    let budget = World::new().user(json!({"budget": "ten", "maxSteps": "x"}));
    assert!(fault(&budget).is_some_and(|why| why.ends_with(":1:2: budget must be a number from 0")));
    assert_eq!(fault(&World { flags: Flags { budget: Some(2.0), ..Flags::default() }, ..budget }), None);
    assert_eq!(fault(&World::new().user(json!({"maxSteps": "x"}))), None);
    let wire = json!({"baseUrl": "http://a.example", "wire": "antropic"});
    assert_eq!(fault(&World::new().user(json!({"providers": {"other": wire}}))), None);
    let own = fault(&World::new().user(json!({"provider": "p", "providers": {"p": wire}})));
    assert!(own.is_some_and(|why| why.contains("providers.p.wire must be one of chat, responses")));
    let address = World::new().user(json!({"baseUrl": "gateway:8080"}));
    assert!(fault(&address).is_some());
    assert_eq!(fault(&address.env("OPENAI_BASE_URL", "http://a.example")), None);
    let unknown = fault(&World::new().user(json!({"provider": "corpx"})));
    assert!(unknown.is_some_and(|why| why.starts_with("there is no provider corpx: there are openai, ")));
    assert_eq!(fault(&World::new().user(json!({"provider": "corpx", "baseUrl": "http://a.example"}))), None);
    assert_eq!(fault(&World::new().workspace(json!({"budget": "ten"}))), None, "an untrusted folder has no say");
}

#[test]
fn no_secret_is_shown() {
    let world = World::new()
        .user(json!({"headers": {"Authorization": "Bearer s3cret"}, "providers": {"p": {"headers": {"X": "s3cret"}}}}))
        .env("OPENAI_API_KEY", "s3cret");
    let config = world.load();
    let displayed = format!("{config:?} {:?} {:?} {:?}", config.connection(), config.listing(), config.providers);
    assert!(!displayed.contains("s3cret"), "{displayed}");
    assert_eq!(config.connection().headers, [("Authorization".to_string(), "Bearer s3cret".to_string())]);
}

#[test]
fn a_broken_file_leaves_the_defaults() {
    let world = World::new().user(json!({}));
    let path = world.home.path().join(".nebula/config.json");
    fs::write(&path, "{\"model\": \"x\",}").unwrap();
    let config = world.load();
    assert_eq!(config.model, DEFAULT_MODEL);
    assert!(config.warnings[0].contains("config.json:1:15: "), "{:?}", config.warnings);
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"model\": \"x\",}");
}

#[test]
fn with_nothing_configured_the_first_provider_whose_key_is_set_is_used() {
    let found = |env: &[(&'static str, &'static str)], user: Value| {
        let mut world = World::new().user(user);
        world.env = env.to_vec();
        let config = world.load();
        let connection = config.connection();
        (config.provider.clone(), config.model.clone(), connection.wire, connection.key_variable)
    };
    let all = [("GEMINI_API_KEY", "g"), ("ANTHROPIC_API_KEY", "a"), ("OPENAI_API_KEY", "o")];
    let is = |provider: &str, model: &str, wire: &str, variable: &str| {
        (provider.to_string(), model.to_string(), wire.to_string(), Some(variable.to_string()))
    };
    assert_eq!(found(&all, json!({})), is("openai", DEFAULT_MODEL, "chat", "OPENAI_API_KEY"));
    assert_eq!(found(&all[..2], json!({})), is("anthropic", "claude-haiku-4-5", "anthropic", "ANTHROPIC_API_KEY"));
    assert_eq!(found(&all[..1], json!({})), is("gemini", "gemini-2.5-flash", "gemini", "GEMINI_API_KEY"));
    // What is configured counts: a provider, and a model of another maker.
    assert_eq!(found(&all[..2], json!({"provider": "gemini"})).0, "gemini");
    assert_eq!(
        found(&all, json!({"model": "claude-opus-4-6"})),
        is("anthropic", "claude-opus-4-6", "anthropic", "ANTHROPIC_API_KEY")
    );
    assert_eq!(found(&[], json!({})).0, "openai");
    // Providers that are described and not chosen leave the choice to the environment.
    let described = json!({"providers": {"mine": {"baseUrl": "http://127.0.0.1:1/v1"}}});
    assert_eq!(found(&all[..2], described).0, "anthropic");
    let own = [("GOOGLE_API_KEY", "g"), ("ANTHROPIC_AUTH_TOKEN", "t")];
    assert_eq!(found(&own, json!({})).3.as_deref(), Some("ANTHROPIC_AUTH_TOKEN"));
    assert_eq!(found(&own[..1], json!({})).3.as_deref(), Some("GOOGLE_API_KEY"));
}

#[test]
fn a_provider_of_the_persons_own_gets_no_makers_key() {
    let mut world = World::new()
        .user(json!({"providers": {"mine": {"baseUrl": "http://llm.lan/v1"}, "named": {"baseUrl": "http://llm.lan/v1", "apiKeyEnv": "OPENAI_API_KEY"}}}))
        .env("OPENAI_API_KEY", "sk-1");
    for (provider, key) in [("mine", None), ("named", Some("sk-1")), ("openai", Some("sk-1"))] {
        world.flags.provider = Some(provider.into());
        let connection = world.load().connection();
        assert_eq!(connection.key.as_ref().map(|key| key.reveal()), key, "{provider}");
    }
}

#[test]
fn an_address_in_a_variable_stands_beside_no_other_provider() {
    let alone = |world: World| world.load().provider_stands_alone();
    assert!(alone(World::new().env("OPENAI_BASE_URL", "http://gw.corp/v1")));
    assert!(alone(World::new().env("ANTHROPIC_API_KEY", "k").env("ANTHROPIC_BASE_URL", "http://gw.corp")));
    assert!(!alone(World::new().user(json!({"baseUrl": "http://gw.corp/v1"}))));
    let both = World::new().user(json!({"baseUrl": "http://gw.corp/v1"})).env("OPENAI_BASE_URL", "http://other/v1");
    assert!(!alone(both));
}

#[test]
fn a_model_may_be_named_with_its_provider() {
    let own = json!({"providers": {"mine": {"baseUrl": "http://llm.lan/v1", "model": "m1"}}});
    let mut world = World::new().user(own).env("OPENAI_API_KEY", "sk-1").env("ANTHROPIC_API_KEY", "sk-ant-1");
    let mut named = |provider: Option<&str>, model: &str| {
        (world.flags.provider, world.flags.model) = (provider.map(Into::into), Some(model.into()));
        let config = world.load();
        (config.provider.clone(), config.model.clone())
    };
    let pair = |provider: &str, model: &str| (provider.to_string(), model.to_string());
    assert_eq!(named(None, "anthropic:claude-opus-4-1"), pair("anthropic", "claude-opus-4-1"));
    assert_eq!(named(None, "anthropic:"), pair("anthropic", "claude-haiku-4-5"));
    assert_eq!(named(None, "mine:"), pair("mine", "m1"));
    assert_eq!(named(None, "mine:a:b"), pair("mine", "a:b"));
    for model in ["qwen2.5-coder:1.5b", "replay:x", "nobodys:x"] {
        assert_eq!(named(None, model), pair("openai", model));
    }
    assert_eq!(named(Some("openai"), "anthropic:x"), pair("openai", "anthropic:x"));
}

#[test]
fn ollamas_host_as_its_own_client_reads_it() {
    let url = |host: &'static str| {
        let mut world = World::new().user(json!({"provider": "ollama"})).env("OLLAMA_HOST", host);
        world.flags.model = Some("m".into());
        world.load().connection().base_url
    };
    for (host, wanted) in [
        ("192.168.1.5", "http://192.168.1.5:11434"),
        ("0.0.0.0:11500", "http://127.0.0.1:11500"),
        ("https://ollama.example", "https://ollama.example:443"),
        ("http://box:1234/", "http://box:1234"),
        ("\"127.0.0.1:18305\"", "http://127.0.0.1:18305"),
        (" 'box' ", "http://box:11434"),
        ("not a host", "http://127.0.0.1:11434"),
    ] {
        assert_eq!(url(host), wanted, "{host}");
    }
}

#[test]
fn a_provider_has_a_wire_a_key_command_and_a_model_its_prices() {
    let config = World::new()
        .user(json!({
            "provider": "gateway", "effort": "high", "cacheTtl": "1h",
            "providers": {"gateway": {"wire": "anthropic", "baseUrl": "https://g.example", "apiKeyCommand": ["pass", "key"]}},
            "models": {"m": {"effort": "low", "price": {"input": 1, "output": 2, "tiers": [{"above": 10, "input": 3, "output": 4}, {"above": -1}]}}}
        }))
        .load();
    let connection = config.connection();
    assert_eq!((connection.wire.as_str(), connection.cache_hour), ("anthropic", true));
    assert_eq!(connection.key_command, ["pass", "key"]);
    assert_eq!((config.effort_for("m"), config.effort_for("other")), (Some("low"), Some("high")));
    let price = config.model_config("m").price.expect("a price");
    assert_eq!((price.at(10).input, price.at(11).input, price.tiers.len()), (1.0, 3.0, 1));
    assert_eq!(config.warnings.len(), 1, "{:?}", config.warnings);
}

#[test]
fn a_price_without_one_of_its_amounts_does_not_count() {
    let config = World::new()
        .user(json!({"models": {
            "a.b": {"price": {"input": 1}},
            "c": {"price": {"input": 1, "output": 2, "tiers": [{"above": 10, "input": 3}]}},
            "d": {"price": {"input": 1, "output": 2}}
        }}))
        .load();
    assert_eq!((config.model_config("a.b").price, config.model_config("c").price), (None, None));
    assert!(config.model_config("d").price.is_some());
    let wanted = ["a.b", "c"].map(|name| format!("models.{name}.price has no output, so it does not count"));
    assert_eq!(config.warnings, wanted);
}

#[test]
fn the_guide_names_every_key_and_those_of_an_untrusted_folder() {
    let page = include_str!("../../assets/guide/configuration.md");
    for key in KEYS {
        assert!(page.contains(&format!("`{}`", key.name)), "the page does not name {}", key.name);
    }
    let sentence =
        page.split("its file may set only").nth(1).and_then(|rest| rest.split('.').next()).expect("the list");
    let mut listed: Vec<&str> = sentence.split('`').skip(1).step_by(2).collect();
    let mut open: Vec<&str> = KEYS.iter().filter(|key| key.open).map(|key| key.name).collect();
    listed.sort_unstable();
    open.sort_unstable();
    assert_eq!(listed, open);
}

#[test]
fn a_limit_that_cannot_be_read_any_more_stays() {
    let world = World::new().user(json!({"budget": 2, "budgetTokens": 900}));
    let config = world.load();
    let limits = || (config.reload().budget, config.reload().budget_tokens);
    let world = world.user(json!({"budget": "ten", "budgetTokens": "x"}));
    assert_eq!(limits(), (Some(2.0), Some(900)));
    let _world = world.user(json!({"maxSteps": 3}));
    assert_eq!(limits(), (None, None), "one that is taken out goes");
}
