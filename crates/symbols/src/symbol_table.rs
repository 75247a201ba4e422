//! Function symbols by address.

use object::{Object as _, ObjectSymbol};

use crate::function::{self, Language};
use crate::object_file::Object;

/// The symbols of a module and its separate debug file.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    sorted: Vec<(u64, u64, &'a str)>,
    language: Option<Language>,
}

impl<'a> Symbols<'a> {
    pub(crate) fn from_objects(objects: &[&Object<'a>]) -> Self {
        let mut symbols = Self::default();
        for object in objects {
            for symbol in object.symbols().chain(object.dynamic_symbols()) {
                let Ok(name) = symbol.name() else { continue };
                // The only sign of Fortran without debug information, as C names may end in an
                // underscore too.
                if name.starts_with("_gfortran_set_args") || name == "MAIN__" {
                    symbols.language = Some(Language::Fortran);
                }
                if symbol.kind() == object::SymbolKind::Text && symbol.is_definition() {
                    symbols.sorted.push((symbol.address(), symbol.size(), name));
                }
            }
        }
        symbols.sorted.sort_unstable();
        symbols.sorted.dedup();
        symbols
    }

    /// The name of the function that covers an address as linked.
    pub(crate) fn name(&self, address: u64) -> Option<&'a str> {
        let after = self.sorted.partition_point(|&(start, ..)| start <= address);
        let &(start, size, name) = self.sorted.get(after.checked_sub(1)?)?;
        (size == 0 || address - start < size).then_some(name)
    }

    /// Beginning and size of the function that covers an address as linked; `None` if its size is
    /// not known.
    pub(crate) fn range(&self, address: u64) -> Option<(u64, u64)> {
        let after = self.sorted.partition_point(|&(start, ..)| start <= address);
        let &(start, size, _) = self.sorted.get(after.checked_sub(1)?)?;
        (address - start < size).then_some((start, size))
    }

    /// Whether a function begins there, other than the rarely run part of another function.
    pub(crate) fn begins(&self, address: u64) -> bool {
        let from = self.sorted.partition_point(|&(start, ..)| start < address);
        let mut here = self.sorted[from..].iter().take_while(|s| s.0 == address);
        here.any(|(.., name)| !name.contains(".cold"))
    }

    /// Whether the address is the first of a function that an OpenMP compiler made from a part of
    /// another.
    pub(crate) fn begins_outlined(&self, address: u64) -> bool {
        let from = self.sorted.partition_point(|&(start, ..)| start < address);
        let here = self.sorted[from..].iter().take_while(|s| s.0 == address);
        here.into_iter()
            .any(|(.., name)| function::is_outlined(name))
    }

    /// The readable name of that function.
    pub(crate) fn readable(&self, address: u64) -> Option<String> {
        let name = function::readable(self.name(address)?, self.language);
        (!name.is_empty()).then_some(name)
    }
}
