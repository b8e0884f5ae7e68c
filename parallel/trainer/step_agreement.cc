#include "parallel/trainer/step_agreement.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/binary_counter.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// One rank's message.
struct Word {
  double loss = 0;
  int32_t finite = 1;
  NextStep next;  // rank 0's counts
};
static_assert(sizeof(Word) == 16);

}  // namespace

void StepAgreement::Begin(int64_t step, Decide decide) {
  decide_ = std::move(decide);
  double waited = 0;
  Exchange(step, true, 0, fmt::format("whether there is a step {}", step), waited);
}

void StepAgreement::Settle(int64_t step, bool finite, double loss) {
  Exchange(step + 1, finite, loss, fmt::format("whether step {} is finite", step), waited_);
}

void StepAgreement::Exchange(int64_t next, bool finite, double loss, const std::string& what,
                             double& waited) {
  Word mine{.loss = loss, .finite = finite ? 1 : 0};
  if (world_.rank() == 0) mine.next = decide_(next);
  const std::vector<Word> words = world_.Share(mine, what, &waited);
  next_ = words[0].next;
  skipped_ = std::ranges::any_of(words, [](const Word& word) { return word.finite == 0; });
  std::vector<double> losses;
  for (const RankPlace& place : layout_.places())
    if (place.tells_loss()) losses.push_back(words[place.rank].loss);
  loss_ = TreeSum(losses);
}

}  // namespace torus::parallel
