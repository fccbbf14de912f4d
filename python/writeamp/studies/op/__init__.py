"""Over-provisioning (op) that a load needs, by simulating drives of one logical size."""
