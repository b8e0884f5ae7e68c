// tools/labs:train_with: trains with a student's ring, and compares the run with one of the
// trainer's own ring.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "recipes/run/read_report.h"
#include "tools/common/run_main.h"
#include "tools/common/stop_signal.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"
#include "tools/labs/train_with/crash_note.h"
#include "tools/labs/train_with/ring_flags.h"
#include "tools/labs/train_with/ring_page.h"
#include "tools/labs/train_with/ring_training.h"
#include "tools/train/run_screen.h"

namespace torus::tools::labs {
namespace {

constexpr int kWrongStatus = 3;

// Whether the ring did its work.
bool IsRight(const RingTraining& training) {
  const bool rounding = training.difference.largest == 0 ||
                        (training.other_order && training.other_order->largest > 0);
  return training.wrong_sum.empty() && training.gave_up.empty() && rounding;
}

void WriteAndSay(const RingFlags& flags, RingTraining training) {
  RingPageInput input{.file = std::filesystem::path(flags.file).filename().string(),
                      .training = std::move(training)};
  input.ring = recipes::ReadReport(input.training.ring);
  input.own = recipes::ReadReport(input.training.own);
  const study::Page page = RingPage(input);
  fmt::print("\n{}page: {}\n", study::ToText(page), study::WritePage(page, flags.run.out, "ring"));
}

// The compiler's files are not needed once they are loaded, so none is left if the ring crashes.
RingLibrary LoadRing(const RingFlags& flags) {
  Compiler compiler(LabsFolder());
  return {compiler, flags.path, static_cast<int>(flags.run.settings.replicas)};
}

int Main(int argc, const char* const* argv) {
  const RingFlags flags = ParseRingFlags(argc, argv);
  if (!flags.help.empty()) {
    fmt::print("{}", flags.help);
    return 0;
  }
  CatchStopSignals();
  const CrashWatch watch;
  const RingLibrary ring = LoadRing(flags);
  fmt::print("{}", ring.messages());
  std::vector<std::unique_ptr<RunScreen>> screens;
  auto training = TrainWithRing(flags.run, ring, [&](const std::string& what) {
    fmt::print("\n{}:\n", what);
    screens.push_back(std::make_unique<RunScreen>());
    return screens.back()->Callbacks();
  });
  if (!training) {
    fmt::print("stopped: what was trained by then is in {}\n", flags.run.out);
    return 128 + StopSignal();
  }
  const bool right = IsRight(*training);
  WriteAndSay(flags, std::move(*training));
  return right ? 0 : kWrongStatus;
}

}  // namespace
}  // namespace torus::tools::labs

int main(int argc, char** argv) {
  return torus::tools::RunMain("train_with", [&] { return torus::tools::labs::Main(argc, argv); });
}
