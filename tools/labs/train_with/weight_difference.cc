#include "tools/labs/train_with/weight_difference.h"

#include <cmath>

#include "recipes/report/units.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"

namespace torus::tools::labs {
namespace {

bool IsParameter(const std::string& name) {
  for (const char* statistic : {"running_mean", "running_var", "num_batches_tracked"})
    if (name.ends_with(statistic)) return false;
  return true;
}

void Compare(const std::string& name, const Tensor& a, const Tensor& b, WeightDifference& found) {
  Require(a.numel() == b.numel() && a.dtype() == b.dtype(), "ring",
          "{} is {} in one run, {} in the other", name, a, b);
  const float *of_a = a.data<float>(), *of_b = b.data<float>();
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = of_a[i], y = of_b[i], apart = std::abs(x - y);
    if (apart > found.largest) found = {found.count, apart, name, y};
  }
  found.count += a.numel();
}

std::string ApartText(const WeightDifference& difference, int64_t steps) {
  return fmt::format(
      "After {} steps the weights differ from those of the run with the trainer's own ring by up "
      "to {:.3g} ({}, where that one has {:.3g}).",
      steps, difference.largest, difference.tensor, difference.weight);
}

}  // namespace

WeightDifference DifferenceOfWeights(const std::string& run_a, const std::string& run_b) {
  const io::CheckpointReader a(recipes::RunFolder{run_a}.checkpoint()),
      b(recipes::RunFolder{run_b}.checkpoint());
  WeightDifference found;
  for (const auto& [name, entry] : b.entries(io::kWeights))
    if (IsParameter(name))
      Compare(name, a.Read(io::kWeights, name), b.Read(io::kWeights, name), found);
  return found;
}

std::string TextOf(const WeightDifference& difference, int64_t steps,
                   const std::optional<WeightDifference>& other_order) {
  if (difference.largest == 0)
    return fmt::format(
        "After {} steps all {} weights are equal to those of the run with the trainer's own ring.",
        steps, recipes::FormatCount(static_cast<double>(difference.count)));
  const std::string apart = ApartText(difference, steps);
  if (!other_order) return apart;
  if (other_order->largest == 0)
    return apart +
           " The same run with its sums in another order (--collectives direct) differs nowhere: "
           "so the difference is no rounding, and some sum is wrong.";
  return apart + fmt::format(
                     " The same run with its sums in another order (--collectives direct) differs "
                     "by up to {:.3g}: so much is rounding, which grows from step to step.",
                     other_order->largest);
}

}  // namespace torus::tools::labs
