"""Black-box models: a drive's performance as a function of what its workload is like (paper 2)."""
