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
    at: usize,
    issued: u32,
    unserved: Unserved,
}

impl OneByOne {
    /// The next step, with the pages and tags of a batch of at most `most` pages.
    /// Passes never end.
    fn next(&mut self, most: usize) -> (Step, Vec<u32>, Vec<u8>) {
        let (mut pages, mut tags) = (Vec::new(), Vec::new());
        loop {
            let is_begun = !pages.is_empty() || most == 0;
            if is_begun && self.at == self.requests.len() {
                break;
            }
            self.at %= self.requests.len();
            let request = self.requests[self.at];
            match request.op {
                Op::Trim if pages.is_empty() => {
                    self.at += 1;
                    return (Step::Request(request), pages, tags);
                }
                Op::Trim => break,
                Op::Write => {
                    if pages.len() == most {
                        break;
                    }
                    pages.push(request.first_page + self.issued);
                    tags.push(request.tag);
                    self.issued += 1;
                    if self.issued == request.pages {
                        self.unserved.partial_bytes += request.partial_bytes();
                        self.unserved.partial_pages += request.partial_pages();
                        (self.issued, self.at) = (0, self.at + 1);
                    }
                    if pages.len() == most {
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
        (Step::Writes(pages.len()), pages, tags)
    }
}

fn check_batches(trace: &mut Trace, requests: &[Request], random: &mut Stream) {
    let has_tags = requests.iter().any(|request| request.tag != UNTAGGED);
    let mut model =
        OneByOne { requests: requests.to_vec(), at: 0, issued: 0, unserved: Unserved::default() };
    for _ in 0..200 {
        let mut buffer = vec![0; random.below(4) as usize * random.below(40) as usize];
        let (step, pages, tags) = model.next(buffer.len());
        assert_eq!(trace.next(&mut buffer), step);
        assert_eq!(buffer[..pages.len()], pages);
        assert_eq!(trace.tags(), if has_tags { &tags[..] } else { &[] });
        assert_eq!(trace.take_unserved(), std::mem::take(&mut model.unserved));
    }
}

#[test]
fn batches_of_a_trace_have_the_pages_of_its_requests_one_by_one() {
    let mut random = Stream::new(1, "test");
    for count in [1, 2, 7, 63, 64, 65, 128, 300] {
        for has_tags in [false, true] {
            let requests = requests(&mut random, count, has_tags);
            let mut trace = Trace::new(requests.clone(), PAGE_BYTES, u64::MAX).unwrap();
            check_batches(&mut trace, &requests, &mut random);
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
        let mut trace = Trace::new(requests.clone(), PAGE_BYTES, u64::MAX).unwrap();
        check_batches(&mut trace, &requests, &mut random);
    }
}

#[test]
fn requests_and_batches_of_one_replay_follow_one_another() {
    let mut random = Stream::new(3, "test");
    let requests: Vec<Request> = (0..150)
        .map(|at| Request {
            at_ns: at * 10,
            fua: at % 3 == 0,
            ..requests(&mut random, 1, false)[0]
        })
        .collect();
    let mut trace = Trace::new(requests.clone(), PAGE_BYTES, 1).unwrap();
    let mut at = 0;
    while at + 10 < requests.len() {
        let mut buffer = [0; 7];
        assert_eq!(trace.next(&mut buffer), Step::Writes(7));
        assert_eq!(trace.next_request(), Some(requests[at + 7]));
        at += 8;
    }
}
