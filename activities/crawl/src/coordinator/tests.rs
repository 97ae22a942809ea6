//! The coordinator against a Web in memory, whose answers come one after the other and whose clock jumps.

mod bounds;
mod manners;
mod paths;
mod rights;
mod world;
