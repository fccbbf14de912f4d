//! Batches of a trace, compared with a replay of one request after another.

use super::*;
use crate::hints::UNTAGGED;
use crate::rng::Stream;

const PAGE_BYTES: u32 = 4096;

/// Requests of all kinds.
/// Most writes have few whole pages; some are long or cover pages in part.
fn requests(random: &mut Stream, count: usize, has_tags: bool) -> Vec<Request> {
    let mut request = |_| {
        let first = random.below(1000);
        let pages = match random.below(8) {
            0..4 => 1,
            4..7 => 1 + random.below(9),
            _ => 1 + random.below(40),
        };
        let op = [Op::Write, Op::Write, Op::Write, Op::Read, Op::Read, Op::Flush, Op::Trim]
            [random.below(7) as usize];
        if op == Op::Flush {
            return Request::flush();
        }
        let is_partial = op != Op::Trim && random.below(8) == 0;
        Request {
            head_bytes: if is_partial { 512 } else { 0 },
            tail_bytes: if is_partial { 1024 } else { 0 },
            tag: if has_tags { random.below(3) as u8 } else { UNTAGGED },
            ..Request::of_pages(op, first..first + pages)
        }
    };
    // A trace must have a write.
    let first = Request::of_pages(Op::Write, 0..1);
    [first].into_iter().chain((1..count).map(&mut request)).collect()
}

/// Replay of one request after another.
struct OneByOne {
    requests: Vec<Request>,
    passes_left: u64,
    at: usize,
    issued: u32,
    unserved: Unserved,
}

/// Pages of a batch with their tags, and partial bytes of the requests that end in it.
#[derive(Default)]
struct Batch {
    pages: Vec<u32>,
    tags: Vec<u8>,
    partials: Vec<(u8, u64)>,
}

impl OneByOne {
    /// The next step, with a batch of at most `most` pages.
    fn next(&mut self, most: usize) -> (Step, Batch) {
        let mut batch = Batch::default();
        loop {
            let is_begun = !batch.pages.is_empty() || most == 0;
            if self.at == self.requests.len() {
                if is_begun {
                    break;
                }
                (self.passes_left, self.at) = (self.passes_left.saturating_sub(1), 0);
            }
            if self.passes_left == 0 {
                return (Step::End, batch);
            }
            let request = self.requests[self.at];
            match request.op {
                Op::Trim if batch.pages.is_empty() => {
                    self.at += 1;
                    return (Step::Request(request), batch);
                }
                Op::Trim => break,
                Op::Write => {
                    if batch.pages.len() == most {
                        break;
                    }
                    batch.pages.push(request.first_page + self.issued);
                    batch.tags.push(request.tag);
                    self.issued += 1;
                    if self.issued == request.pages {
                        let bytes = request.partial_bytes();
                        self.unserved.partial_bytes += bytes;
                        self.unserved.partial_pages += request.partial_pages();
                        batch.partials.extend((bytes > 0).then_some((request.tag, bytes)));
                        (self.issued, self.at) = (0, self.at + 1);
                    }
                    if batch.pages.len() == most {
                        break;
                    }
                }
                Op::Read => {
                    self.unserved.read_pages += u64::from(request.pages);
                    self.unserved.read_bytes += request.bytes(PAGE_BYTES);
                    self.at += 1;
                }
                Op::Flush => {
                    self.unserved.flushes += 1;
                    self.at += 1;
                }
            }
        }
        (Step::Writes(batch.pages.len()), batch)
    }
}

/// Compares batches, in `passes` passes, or in those of 200 batches.
fn check_batches(requests: &[Request], passes: u64, random: &mut Stream) {
    let mut trace = Trace::new(requests.to_vec(), PAGE_BYTES, passes).unwrap();
    let has_tags = requests.iter().any(|request| request.tag != UNTAGGED);
    let mut model = OneByOne {
        requests: requests.to_vec(),
        passes_left: passes,
        at: 0,
        issued: 0,
        unserved: Unserved::default(),
    };
    for _ in 0..200 {
        let mut buffer = vec![0; random.below(4) as usize * random.below(40) as usize];
        let (step, Batch { pages, tags, partials }) = model.next(buffer.len());
        assert_eq!(trace.next(&mut buffer), step);
        assert_eq!(buffer[..pages.len()], pages);
        assert_eq!(trace.tags(), if has_tags { &tags[..] } else { &[] });
        assert_eq!(trace.partials(), if has_tags { &partials[..] } else { &[] });
        assert_eq!(trace.take_unserved(), std::mem::take(&mut model.unserved));
    }
}

#[test]
fn batches_of_a_trace_have_the_pages_of_its_requests_one_by_one() {
    let mut random = Stream::new(1, "test");
    for count in [1, 2, 7, 63, 64, 65, 128, 300] {
        for has_tags in [false, true] {
            let requests = requests(&mut random, count, has_tags);
            for passes in [1, 3, u64::MAX] {
                check_batches(&requests, passes, &mut random);
            }
        }
    }
}

#[test]
fn traces_of_one_operation_and_of_single_pages_have_the_same_batches() {
    let mut random = Stream::new(2, "test");
    for pages in [1, 8, 9] {
        let firsts: Vec<u32> = (0..200).map(|_| random.below(1000)).collect();
        let write = |&first: &u32| Request::of_pages(Op::Write, first..first + pages);
        let requests: Vec<Request> = firsts.iter().map(write).collect();
        check_batches(&requests, u64::MAX, &mut random);
    }
}

#[test]
fn requests_and_batches_of_one_replay_follow_one_another() {
    let mut random = Stream::new(3, "test");
    let requests: Vec<Request> = (0..150)
        .map(|at| Request {
            at_ns: at * 10,
            fua: at % 3 == 0,
            first_page: random.below(1000),
            ..Request::of_pages(Op::Write, 0..1)
        })
        .collect();
    let mut trace = Trace::new(requests.clone(), PAGE_BYTES, 1).unwrap();
    let mut at = 0;
    while at + 10 < requests.len() {
        let mut buffer = [0; 7];
        assert_eq!(trace.next(&mut buffer), Step::Writes(7));
        assert_eq!(buffer, std::array::from_fn(|ahead| requests[at + ahead].first_page));
        assert_eq!(trace.next_request(), Some(requests[at + 7]));
        at += 8;
    }
}
