#include "tools/ledger/step_work.h"

#include "parallel/trainer/train_hooks.h"
#include "recipes/settings/precision.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/on_device.h"
#include "tools/bench/train_step.h"

namespace torus::ledger {

#ifdef TORUS_SANITIZER
constexpr bool kInstrumented = false;
#else
constexpr bool kInstrumented = kEmulatedGpu;
#endif

// The first step runs launch by launch, the computing of the second is recorded as a graph, the
// update of the third. During the fifth, which is counted, the sixth's batch is copied.
Works CountStep(StepLedger& ledger, const std::string& step, const std::string& precision) {
  Require(kInstrumented, "ledger", "needs a build with --config=emulated_gpu and no sanitizer");
  bench::TrainStepOptions options = bench::ParseGpuStep("ledger", step);
  const Device device{DeviceKind::kCuda, 0};
  options.precision = recipes::CheckedPrecision("ledger", precision, false, device);
  options.graph = true;
  AllocatorFor(device).ReleaseCached();
  bench::TrainStep train(options);
  int done = 0;
  Works works;
  train.Run(6, [&](const parallel::StepReport& report) {
    // What is not computed is zero, and so finite; but small launches are computed, and divide.
    Require(!report.skipped, "ledger",
            "--step {}: the optimizer's step was skipped, as it can be in steps so small that many "
            "of their kernels are computed; take a larger batch",
            step);
    ++done;
    if (done == 4) ledger.Begin();
    if (done == 5) works = ledger.End();
  });
  return works;
}

}  // namespace torus::ledger
