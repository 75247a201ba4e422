//! A database in memory that holds what a query reads, or a database file that is only read.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::functions::FunctionFlags;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

use crate::cell::Cell;
use crate::error::Error;
use crate::print::{Format, Limits, print};
use crate::run::{Run, rows_missing};
use crate::schema::{TABLES, Table, schema};

/// The columns a query reads: (table, column), with an empty column for a table of which it only counts the rows.
pub type Wanted = BTreeSet<(String, String)>;

/// A place to ask queries.
pub struct Database {
    connection: Connection,
}

impl Database {
    /// An empty one in memory, with all tables.
    ///
    /// # Errors
    /// SQLite failed.
    pub fn in_memory() -> Result<Database, Error> {
        let connection = Connection::open_in_memory()?;
        connection.execute_batch(&schema())?;
        with_functions(connection)
    }

    /// A database file, which stays as it is.
    ///
    /// # Errors
    /// It can't be opened.
    pub fn read_only(path: &Path) -> Result<Database, Error> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        with_functions(Connection::open_with_flags(path, flags)?)
    }

    /// What `query` reads.
    ///
    /// # Errors
    /// The query is wrong, or does something else than read.
    pub fn wanted(&self, query: &str) -> Result<Wanted, Error> {
        let seen = Arc::new(Mutex::new(Wanted::new()));
        let note = Arc::clone(&seen);
        self.connection
            .authorizer(Some(move |context: AuthContext<'_>| {
                if let AuthAction::Read {
                    table_name,
                    column_name,
                } = context.action
                    && let Ok(mut seen) = note.lock()
                {
                    seen.insert((table_name.to_lowercase(), column_name.to_lowercase()));
                }
                allowed(&context)
            }))?;
        let prepared = self.connection.prepare(query);
        let prepared = prepared.map(|statement| statement.column_count());
        self.open_for_writing()?;
        if prepared? == 0 {
            return Err(Error::Sql(
                "the query gives no rows; expected a SELECT".into(),
            ));
        }
        let wanted = seen.lock().map(|seen| seen.clone());
        let mut wanted = wanted.unwrap_or_default();
        wanted.extend(self.compiled(query)?.unwrap_or_else(everything));
        Ok(wanted)
    }

    /// The columns that SQLite's compiled program for `query` reads; `None` for a query that can't be explained (one that explains
    /// another).
    ///
    /// The authorizer alone is not enough: it is not told of columns by which `USING` and `NATURAL` join, nor of tables of which nothing
    /// else is read. A column that is not loaded is NULL, so such a join would find nothing. What the program reads is all
    /// there is to read: its plan depends on the schema alone, as there are no statistics of the tables' contents.
    fn compiled(&self, query: &str) -> Result<Option<Wanted>, Error> {
        let Ok(mut explained) = self.connection.prepare(&format!("EXPLAIN {query}")) else {
            return Ok(None);
        };
        let mut pages = self
            .connection
            .prepare("SELECT rootpage, name FROM sqlite_schema WHERE type = 'table'")?;
        let pages = pages
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<Result<HashMap<i64, String>, _>>()?;
        let (mut open, mut read) = (HashMap::new(), Vec::new());
        let mut steps = explained.query([])?;
        while let Some(step) = steps.next()? {
            let (code, cursor, number): (String, i64, i64) =
                (step.get("opcode")?, step.get("p1")?, step.get("p2")?);
            match code.as_str() {
                "OpenRead" => {
                    open.insert(cursor, number);
                }
                "Column" => read.push((cursor, number)),
                _ => {}
            }
        }
        let table = |cursor| Table::named(pages.get(open.get(cursor)?)?);
        let rows = open.keys().filter_map(table);
        let mut wanted: Wanted = rows.map(|t| (t.name.into(), String::new())).collect();
        for (cursor, column) in &read {
            let Some(table) = table(cursor) else {
                // A table that the program makes itself, of columns it has read.
                continue;
            };
            let column = usize::try_from(*column).ok();
            if let Some(column) = column.and_then(|at| table.columns.get(at)) {
                wanted.insert((table.name.into(), column.name.into()));
            }
        }
        Ok(Some(wanted))
    }

    fn open_for_writing(&self) -> Result<(), Error> {
        let none: Option<fn(AuthContext<'_>) -> Authorization> = None;
        Ok(self.connection.authorizer(none)?)
    }

    /// Loads what is wanted of a run; other columns stay NULL. O(rows).
    ///
    /// # Errors
    /// SQLite failed.
    pub fn load(&mut self, run: &Run, wanted: &Wanted) -> Result<(), Error> {
        for table in TABLES {
            let columns: Vec<usize> = (0..table.columns.len())
                .filter(|&c| wanted.contains(&(table.name.into(), table.columns[c].name.into())))
                .collect();
            if !columns.is_empty() {
                insert(&mut self.connection, table, &columns, run)?;
            } else if wanted.iter().any(|(name, _)| name == table.name) {
                // `count(*)`: the rows are there, with their run.
                insert(&mut self.connection, table, &[0], run)?;
            }
        }
        Ok(())
    }

    /// For a database file: what a query that reads `wanted` has to be told of each run ([`Run::rows_missing`]).
    pub fn rows_missing(&self, wanted: &Wanted) -> Vec<String> {
        let Some(table) = table_of_tasks(wanted) else {
            return Vec::new();
        };
        let told = || {
            let mut asked = self.connection.prepare(
                "SELECT r.run, r.file, sum(t.folded) FROM runs r JOIN tasks t ON t.run = r.run GROUP BY r.run HAVING sum(t.folded) > 0",
            )?;
            let told = asked.query_map([], |row| {
                let (run, file, folded): (_, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
                Ok(rows_missing(run, &file, table, folded.unsigned_abs()))
            })?;
            told.collect::<Result<Vec<_>, _>>()
        };
        // A database of before the column was there does not tell.
        told().unwrap_or_default()
    }

    /// Asks `query` and writes its rows to `out`. Nothing but reading the tables is allowed.
    ///
    /// # Errors
    /// The query is wrong or not allowed, or `out` can't be written.
    pub fn ask(
        &self,
        query: &str,
        format: Format,
        limits: &Limits,
        out: &mut impl Write,
    ) -> Result<(), Error> {
        self.connection
            .authorizer(Some(|context: AuthContext<'_>| allowed(&context)))?;
        let result = print(&self.connection, query, format, limits, out);
        self.open_for_writing()?;
        result
    }
}

/// The first of the wanted tables in which folded tasks are missing.
pub(crate) fn table_of_tasks(wanted: &Wanted) -> Option<&'static str> {
    let is_wanted = |table: &&str| wanted.iter().any(|(name, _)| name == table);
    ["tasks", "strands", "edges"].into_iter().find(is_wanted)
}

/// All columns of all tables.
fn everything() -> Wanted {
    let columns = |table: &'static Table| {
        let columns = table.columns.iter();
        columns.map(|column| (table.name.into(), column.name.into()))
    };
    TABLES.iter().flat_map(columns).collect()
}

/// `log2(x)`, which SQLite's bundled build leaves out: of a number above 0; NULL of anything else.
fn with_functions(connection: Connection) -> Result<Database, Error> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("log2", 1, flags, |context| {
        let value = match context.get_raw(0) {
            ValueRef::Integer(v) => v as f64,
            ValueRef::Real(v) => v,
            _ => return Ok(None),
        };
        Ok((value > 0.0).then(|| value.log2()))
    })?;
    Ok(Database { connection })
}

/// Reading tables, calling functions, recursion: nothing that changes a file, this process or the database.
fn allowed(context: &AuthContext<'_>) -> Authorization {
    match context.action {
        AuthAction::Select | AuthAction::Read { .. } | AuthAction::Recursive => {
            Authorization::Allow
        }
        AuthAction::Function { function_name }
            if !function_name.eq_ignore_ascii_case("load_extension") =>
        {
            Authorization::Allow
        }
        _ => Authorization::Deny,
    }
}

/// Inserts the rows of a run with the given columns.
pub(crate) fn insert(
    connection: &mut Connection,
    table: &Table,
    columns: &[usize],
    run: &Run,
) -> Result<(), Error> {
    let names: Vec<String> = columns
        .iter()
        .map(|&c| format!("\"{}\"", table.columns[c].name))
        .collect();
    let marks = vec!["?"; columns.len()].join(",");
    let sql = format!(
        "INSERT INTO {} ({}) VALUES ({marks})",
        table.name,
        names.join(",")
    );
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare(&sql)?;
        let mut cells: Vec<Cell> = Vec::with_capacity(columns.len());
        for row in 0..(table.rows)(run) {
            cells.clear();
            cells.extend(columns.iter().map(|&c| (table.columns[c].value)(run, row)));
            statement.execute(rusqlite::params_from_iter(&cells))?;
        }
    }
    transaction.commit()?;
    Ok(())
}
