//! WARCIP: streams by rewrite interval, in clusters.

use std::collections::HashMap;

use super::nearest;
use super::{Collected, Hint, Scheme, Setup, Spec};

struct Cluster {
    mean: u64,
    weight: u64,
    writes: u64,
}

/// WARCIP placement. Each cluster has a stream; the last stream takes migrated pages.
pub struct Warcip {
    period_blocks: u64,
    pages_per_block: u64,
    written_at: HashMap<u32, u64>,
    /// Age at the last migration of each page that was migrated since the host wrote it.
    migrated: HashMap<u32, u64>,
    penalty: String,
    starts_shortest: bool,
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
            migrated: HashMap::new(),
            penalty: spec.word("penalty", "double").to_owned(),
            starts_shortest: spec.word("start", "longest") == "shortest",
            clusters: (0..clusters).map(cluster).collect(),
        }
    }

    fn migration_stream(&self) -> usize {
        1
    }

    fn host(&mut self, logical: u32, now: u64, _hint: Hint) -> usize {
        let means: Vec<u64> = self.clusters.iter().map(|cluster| cluster.mean).collect();
        let migrated = self.migrated.remove(&logical);
        let interval = match (self.written_at.insert(logical, now), migrated) {
            (None, _) if self.starts_shortest => Some(0),
            (None, _) => None,
            (Some(previous_write), None) => Some(now - previous_write),
            (Some(previous_write), Some(age)) => Some(match self.penalty.as_str() {
                "double" => 2 * (now - previous_write),
                "age" => now - previous_write + age,
                _ => now - previous_write,
            }),
        };
        let stream = match interval {
            None => nearest(&means, u64::MAX),
            Some(interval) => {
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

    fn on_unmapped(&mut self, logical: u32) {
        self.written_at.remove(&logical);
        self.migrated.remove(&logical);
    }

    fn migrated(&mut self, logical: u32, victim: Collected) -> usize {
        self.migrated.insert(logical, victim.now - self.written_at[&logical]);
        self.clusters.len()
    }
}
