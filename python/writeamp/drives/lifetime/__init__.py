"""Lifetimes: years until a drive's rated life is used, from its history or from a load."""
