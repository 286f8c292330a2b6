//! The layers: how each is made, and what has to happen at the end so that nothing is lost.

use std::error::Error;
use std::fs::File;
use std::path::Path;

use tracing_subscriber::EnvFilter;
#[allow(unused_imports)] // without any layer
use tracing_subscriber::prelude::*;

/// What is left to do when all spans are closed.
type Finish = Box<dyn FnOnce() -> Result<(), Box<dyn Error>>>;

/// A layer that is the program's listener.
pub(crate) struct Listening(Finish);

impl Listening {
    /// Writes what is left.
    pub(crate) fn finish(self) -> Result<(), Box<dyn Error>> {
        (self.0)()
    }
}

/// Makes the layer of a name the program's listener, which writes to `out`.
#[allow(unused_variables)] // without any layer that writes
pub(crate) fn listen(layer: &str, out: &Path) -> Result<Listening, Box<dyn Error>> {
    let finish = match layer {
        // Nobody, to compare with.
        "none" => Box::new(|| Ok(())),
        #[cfg(feature = "flame")]
        "flame" => flame(out)?,
        #[cfg(feature = "folded")]
        "folded" => folded(out)?,
        #[cfg(feature = "chrome")]
        "chrome" => chrome(out)?,
        #[cfg(feature = "tracy")]
        "tracy" => tracy()?,
        _ => return Err(format!("no layer `{layer}`, or built without its feature").into()),
    };
    Ok(Listening(finish))
}

/// Spans of hyphae and nothing else.
fn filter() -> EnvFilter {
    EnvFilter::new("hyphae=trace")
}

fn create(out: &Path) -> Result<File, String> {
    File::create(out).map_err(|error| format!("{}: {error}", out.display()))
}

#[cfg(feature = "flame")]
fn flame(out: &Path) -> Result<Finish, Box<dyn Error>> {
    let layer = tracing_flame::FlameLayer::new(std::io::BufWriter::new(create(out)?));
    let guard = layer.flush_on_drop();
    // Time outside of spans is left out, and labels are short.
    let layer = layer
        .with_empty_samples(false)
        .with_threads_collapsed(true)
        .with_module_path(false)
        .with_file_and_line(false);
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(move || Ok(guard.flush()?)))
}

/// The layer of hyphae itself, which names cells.
#[cfg(feature = "folded")]
fn folded(out: &Path) -> Result<Finish, Box<dyn Error>> {
    let mut file = create(out)?;
    let (layer, folded) = hyphae::FoldedLayer::new();
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(move || Ok(folded.write_to(&mut file)?)))
}

#[cfg(feature = "chrome")]
fn chrome(out: &Path) -> Result<Finish, Box<dyn Error>> {
    // Fields are what tells cells apart; all spans are made at the same few lines.
    let layer = tracing_chrome::ChromeLayerBuilder::new().writer(create(out)?);
    let (layer, guard) = layer.include_args(true).include_locations(false).build();
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(move || {
        drop(guard);
        Ok(())
    }))
}

#[cfg(feature = "tracy")]
fn tracy() -> Result<Finish, Box<dyn Error>> {
    let layer = tracing_tracy::TracyLayer::default();
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(|| Ok(())))
}
