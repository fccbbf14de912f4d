"""What is measured: a simulated device in virtual time, or a real one through fio."""
