//! The corpus config: every key and every kind of bad value, the schema beside the rules, the examples, and properties.

#[cfg(test)]
mod crawls;
#[cfg(test)]
mod examples;
#[cfg(test)]
mod fields;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod sample;
#[cfg(test)]
mod schema;
