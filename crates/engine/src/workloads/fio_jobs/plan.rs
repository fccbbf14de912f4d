//! Streams of a drive, from their parameters.

use writeamp_fio::{
    Direction, Distribution, Generator, Job, Kind, Mode, Seeding, Sprandom, Strides,
};

use super::parameters::{GENERATORS, MODES, NONE};
use crate::error::{Error, Result};
use crate::flash::{Table, filled};
use crate::hints::Group;
use crate::params::Params;
use crate::workloads::MOST_GROUPS;

/// Stream with its place in the order of the job.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) job: Job,
    pub(super) phase: u32,
    pub(super) weight: f64,
    pub(super) handle: u8,
    pub(super) is_fresh: bool,
}

/// Start and size of a stream's region; on a smaller drive, in whole blocks of `unit` bytes.
fn region_of(params: &Params, end: u64, scale: f64, unit: u64) -> Result<(u64, u64)> {
    let whole = |bytes: u64| bytes / unit * unit;
    let share = |name: &str| share_of(params.number(name), end);
    let offset = params.bytes("offset") + share("offset_share");
    let offset = match params.number("offset_share") {
        _ if scale > 1.0 => whole(offset),
        // As fio does with a start in per cent, but not with one in bytes.
        0.0 => offset,
        _ => offset.next_multiple_of(unit),
    };
    let rest = end.saturating_sub(offset);
    let size = match params.bytes("size") {
        0 if params.number("size_share") < 1.0 => whole(share("size_share").min(rest)),
        0 => rest,
        size if scale > 1.0 => whole(size).max(unit),
        size => size,
    };
    if size < unit || offset + size > end {
        return Err(Error::Spec(format!(
            "the job accesses {size} bytes from byte {offset} on, but the drive has {end}; give \
             a larger drive, or another size or offset of the job"
        )));
    }
    Ok((offset, size))
}

/// A share of a number of bytes, exact for per cents with up to four decimals.
fn share_of(share: f64, bytes: u64) -> u64 {
    const PARTS: u128 = 1_000_000;
    ((share * PARTS as f64).round() as u128 * u128::from(bytes) / PARTS) as u64
}

/// Options of a stream on a drive of `end` bytes.
/// The drive represents one of `scale` times its size.
pub(super) fn plan_of(params: &Params, end: u64, scale: f64) -> Result<Plan> {
    let each = |name: &str| -> Result<[u64; 3]> {
        params.integers(name).try_into().map_err(|_| {
            Error::Spec(format!("stream: {name}={} must have three values", params.text(name)))
        })
    };
    let is_given = |name: &str| params.text(name) != NONE;
    let least = each("least")?;
    let unit = least.iter().copied().min().unwrap_or(1);
    let whole = |bytes: u64| bytes / unit * unit;
    let (offset, size) = region_of(params, end, scale, unit)?;
    let io_size = match (params.bytes("io_size"), params.number("io_share")) {
        (0, 0.0) => None,
        (0, share) => Some(share_of(share, size)),
        (bytes, _) => Some(bytes),
    };
    let pairs: Vec<u64> = if is_given("zones") { params.integers("zones") } else { Vec::new() };
    let zones: Vec<(u64, u64)> = pairs.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let parameter = params.number("parameter");
    let distribution = match params.text("distribution") {
        "zipf" => Distribution::Skew(Kind::Zipf, parameter),
        "pareto" => Distribution::Skew(Kind::Pareto, parameter),
        "normal" => Distribution::Normal(parameter),
        "zoned" => Distribution::Zoned(zones),
        "zoned-abs" => {
            let bytes =
                |(access, bytes): (u64, u64)| (access, whole((bytes as f64 / scale) as u64));
            Distribution::ZonedAbs(zones.into_iter().map(bytes).collect())
        }
        _ => Distribution::Uniform,
    };
    let mut splits: [Vec<(u64, u64)>; 3] = Default::default();
    if is_given("splits") {
        for triple in params.integers::<u64>("splits").chunks_exact(3) {
            splits[(triple[0] as usize).min(2)].push((triple[1], triple[2]));
        }
    }
    let range = params.bytes("stride_range");
    let strides = (range > 0).then(|| Strides {
        range: whole(range).max(unit),
        size: whole(params.bytes("stride_size")).max(unit),
        skip: whole(params.bytes("stride_skip")),
    });
    let seed = params.integer("seed");
    let seeding = match params.text("seeding") {
        "continued" => Seeding::Continued(seed),
        "fixed" => Seeding::Fixed(seed),
        "fresh" => Seeding::Fresh(seed),
        _ => Seeding::Repeated,
    };
    let is_set = |name: &str| params.integer::<u64>(name) == 1;
    let mut job = Job {
        mode: params.choice("mode", &MODES),
        is_random: is_set("random"),
        run: params.integer::<u64>("run").max(1),
        skip: params.number("skip") as i64,
        is_identical: is_set("identical"),
        least,
        most: each("most")?,
        align: each("align")?,
        splits,
        is_unaligned: is_set("unaligned"),
        is_by_order: is_set("by_order"),
        read_percent: params.integer("read_percent"),
        random_percent: each("random_percent")?,
        has_map: is_set("map") && distribution == Distribution::Uniform,
        generator: params.choice("generator", &GENERATORS),
        distribution,
        center: is_given("center").then(|| params.number("center")),
        offset,
        size,
        end,
        loops: params.integer("loops"),
        io_size,
        number_ios: is_given("requests").then(|| params.integer("requests")),
        is_timed: is_set("endless"),
        strides,
        sprandom: None,
        fsync: params.integer("fsync"),
        seeding,
        number: params.integer("number"),
        scale,
        file_hash: params.integer("name_hash"),
    };
    if is_given("spr_op") {
        prepare_steady_state(&mut job, params)?;
    }
    Ok(Plan {
        is_fresh: matches!(seeding, Seeding::Fresh(_)),
        job,
        phase: params.integer("phase"),
        weight: params.number("weight"),
        handle: params.integer("handle"),
    })
}

/// Makes `sprandom` of a job, with the options that fio sets or demands.
fn prepare_steady_state(job: &mut Job, params: &Params) -> Result<()> {
    let block = job.least[Direction::Write as usize];
    let is_one_size = [job.least, job.most, job.align].iter().flatten().all(|&size| size == block);
    let is_plain = job.mode == Mode::Write
        && job.is_random
        && job.distribution == Distribution::Uniform
        && job.strides.is_none()
        && job.loops == 1;
    if !(is_plain && is_one_size && block.is_power_of_two()) {
        return Err(Error::Spec(
            "stream: spr_op needs mode=write, random=1, distribution=random, loops=1, no \
             stride_range, and one power of two for least, most and align"
                .into(),
        ));
    }
    let sprandom = Sprandom {
        op: params.number("spr_op"),
        regions: params.integer("spr_regions"),
        cache: params.bytes("spr_cache"),
    };
    let region = sprandom.region_bytes(job.size, block);
    let least = block.max(sprandom.cache);
    if region < least {
        return Err(Error::Spec(format!(
            "stream: spr_regions={}, but a region of sprandom must hold a block and the cache; give \
             at most {} regions, or a smaller cache",
            sprandom.regions,
            (sprandom.bytes(job.size, block) / least).max(1)
        )));
    }
    job.io_size = Some(sprandom.bytes(job.size, block));
    (job.generator, job.has_map) = (Generator::Lfsr, false);
    job.sprandom = Some(sprandom);
    Ok(())
}

/// Group of each page: the placement handle of the streams that write it.
pub(super) fn groups_of(
    plans: &[Plan],
    pages: u32,
    page_bytes: u32,
) -> Result<(Table<u8>, Vec<Group>)> {
    let handles = plans.iter().map(|plan| plan.handle).max().unwrap_or(0);
    let mut group_of_page = filled(0, if handles == 0 { 0 } else { pages as usize })?;
    let mut groups = vec![Group { pages: 0, write_share: 0.0 }; usize::from(handles) + 1];
    groups.truncate(MOST_GROUPS);
    if handles == 0 {
        groups[0] = Group { pages, write_share: 1.0 };
        return Ok((group_of_page, groups));
    }
    let mut is_taken = vec![false; pages as usize];
    let mut rates = vec![0.0; groups.len()];
    for Plan { job, handle, weight, .. } in plans {
        let share = match job.mode {
            Mode::Read | Mode::Trim => continue,
            Mode::Mixed => 1.0 - job.read_percent as f64 / 100.0,
            Mode::Write | Mode::TrimWrite => 1.0,
        };
        rates[usize::from(*handle)] += weight * share * (job.least[1] + job.most[1]) as f64;
        let page = |bytes: u64| (bytes / u64::from(page_bytes)) as usize;
        for at in page(job.offset)..page(job.offset + job.size) {
            if is_taken[at] && group_of_page[at] != *handle {
                return Err(Error::Spec(
                    "streams with different placement handles write the same pages; give each \
                     its own offset and size"
                        .into(),
                ));
            }
            (is_taken[at], group_of_page[at]) = (true, *handle);
        }
    }
    let all: f64 = rates.iter().sum();
    for (group, rate) in groups.iter_mut().zip(rates) {
        group.write_share = rate / all;
    }
    for &group in &group_of_page {
        groups[usize::from(group)].pages += 1;
    }
    Ok((group_of_page, groups))
}
