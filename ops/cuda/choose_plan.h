// The rule by which one of a library's proposals is taken; needs no library.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/cuda/plans.h"
#include "runtime/error.h"

namespace torus::cuda {

// What a plan is wanted for.
struct PlanQuestion {
  std::string what{};      // its full description; may be empty without plans
  Plans* plans = nullptr;  // null: the first proposal
  bool may_time = true;    // false while the thread records a graph, when nothing runs
};

// Proposals that are timed for one question. Later ones of a list are rarely quicker.
inline constexpr int64_t kMostTimed = 8;

// A proposal that was built.
template <class Plan>
struct PlanCandidate {
  int64_t index;  // in its list
  Plan plan;
};

// At most `most` of the first `proposals` of the list last asked for.
template <class Source>
auto BuildCandidates(Source& source, int64_t proposals, int64_t most) {
  using Plan = typename decltype(source.Build(0))::value_type;
  std::vector<PlanCandidate<Plan>> built;
  for (int64_t i = 0; i < proposals && std::ssize(built) < most; ++i) {
    if (!source.IsAllowed(i)) continue;
    if (auto plan = source.Build(i)) built.push_back({i, std::move(*plan)});
  }
  return built;
}

// The place of the quickest, of several the first. One that cannot be run is never quicker.
template <class Source, class Candidates>
size_t QuickestOf(Source& source, const Candidates& candidates) {
  size_t best = 0;
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < candidates.size(); ++i) try {
      const double seconds = source.Seconds(candidates[i].plan);
      if (seconds < least) best = i, least = seconds;
    } catch (const BrokenEnvironment&) {
    }
  return best;
}

// The plan of a choice that was made earlier. Throws BrokenEnvironment if the library now proposes
// something else in its place: another plan may give other bits.
template <class Source>
auto BuildChosen(Source& source, const std::string& what, const PlanChoice& choice)
    -> decltype(source.Build(0)) {
  int64_t before = 0;
  for (int list = 0; list < Source::kLists; ++list) {
    const int64_t proposals = source.Propose(list), i = choice.index - before;
    before += proposals;
    if (i >= proposals) continue;
    const std::string now = source.Text(i);
    if (now != choice.proposal)
      Throw<BrokenEnvironment>("plans",
                               "{}: proposal {} was {} when it was chosen, now it is {}; --plans "
                               "none goes on without the choices",
                               what, choice.index, choice.proposal, now);
    if (source.IsAllowed(i))
      if (auto plan = source.Build(i)) return plan;
    Throw<BrokenEnvironment>("plans",
                             "{}: proposal {}, {}, was chosen and cannot be built any more; "
                             "--plans none goes on without the choices",
                             what, choice.index, choice.proposal);
  }
  Throw<BrokenEnvironment>("plans",
                           "{}: proposal {} was chosen, and now there are only {}; --plans none "
                           "goes on without the choices",
                           what, choice.index, before);
}

// The plan for what nothing is chosen yet, from a list with `before` proposals in lists before it.
template <class Source>
auto ChooseFromList(Source& source, const PlanQuestion& question, int64_t proposals, int64_t before)
    -> decltype(source.Build(0)) {
  Plans* const plans = question.plans;
  const bool autotunes = plans != nullptr && plans->autotunes();
  const int64_t most = autotunes && question.may_time ? kMostTimed : 1;
  auto candidates = BuildCandidates(source, proposals, most);
  if (candidates.empty()) return std::nullopt;
  const bool timed = candidates.size() > 1;
  auto& [index, plan] = candidates[timed ? QuickestOf(source, candidates) : 0];
  if (timed) plans->counts().timed += std::ssize(candidates);
  if (autotunes) plans->Add(question.what, {before + index, source.Text(index), timed});
  return std::move(plan);
}

// Returns the plan that the question's plans have chosen. Where they have none: if they autotune
// and several proposals of a list can be built, the quickest of them; else the first that can be
// built; nullopt if there is none. Later lists are asked for only if nothing of the earlier ones
// can be built. Plans that autotune keep every choice, also one that was not timed. A Source has
//   static constexpr int kLists
//   int64_t Propose(int list)          the length of the list, which the others then speak of
//   bool IsAllowed(int64_t i)
//   std::string Text(int64_t i)        the whole proposal
//   std::optional<Plan> Build(int64_t i)
//   double Seconds(const Plan& plan)   runs it several times; changes nothing that is read later
template <class Source>
auto ChoosePlan(Source& source, const PlanQuestion& question) -> decltype(source.Build(0)) {
  decltype(source.Build(0)) plan;
  const PlanChoice* const chosen =
      question.plans == nullptr ? nullptr : question.plans->Find(question.what);
  if (chosen != nullptr) {
    plan = BuildChosen(source, question.what, *chosen);
    ++question.plans->counts().known;
  }
  int64_t before = 0;
  for (int list = 0; list < Source::kLists && !plan.has_value(); ++list) {
    const int64_t proposals = source.Propose(list);
    plan = ChooseFromList(source, question, proposals, before);
    before += proposals;
  }
  if (question.plans != nullptr && plan.has_value()) ++question.plans->counts().made;
  return plan;
}

}  // namespace torus::cuda
