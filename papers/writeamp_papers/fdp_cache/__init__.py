"""Flash caches with and without FDP: published WA beside bands over the inputs not published."""
