"""Jobs of fio: read from job files, command lines and JSON output, never run."""
