#include "tests/parallel/pipeline/random_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "parallel/schedule/lowering.h"

namespace torus::parallel::testing {
namespace {

using K = ActionKind;

class Maker {
 public:
  Maker(uint64_t number, int most_stages, int most_micro_batches)
      : random_({.seed = number, .layer = HashName("random schedule")}),
        stages_(Draw(most_stages) + 1),
        micro_batches_(Draw(most_micro_batches) + 1),
        owners_(Owners()),
        inputs_(stages_, 0),
        weights_(stages_, 0),
        forward_done_(stages_, std::vector<bool>(micro_batches_)),
        halves_(forward_done_) {
    for (std::vector<bool>& halves : halves_)
      for (int m = 0; m < micro_batches_; ++m) halves[m] = Draw(2) == 0;
    for (int i = 0; i < stages_ * 3; ++i) eagerness_.push_back(Draw(10) + 1);
    result_.schedule = {fmt::format("random {}", number), ranks_, stages_, micro_batches_, {}};
    result_.schedule.ranks.resize(ranks_);
    result_.several_stages_on_a_rank = ranks_ < stages_;
  }

  RandomSchedule Run() {
    for (std::vector<Action> ready = Ready(); !ready.empty(); ready = Ready()) {
      const Action action = Pick(ready);
      Note(action);
      result_.schedule.ranks[owners_[action.stage]].push_back(action);
    }
    result_.schedule = Lower(result_.schedule);
    return result_;
  }

 private:
  int Draw(int bound) { return static_cast<int>(random_.Below(drawn_++, bound)); }

  // Each rank has a stage, and the others go anywhere; of some schedules all are in a V.
  std::vector<int> Owners() {
    if (stages_ % 2 == 0 && Draw(4) == 0) return InAV();
    ranks_ = Draw(std::min(stages_, 4)) + 1;
    std::vector<int> owners(stages_);
    for (int s = 0; s < stages_; ++s) owners[s] = s < ranks_ ? s : Draw(ranks_);
    for (int s = stages_; s > 1; --s) std::swap(owners[s - 1], owners[Draw(s)]);
    return owners;
  }

  std::vector<int> InAV() {
    ranks_ = stages_ / 2;
    std::vector<int> owners(stages_);
    for (int s = 0; s < stages_; ++s) owners[s] = std::min(s, stages_ - 1 - s);
    return owners;
  }

  // What could run next: forwards of a stage in any order, backwards in that of their sums.
  std::vector<Action> Ready() const {
    std::vector<Action> ready;
    for (int s = 0; s < stages_; ++s) {
      for (int m = 0; m < micro_batches_; ++m)
        if (!forward_done_[s][m] && (s == 0 || forward_done_[s - 1][m]))
          ready.push_back({K::kForward, s, m});
      const int m = inputs_[s];
      if (m < micro_batches_ && forward_done_[s][m] && (s + 1 == stages_ || inputs_[s + 1] > m)) {
        if (halves_[s][m])
          ready.push_back({K::kBackwardInput, s, m});
        else if (weights_[s] == m)
          ready.push_back({K::kBackward, s, m});
      }
      if (weights_[s] < inputs_[s]) ready.push_back({K::kBackwardWeight, s, weights_[s]});
    }
    return ready;
  }

  // Each schedule has stages and kinds that it is eager to run, so that some go depth first, some
  // breadth first, and some leave weights to the end.
  Action Pick(const std::vector<Action>& ready) {
    size_t best = 0;
    int most = -1;
    for (size_t i = 0; i < ready.size(); ++i) {
      const int kind = IsForward(ready[i].kind) ? 0 : ready[i].kind == K::kBackwardWeight ? 1 : 2;
      const int score = Draw(16) * eagerness_[ready[i].stage * 3 + kind];
      if (score > most) most = score, best = i;
    }
    return ready[best];
  }

  void Note(const Action& action) {
    const int s = action.stage;
    if (IsForward(action.kind)) forward_done_[s][action.micro_batch] = true;
    if (action.kind == K::kBackward || action.kind == K::kBackwardInput) ++inputs_[s];
    if (action.kind == K::kBackward || action.kind == K::kBackwardWeight) ++weights_[s];
  }

  const RandomStream random_;
  uint64_t drawn_ = 0;
  const int stages_, micro_batches_;
  int ranks_ = 0;
  const std::vector<int> owners_;
  std::vector<int> inputs_,
      weights_;  // of each stage: backwards done, which is the next one's number
  std::vector<std::vector<bool>> forward_done_, halves_;  // of a stage's micro-batch
  std::vector<int> eagerness_;                            // of a stage's forwards, weights, inputs
  RandomSchedule result_;
};

}  // namespace

RandomSchedule MakeRandomSchedule(uint64_t number, int most_stages, int most_micro_batches) {
  return Maker(number, most_stages, most_micro_batches).Run();
}

}  // namespace torus::parallel::testing
