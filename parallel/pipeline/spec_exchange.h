// SpecExchange: before step 0, passes the shapes of what each stage gives to the stages that get
// it. Executor's own part.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "parallel/pipeline/shape_agreement.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class SpecExchange {
 public:
  // `owners`: the rank of each stage. All must outlive this object.
  SpecExchange(Transport& transport, const std::vector<int>& owners,
               const std::vector<SkipConnection>& skips)
      : transport_(transport), owners_(owners), skips_(skips) {}

  // Called for each stage of this rank, in ascending order. What it gets: `data` at stage 0, the
  // outputs of the stage before elsewhere; behind that what it takes, `taken` of the skips. Blocks
  // until it is known.
  std::vector<TensorSpec> Inputs(int stage, const std::vector<size_t>& taken,
                                 const std::vector<TensorSpec>& data);
  // Then, where it is not the last: passes on its outputs, behind which are those that it stashes.
  void SetOutputs(int stage, const std::vector<size_t>& stashed, std::vector<TensorSpec> specs);
  // Blocks until others have received all that was passed on.
  void Wait();

  // Of a skip that this rank's stages stash or take.
  const TensorSpec& OfSkip(size_t skip) const { return of_skips_.at(skip); }
  // Of a stage of this rank, once known; without what it takes or stashes. None of the last.
  const std::vector<TensorSpec>& InputsOf(int stage) const { return inputs_.at(stage); }
  const std::vector<TensorSpec>& OutputsOf(int stage) { return outputs_[stage]; }

 private:
  bool Here(int stage) const { return owners_[stage] == transport_.rank(); }
  std::vector<TensorSpec> ReceiveOutputsBefore(int stage);
  int NumberOf(size_t skip) const { return static_cast<int>(owners_.size() + skip); }
  std::string Words(size_t skip) const;

  Transport& transport_;
  const std::vector<int>& owners_;
  const std::vector<SkipConnection>& skips_;
  std::map<int, std::vector<TensorSpec>> inputs_, outputs_;
  std::map<size_t, TensorSpec> of_skips_;
  std::deque<SentSpecs> sent_;
};

}  // namespace torus::parallel
