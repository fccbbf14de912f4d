//! Build script: link the plugin so that it stays loaded until the process ends.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,-z,nodelete");
}
