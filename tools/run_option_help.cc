// SPDX-License-Identifier: Apache-2.0
// The options of `nvmemu run` and `nvmemu record` as --help shows them.
#include "run_options.h"

namespace nvmemu {
namespace {

constexpr const char* kMemory = "The emulated memory";
constexpr const char* kMeasuring = "How it is measured";
constexpr const char* kOutput = "Output";

// Adds options that take a text, the last one counting.
class Adder {
 public:
  explicit Adder(Parser& app) : app_(app) {}
  void operator()(const char* name, std::string& value, const char* type, const char* help,
                  const char* group) const {
    app_.add_option(name, value, help).type_name(type).group(group).take_last();
  }

 private:
  Parser& app_;
};

void add_memory_options(Parser& app, RunOptions& options) {
  const Adder add(app);
  add("--profile", options.profile, "NAME|FILE.toml",
      "a memory by its name (nvmemu profiles lists them), or a file\nthat describes one", kMemory);
  add("--read-latency", options.read_latency, "LATENCY|Nx",
      "what a dependent load from memory shall take: 300ns, 1.2us\n(ns, us, ms, s; 1 ns to 1 s), or 2x, "
      "1.5x: a multiple of what it\n"
      "takes here (1 to 1000000). Goes before the profile's",
      kMemory);
  add("--write-latency", options.write_latency, "LATENCY|Nx",
      "what a persist shall take (flushes and a fence, by libpmem,\nlibpmem2 or told by nvmemu_persisted(); "
      "others are\nestimated), or a multiple of what it takes here.\nGoes before the profile's "
      "(docs/persists.md)",
      kMemory);
  add("--read-bandwidth", options.read_bandwidth, "BANDWIDTH",
      "what all threads and processes of the run may read together,\nas 8GB/s or 6GiB/s; 1 MB/s to 100 TB/s. "
      "A line that is read\n"
      "because it will be written counts. Goes before the profile's",
      kMemory);
  add("--write-bandwidth", options.write_bandwidth, "BANDWIDTH", "likewise, what they may write", kMemory);
  app.add_option(
         "--tier", options.tiers,
         "a part of the memory is another one: nvm=optane-dcpmm,file=/mnt,\nfar=cxl-dram,interleave=3:1, "
         "far=cxl-dram,node=1 (a NUMA node\nwithout processors), slow=500ns,rest, or, placed by the "
         "program\nitself, "
         "slow=2x. May be given 7 times (docs/tiers.md)")
      .type_name("NAME=MEMORY[,RULE...]")
      .group(kMemory);
  add("--tiers", options.tiers_file, "FILE", "such parts, each a [[tier]] of a TOML file", kMemory);
  add("--policy", options.policy, "none|hot|two-touch",
      "with a tier by after=SIZE: what moves 2 MiB at a time between that\nmuch DRAM and the tier: what is "
      "waited "
      "for most is to be in DRAM,\nat once or when it was in two windows in a row "
      "(hot,window=1s,\nrate=1GB/s; "
      "docs/tiers.md) [none: all stays where it is]",
      kMemory);
  add("--dram", options.dram, "SIZE",
      "how much DRAM each process has for its memory: 256M. What it has\nbeyond that is kept in a file, and "
      "paged in and out (docs/pager.md)",
      kMemory);
  add("--page-to", options.page_to, "FOLDER|FILE",
      "where that file is made, without a name of its own [/dev/shm]", kMemory);
  add("--page-latency", options.page_latency, "TIME",
      "how long that device takes for a request: 5us [no time]", kMemory);
  add("--page-device", options.page_device, "NAME|FILE.toml",
      "or which device that is: hdd-2008, nvme-flash, optane-ssd, ..., or a\nfile that describes one (nvmemu "
      "profiles --help; docs/pager.md)",
      kMemory);
  add("--page-layout", options.page_layout, "log|in-place|scattered",
      "where pages are written: to the end of a log, each to a place of its\nown, or at random [log]",
      kMemory);
  add("--page-readahead", options.page_readahead, "none|window|adaptive",
      "what is read beside a page that is needed: nothing, what lies around\nit, or that while it helps "
      "[none]",
      kMemory);
  add("--page-policy", options.page_policy, "fifo|random|clock",
      "which pages leave DRAM: the oldest, any, or the oldest that were of\nno use since [fifo]", kMemory);
  add("--page-handler", options.page_handler, "signal|thread",
      "who brings a page that is missing: the thread that touched it, or one\nof the emulator's, which takes "
      "root or CAP_SYS_PTRACE [signal]",
      kMemory);
  add("--page-store", options.page_store, "auto|direct|cached",
      "how the file for pages is read and written: past the page cache, so\nthat what is in it is out of "
      "DRAM; through it; or past it where that\ncan be [auto]",
      kMemory);
  app.add_option("--storage", options.storage,
                 "files below DIR behave as if they lay on other storage: ssd-nvme,\nssd-sata, hdd-7200, "
                 "optane-dax, ..., or a block device that takes\n100us for each request; or FILE.toml, that "
                 "describes one (nvmemu\nprofiles --help). They stay where they are, in DIR. May be given "
                 "8\ntimes. Crash "
                 "consistency is not emulated: nothing that was not\nsynced is lost (docs/storage.md)")
      .type_name("DIR=PROFILE|FILE.toml|LATENCY")
      .group(kMemory);
  add("--page-cache", options.page_cache, "SIZE", "what the page cache before such a block device holds [1G]",
      kMemory);
  add("--throttle", options.throttle, "auto|governor|hardware",
      "what keeps to them: the governor, in software, anywhere; or the\nmemory controllers (as root, see "
      "nvmemu throttle), and the\n"
      "governor where that cannot be had [auto: the governor]",
      kMemory);
  add("--node", options.node, "N", "with --throttle hardware: the NUMA node whose memory it limits [0]",
      kMemory);
  app.add_option("--throttle-root", options.throttle_root, "").group("");
}

void add_model_options(Parser& app, RunOptions& options) {
  const Adder add(app);
  add("--source", options.source, "auto|pmu|sampler|replay:FILE",
      "what counts stalls: hardware counters, samples, or what nvmemu\nrecord counted (for tests of the "
      "emulator) [auto: the counters\nwhere they have passed their test (nvmemu info), else, and where\n"
      "bandwidth is measured, the sampler]",
      kMeasuring);
  add("--model", options.model, "NAME",
      "what makes a delay of them: auto, stall, weighted, episodes,\nmisses, remote-share [auto: the best "
      "that "
      "the source allows;\nwith the sampler: stall]",
      kMeasuring);
  add("--remote-latency", options.remote_latency, "LATENCY",
      "what a load from another node's memory takes here: the model\nremote-share needs it", kMeasuring);
}

void add_measuring_options(Parser& app, RunOptions& options) {
  const Adder add(app);
  add("--epoch", options.epoch, "TIME", "CPU time of a thread between two delays: 1 ms to 10 s [100ms]",
      kMeasuring);
  add("--ticker", options.ticker, "auto|perf|timer",
      "what samples: perf_event, or POSIX timers where that is refused\n[auto: the first that works]",
      kMeasuring);
  app.add_flag(
         "--no-walks", options.no_walks,
         "do not walk ahead of the program to tell loads from memory from\ncache hits (docs/walking.md): all "
         "loads count as from memory")
      .group(kMeasuring);
  app.add_flag("--allocation-sites", options.allocation_sites,
               "tell what is waited for by the calls that allocated it: blocks of\n64 KiB and more "
               "(docs/report.md, "
               "places)")
      .group(kMeasuring);
  add("--without-rules", options.without_rules, "NAME,...",
      "do without these rules of the sampler's, to see what each buys\n(docs/ablation.md)", kMeasuring);
  add("--base-latency", options.base_latency, "LATENCY",
      "what a load takes here [measured when the run starts]", kMeasuring);
}

void add_alternate_option(Parser& app, RunOptions& options) {
  const Adder add(app);
  add("--alternate", options.alternate, "TIME",
      "delays off and on in turn, in windows of 10 ms to 60 s (500ms\nsuits most): the run is its own "
      "control. The report has the\nwindows, and what the program did in each where it says so by\n"
      "nvmemu_progress() or in a file (docs/alternation.md)",
      kMeasuring);
  add("--progress-file", options.progress_file, "FILE",
      "with --alternate: a file that says what the program has done, for\none that does not call "
      "nvmemu_progress(): the first number in it,\nwhich grows, and is written anew ten times a window or "
      "more.\nCounts instead of what the program tells",
      kMeasuring);
}

void add_output_options(Parser& app, RunOptions& options) {
  const Adder add(app);
  app.add_flag("--stat", options.stat,
               "measure what the command moves to and from memory, over time:\nin the report, and in short "
               "on stderr. Needs no target")
      .group(kOutput);
  add("--report", options.report, "FILE.json", "write the run report there", kOutput);
  app.add_flag("--no-wait", options.no_wait,
               "report and exit when the command ends, even if processes that it\nstarted still run")
      .group(kOutput);
  app.add_flag(
         "--no-aslr", options.no_aslr,
         "start the command with its addresses not randomised, for programs\nthat need them to be the same "
         "in each process (Filebench)")
      .group(kOutput);
  app.add_flag("-q,--quiet", options.quiet, "nothing on stderr but errors, unless the command ran natively")
      .group(kOutput);
  app.add_flag("-v,--verbose", options.verbose, "say on stderr what is done before the command starts")
      .group(kOutput);
}

}  // namespace

void add_run_options(Parser& app, RunOptions& options) {
  add_memory_options(app, options);
  add_model_options(app, options);
  add_measuring_options(app, options);
  add_alternate_option(app, options);
  add_output_options(app, options);
}

void add_record_options(Parser& app, RunOptions& options) {
  const Adder add(app);
  add("--source", options.source, "auto|pmu|sampler",
      "what counts stalls: hardware counters, or samples [auto: the\ncounters where they have passed "
      "their test (nvmemu info), else\nthe sampler]",
      kMeasuring);
  add_measuring_options(app, options);
  app.add_option(
         "--tier", options.tiers,
         "a NUMA node without processors that the program is to be shown, so\nthat nvmemu predict can "
         "tell what it puts there: far=2x,node=1,\nsize=64GiB. Nothing is slower (docs/record.md)")
      .type_name("NAME=MEMORY,node=N[,size=SIZE]")
      .group(kMeasuring);
  add_output_options(app, options);
}

}  // namespace nvmemu
