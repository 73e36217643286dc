// SPDX-License-Identifier: Apache-2.0
// Maps, threads, a panic that is caught, and what Rust's runtime does with alternate stacks.
use std::collections::{BTreeMap, HashMap};
use std::{panic, thread};

fn work(seed: u64) -> u64 {
    let mut hash = HashMap::new();
    let mut tree = BTreeMap::new();
    let mut value = seed | 1;
    for i in 0..150_000u64 {
        value = value.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        hash.insert(value >> 20, i);
        tree.insert(value >> 24, i);
    }
    let found: u64 = hash.iter().map(|(key, number)| key ^ number).fold(0, u64::wrapping_add);
    tree.values().fold(found, |sum, number| sum.wrapping_mul(31).wrapping_add(*number))
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    let threads: Vec<_> =
        (0..4).map(|seed| thread::Builder::new().stack_size(64 * 1024).spawn(move || work(seed)).unwrap()).collect();
    for one in threads {
        println!("{}", one.join().unwrap());
    }
    println!("{}", panic::catch_unwind(|| { let nothing: Option<u32> = None; nothing.unwrap() }).is_err());
}
