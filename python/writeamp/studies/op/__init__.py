"""How much over-provisioning a load needs: drives of one logical size, simulated over op."""
