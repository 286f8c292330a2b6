//! The layers: how each is made, and what has to happen at the end so that nothing is lost.

use std::error::Error;
use std::path::Path;

use tracing_subscriber::EnvFilter;
#[cfg(any(feature = "flame", feature = "chrome", feature = "tracy"))]
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

/// Spans of hyphae and nothing else.
fn filter() -> EnvFilter {
    EnvFilter::new("hyphae=trace")
}

/// Makes the layer of a name the program's listener, which writes to `out`.
pub(crate) fn listen(layer: &str, out: &Path) -> Result<Listening, Box<dyn Error>> {
    let finish = match layer {
        "flame" => flame(out)?,
        "chrome" => chrome(out)?,
        "tracy" => tracy()?,
        _ => return Err(format!("unknown layer `{layer}`").into()),
    };
    Ok(Listening(finish))
}

#[cfg(feature = "flame")]
fn flame(out: &Path) -> Result<Finish, Box<dyn Error>> {
    let (layer, guard) = tracing_flame::FlameLayer::with_file(out)?;
    // Time outside of spans is left out, and labels are short.
    let layer = layer
        .with_empty_samples(false)
        .with_threads_collapsed(true)
        .with_module_path(false)
        .with_file_and_line(false);
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(move || Ok(guard.flush()?)))
}

#[cfg(feature = "chrome")]
fn chrome(out: &Path) -> Result<Finish, Box<dyn Error>> {
    // Made here, so that a path that cannot be written is an error, not a panic in the layer's thread.
    let file = std::fs::File::create(out).map_err(|e| format!("{}: {e}", out.display()))?;
    // Fields are what tells cells apart; all spans are made at the same few lines.
    let layer = tracing_chrome::ChromeLayerBuilder::new().writer(file);
    let (layer, guard) = layer.include_args(true).include_locations(false).build();
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(move || Ok(drop(guard))))
}

#[cfg(feature = "tracy")]
fn tracy() -> Result<Finish, Box<dyn Error>> {
    let layer = tracing_tracy::TracyLayer::default();
    tracing_subscriber::registry().with(filter()).with(layer).try_init()?;
    Ok(Box::new(|| Ok(())))
}

#[cfg(not(feature = "flame"))]
fn flame(_: &Path) -> Result<Finish, Box<dyn Error>> {
    Err(absent("flame"))
}

#[cfg(not(feature = "chrome"))]
fn chrome(_: &Path) -> Result<Finish, Box<dyn Error>> {
    Err(absent("chrome"))
}

#[cfg(not(feature = "tracy"))]
fn tracy() -> Result<Finish, Box<dyn Error>> {
    Err(absent("tracy"))
}

#[cfg(not(all(feature = "flame", feature = "chrome", feature = "tracy")))]
fn absent(feature: &str) -> Box<dyn Error> {
    format!("built without the feature `{feature}`").into()
}
