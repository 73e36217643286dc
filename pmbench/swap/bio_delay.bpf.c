// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
// Runs in the kernel, at two of its tracepoints: has each request to one block device take as long as it is
// to. It is held when the device is done with it, by spinning, on the processor that it is done on; of a
// device that answers at once, as zram does, that is the thread's that waits for it.
//
// Of the kernel's structures only what is read is said; where it lies is found when this is loaded (CO-RE).
#include "bio_delay_kernel.h"
#include "bio_delay_settings.h"

struct block_device {
  unsigned int bd_dev;
} __attribute__((preserve_access_index));
struct bvec_iter {
  unsigned long long bi_sector;
  unsigned int bi_size;
} __attribute__((preserve_access_index));
struct bio {
  struct block_device* bi_bdev;
  unsigned int bi_opf;
  struct bvec_iter bi_iter;
} __attribute__((preserve_access_index));
struct request_queue;

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct bio_delay_settings);
} settings SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct bio_delay_counts);
} counts SEC(".maps");

// By the request's address: until when it is held.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 16384);
  __type(key, __u64);
  __type(value, __u64);
} due SEC(".maps");

// What several requests have in common: those that are under way at once may overwrite each other's, by a
// request.
struct state {
  __u64 busy_until, moving_until[2], drained_at;
  __u64 next_sector[2];
};
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct state);
} shared SEC(".maps");

static const __u32 kOnly = 0;

static __u64 later(__u64 a, __u64 b) { return a > b ? a : b; }

SEC("tp_btf/block_bio_queue")
int BPF_PROG(queued, struct bio* bio) {
  const struct bio_delay_settings* set = bpf_map_lookup_elem(&settings, &kOnly);
  struct bio_delay_counts* count = bpf_map_lookup_elem(&counts, &kOnly);
  struct state* at = bpf_map_lookup_elem(&shared, &kOnly);
  if (!set || !count || !at || bio->bi_bdev->bd_dev != set->device) return 0;
  __u32 operation = bio->bi_opf & 0xff;
  if (operation > 1) return 0;  // a flush, a discard
  operation &= 1;
  const __u64 now = bpf_ktime_get_ns(), pages = bio->bi_iter.bi_size >> 12, sector = bio->bi_iter.bi_sector;
  const int follows = sector == at->next_sector[operation];
  at->next_sector[operation] = sector + (bio->bi_iter.bi_size >> 9);

  const __u32 which = bpf_get_prandom_u32() & (NVMEMU_QUANTILES - 1);
  __u64 latency = set->latency_ns[operation][which];
  if (follows && set->sequential_ns[operation][which]) latency = set->sequential_ns[operation][which];
  __u64 begin = now;
  if (operation == 1 && set->drain_page_ns) {  // when the buffer has room
    at->drained_at = later(at->drained_at, now) + pages * set->drain_page_ns;
    if (at->drained_at > now + set->buffer_ns) begin = at->drained_at - set->buffer_ns;
  }
  if (set->one_at_a_time) begin = later(begin, at->busy_until);
  const __u64 moves = pages * set->page_ns[operation];
  at->moving_until[operation] = later(at->moving_until[operation], now) + moves;
  const __u64 done = later(begin + latency + moves, at->moving_until[operation]);
  at->busy_until = done;
  // Who reads waits. Who writes does not, as to a device that answers later: until it is too far behind.
  __u64 held = done;
  if (operation == 1) held = done > now + set->write_queue_ns ? done - set->write_queue_ns : 0;
  const __u64 key = (__u64)bio;
  if (held) bpf_map_update_elem(&due, &key, &held, 0);

  __sync_fetch_and_add(&count->requests[operation], 1);
  __sync_fetch_and_add(&count->pages[operation], pages);
  __sync_fetch_and_add(&count->sequential[operation], follows);
  __sync_fetch_and_add(&count->device_ns[operation], done - now);
  return 0;
}

struct spin {
  __u64 until;
};
static long look(__u32 step, struct spin* spin) { return bpf_ktime_get_ns() >= spin->until; }

SEC("tp_btf/block_bio_complete")
int BPF_PROG(completed, struct request_queue* queue, struct bio* bio) {
  const __u64 key = (__u64)bio;
  const __u64* found = bpf_map_lookup_elem(&due, &key);
  struct bio_delay_counts* count = bpf_map_lookup_elem(&counts, &kOnly);
  if (!found || !count) return 0;
  struct spin spin = {*found};
  bpf_map_delete_elem(&due, &key);
  const __u64 begin = bpf_ktime_get_ns();
  if (begin < spin.until) {
    bpf_loop(1 << 23, look, &spin, 0);
  } else {
    __sync_fetch_and_add(&count->overdue, 1);
  }
  const __u64 end = bpf_ktime_get_ns();
  __sync_fetch_and_add(&count->spun_ns, end - begin);
  __u64 late = end - spin.until;
  __u32 bucket = 0;
  for (int i = 0; i < NVMEMU_LATE_BUCKETS - 1 && late; ++i, late >>= 1) bucket = i + 1;
  __sync_fetch_and_add(&count->late[bucket & (NVMEMU_LATE_BUCKETS - 1)], 1);
  return 0;
}

// What the kernel's helpers ask for.
char LICENSE[] SEC("license") = "Dual BSD/GPL";
