// ledger --step MODEL:BATCHxSIZE ... [--precision P]: what training steps ask of a GPU, counted on
// an emulated one, and how long an H100 is predicted to take (docs/ledger.md). With --counts: the
// lines of tests/tools/ledger/step_counts.txt.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/ledger/print_ledger.h"
#include "tools/ledger/step_counts.h"
#include "tools/ledger/step_ledger.h"
#include "tools/ledger/step_work.h"

namespace torus::ledger {
namespace {

int Main(int argc, char** argv) {
  std::vector<std::string> steps;
  std::string precision = "bf16", json;
  int kernels = 40;
  bool counts = false;
  CLI::App app(
      "Counts bytes, FLOPs and launches of training steps on an emulated GPU, and "
      "predicts their time on an H100.",
      "ledger");
  app.option_defaults()->always_capture_default();
  app.add_option("--step", steps,
                 "Training step: MODEL:BATCHxSIZE, with :dropout and :mask behind it if wanted; "
                 "may be repeated")
      ->required();
  app.add_option("--precision", precision, "f32, tf32, bf16 or f16");
  app.add_option("--kernels", kernels, "Kernels to print, those of most time")
      ->check(CLI::Range(1, 1 << 20));
  app.add_flag("--counts", counts, "Print for each step only its launches, bytes and moved bytes");
  app.add_option("--json", json, "File to write each launch to. Default: none");
  if (tools::PrintsHelp(app, argc, argv)) return 0;
  json = tools::UserPath(json);
  tools::CheckOutput("ledger", "--json", json);
  StepLedger ledger;
  nlohmann::json all;
  for (const std::string& step : steps) {
    const Works works = CountStep(ledger, step, precision);
    if (counts)
      PrintCounts(step, CountsOf(works), std::cout);
    else
      PrintLedger(step, works, kernels, std::cout);
    if (!json.empty()) all[step] = JsonOf(works);
  }
  if (!json.empty()) tools::WriteOutput(json, all.dump(1) + "\n", stderr);
  return 0;
}

}  // namespace
}  // namespace torus::ledger

int main(int argc, char** argv) {
  return torus::tools::RunMain("ledger", [&] { return torus::ledger::Main(argc, argv); });
}
