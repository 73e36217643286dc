// SPDX-License-Identifier: Apache-2.0
// `nvmemu predict`: how long a recorded command would take on other memories.
#include <memory>
#include <string>

#include "predicted.h"
#include "run_options.h"
#include "subcommands.h"
#include "terminal.h"

namespace nvmemu {
namespace {

int run_predict(const PredictOptions& options) {
  const Result<Predicted> predicted = predict_all(options);
  if (!predicted) {
    print_error(predicted.error());
    return kNvmemuFailed;
  }
  if (options.json) {
    print_prediction_json(*predicted);
  } else {
    print_prediction_table(*predicted);
  }
  for (const std::string& warning : predicted->warnings) print_warning(warning);
  return kSuccess;
}

constexpr const char* kPredictFooter =
    R"(The predicted time is the recorded one, less what measuring cost, and lengthened by the delays that the model makes
of each epoch's counts: nothing is run. The error is that of the delays, as of a run report (docs/report.md).

Of several threads it is not known who waited for whom, but when each ran and how much it computed. Where threads
together kept n processors busy, their delays are taken to overlap n-fold; where they kept no more than one busy, to
follow one another; but never is the run lengthened by less than its most delayed thread. The bounds are that thread's
delay, and the sum of all.

With --tier there are two memories: this machine's own, and a slower one beside it. The record says how much was waited
for each 2 MiB of the program's memory, and in which order it came to be, so that it is known what lay where: with the
hottest of it in so much DRAM, with what was touched first there, or with pages in turn. docs/record.md says how sure
that is.

What it cannot know: that a program does other things when memory is slower (time-outs, spinning, work shared out as
threads come for it).

Examples:
  nvmemu record -o app.nvr -- ./app input
  nvmemu predict app.nvr --read-latency 200ns,400ns,2x
  nvmemu predict app.nvr --profile optane-dcpmm --profile cxl-dram --json
  nvmemu predict app.nvr --tier far=cxl-dram --dram 1G,2G,4G
  nvmemu predict app.nvr --tier far=2x,interleave=3:1 --tier nvm=optane-dcpmm,rest

Exit status:
  0    predicted
  125  the file cannot be read or is no whole record, or a target is below the record's base latency,
       or it does not tell which memory was waited for)";

}  // namespace

void add_predict(Parser& app, int& exit_status) {
  Parser subcommand =
      app.add_subcommand("predict", "how long a recorded command would take on other memories");
  const auto options = std::make_shared<PredictOptions>();
  subcommand.add_option("FILE", options->file, "what nvmemu record wrote").required();
  subcommand
      .add_option("--read-latency", options->read_latencies,
                  "what a dependent load from memory shall take: 300ns, or 2x, a\nmultiple of what it took")
      .type_name("LATENCY|Nx,...")
      .delimiter(',');
  subcommand.add_option("--profile", options->profiles, "a memory by its name, or a file that describes one")
      .type_name("NAME|FILE.toml,...")
      .delimiter(',');
  subcommand
      .add_option(
          "--tier", options->tiers,
          "beside this machine's memory there is a slower one, by its\nlatency or profile: far=2x. What "
          "lies in it --dram says, or a\nrule: rest, interleave=3:1, after=SIZE, file=PATH; malloc=SIZE, "
          "caller=NAME\n(recorded with --allocation-sites), node=N (recorded with such a --tier).\nEach is a "
          "case of its own")
      .type_name("NAME=MEMORY[,RULE]");
  subcommand
      .add_option("--dram", options->dram_sizes,
                  "how much of this machine's memory there is beside a --tier\nwithout a rule: with what is "
                  "waited for most in it, and with what\nwas touched first. Of all processes together")
      .type_name("SIZE,...")
      .delimiter(',');
  subcommand
      .add_option("--model", options->model,
                  "what makes a delay of counts: auto, stall, weighted, episodes,\nmisses, remote-share "
                  "[auto: the best that the record allows]")
      .type_name("NAME");
  subcommand
      .add_option("--remote-latency", options->remote_latency,
                  "what a load from another node's memory took: the model\nremote-share needs it")
      .type_name("LATENCY");
  subcommand.add_flag("--json", options->json, "as JSON, schema nvmemu-prediction-1");
  subcommand.footer(kPredictFooter);
  subcommand.callback([options, &exit_status] { exit_status = run_predict(*options); });
}

}  // namespace nvmemu
