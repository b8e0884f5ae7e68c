#include "tools/labs/train_with/weight_difference.h"

#include <cmath>

#include "recipes/report/units.h"
#include "recipes/run/run_folder.h"
#include "runtime/error.h"
#include "runtime/io/checkpoint_reader.h"

namespace torus::tools::labs {
namespace {

// Rounding grows from step to step, by chance: of two runs that differ by it alone one may be that
// many times further away.
constexpr double kOfOneSize = 10;

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

std::string OrderText(double largest, double other_order) {
  const std::string order = fmt::format(
      " The same run with its sums in another order (--collectives direct) differs by up to "
      "{:.3g}: that is what rounding comes to over these steps.",
      other_order);
  if (largest <= kOfOneSize * other_order)
    return order + " The ring's difference is of that size: it is rounding.";
  return order + " The ring's difference is no rounding: it sums something else.";
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

std::string VerdictOn(const WeightDifference& difference, int ranks, int64_t steps,
                      const std::optional<WeightDifference>& other_order) {
  if (difference.largest == 0)
    return fmt::format(
        "After {} steps all {} weights are equal to those of the run with the trainer's own ring.",
        steps, recipes::FormatCount(static_cast<double>(difference.count)));
  const std::string apart = ApartText(difference, steps);
  if (other_order) return apart + OrderText(difference.largest, other_order->largest);
  if (ranks > 2) return apart;
  return apart + " Two terms have one sum, in either order: so it is no rounding.";
}

}  // namespace torus::tools::labs
