//! The deprecated way to build pools.
#![allow(deprecated)]

use crate::builder::ThreadPoolBuilder;
use crate::pool::ThreadPool;
use std::any::Any;
use std::error::Error;
use std::fmt;

/// As [`rayon_core_real::Configuration`].
#[deprecated(note = "Use `ThreadPoolBuilder`")]
#[derive(Default)]
pub struct Configuration {
    builder: ThreadPoolBuilder,
}

impl Configuration {
    /// As the real one's.
    pub fn new() -> Configuration {
        Self::default()
    }

    /// As the real one's.
    #[track_caller]
    pub fn build(self) -> Result<ThreadPool, Box<dyn Error + 'static>> {
        Ok(self.builder.build()?)
    }

    /// As the real one's.
    pub fn thread_name<F>(self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        Configuration {
            builder: self.builder.thread_name(closure),
        }
    }

    /// As the real one's.
    pub fn num_threads(self, num_threads: usize) -> Configuration {
        Configuration {
            builder: self.builder.num_threads(num_threads),
        }
    }

    /// As the real one's.
    pub fn panic_handler<H>(self, panic_handler: H) -> Configuration
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.panic_handler(panic_handler),
        }
    }

    /// As the real one's.
    pub fn stack_size(self, stack_size: usize) -> Self {
        Configuration {
            builder: self.builder.stack_size(stack_size),
        }
    }

    /// As the real one's.
    pub fn breadth_first(self) -> Self {
        Configuration {
            builder: self.builder.breadth_first(),
        }
    }

    /// As the real one's.
    pub fn start_handler<H>(self, start_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.start_handler(start_handler),
        }
    }

    /// As the real one's.
    pub fn exit_handler<H>(self, exit_handler: H) -> Configuration
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        Configuration {
            builder: self.builder.exit_handler(exit_handler),
        }
    }
}

/// As [`rayon_core_real::initialize`].
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
