/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only */
/* What the program in the kernel (bio_delay.bpf.c) and the one that loads it have in common. Times in ns. */
#pragma once

#define NVMEMU_QUANTILES 1024 /* of a latency, a power of two */
#define NVMEMU_LATE_BUCKETS 32

/* By operation: 0 reads, 1 writes. */
struct bio_delay_settings {
  unsigned int device; /* as the kernel numbers it: major << 20 | minor */
  unsigned int one_at_a_time;
  unsigned long long latency_ns[2][NVMEMU_QUANTILES];    /* any of these, as likely as any other */
  unsigned long long sequential_ns[2][NVMEMU_QUANTILES]; /* where it follows the one before; 0: as usual */
  unsigned long long page_ns[2];                         /* to move one */
  unsigned long long write_queue_ns; /* how far behind the device may be before who writes has to wait */
  unsigned long long drain_page_ns;  /* of the write buffer; 0: it never fills */
  unsigned long long buffer_ns;      /* what it holds, in the time that it takes to drain */
};

struct bio_delay_counts {
  unsigned long long requests[2], pages[2], sequential[2];
  unsigned long long device_ns[2]; /* that they were to take, in sum */
  unsigned long long spun_ns;
  unsigned long long overdue;                   /* took longer natively than they were to */
  unsigned long long late[NVMEMU_LATE_BUCKETS]; /* [i]: less than 2^i ns late, and no less than 2^(i-1) */
};
