"""Many experiments from one file: what varies, where the results go, and how they are run."""
