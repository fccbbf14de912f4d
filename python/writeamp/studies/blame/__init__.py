"""Flash writes of a trace by process, file, folder, device or address range."""
