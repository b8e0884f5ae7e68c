#include "parallel/pipeline/spec_exchange.h"

#include <utility>

#include "parallel/pipeline/take_last.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::string CutWords(int cut) {
  return fmt::format("shapes between stages {} and {}", cut - 1, cut);
}

}  // namespace

std::string SpecExchange::Words(size_t skip) const {
  const SkipConnection& s = skips_[skip];
  return fmt::format("shape of {} from stage {} to stage {}", s.name, s.from, s.to);
}

std::vector<TensorSpec> SpecExchange::ReceiveOutputsBefore(int stage) {
  if (Here(stage - 1)) return outputs_.at(stage - 1);
  return RecvSpecs(transport_, owners_[stage - 1], stage, CutWords(stage));
}

std::vector<TensorSpec> SpecExchange::Inputs(int stage, const std::vector<size_t>& taken,
                                             const std::vector<TensorSpec>& data) {
  inputs_[stage] = stage == 0 ? data : ReceiveOutputsBefore(stage);
  std::vector<TensorSpec> all = inputs_[stage];
  for (const size_t i : taken) {
    const int from = skips_[i].from;
    if (!Here(from))
      of_skips_[i] = RecvSpecs(transport_, owners_[from], NumberOf(i), Words(i)).at(0);
    all.push_back(of_skips_.at(i));
  }
  return all;
}

void SpecExchange::SetOutputs(int stage, const std::vector<size_t>& stashed,
                              std::vector<TensorSpec> specs) {
  const std::vector<TensorSpec> last = TakeLast(specs, stashed.size());
  for (size_t i = 0; i < last.size(); ++i) {
    const size_t skip = stashed[i];
    of_skips_[skip] = last[i];
    const int to = skips_[skip].to;
    if (!Here(to))
      sent_.emplace_back(transport_, owners_[to], NumberOf(skip), Words(skip),
                         std::vector<TensorSpec>{last[i]});
  }
  const int next = stage + 1;
  if (next < static_cast<int>(owners_.size()) && !Here(next))
    sent_.emplace_back(transport_, owners_[next], next, CutWords(next), specs);
  outputs_[stage] = std::move(specs);
}

void SpecExchange::Wait() {
  for (SentSpecs& sent : sent_) sent.Wait();
}

}  // namespace torus::parallel
