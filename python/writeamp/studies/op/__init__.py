"""Over-provisioning (op) that a load needs, by simulations of drives of one logical size."""
