//! Changes of settings: for the session, for the process, and in the person's own configuration.

use std::sync::Arc;

use crate::agent::services::connect;
use crate::agent::services::model_facts;
use crate::agent::session::context::{AUTO, SessionContext, consent};
use crate::edit::Format;
use crate::messages::records::localized;
use crate::messages::{agent as say, card as words};
use crate::proposal::Consent;
use crate::protocol::{Approval, Cause, Item, Level, Notice, NoticeAction, Setting};
use crate::provider::models::Effort;

/// Changes a setting and shows the status line as it is then.
pub async fn set(context: &Arc<SessionContext>, setting: Setting) {
    let services = &context.services;
    match setting {
        Setting::Mode(mode) => {
            context.change_settings(|settings| settings.mode = mode);
            if let Some(id) = context.id() {
                services.memory.post(move |memory| memory.set_mode(&id, mode.word()));
            }
        }
        Setting::Model(name) => choose_model(context, &name).await,
        Setting::Effort(word) => choose_effort(context, &word).await,
        Setting::Format(name) => choose_format(context, &name).await,
        Setting::Approval(approval) => {
            context.change_settings(|settings| settings.approve(approval, Consent::Policy(approval.word())));
            if approval == Approval::Review {
                say_if_it_asks(context).await;
            }
        }
        Setting::Theme(name) => services.persist("theme", &name).await,
        Setting::Mouse(on) => services.persist("mouse", if on { "true" } else { "false" }).await,
        Setting::Trust => {
            let trusted = trust(context).await;
            if trusted && !services.models.connection().provider.is_some_and(|p| p.recorded()) {
                context.forget_provider();
                connect::connect(services);
            }
        }
        Setting::Config(key, value) => services.persist(&key, &value).await,
        Setting::RetryMemory => retry_memory(context).await,
    }
    context.tell_status().await;
}

/// Takes another model in this session, and for sessions that have not asked one yet. `PROVIDER:MODEL` connects another
/// provider first; where that fails nothing is changed.
async fn choose_model(context: &SessionContext, typed: &str) {
    let services = &context.services;
    let (provider, name) = match services.config.read().split_provider(typed) {
        Some((provider, name)) => (Some(provider), name),
        None => (None, typed.to_string()),
    };
    if let Some(provider) = &provider
        && let Err(e) = connect::switch(services, provider).await
    {
        let cause = Cause { kind: e.kind.word(), status: e.status, request_id: e.request_id };
        let notice = Notice { cause, ..Notice::new(Level::Error, &e.message, &e.hint) };
        context.events.add(Item::Notice(notice)).await;
        return;
    }
    if provider.is_some() {
        context.take_provider();
    }
    take_model(context, &name);
    let own = context.provider().map(|provider| provider.name().to_string());
    services.models.change_connection(|connection| {
        // The sessions that have not asked yet ask the provider that was connected last.
        if own.is_none() || connection.provider.as_ref().map(|provider| provider.name()) == own.as_deref() {
            connection.model.clone_from(&name);
        }
    });
    let key = {
        let config = services.config.read();
        // The provider that answers may be another than the configured one, until nebula ends.
        let connected = context.provider().map(|provider| provider.name().to_string());
        let other = connected.filter(|name| *name != config.provider && config.is_provider(name));
        config.key_of_model(provider.or(other).as_deref())
    };
    services.persist(&key, &name).await;
    let Some(provider) = context.provider() else { return };
    model_facts::look_up(services, Arc::clone(&provider), name.clone());
    let events = context.events.clone();
    tokio::spawn(async move {
        if model_facts::is_missing(&*provider, &name).await {
            events.notice(Level::Warning, say::no_such_model(&provider.place(), &name), say::model_kept()).await;
        }
    });
}

/// Takes a model in this session from now on, with the edit format that the configuration names for it, unless the
/// person chose the format.
pub fn take_model(context: &SessionContext, name: &str) {
    let services = &context.services;
    let format = services.config.read().format_for(name).to_string();
    context.change_settings(|settings| {
        settings.model = Some(name.to_string());
        if !settings.format_chosen {
            settings.choose_format(&format);
        }
    });
    // That of the model before says nothing of this one, even where nobody knows its own.
    context.status_data.show_window(u64::from(context.target().window()));
    if let Some(id) = context.id() {
        let name = name.to_string();
        services.memory.post(move |memory| memory.set_model(&id, &name));
    }
}

/// Takes how much models are to think, from the next request on.
async fn choose_effort(context: &SessionContext, word: &str) {
    let services = &context.services;
    let title = match Effort::parse(word) {
        Some(effort) => {
            let saved = services.config.change_on_a_thread(move |config| {
                config.hold_effort(None);
                let saved = config.set("effort", effort.word());
                if saved.is_err() {
                    config.hold_effort(Some(effort.word()));
                }
                saved
            });
            if let Some(Err(e)) = saved.await {
                services.say(Level::Warning, say::setting_not_kept(&"effort", &e), say::until_end());
            }
            let model = context.model();
            let own = services.config.read().effort_for(&model).map(str::to_string);
            match own.filter(|own| own != effort.word()) {
                Some(own) => say::effort_of_model(&model, &own),
                None => say::effort_now(&effort.word()),
            }
        }
        None if word == AUTO => {
            let unset = services.config.change_on_a_thread(|config| {
                config.hold_effort(None);
                config.unset("effort")
            });
            if let Some(Err(e)) = unset.await {
                services.say(Level::Warning, say::effort_not_kept(&e), "");
            }
            say::effort_by_model().to_string()
        }
        None => {
            let words: Vec<_> = Effort::ALL.iter().map(|effort| effort.word()).chain([AUTO]).collect();
            let title = say::no_such_effort(&word, &words.join(", "));
            return context.events.notice(Level::Warning, title, "").await;
        }
    };
    context.say(Level::Info, title, "").await;
}

async fn choose_format(context: &SessionContext, name: &str) {
    let mut known = false;
    context.change_settings(|settings| {
        known = settings.choose_format(name);
        settings.format_chosen |= known;
    });
    if !known {
        let names: Vec<_> = Format::ALL.iter().map(|f| f.name()).chain([AUTO]).collect();
        let title = say::no_format(&name, &names.join(", "));
        return context.events.notice(Level::Warning, title, "").await;
    }
    let name = context.settings().format_name();
    let title = match name {
        AUTO => say::format_by_model().to_string(),
        name => say::format_set(&name),
    };
    context.say(Level::Info, title, "").await;
    if let Some(id) = context.id() {
        context.services.memory.post(move |memory| memory.set_format(&id, name));
    }
}

/// Trusts this workspace's own configuration file from now on, and applies what it sets; flags still win. Returns
/// whether that worked.
async fn trust(context: &SessionContext) -> bool {
    let services = &context.services;
    let Some((done, config)) = services.config.change_on_a_thread(|config| (config.trust(), config.clone())).await
    else {
        return false;
    };
    if let Err(e) = done {
        context.say(Level::Warning, e.to_string(), say::not_trusted()).await;
        return false;
    }
    services.models.change_connection(|connection| {
        if !connection.provider.as_ref().is_some_and(|p| p.recorded()) {
            connection.model.clone_from(&config.model);
        }
    });
    let model = services.models.connection().model;
    context.change_settings(|settings| {
        settings.model = None;
        settings.choose_format(config.format_for(&model));
        let approval = Approval::parse(&config.approval).unwrap_or(settings.approval);
        settings.approve(approval, consent(&config, approval));
    });
    context.say(Level::Info, say::trusted(), "").await;
    true
}

/// Says why `review` asks about every command here, where guard or sandbox is missing.
async fn say_if_it_asks(context: &SessionContext) {
    let shell = Arc::clone(&context.services.shell);
    let why = tokio::task::spawn_blocking(move || shell.no_review()).await.ok().flatten();
    if let Some(why) = why {
        context.say(Level::Info, words::review_asks(&localized(&why)), "").await;
    }
}

/// Tries to write memory's file again.
async fn retry_memory(context: &Arc<SessionContext>) {
    match context.services.memory.ask(|memory| memory.reconnect()).await {
        Ok(_) => {
            context.services.forget_errors();
            context.say(Level::Info, say::memory_again(), "").await;
        }
        Err(e) => {
            let actions = vec![NoticeAction::RetryMemory];
            let detail = say::ram_until();
            context.events.notice_with(Level::Error, e.to_string(), detail, actions).await;
        }
    }
}
