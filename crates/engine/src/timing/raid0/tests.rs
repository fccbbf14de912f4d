//! Tests of an array of servers with known service times.

use super::*;
use crate::rng::Stream;
use crate::timing::tests::server::Server;

fn server(stripes: u64) -> Server {
    Server { capacity_bytes: stripes * 1024, depth: 4, byte_ns: 10, ..Server::default() }
}

fn array(servers: Vec<Server>) -> Raid0 {
    let member = |server| Member { device: Box::new(server), dies: 3 };
    Raid0::new(servers.into_iter().map(member).collect(), 1024).unwrap()
}

fn read(offset: u64, length: u64) -> IoRequest {
    IoRequest::new(Op::Read, offset, length)
}

fn run(array: &mut Raid0) -> Vec<(u32, u64)> {
    let mut completed = Vec::new();
    while array.next_event_ns().is_some() {
        array.step(&mut completed).unwrap();
    }
    completed.iter().map(|completion| (completion.id, completion.at_ns)).collect()
}

#[test]
fn each_byte_lies_on_the_member_of_its_stripe() {
    let mut random = Stream::new(1, "requests");
    for _ in 0..300 {
        let members = 1 + random.below(4) as usize;
        let array = array((0..members).map(|_| server(8)).collect());
        let capacity = array.capacity_bytes();
        let offset = u64::from(random.below(capacity as u32));
        let length = 1 + u64::from(random.below((capacity - offset) as u32));
        let mut on_member = vec![Vec::new(); members];
        for byte in offset..offset + length {
            let (stripe, within) = (byte / 1024, byte % 1024);
            let (member, row) = (stripe as usize % members, stripe / members as u64);
            on_member[member].push(row * 1024 + within);
        }
        for (number, expected) in on_member.iter().enumerate() {
            let member_request = array.member_request(&read(offset, length), number);
            let bytes = member_request.map_or(0..0, |member_request| {
                member_request.offset..member_request.offset + member_request.length
            });
            assert_eq!(bytes.collect::<Vec<_>>(), *expected, "{offset} + {length}, {number}");
        }
    }
}

#[test]
fn two_members_take_half_the_time_of_one_for_a_sequential_read() {
    for (members, expected_ns) in [(1, 64 * 10_240), (2, 32 * 10_240)] {
        let mut array = array((0..members).map(|_| server(64)).collect());
        array.submit(0, &read(0, 64 * 1024), 5).unwrap();
        assert_eq!(run(&mut array), [(5, expected_ns)]);
    }
}

#[test]
fn a_request_is_complete_when_its_last_part_is() {
    let slow = Server { request_ns: 1_000_000, ..server(8) };
    let mut array = array(vec![server(8), slow]);
    // One stripe on the first member; one stripe on each; 512 bytes on the second member, which
    // waits for its stripe.
    for (id, (offset, length)) in [(0, 1024), (0, 2048), (1024, 512)].into_iter().enumerate() {
        array.submit(0, &read(offset, length), id as u32).unwrap();
    }
    let second_ns = 1_000_000 + 10_240;
    assert_eq!(run(&mut array), [(0, 10_240), (1, second_ns), (2, second_ns + 1_000_000 + 5120)]);
}

#[test]
fn a_member_gets_no_more_than_it_takes_at_once() {
    let mut array = array(vec![server(8), server(8)]);
    assert_eq!(array.depth(), 8);
    // All requests go to the first member. It accepts four and would panic at a fifth.
    (0..8).for_each(|id| array.submit(0, &read(0, 1024), id).unwrap());
    let expected: Vec<_> = (0..8).map(|id| (id, u64::from(id + 1) * 10_240)).collect();
    assert_eq!(run(&mut array), expected);
}

#[test]
fn a_flush_goes_to_every_member() {
    let slow = Server { request_ns: 700, ..server(8) };
    let mut array = array(vec![slow, server(8)]);
    let flush = IoRequest::new(Op::Flush, 0, 0);
    array.submit(10, &flush, 1).unwrap();
    assert_eq!(run(&mut array), [(1, 710)]);
}

#[test]
fn the_smallest_member_says_how_many_stripes_each_has() {
    let uneven = Server { capacity_bytes: 5 * 1024 + 1000, ..server(0) };
    let mut array = array(vec![server(8), uneven]);
    assert_eq!(array.capacity_bytes(), 2 * 5 * 1024);
    array.submit(0, &read(2 * 5 * 1024 - 1, 1), 0).unwrap();
    let error = array.submit(0, &read(2 * 5 * 1024 - 1, 2), 0).unwrap_err().to_string();
    assert!(error.contains("10240 bytes"), "{error}");
    assert!(array.submit(0, &read(0, 0), 0).unwrap_err().to_string().contains("length"));
}

#[test]
fn impossible_arrays_are_refused_in_a_sentence() {
    let refused = |members: Vec<Member>, stripe_bytes, words: &str| {
        let error = Raid0::new(members, stripe_bytes).err().expect("a refusal").to_string();
        assert!(error.contains(words), "{error}");
    };
    let one = || vec![Member { device: Box::new(server(1)), dies: 0 }];
    refused(Vec::new(), 1024, "no member");
    refused(one(), 0, "multiple of 512");
    refused(one(), 1000, "multiple of 512");
    refused(one(), 2048, "must hold a stripe of 2048 bytes");
}

#[test]
fn dies_are_numbered_on_and_edges_stand_in_the_order_of_time() {
    let edge = |at_ns, die| Edge { at_ns, die, busy: true };
    let members = [(vec![edge(5, 0), edge(9, 2)], 3), (vec![edge(7, 1)], 2), (vec![edge(1, 0)], 1)];
    let member = |(edges, dies)| {
        let device = Box::new(Server { edges, ..server(1) });
        Member { device, dies }
    };
    let mut array = Raid0::new(members.into_iter().map(member).collect(), 1024).unwrap();
    let mut edges = vec![edge(0, 0)];
    array.take_edges(&mut edges);
    assert_eq!(edges, [edge(0, 0), edge(1, 5), edge(5, 0), edge(7, 4), edge(9, 2)]);
}

#[test]
fn counts_and_busy_times_are_those_of_all_members() {
    let counted = |erases| {
        let mut counters = Counters::default();
        (counters.erases, counters.host.written_pages) = (erases, 10 * erases);
        Some(counters)
    };
    let flash = |erases| Server { counters: counted(erases), ..server(8) };
    assert_eq!(array(vec![server(8), server(8)]).counters(), None);
    let mut mixed = array(vec![flash(3), server(8), flash(4)]);
    assert_eq!(mixed.counters(), counted(7));
    mixed.submit(0, &read(0, 2048), 0).unwrap();
    mixed.submit(10_214, &read(2048, 1024), 1).unwrap();
    let busy = Busy { level: "head", parts: 3, busy_ns: 2 * 10_240 + 26 };
    assert_eq!(mixed.busy(10_240), [busy]);
}
