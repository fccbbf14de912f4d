//! The plugin stays loaded until the process ends, for its threads may still be in it.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
