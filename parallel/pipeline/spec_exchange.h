// SpecExchange: sends the shapes of each stage's outputs to the stages that receive them, before
// step 0. Internal to Executor.
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
  // `owners`: the rank of each stage. All arguments must outlive this object.
  SpecExchange(Transport& transport, const std::vector<int>& owners,
               const std::vector<SkipConnection>& skips)
      : transport_(transport), owners_(owners), skips_(skips) {}

  // Call for each stage of this rank, in ascending order. Returns its inputs: `data` at stage 0,
  // else the outputs of the stage before; then the skips of the indices `taken`. Blocks until they
  // are known.
  std::vector<TensorSpec> Inputs(int stage, const std::vector<size_t>& taken,
                                 const std::vector<TensorSpec>& data);
  // Call next for each stage but the last: sends on its outputs, which end with the skips of the
  // indices `stashed`.
  void SetOutputs(int stage, const std::vector<size_t>& stashed, std::vector<TensorSpec> specs);
  // Blocks until other ranks have received all that was sent.
  void Wait();

  // The spec of a skip that this rank's stages stash or take.
  const TensorSpec& OfSkip(size_t skip) const { return of_skips_.at(skip); }
  // The specs of a stage of this rank, once known, without its skips. The last stage has no
  // outputs.
  const std::vector<TensorSpec>& InputsOf(int stage) const { return inputs_.at(stage); }
  // Likewise.
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
