"""Over-provisioning (op) that a load needs: drives of one logical size, simulated over op."""
