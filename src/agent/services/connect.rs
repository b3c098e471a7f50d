//! Connecting a model: the configured one, or a local server that answers.

use std::sync::Arc;

use crate::agent::services::{ServiceReport, Services, lock};
use crate::agent::services::{learnt_windows, model_facts};
use crate::config::{self, Config, Connection, Secret};
use crate::messages::{agent as say, provider as of_provider};
use crate::protocol::{ConnectForm, EventBody, KeyPlaces, Level, ModelFileRow};
use crate::provider::{self, Provider, Recorder};
use crate::text::size;

/// Makes this provider the one that answers. The first one is recorded, where that was asked for.
pub fn plug(services: &Services, provider: Arc<dyn Provider>) {
    let provider = recorded(services, provider);
    services.models.change_connection(|connection| (connection.provider, connection.why_not) = (Some(provider), None));
}

/// Makes this provider and this model the ones that answer, at once.
fn plug_with_model(services: &Services, provider: Arc<dyn Provider>, model: &str) {
    let provider = recorded(services, provider);
    services.models.change_connection(|connection| {
        (connection.provider, connection.why_not) = (Some(provider), None);
        (connection.tried, connection.without_model) = (Vec::new(), None);
        connection.model = model.to_string();
    });
}

/// Returns the provider, recorded where that was asked for.
fn recorded(services: &Services, provider: Arc<dyn Provider>) -> Arc<dyn Provider> {
    let record = lock(&services.models.record).take();
    match record.map(|path| Recorder::create(Arc::clone(&provider), &path)) {
        None => provider,
        Some(Ok(recorder)) => Arc::new(recorder),
        Some(Err(e)) => {
            services.say_failed(e);
            provider
        }
    }
}

/// Connects the configured model; without a key for the provider's own address, a local server that answers.
pub fn connect(services: &Arc<Services>) {
    let (connection, key_places) = {
        let config = services.config.read();
        (config.connection(), key_places(&config))
    };
    services.models.change_connection(|connection| connection.key_places = key_places);
    match provider::connect(&connection) {
        Ok(provider) => {
            plug(services, Arc::clone(&provider));
            let chosen = services.config.read().model_is_chosen();
            // A server of the person's own hardly has the model that is meant for the one in the cloud.
            let is_own = provider::is_local(&connection) || connection.custom_url && connection.wire == "chat";
            match is_own && !chosen {
                true => choose_offered(services, provider),
                false => model_facts::look_up(services, provider, services.models.connection().model),
            }
        }
        Err(e) => {
            services.models.change_connection(|connection| connection.why_not = Some(e.clone()));
            if e.kind == provider::ErrorKind::NoKey
                && let Some(why) = services.config.read().unread_keys()
            {
                services.tell(Level::Warning, say::with_hint(&why.message, &why.hint), "");
            }
            match e.kind {
                // Who names a server means that one, and no other that happens to listen here.
                provider::ErrorKind::NoKey if !connection.custom_url => look_for_local(services),
                _ => services.say_failed(e),
            }
        }
    }
}

/// Connects another provider by its name, as the configuration describes it. It is kept for the next run, unless the
/// person's own address or key stands beside the name of the present one: these belong to that provider alone.
///
/// # Errors
/// When it cannot be connected; nothing was changed.
pub async fn switch(services: &Arc<Services>, name: &str) -> Result<(), provider::Error> {
    let connection = services.models.connection();
    if connection.provider.as_ref().is_some_and(|provider| provider.name() == name || provider.recorded()) {
        return Ok(());
    }
    let (connection, persists) = {
        let config = services.config.read();
        (config.connection_of(name), config.provider_stands_alone())
    };
    plug(services, provider::connect(&connection)?);
    match persists {
        true => services.persist("provider", name).await,
        false => services.say(Level::Info, say::connected_until_end(&name), ""),
    }
    Ok(())
}

/// Looks for a local server without holding anything up; the status line changes when one is found.
fn look_for_local(services: &Arc<Services>) {
    services.models.looking.send_replace(true);
    let services = Arc::clone(services);
    tokio::spawn(async move {
        let found = find(&services).await;
        let usual = services.models.connection().model;
        let empty = provider::without_model(&found);
        match provider::choose(found, &usual) {
            Some((server, model)) => take_local(&services, server, model).await,
            None => {
                let model_file = model_file(&services).await;
                let silent = services.config.read().ollama_host().filter(|_| empty.is_none());
                services.models.change_connection(|connection| {
                    if let Some(empty) = empty.filter(|_| connection.provider.is_none()) {
                        connection.lack_model(empty);
                    }
                    if let (Some(host), Some(why)) = (silent, &mut connection.why_not) {
                        why.hint.push(' ');
                        why.hint.push_str(&say::host_is_silent(&host));
                    }
                    connection.tried = provider::PORTS.iter().map(|(port, _)| *port).collect();
                    if let (Some(file), Some(why)) = (&model_file, &mut connection.why_not) {
                        why.hint.push(' ');
                        why.hint.push_str(&match file.runs {
                            true => say::file_can_run(&file.name),
                            false => say::file_could_run(&file.name),
                        });
                    }
                    connection.model_file = model_file;
                });
                tokio::spawn(wait_for_local(Arc::clone(&services)));
            }
        }
        services.report(ServiceReport::Looked);
    });
}

async fn find(services: &Services) -> Vec<provider::LocalServer> {
    let ollama = services.config.read().ollama_host();
    provider::find(ollama.as_deref()).await
}

/// Returns where keys of the built-in providers are.
fn key_places(config: &Config) -> Vec<KeyPlaces> {
    let places = |provider: &str| {
        let [variable, command, stored] = config.key_places(provider);
        KeyPlaces { provider: provider.into(), host: config.own_host(provider), variable, command, stored }
    };
    config::makers().map(places).collect()
}

/// Looks for a model file on a thread that may block.
async fn model_file(services: &Services) -> Option<ModelFileRow> {
    let folders = services.config.read().model_folders();
    let files = tokio::task::spawn_blocking(move || provider::embedded::look(&folders)).await.unwrap_or_default();
    let names = files.iter().map(|file| file.name.clone()).filter(|name| provider::may_write(name));
    let names: Vec<String> = names.collect();
    let first = provider::begin_with(&names, "")?;
    let file = files.iter().find(|file| file.name == *first)?;
    let size = size::words(file.bytes);
    Some(ModelFileRow { name: file.name.clone(), size, runs: provider::embedded::RUNS })
}

/// Takes a local server that starts later, as long as nothing else answers.
async fn wait_for_local(services: Arc<Services>) {
    let mut pause = LOOK_AGAIN;
    while services.models.connection().provider.is_none() {
        // Nothing tells of a port that opens: it is tried again, ever more seldom.
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_SELDOM);
        if services.models.connection().provider.is_some() || *services.models.looking.borrow() {
            continue;
        }
        let usual = services.models.connection().model;
        let found = find(&services).await;
        let empty = provider::without_model(&found);
        let connection = services.models.connection();
        if connection.provider.is_some() {
            continue;
        }
        if let Some((server, model)) = provider::choose(found, &usual) {
            return take_local(&services, server, model).await;
        }
        if let Some(empty) = empty.filter(|_| connection.without_model.is_none()) {
            services.models.change_connection(|connection| connection.lack_model(empty));
            services.report(ServiceReport::Status);
        }
    }
}

/// Takes the first model that a server which had none offers later, as long as nothing else answers.
async fn wait_for_model(services: Arc<Services>, provider: Arc<dyn Provider>) {
    let mut pause = LOOK_AGAIN;
    while services.models.connection().provider.is_none() {
        // Nothing tells of a model that was pulled: the server is asked again, ever more seldom.
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_SELDOM);
        let offered = model_facts::list_within(&*provider, model_facts::TO_DESCRIBE).await.unwrap_or_default();
        let offered = provider::writers(&*provider, offered).await;
        let usual = services.models.connection().model;
        let Some(model) = provider::begin_with(&offered, &usual) else { continue };
        learnt_windows::recall(&services, &provider.address()).await;
        model_facts::describe(&services, Arc::clone(&provider), model).await;
        if services.models.connection().provider.is_none() {
            plug_with_model(&services, provider, model);
            return services.report(ServiceReport::Status);
        }
    }
}

/// The pause between the first look for a local server and the next; each pause is longer than the one before.
const LOOK_AGAIN: std::time::Duration = std::time::Duration::from_secs(2);
const LOOK_SELDOM: std::time::Duration = std::time::Duration::from_secs(15);

/// Checks a key that the person gave with one request, which tells what models there are; with a model, connects it.
/// The key is stored in the file of keys only where they say so; else it is held until nebula ends.
///
/// # Errors
/// Why it cannot be used, for the person. Nothing was changed.
pub async fn connect_with(services: &Arc<Services>, form: &ConnectForm) -> Result<EventBody, String> {
    if services.models.connection().provider.is_some_and(|provider| provider.recorded()) {
        return Err(say::recording_stays().into());
    }
    let key =
        Some(config::providers::PastedKey::read(form.key.reveal()).key).filter(|key| !key.is_empty()).map(Secret::new);
    let connection = services.config.read().connection_to(&form.provider, form.base_url.as_deref(), key.clone());
    let provider = provider::connect(&connection).map_err(|e| in_form(&e))?;
    let usual = services.models.connection().model;
    let Some(model) = form.model.clone() else {
        let began = std::time::Instant::now();
        let offered = tokio::time::timeout(TO_CHECK, provider.models()).await;
        let offered = offered.map_err(|_| say::no_answer_in(&connection.base_url, &TO_CHECK.as_secs()))?;
        let offered = offered.map_err(|e| in_form(&e))?;
        let writers = provider::writers(&*provider, offered.clone()).await;
        let offered: Vec<String> = offered.into_iter().map(|model| model.name).collect();
        let lack = provider::lacks_models(&*provider, &writers);
        if let Some(error) = lack.as_ref().filter(|_| provider::runs_on_demand(&*provider)) {
            return Err(in_form(error));
        }
        if lack.is_some() {
            // It is asked for the model that the person names, and for no other.
            let named = if services.config.read().model_is_chosen() { usual } else { String::new() };
            return Ok(EventBody::Connectable(form.id, Vec::new(), named, began.elapsed()));
        }
        let model = match offered.contains(&usual) {
            true => usual,
            false => provider::begin_with(&writers, &usual).cloned().unwrap_or(usual),
        };
        return Ok(EventBody::Connectable(form.id, offered, model, began.elapsed()));
    };
    let (of_services, of_form, of_model) = (Arc::clone(services), form.keep, model.clone());
    let stored = tokio::task::spawn_blocking(move || match (of_form, key) {
        (true, key) => keep(&of_services, &connection, key.as_ref(), &of_model),
        (false, key) => {
            of_services.config.change(|config| key.into_iter().for_each(|key| config.hold_key(&connection, key)));
            Ok(())
        }
    });
    stored.await.map_err(|e| e.to_string())??;
    learnt_windows::recall(services, &provider.address()).await;
    model_facts::describe(services, Arc::clone(&provider), &model).await;
    plug_with_model(services, provider, &model);
    services.report(ServiceReport::Status);
    Ok(EventBody::Connected(form.id))
}

/// Returns what went wrong with a form, and what to do about it there.
fn in_form(error: &provider::Error) -> String {
    let said = [
        (of_provider::paste_another(&""), say::form_paste_another()),
        (of_provider::name_variable(&""), say::form_paste_it()),
        (of_provider::paste_key_again().into(), say::form_paste_again()),
        (of_provider::set_url(&config::providers::url_variable("")), say::form_correct_address()),
    ];
    let here = said.iter().find_map(|(elsewhere, here)| {
        let rest = error.hint.strip_prefix(elsewhere.trim_end())?;
        Some(format!("{here}{rest}"))
    });
    say::with_hint(&error.message, here.as_ref().unwrap_or(&error.hint))
}

/// Stores the key, and under the provider's own name its address and model. The next run begins with it, unless an
/// address, a key or headers stand beside the name of the present provider: these belong to that one alone.
fn keep(services: &Services, connection: &Connection, key: Option<&Secret>, model: &str) -> Result<(), String> {
    let name = &connection.provider;
    if key.is_some() || connection.custom_url {
        let stored = services.config.change(|config| config.keep_key(connection, key));
        stored.map_err(|e| say::with_hint(&e.message, &e.hint))?;
    }
    if connection.custom_url {
        services.persist_now(&format!("providers.{name}.baseUrl"), &connection.base_url);
    }
    let (leads_there, persists) = {
        let config = services.config.read();
        let leads_there = config.connection_of(name).base_url == connection.base_url;
        (leads_there, config.provider == *name || config.provider_stands_alone())
    };
    if leads_there {
        let key = services.config.read().key_of_model(Some(name));
        services.persist_now(&key, model);
    }
    match leads_there && persists {
        true => services.persist_now("provider", name),
        false => services.say(Level::Info, say::connected_until_end(name), ""),
    }
    Ok(())
}

/// The time limit for a server to list its models.
const TO_CHECK: std::time::Duration = std::time::Duration::from_secs(15);

/// Takes a model that a server on this computer offers, without holding anything up, where nobody chose one and it lacks
/// the usual; one that offers none is not asked.
fn choose_offered(services: &Arc<Services>, provider: Arc<dyn Provider>) {
    services.models.looking.send_replace(true);
    let (services, usual) = (Arc::clone(services), services.models.connection().model);
    tokio::spawn(async move {
        let listed = model_facts::list_within(&*provider, model_facts::TO_DESCRIBE).await;
        let answers = listed.is_some();
        let offered = provider::writers(&*provider, listed.unwrap_or_default()).await;
        if let Some(error) = provider::lacks_models(&*provider, &offered).filter(|_| answers) {
            services.models.change_connection(|connection| {
                if connection.provider.as_ref().is_some_and(|now| now.address() == provider.address()) {
                    connection.lack_model(error);
                }
            });
            if provider.local() {
                tokio::spawn(wait_for_model(Arc::clone(&services), provider));
            }
            return services.report(ServiceReport::Looked);
        }
        if !provider.local() {
            model_facts::look_up(&services, provider, usual);
            return services.report(ServiceReport::Looked);
        }
        let meant = services.models.connection().model == usual;
        let named = services.config.read().named_model().map(String::from);
        let wanted = named.as_ref().unwrap_or(&usual);
        if let Some(model) = provider::begin_with(&offered, wanted).filter(|model| meant && **model != usual) {
            services.models.change_connection(|connection| connection.model.clone_from(model));
            services.report(ServiceReport::Status);
            let is_unnamed = named.is_none();
            let title = match named.filter(|named| named != model) {
                Some(named) => Some(say::server_has_no(&provider.place(), &named, &model)),
                // The only model of a server is no choice to tell.
                None => (is_unnamed && offered.len() > 1).then(|| say::first_offered(&model, &provider.place())),
            };
            if let Some(title) = title {
                services.say(Level::Info, title, say::chooses_another());
            }
        }
        learnt_windows::recall(&services, &provider.address()).await;
        model_facts::describe(&services, provider, &services.models.connection().model).await;
        services.report(ServiceReport::Looked);
    });
}

async fn take_local(services: &Arc<Services>, server: provider::LocalServer, model: String) {
    match provider::connect(&server.connection()) {
        Ok(provider) => {
            learnt_windows::recall(services, &provider.address()).await;
            model_facts::describe(services, Arc::clone(&provider), &model).await;
            // The person may have connected another one meanwhile.
            if services.models.connection().provider.is_some() {
                return;
            }
            let usual = services.models.connection().model;
            let lacks = services.config.read().model_is_chosen() && !model.starts_with(&usual);
            let detail = if lacks { say::has_no(&usual, &model) } else { String::new() };
            let title = match provider.local() {
                true => say::connected_here(&server.name),
                false => say::connected_at(&server.name, &provider.place()),
            };
            plug_with_model(services, provider, &model);
            // Before it is said: `task --json` begins with who answers.
            services.report(ServiceReport::Status);
            services.say(Level::Info, title, detail);
        }
        Err(e) => services.say_failed(e),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_in_the_form_is_about_the_form() {
        let said = |hint: &str| in_form(&provider::Error::new(provider::ErrorKind::Auth, "no", hint));
        let words = said(&of_provider::paste_another(&"It says: wrong key."));
        assert!(
            words.contains("Paste another one. It says: wrong key.") && !words.contains("under connect"),
            "{words}"
        );
        assert!(!said(&of_provider::name_variable(&"")).contains("apiKeyEnv"));
        assert!(!said(&of_provider::set_url(&"OPENAI_BASE_URL")).contains("OPENAI_BASE_URL"));
        assert!(said("It is slow.").contains("It is slow."));
    }
}
