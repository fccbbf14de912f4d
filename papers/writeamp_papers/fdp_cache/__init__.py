"""Flash caches with and without FDP: published WA beside bands over unpublished inputs."""
