//! By rewrite interval, in clusters.

use std::collections::HashMap;

use super::nearest;
use super::{Collected, Hint, Scheme, Setup, Spec};

struct Cluster {
    mean: u64,
    weight: u64,
    writes: u64,
}

/// The last stream takes migrated pages.
pub struct Warcip {
    period_blocks: u64,
    pages_per_block: u64,
    written_at: HashMap<u32, u64>,
    migrated: Vec<u32>,
    clusters: Vec<Cluster>,
}

impl Warcip {
    fn split(&mut self) {
        let writes: Vec<u64> = self.clusters.iter().map(|cluster| cluster.writes).collect();
        let first_with = |wanted: u64| writes.iter().position(|w| *w == wanted).expect("a cluster");
        let busiest = first_with(*writes.iter().max().expect("a cluster"));
        let idlest = first_with(*writes.iter().min().expect("a cluster"));
        if writes[busiest] > writes.iter().sum::<u64>() / 2 && writes[idlest] < self.pages_per_block
        {
            self.clusters[idlest].mean = self.clusters[busiest].mean / 2;
            self.clusters[idlest].weight = 1;
        }
        self.clusters.iter_mut().for_each(|cluster| cluster.writes = 0);
    }
}

impl Scheme for Warcip {
    fn read(spec: &Spec, setup: &Setup) -> Self {
        let clusters: usize = spec.get("clusters");
        let halvings = |times| (0..times).fold(u64::from(setup.logical_pages), |mean, _| mean / 2);
        let cluster = |at| Cluster { mean: halvings(clusters - 1 - at), weight: 1, writes: 0 };
        Warcip {
            period_blocks: spec.get("period"),
            pages_per_block: u64::from(setup.pages_per_block),
            written_at: HashMap::new(),
            migrated: Vec::new(),
            clusters: (0..clusters).map(cluster).collect(),
        }
    }

    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let means: Vec<u64> = self.clusters.iter().map(|cluster| cluster.mean).collect();
        let was_migrated = self.migrated.contains(&logical);
        self.migrated.retain(|&page| page != logical);
        let stream = match self.written_at.insert(logical, now) {
            None => nearest(&means, u64::MAX),
            Some(before) => {
                let interval = (now - before) * if was_migrated { 2 } else { 1 };
                let stream = nearest(&means, interval);
                let Cluster { mean, weight, .. } = &mut self.clusters[stream];
                *mean = (*mean * *weight + interval) / (*weight + 1);
                *weight = self.pages_per_block.min(*weight + 1);
                stream
            }
        };
        self.clusters[stream].writes += 1;
        let writes: u64 = self.clusters.iter().map(|cluster| cluster.writes).sum();
        if writes == self.period_blocks * self.pages_per_block * self.clusters.len() as u64 {
            self.split();
        }
        stream
    }

    fn forgets(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.migrated.retain(|page| *page != logical);
    }

    fn migrated(&mut self, logical: u32, _victim: Collected) -> usize {
        if !self.migrated.contains(&logical) {
            self.migrated.push(logical);
        }
        self.clusters.len()
    }
}
