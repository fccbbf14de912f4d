"""This machine: programs and their processes, held signals, dead mounts, and BPF programs."""
