//! Finds the function that contains a line, by the declarations of its unit's functions: for code
//! that an OpenMP compiler cut out of a function and gave a name without that function.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use gimli::{AttributeValue, DebuggingInformationEntry, DwoId, UnitOffset, UnitRef};

use crate::function::{self, Language};
use crate::object_file::Slice;

/// Maximum number of entries of one unit that are read; a damaged unit may never end.
const MAX_ENTRIES: usize = 20_000_000;

/// A function's name and the line where it begins.
struct Declaration {
    /// The last part of its file's path.
    file: String,
    line: u64,
    name: String,
}

/// Identifies a unit of a module, including those of split files.
pub(crate) type Key = (Option<u64>, usize);

pub(crate) fn key(unit: UnitRef<'_, Slice<'_>>) -> Key {
    (
        unit.dwo_id.map(|DwoId(id)| id),
        unit.header.debug_info_offset().map_or(0, |offset| offset.0),
    )
}

/// Functions by unit, each unit read once.
#[derive(Default)]
pub(crate) struct EnclosingFunctions {
    units: RefCell<BTreeMap<Key, Vec<Declaration>>>,
}

impl EnclosingFunctions {
    /// The readable name of the last function in `unit` that was declared at or before this line of
    /// the file.
    pub(crate) fn function(
        &self,
        unit: UnitRef<'_, Slice<'_>>,
        file: &str,
        line: u32,
    ) -> Option<String> {
        let mut units = self.units.borrow_mut();
        let declared = units.entry(key(unit)).or_insert_with(|| functions(unit));
        let name = Path::new(file).file_name()?.to_string_lossy();
        declared
            .iter()
            .filter(|one| one.file == name && one.line <= u64::from(line))
            .max_by_key(|one| one.line)
            .map(|one| one.name.clone())
    }
}

/// All functions defined in the unit, except those made by the compiler.
fn functions(unit: UnitRef<'_, Slice<'_>>) -> Vec<Declaration> {
    let mut found = Vec::new();
    let mut entries = unit.entries();
    for _ in 0..MAX_ENTRIES {
        let Ok(Some(entry)) = entries.next_dfs() else {
            break;
        };
        if entry.tag() != gimli::DW_TAG_subprogram
            || entry.attr_value(gimli::DW_AT_declaration).is_some()
            || entry.attr_value(gimli::DW_AT_artificial).is_some()
        {
            continue;
        }
        found.extend(declared(unit, entry));
    }
    found
}

fn declared<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> Option<Declaration> {
    let line = attribute(unit, entry, gimli::DW_AT_decl_line)?.udata_value()?;
    let file = match attribute(unit, entry, gimli::DW_AT_decl_file)? {
        AttributeValue::FileIndex(index) => index,
        other => other.udata_value()?,
    };
    let name = attribute(unit, entry, gimli::DW_AT_linkage_name)
        .or_else(|| attribute(unit, entry, gimli::DW_AT_name))?;
    let raw = unit.attr_string(name).ok()?.to_string_lossy();
    if function::is_outlined(&raw) {
        return None;
    }
    let path = match &unit.line_program {
        Some(program) => unit
            .attr_string(program.header().file(file)?.path_name())
            .ok()?
            .to_string_lossy()
            .into_owned(),
        // For split debug information, whose line table is in the main file: the unit's own file is
        // number 1. From version 5 on, compilers may use number 0 too.
        None if file <= 1 => unit.name?.to_string_lossy().into_owned(),
        None => return None,
    };
    Some(Declaration {
        file: Path::new(&path).file_name()?.to_string_lossy().into_owned(),
        line,
        name: function::readable(&raw, Some(language(unit))),
    })
}

fn language(unit: UnitRef<'_, Slice<'_>>) -> Language {
    let value = unit
        .entry(unit.header.root_offset())
        .ok()
        .and_then(|root| root.attr_value(gimli::DW_AT_language));
    match value {
        Some(AttributeValue::Language(number)) => Language::from_dwarf(number),
        _ => Language::Other,
    }
}

/// An attribute of the entry, or of the entry that it completes.
fn attribute<'a>(
    unit: UnitRef<'_, Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
    name: gimli::DwAt,
) -> Option<AttributeValue<Slice<'a>>> {
    if let Some(value) = entry.attr_value(name) {
        return Some(value);
    }
    let mut next = before(entry);
    // Longer chains are cycles.
    for _ in 0..4 {
        let entry = unit.entry(next?).ok()?;
        if let Some(value) = entry.attr_value(name) {
            return Some(value);
        }
        next = before(&entry);
    }
    None
}

fn before(entry: &DebuggingInformationEntry<Slice<'_>>) -> Option<UnitOffset> {
    let named = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin];
    named
        .into_iter()
        .find_map(|name| match entry.attr_value(name)? {
            AttributeValue::UnitRef(offset) => Some(offset),
            _ => None,
        })
}
