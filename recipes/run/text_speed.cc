#include "recipes/run/text_speed.h"

#include <algorithm>
#include <chrono>

#include "autograd/node.h"
#include "autograd/precision.h"
#include "ops/matmul/matmul.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/model/model_of.h"
#include "recipes/run/task.h"
#include "runtime/team_size_guard.h"

namespace torus::recipes {
namespace {

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// FLOP a second, of the best of some products.
double MeasuredPeak(const Settings& settings) {
  constexpr int64_t kSize = 768;
  constexpr int kRepeats = 10;  // after one that warms up
  const NoGrad no_grad;
  const WithPrecision precision(PrecisionOf(settings));
  const TeamSizeGuard team(static_cast<int>(settings.threads));
  const Variable a(Full({kSize, kSize}, 0.5)), b(Full({kSize, kSize}, 0.25));
  double best = 0;
  for (int i = 0; i <= kRepeats; ++i) {
    const double begin = Seconds();
    const Variable c = ops::Matmul(a, b);
    const double seconds = Seconds() - begin;
    if (i > 0) best = std::max(best, 2.0 * kSize * kSize * kSize / seconds);
  }
  return best;
}

double TrainingFlops(const Task& task) {
  double flops = 0;
  for (const nn::LayerSummary& layer : DescribeLayers(task.settings(), task.data().form))
    flops += static_cast<double>(layer.cost.flops);
  return 3 * flops / static_cast<double>(LargestMicroBatch(task.settings()));
}

}  // namespace

TextSpeed TextSpeedOf(const Task& task) {
  const Settings& settings = task.settings();
  if (settings.data != "text") return {};
  TextSpeed speed{.tokens = settings.length};
  const bool all_logits = ModelOf(settings).task == ModelTask::kNextToken;
  if (all_logits && settings.device == "cpu" && !settings.emulate)
    speed.peak_seconds = TrainingFlops(task) / MeasuredPeak(settings);
  return speed;
}

}  // namespace torus::recipes
