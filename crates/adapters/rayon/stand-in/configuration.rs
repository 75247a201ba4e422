//! The deprecated way to build pools.
#![allow(deprecated)]

use crate::builder::ThreadPoolBuilder;
use crate::pool::ThreadPool;
use std::any::Any;
use std::error::Error;
use std::fmt;

/// [`rayon_core_real::Configuration`], recorded.
#[deprecated(note = "Use `ThreadPoolBuilder`")]
#[derive(Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

impl Configuration {
    /// The same as in the real crate.
    pub fn new() -> Configuration {
        Self::default()
    }

    /// The same as in the real crate.
    #[track_caller]
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        Ok(self.builder.build()?)
    }

    /// The same as in the real crate.
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Configuration {
            builder: self.builder.thread_name(closure),
        }
    }

    /// The same as in the real crate.
    pub fn num_threads(self, num_threads: usize) -> Configuration {
        Configuration {
            builder: self.builder.num_threads(num_threads),
        }
    }

    /// The same as in the real crate.
    pub fn panic_handler<H>(self, panic_handler: H) -> Configuration
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.panic_handler(panic_handler),
        }
    }

    /// The same as in the real crate.
    pub fn stack_size(self, stack_size: usize) -> Self {
        Configuration {
            builder: self.builder.stack_size(stack_size),
        }
    }

    /// The same as in the real crate.
    pub fn breadth_first(self) -> Self {
        Configuration {
            builder: self.builder.breadth_first(),
        }
    }

    /// The same as in the real crate.
    pub fn start_handler<H>(self, start_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.start_handler(start_handler),
        }
    }

    /// The same as in the real crate.
    pub fn exit_handler<H>(self, exit_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.exit_handler(exit_handler),
        }
    }
}

/// [`rayon_core_real::initialize`], recorded.
#[deprecated(note = "use `ThreadPoolBuilder::build_global`")]
#[track_caller]
pub fn initialize(config: Configuration) -> Result<(), Box<dyn Error>> {
    Ok(config.builder.build_global()?)
}

impl fmt::Debug for Configuration {
    fn fmt(&self, fmt: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.builder.fmt(fmt)
    }
}
