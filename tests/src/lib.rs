//! How we know: misbehaving servers, the binary under test, and the one integration-test binary.
