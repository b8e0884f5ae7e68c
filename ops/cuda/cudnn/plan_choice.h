// The rule that chooses among cuDNN's proposals for a graph; needs no cuDNN.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "ops/cuda/choose_plan.h"

namespace torus::cuda {

// The notes of an engine.
struct EngineNotes {
  bool tensor_cores = false;      // f32 operands lose bits (TF32)
  bool narrows_inputs = false;    // f32 operands are rounded to 16 bits
  bool narrow_sums = false;       // sums are not f32
  bool nondeterministic = false;  // equal calls may give different bits
  bool transforms = false;        // Winograd's or Fourier's, whose rounding errors are larger
  bool compiles = false;          // its kernel at run time
};

// What a caller allows. Engines that are nondeterministic, sum in less than f32 or use transforms
// are never allowed.
struct EngineRules {
  bool tensor_cores = true;
  int64_t most_workspace = 0;  // bytes
};

inline bool Allows(const EngineRules& rules, const EngineNotes& notes) {
  const bool exact_inputs = rules.tensor_cores || (!notes.tensor_cores && !notes.narrows_inputs);
  return exact_inputs && !notes.narrow_sums && !notes.nondeterministic && !notes.transforms;
}

// cuDNN's lists of proposals, in the order in which they are asked for.
enum class Heuristic : uint8_t {
  kBest,      // mode A: the best first
  kFallback,  // engines that take nearly everything, slowly
};

// A Source of cuda::ChoosePlan: those of the engines' plans that the rules allow and that need no
// more workspace than allowed. Engines have
//   int64_t Propose(Heuristic)       the length of the list, which the others then speak of
//   EngineNotes Notes(int64_t i)
//   std::string Text(int64_t i)
//   std::optional<Plan> Build(int64_t i)   with Plan::workspace in bytes; none where it fails
//   double Seconds(const Plan&)
template <class Engines>
class AllowedPlans {
 public:
  static constexpr int kLists = 2;

  AllowedPlans(Engines& engines, const EngineRules& rules) : engines_(engines), rules_(rules) {}

  int64_t Propose(int list) {
    return engines_.Propose(list == 0 ? Heuristic::kBest : Heuristic::kFallback);
  }
  bool IsAllowed(int64_t i) { return Allows(rules_, engines_.Notes(i)); }
  std::string Text(int64_t i) { return engines_.Text(i); }
  auto Build(int64_t i) -> decltype(std::declval<Engines&>().Build(0)) {
    auto plan = engines_.Build(i);
    if (!plan.has_value() || plan->workspace > rules_.most_workspace) return std::nullopt;
    return plan;
  }
  template <class Plan>
  double Seconds(const Plan& plan) {
    return engines_.Seconds(plan);
  }

 private:
  Engines& engines_;
  const EngineRules& rules_;
};

// The plan that is chosen; nullopt if there is none that the rules allow.
template <class Engines>
auto ChooseEngine(Engines& engines, const EngineRules& rules, const PlanQuestion& question = {})
    -> decltype(engines.Build(0)) {
  AllowedPlans<Engines> allowed(engines, rules);
  return ChoosePlan(allowed, question);
}

}  // namespace torus::cuda
