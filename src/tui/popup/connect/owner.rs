//! The provider that the form is for: the one in use, the one that a key's beginning names, the server at an address.

use super::{Connect, PROVIDERS, ProviderPlace, host_of, offered, provider_name};
use crate::config::is_loopback;
use crate::config::providers::{KeyOwner, PastedKey};

impl Connect {
    /// Chooses a provider by its name, or the server at this address.
    pub(super) fn choose_provider(&mut self, name: &str, address: Option<&str>) {
        let is_it = |row: &usize| match PROVIDERS[*row].place {
            ProviderPlace::Typed => address.is_some(),
            _ => address.is_none() && PROVIDERS[*row].name == name,
        };
        let Some(row) = offered().find(is_it) else { return };
        self.provider = row;
        if let Some(address) = address {
            self.address.set(address);
        }
    }

    pub(super) fn key_owner(&self) -> Option<KeyOwner> {
        PastedKey::read(&self.key.expanded()).owner()
    }

    /// Returns what another provider is called whose key this certainly is; a server whose address was typed takes any.
    pub(super) fn other_owner(&self) -> Option<String> {
        let typed = self.key.expanded();
        let key = Some(PastedKey::read(&typed)).filter(|_| self.place() == ProviderPlace::Own)?;
        let Some(owner) = key.owner() else { return key.foreign_variable(self.provider().name).map(String::from) };
        match owner.url {
            Some(url) => Some(host_of(url).to_string()),
            None => (owner.provider != self.provider().name).then(|| provider_name(owner.provider).to_string()),
        }
    }

    pub(super) fn has_address(&self) -> bool {
        let address = self.address.expanded();
        ["http://", "https://"].iter().any(|scheme| address.trim().starts_with(scheme))
    }

    /// Returns whether the address is one of another computer.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.has_address() && !is_loopback(self.address.expanded().trim())
    }
}
