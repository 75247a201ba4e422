//! Sites as recorded: the information that the recorder can get at once, before names, files and
//! lines are resolved.

use super::fields::{Fields, push_bytes, push_entry, push_varint};

/// The position of a site, as recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SitePosition {
    /// A position in the source.
    Location {
        /// The file's path as the compiler was given it.
        file: String,
        /// 1-based line.
        line: u32,
        /// 1-based column; 0 if not known.
        column: u32,
    },
    /// Return addresses, innermost first, and the position of the library's own call.
    Stack {
        /// Return addresses.
        addresses: Vec<u64>,
        /// The file of the library's own call, for stacks without a frame of the user's code.
        file: String,
        /// The line in `file`.
        line: u32,
    },
    /// An address in the code.
    Address {
        /// The address.
        address: u64,
        /// Whether it is a return address; otherwise it is a function's own address.
        is_return: bool,
    },
    /// A text provided by the program.
    Label(String),
    /// A call, given by the return addresses of it and its callers, and by a name for the case that
    /// no line is known for any of them.
    Calls {
        /// Return addresses, innermost first; may be empty.
        addresses: Vec<u64>,
        /// A mangled symbol (of a task's type, for example) or a text; empty if there is none.
        name: String,
    },
}

/// A site as recorded: a position and the primitive called there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The number by which records refer to it.
    pub id: u32,
    /// Code in [`crate::wire::primitive`].
    pub primitive: u8,
    /// The position.
    pub position: SitePosition,
}

impl Site {
    /// Appends the entry.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let mut body = Vec::new();
        push_varint(&mut body, u64::from(self.id));
        self.position.encode(self.primitive, &mut body);
        push_entry(out, &body);
    }

    /// Reads an entry's body.
    pub fn decode(body: &[u8]) -> Option<Site> {
        let mut f = Fields::new(body);
        let id = f.number32()?;
        let primitive = u8::try_from(f.number()?).ok()?;
        let position = match f.number()? {
            1 => SitePosition::Location {
                line: f.number32()?,
                column: f.number32()?,
                file: f.text()?,
            },
            2 => SitePosition::Stack {
                line: f.number32()?,
                file: f.text()?,
                addresses: f.list(Fields::number)?,
            },
            3 => SitePosition::Address {
                address: f.number()?,
                is_return: f.number()? != 0,
            },
            4 => SitePosition::Label(f.text()?),
            5 => SitePosition::Calls {
                name: f.text()?,
                addresses: f.list(Fields::number)?,
            },
            _ => return None,
        };
        Some(Site {
            id,
            primitive,
            position,
        })
    }
}

impl SitePosition {
    /// Appends the primitive and the position: the part of a site's entry that does not depend on
    /// its number.
    pub fn encode(&self, primitive: u8, body: &mut Vec<u8>) {
        push_varint(body, u64::from(primitive));
        match self {
            SitePosition::Location { file, line, column } => {
                push_varint(body, 1);
                push_varint(body, u64::from(*line));
                push_varint(body, u64::from(*column));
                push_bytes(body, file.as_bytes());
            }
            SitePosition::Stack {
                addresses,
                file,
                line,
            } => {
                push_varint(body, 2);
                push_varint(body, u64::from(*line));
                push_bytes(body, file.as_bytes());
                push_varint(body, addresses.len() as u64);
                for &address in addresses {
                    push_varint(body, address);
                }
            }
            SitePosition::Address { address, is_return } => {
                push_varint(body, 3);
                push_varint(body, *address);
                push_varint(body, u64::from(*is_return));
            }
            SitePosition::Label(text) => {
                push_varint(body, 4);
                push_bytes(body, text.as_bytes());
            }
            SitePosition::Calls { addresses, name } => {
                push_varint(body, 5);
                push_bytes(body, name.as_bytes());
                push_varint(body, addresses.len() as u64);
                for &address in addresses {
                    push_varint(body, address);
                }
            }
        }
    }
}
