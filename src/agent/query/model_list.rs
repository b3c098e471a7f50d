//! The models to choose from: those of the connected provider, and those of every other one that can be asked, which is
//! asked once an hour at most.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;

use crate::agent::services::Services;
use crate::agent::services::model_facts;
use crate::config::Connection;
use crate::protocol::{Listing, ModelRow};
use crate::provider::models::{Facts, Known, Model};
use crate::provider::{self, Capabilities, Provider, described, embedded};

/// The time limit for the connected provider to list its models.
const TO_LIST_OWN: Duration = Duration::from_secs(10);
const TO_LIST: Duration = Duration::from_secs(3);

/// Returns the models to choose from: those of the connected provider first. `present` is the one in use.
pub async fn models(services: &Services, connected: Option<Arc<dyn Provider>>, present: String) -> Listing {
    let recorded = connected.as_ref().is_some_and(|provider| provider.recorded());
    let name = connected.as_ref().map(|provider| provider.name().to_string()).unwrap_or_default();
    let mut others = services.config.read().other_connections(&name);
    if embedded::RUNS && name != embedded::NAME {
        others.push(services.config.read().connection_of(embedded::NAME));
    }
    let own = async {
        match &connected {
            Some(provider) => {
                let listed = model_facts::list_within(&**provider, TO_LIST_OWN).await.unwrap_or_default();
                described(&**provider, listed, &present, model_facts::TO_DESCRIBE).await
            }
            None => Vec::new(),
        }
    };
    let others = others.into_iter().filter(|_| !recorded).map(|other| offered(services, other));
    let (own, others) = tokio::join!(own, join_all(others));
    let here = RowSource {
        provider: &name,
        connected: connected.as_deref(),
        local: connected.as_deref().is_some_and(Provider::local),
    };
    let mut rows: Vec<ModelRow> = own.into_iter().map(|model| row(services, here, "", model)).collect();
    // A server that does not say still serves the model in use, and configured ones that no other one offers.
    let is_offered = |name: &str| others.iter().any(|other| other.models.iter().any(|model| model.name == name));
    let configured: Vec<String> = services.config.read().models.keys().cloned().collect();
    for name_of_model in configured.into_iter().filter(|name| !is_offered(name)).chain([present]) {
        if !name_of_model.is_empty() && rows.iter().all(|row| row.name != name_of_model) {
            rows.push(row(services, here, "", Model { name: name_of_model, facts: Facts::default() }));
        }
    }
    for OfferedModels { provider, local, models } in others {
        let prefix = format!("{provider}:");
        let there = RowSource { provider: &provider, connected: None, local };
        rows.extend(models.into_iter().map(|model| row(services, there, &prefix, model)));
    }
    Listing::Models(rows)
}

/// The models of a provider that is not connected.
struct OfferedModels {
    provider: String,
    /// It is on this computer.
    local: bool,
    models: Vec<Model>,
}

/// The provider of a row.
#[derive(Clone, Copy)]
struct RowSource<'a> {
    provider: &'a str,
    /// It, where it is connected.
    connected: Option<&'a dyn Provider>,
    /// It is on this computer.
    local: bool,
}

/// Returns what a provider that is not connected offers, and nothing where it does not answer.
async fn offered(services: &Services, connection: Connection) -> OfferedModels {
    let provider = connection.provider.clone();
    let connected = provider::connect(&connection);
    let local = connected.as_ref().is_ok_and(|provider| provider.local());
    let models = match connected {
        // What is on this computer costs no request, and a list of an hour ago may name files that are gone.
        Ok(provider) if provider.local() => {
            let listed = model_facts::list_within(&*provider, TO_LIST).await.unwrap_or_default();
            Some(described(&*provider, listed, "", model_facts::TO_DESCRIBE).await)
        }
        Ok(provider) => {
            let paths = services.config.read().paths.clone();
            Some(model_facts::list_or_stored(&paths, &*provider, TO_LIST).await)
        }
        Err(_) => None,
    };
    OfferedModels { provider, local, models: models.unwrap_or_default() }
}

fn row(
    services: &Services,
    RowSource { provider, connected, local }: RowSource<'_>,
    prefix: &str,
    model: Model,
) -> ModelRow {
    let known = match prefix {
        "" => {
            let configured = services.config.read().model_config(&model.name);
            let place = connected.map(Provider::address).unwrap_or_default();
            let known = services.models.known_of(&place, &model.name, &configured);
            Known { listed: known.listed.clone().or(model.facts.clone()), ..known }
        }
        _ => {
            let configured = services.config.read().model_config(&model.name);
            Known::new(&model.name, &configured, model.facts.clone(), Facts::default())
        }
    };
    let facts = Facts { retired: model.facts.retired.clone(), ..known.facts() };
    let by_name = Capabilities::by_name(&model.name);
    ModelRow {
        name: format!("{prefix}{}", model.name),
        provider: provider.to_string(),
        window: facts.window,
        price: known.price(local).map(|price| (price.input, price.output)),
        price_as_of: known.is_estimated(local).then(|| provider::models::as_of().to_string()),
        images: facts.images.unwrap_or(by_name.images),
        pdfs: facts.pdfs.unwrap_or(by_name.documents),
        retired: facts.retired,
    }
}
