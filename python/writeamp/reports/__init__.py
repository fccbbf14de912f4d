"""Reports: one self-contained page on a result, made from its JSON, which can be read back."""
