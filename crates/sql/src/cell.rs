//! A value in a table.

use rusqlite::ToSql;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};

/// A value in a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Cell<'a> {
    /// Unknown or absent.
    Null,
    /// A whole number.
    Int(i64),
    /// Any number.
    Real(f64),
    /// Text.
    Text(&'a str),
}

impl<'a> Cell<'a> {
    /// A whole number; one too large for SQLite becomes the nearest real.
    pub(crate) fn whole(v: u128) -> Cell<'a> {
        i64::try_from(v).map_or(Cell::Real(v as f64), Cell::Int)
    }

    /// 1 or 0.
    pub(crate) fn flag(v: bool) -> Cell<'a> {
        Cell::Int(v.into())
    }

    /// An index; [`workspan_dag::NONE`] becomes NULL.
    pub(crate) fn id(v: u32) -> Cell<'a> {
        if v == workspan_dag::NONE {
            Cell::Null
        } else {
            Cell::Int(v.into())
        }
    }

    /// Text; `None` becomes NULL.
    pub(crate) fn text(v: Option<&'a str>) -> Cell<'a> {
        v.map_or(Cell::Null, Cell::Text)
    }
}

impl ToSql for Cell<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match *self {
            Cell::Null => ToSqlOutput::Owned(Value::Null),
            Cell::Int(v) => ToSqlOutput::Owned(Value::Integer(v)),
            Cell::Real(v) => ToSqlOutput::Owned(Value::Real(v)),
            Cell::Text(v) => ToSqlOutput::Borrowed(ValueRef::Text(v.as_bytes())),
        })
    }
}
