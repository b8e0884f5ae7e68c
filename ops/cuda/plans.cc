#include "ops/cuda/plans.h"

#include <atomic>
#include <utility>

#include "runtime/error.h"

namespace torus::cuda {
namespace {

thread_local Plans* current = nullptr;

uint64_t NextId() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

}  // namespace

void PlanCounts::Add(const PlanCounts& other) {
  made += other.made;
  compiled += other.compiled;
  known += other.known;
  timed += other.timed;
  for (const auto& [what, calls] : other.fallbacks) fallbacks[what] += calls;
}

Plans::Plans(bool autotune, PlanChoices choices)
    : autotune_(autotune),
      id_(autotune || !choices.empty() ? NextId() : 0),
      choices_(std::move(choices)) {}

const PlanChoice* Plans::Find(const std::string& what) const {
  const auto found = choices_.find(what);
  return found == choices_.end() ? nullptr : &found->second;
}

void Plans::Add(const std::string& what, PlanChoice choice) {
  const bool is_new = choices_.emplace(what, std::move(choice)).second;
  TORUS_CHECK(is_new, "there is a choice already for {}", what);
}

WithPlans::WithPlans(Plans* plans) : before_(std::exchange(current, plans)) {}
WithPlans::~WithPlans() { current = before_; }
Plans* WithPlans::Current() { return current; }

uint64_t CurrentPlansId() { return current == nullptr ? 0 : current->id(); }

void CountFallback(const std::string& what) {
  if (current != nullptr) ++current->counts().fallbacks[what];
}

}  // namespace torus::cuda
