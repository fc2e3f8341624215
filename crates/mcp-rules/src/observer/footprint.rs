//! Estimates how much memory a value takes from its serialized form.
//!
//! All state of a session is serializable, so state added later is counted automatically.

use std::fmt;

use serde::{Serialize, Serializer, ser};

/// The size of a value that is not text, whatever its type.
const SCALAR: usize = 8;

/// The overhead of an allocation or a list element.
const PLACE: usize = 24;

/// The approximate memory of `value` in bytes. Visits all of it, but copies only what its `Serialize`
/// copies.
pub(crate) fn footprint(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    // Counting cannot fail; a value whose `Serialize` fails is counted up to there.
    let _ = value.serialize(&mut counter);
    counter.0
}

struct Counter(usize);

impl Counter {
    fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    fn place(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Uncounted> {
        self.add(PLACE);
        value.serialize(self)
    }
}

/// The `Serialize` of a value has failed.
#[derive(Debug)]
struct Uncounted;

impl fmt::Display for Uncounted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the value cannot be saved")
    }
}

impl std::error::Error for Uncounted {}

impl ser::Error for Uncounted {
    fn custom<T: fmt::Display>(_: T) -> Uncounted {
        Uncounted
    }
}

/// Methods for values of one size.
macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<(), Uncounted> {
            self.add(SCALAR);
            Ok(())
        })*
    };
}

impl Serializer for &mut Counter {
    type Ok = ();
    type Error = Uncounted;
    type SerializeSeq = Self;
    type SerializeTuple = Self;
    type SerializeTupleStruct = Self;
    type SerializeTupleVariant = Self;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Self;

    scalars! {
        serialize_bool: bool, serialize_char: char, serialize_f32: f32, serialize_f64: f64,
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_unit_struct: &'static str
    }

    fn serialize_str(self, text: &str) -> Result<(), Uncounted> {
        self.add(PLACE + text.len());
        Ok(())
    }

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Uncounted> {
        self.add(PLACE + bytes.len());
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Uncounted> {
        self.add(SCALAR);
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Uncounted> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Uncounted> {
        Ok(())
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), Uncounted> {
        self.add(SCALAR);
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Uncounted> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), Uncounted> {
        self.add(SCALAR);
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self, Uncounted> {
        self.add(PLACE);
        Ok(self)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self, Uncounted> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self, Uncounted> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Uncounted> {
        self.add(SCALAR);
        Ok(self)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self, Uncounted> {
        self.add(PLACE);
        Ok(self)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self, Uncounted> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self, Uncounted> {
        self.add(SCALAR);
        Ok(self)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), Uncounted> {
        self.serialize_str(&value.to_string())
    }
}

/// Lists, with an overhead for each element.
macro_rules! lists {
    ($($trait:ident::$method:ident),*) => {
        $(impl ser::$trait for &mut Counter {
            type Ok = ();
            type Error = Uncounted;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Uncounted> {
                self.place(value)
            }

            fn end(self) -> Result<(), Uncounted> {
                Ok(())
            }
        })*
    };
}

/// Tuples, whose parts are stored inline.
macro_rules! tuples {
    ($($trait:ident::$method:ident),*) => {
        $(impl ser::$trait for &mut Counter {
            type Ok = ();
            type Error = Uncounted;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Uncounted> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Uncounted> {
                Ok(())
            }
        })*
    };
}

/// Structs, whose field names take no memory.
macro_rules! structs {
    ($($trait:ident),*) => {
        $(impl ser::$trait for &mut Counter {
            type Ok = ();
            type Error = Uncounted;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                _: &'static str,
                value: &T,
            ) -> Result<(), Uncounted> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Uncounted> {
                Ok(())
            }
        })*
    };
}

lists!(SerializeSeq::serialize_element);
tuples!(
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);
structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for &mut Counter {
    type Ok = ();
    type Error = Uncounted;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Uncounted> {
        self.place(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Uncounted> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Uncounted> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn texts_and_entries_are_counted_wherever_they_are() {
        let empty = footprint(&BTreeMap::<String, String>::new());
        let one: BTreeMap<_, _> = [("k".repeat(100), Some("v".repeat(1_000)))].into();
        let many: Vec<_> = (0..100).map(|_| one.clone()).collect();
        assert!(empty < 100, "{empty}");
        assert!((1_100..1_300).contains(&footprint(&one)), "{}", footprint(&one));
        let ratio = footprint(&many) / footprint(&one);
        assert!((100..110).contains(&ratio), "{ratio}");
    }
}
