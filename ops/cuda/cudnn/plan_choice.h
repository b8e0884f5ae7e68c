// The rule that chooses among cuDNN's proposals for a graph; needs no cuDNN.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace torus::cuda {

// The numerical notes of an engine.
struct EngineNotes {
  bool tensor_cores = false;      // f32 operands lose bits (TF32)
  bool narrows_inputs = false;    // f32 operands are rounded to 16 bits
  bool narrow_sums = false;       // sums are not f32
  bool nondeterministic = false;  // equal calls may give different bits
  bool transforms = false;        // Winograd's or Fourier's, whose rounding errors are larger
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

// Returns the plan of the first proposal that the rules allow, that can be built, and that needs no
// more workspace than allowed; nullopt if there is none. A Source has
//   int64_t Propose(Heuristic)       the length of the list, which the two below then speak of
//   EngineNotes Notes(int64_t i)
//   std::optional<Plan> Build(int64_t i)   with Plan::workspace in bytes; none where it fails
template <class Source>
auto ChoosePlan(Source& source, const EngineRules& rules) -> decltype(source.Build(0)) {
  for (const Heuristic heuristic : {Heuristic::kBest, Heuristic::kFallback}) {
    const int64_t proposals = source.Propose(heuristic);
    for (int64_t i = 0; i < proposals; ++i) {
      if (!Allows(rules, source.Notes(i))) continue;
      auto plan = source.Build(i);
      if (plan.has_value() && plan->workspace <= rules.most_workspace) return plan;
    }
  }
  return std::nullopt;
}

}  // namespace torus::cuda
