"""The mean field of hot/cold write frontiers (paper 4, section 3), the limit of many blocks.

Under Rosenblum's workload the hot pages, a share `hot_fraction` (the paper's f) of all logical
pages, get a share `hot_write_fraction` (r) of the writes. HCWF and HCWF(swap) are the modes of
Van Houdt 2014 and of Verschoren and Van Houdt 2019, equations 1 to 5. docs/meanfield.md has the
route, its conditioning and its limits; users see `writeamp.meanfield`.
"""
