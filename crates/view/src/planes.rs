//! Binary answers: columns of numbers behind a JSON header (`ui/src/data/planes.ts` reads them).
//!
//! "WSPV", u32 length of the header, the header, zeros up to a multiple of 8 bytes from the start,
//! then each plane, each with zeros up to a multiple of 8; everything little-endian. The header is
//! `{"planes":[{"name","type","length"}], ...facts}`.

use serde_json::{Map, Value, json};

/// A binary answer under construction.
#[derive(Debug, Default)]
pub struct Planes {
    header: Vec<Value>,
    facts: Map<String, Value>,
    body: Vec<u8>,
}

/// A number that a plane can contain.
pub trait Cell: Copy {
    /// The name of the type in the header.
    const TYPE: &'static str;
    /// Appends the number in little-endian order.
    fn put(self, out: &mut Vec<u8>);
}

macro_rules! cells {
    ($($cell:ty => $name:literal),*) => {$(
        impl Cell for $cell {
            const TYPE: &'static str = $name;
            fn put(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

cells!(u8 => "u8", u16 => "u16", u32 => "u32", f32 => "f32", f64 => "f64");

impl Planes {
    /// An answer without planes.
    pub fn new() -> Planes {
        Planes::default()
    }

    /// Adds a fact to the header.
    pub fn fact(&mut self, name: &str, value: impl Into<Value>) {
        self.facts.insert(name.to_owned(), value.into());
    }

    /// Adds a plane.
    pub fn plane<C: Cell>(&mut self, name: &str, cells: impl IntoIterator<Item = C>) {
        let mut length = 0u64;
        for cell in cells {
            cell.put(&mut self.body);
            length += 1;
        }
        self.body.resize(self.body.len().next_multiple_of(8), 0);
        self.header
            .push(json!({ "name": name, "type": C::TYPE, "length": length }));
    }

    /// The bytes of the answer.
    pub fn finish(self) -> Vec<u8> {
        let mut header = Map::new();
        header.insert("planes".into(), Value::Array(self.header));
        header.extend(self.facts);
        let header = Value::Object(header).to_string();
        let mut bytes = Vec::with_capacity(16 + header.len() + self.body.len());
        bytes.extend_from_slice(b"WSPV");
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.body);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes are decoded one by one, as planes.ts does.
    #[test]
    fn planes_lie_at_multiples_of_eight() {
        let mut planes = Planes::new();
        planes.fact("total", 3);
        planes.plane("a", [1u8, 2, 3]);
        planes.plane("b", [0.5f64]);
        planes.plane::<u32>("c", []);
        let bytes = planes.finish();
        assert_eq!(&bytes[..4], b"WSPV");
        let length = u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).expect("JSON");
        assert_eq!(header["total"], 3);
        assert_eq!(
            header["planes"],
            json!([
                {"name": "a", "type": "u8", "length": 3},
                {"name": "b", "type": "f64", "length": 1},
                {"name": "c", "type": "u32", "length": 0},
            ])
        );
        let body = (8 + length).next_multiple_of(8);
        assert_eq!(&bytes[body..body + 8], &[1, 2, 3, 0, 0, 0, 0, 0]);
        assert_eq!(&bytes[body + 8..], &0.5f64.to_le_bytes());
    }
}
