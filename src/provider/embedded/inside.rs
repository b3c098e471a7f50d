//! The provider that answers from a model file. Its thread begins with the first request and ends with the provider.

use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};

use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, StreamExt};
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::engine::{Engine, Job};
use super::found::{ModelFile, NAME, file_of, look, none_found};
use super::gguf::{Extent, Header};
use super::network::window;
use super::template::Layout;
use crate::config::ModelFolders;
use crate::provider::models::{Effort, Facts, Model, Thinking};
use crate::provider::{Capabilities, Deltas, Error, ErrorKind, Origin, Provider, Request, Wire};

/// Runs model files of this computer.
pub struct Inside {
    folders: ModelFolders,
    engine: Mutex<Option<Sender<Job>>>,
}

/// The number of pieces of an answer that wait for the reader; at that number the model waits.
const AHEAD: usize = 64;

impl Inside {
    /// Creates a provider of the model files in `folders`; nothing is read yet.
    pub fn new(folders: ModelFolders) -> Self {
        Self { folders, engine: Mutex::new(None) }
    }

    /// Hands a job to the thread that runs models, which is started where there is none.
    fn ask(&self, job: Job) -> Result<(), Error> {
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        let job = match engine.as_ref() {
            Some(running) => match running.send(job) {
                Ok(()) => return Ok(()),
                Err(refused) => refused.0,
            },
            None => job,
        };
        let (sender, jobs) = channel();
        let folders = self.folders.clone();
        let begun =
            std::thread::Builder::new().name("nebula-model".into()).spawn(move || Engine::new(folders).run(&jobs));
        begun.map_err(|why| {
            Error::new(ErrorKind::Settings, format!("no thread could be started for the model: {why}"), "Try again.")
        })?;
        let _ = sender.send(job);
        *engine = Some(sender);
        Ok(())
    }
}

impl Provider for Inside {
    fn name(&self) -> &str {
        NAME
    }

    fn place(&self) -> String {
        "this computer".into()
    }

    fn capabilities(&self, _model: &str) -> Capabilities {
        Capabilities { images: false, documents: false }
    }

    fn local(&self) -> bool {
        true
    }

    fn origin(&self, model: &str) -> Origin {
        Origin { wire: Wire::Embedded, place: NAME.into(), model: model.into() }
    }

    fn stream(&self, request: Request) -> Deltas {
        let (out, answer) = mpsc::channel(AHEAD);
        if let Err(error) = self.ask(Job { request, out }) {
            return stream::iter([Err(error)]).boxed();
        }
        stream::unfold(answer, |mut answer| async move { answer.recv().await.map(|delta| (delta, answer)) }).boxed()
    }

    fn models(&self) -> BoxFuture<'static, Result<Vec<Model>, Error>> {
        let folders = self.folders.clone();
        let read = move || {
            let models = look(&folders).iter().map(described).collect::<Vec<_>>();
            match models.is_empty() {
                true => Err(none_found()),
                false => Ok(models),
            }
        };
        // The future is made where there may be no runtime yet, and awaited in one.
        async move { spawn_blocking(read).await.unwrap_or_else(|_| Err(none_found())) }.boxed()
    }

    fn describe(&self, model: &str) -> BoxFuture<'static, Facts> {
        let (folders, model) = (self.folders.clone(), model.to_string());
        let read = move || file_of(&model, &folders).map(|file| described(&file).facts).unwrap_or_default();
        async move { spawn_blocking(read).await.unwrap_or_default() }.boxed()
    }
}

/// Returns what the header of a file says of its model. Its template tells whether it thinks, as it does where the
/// model is asked; more or less than that is not known to it. Of a file that cannot be read nothing is known: what is
/// wrong with it is told when it is asked.
fn described(file: &ModelFile) -> Model {
    let header = Header::open(&file.path, Extent::Template).ok();
    let template = header.as_ref().and_then(|header| header.text("tokenizer.chat_template"));
    let thinks = matches!(Layout::of(template), Ok(Layout::ChatMl { thinks: true }));
    let facts = Facts {
        window: header.as_ref().and_then(|header| u32::try_from(window(header)).ok()),
        thinking: Some(if thinks { Thinking::Words } else { Thinking::None }),
        efforts: thinks.then(|| vec![Effort::None, Effort::Low]),
        images: Some(false),
        pdfs: Some(false),
        ..Facts::default()
    };
    Model { name: file.name.clone(), facts }
}
