use mcp_sdk::Failure;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Conversion {
    value: f64,
    from: Unit,
    to: Unit,
}

#[derive(Debug, Clone, Copy, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metre,
    Kilometre,
    Foot,
    Mile,
    Celsius,
    Fahrenheit,
    Kelvin,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Converted {
    value: f64,
    unit: Unit,
}

#[derive(PartialEq)]
enum Quantity {
    Length,
    Temperature,
}

impl Conversion {
    pub(crate) fn result(&self) -> Result<Converted, Failure> {
        let ((from, factor, offset), (to, divisor, shift)) =
            (self.from.measure(), self.to.measure());
        if from != to {
            let (from, to) = (self.from, self.to);
            return Err(Failure::new(format!("{from:?} and {to:?} measure different things")));
        }
        let value = (self.value * factor + offset - shift) / divisor;
        Ok(Converted { value, unit: self.to })
    }
}

impl Unit {
    /// What it measures, and the factor and offset that convert it to metres or kelvins.
    fn measure(self) -> (Quantity, f64, f64) {
        match self {
            Unit::Metre => (Quantity::Length, 1.0, 0.0),
            Unit::Kilometre => (Quantity::Length, 1000.0, 0.0),
            Unit::Foot => (Quantity::Length, 0.3048, 0.0),
            Unit::Mile => (Quantity::Length, 1609.344, 0.0),
            Unit::Kelvin => (Quantity::Temperature, 1.0, 0.0),
            Unit::Celsius => (Quantity::Temperature, 1.0, 273.15),
            Unit::Fahrenheit => (Quantity::Temperature, 5.0 / 9.0, 459.67 * 5.0 / 9.0),
        }
    }
}
