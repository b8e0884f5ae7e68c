// Plans: which of the proposals of cuBLASLt and cuDNN a rank takes for each of its products and
// graphs, and how often plans were made. Needs neither CUDA nor a GPU.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace torus::cuda {

// The proposal of a library that is taken.
struct PlanChoice {
  int64_t index = 0;     // in the library's lists, one behind the other
  std::string proposal;  // what is proposed there, by which a changed list is noticed
  bool timed = false;    // whether it was the quickest of several
  friend bool operator==(const PlanChoice&, const PlanChoice&) = default;
};

// By the full description of what is computed.
using PlanChoices = std::map<std::string, PlanChoice>;

// Whose proposals those are. With another GPU or another version, an index means something else.
struct PlanOrigin {
  std::string gpu, cublas_lt, cudnn;
  friend bool operator==(const PlanOrigin&, const PlanOrigin&) = default;
};

struct PlanCounts {
  int64_t made = 0;      // plans
  int64_t compiled = 0;  // of these, those whose kernel was compiled at run time
  int64_t known = 0;     // of these, those that followed a choice made earlier
  int64_t timed = 0;     // proposals
  // Calls for which there was no plan, or only a slow one, by what was to be computed.
  std::map<std::string, int64_t> fallbacks;
  void Add(const PlanCounts& other);
};

// Belongs to one thread at a time.
class Plans {
 public:
  // `autotune`: times the proposals for what is not in `choices` yet, and adds the quickest to
  // them. Without it, what is not there takes the first proposal.
  explicit Plans(bool autotune = false, PlanChoices choices = {});
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  bool autotunes() const { return autotune_; }
  const PlanChoices& choices() const { return choices_; }
  // Different for objects that may choose differently, so that plans are cached by it. 0 for those
  // that take the first of all proposals.
  uint64_t id() const { return id_; }

  // Null if there is none.
  const PlanChoice* Find(const std::string& what) const;
  // Adds a choice, which stays. There must be none for `what`.
  void Add(const std::string& what, PlanChoice choice);

  PlanCounts& counts() { return counts_; }
  const PlanCounts& counts() const { return counts_; }

 private:
  const bool autotune_;
  const uint64_t id_;
  PlanChoices choices_;
  PlanCounts counts_;
};

// While one exists, the calling thread's products and graphs follow `plans` and are counted there.
// Null: they take the first proposal, as without any.
class WithPlans {
 public:
  explicit WithPlans(Plans* plans);
  ~WithPlans();
  WithPlans(const WithPlans&) = delete;
  WithPlans& operator=(const WithPlans&) = delete;

  static Plans* Current();  // of this thread; null if there are none

 private:
  Plans* before_;
};

// The id() of the calling thread's plans; 0 if there are none.
uint64_t CurrentPlansId();
// Counts one call for which there was no plan.
void CountFallback(const std::string& what);

}  // namespace torus::cuda
