// The exchange of shapes before step 0: each stage tells the next one which tensors it will send.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Shapes on their way to another rank. Wait blocks until they have been received, and comes before
// the end of this object.
class SentSpecs {
 public:
  // Called by the ranks of the two stages at a cut: the one before it sends. `cut`: the number of
  // the first stage after it. `what`: "shapes between stages 0 and 1". `peer`: the other rank.
  SentSpecs(Transport& transport, int peer, int cut, const std::string& what,
            const std::vector<TensorSpec>& specs);
  SentSpecs(const SentSpecs&) = delete;
  SentSpecs& operator=(const SentSpecs&) = delete;
  void Wait();

 private:
  uint64_t count_;
  std::vector<TensorHeader> headers_;
  Pending count_sent_, headers_sent_;
};
std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut, const std::string& what);

// The shapes and types of the stage's outputs for such inputs, found by a forward on the device
// meta with gradients off. `context` says whether in training mode, after which the stage's
// statistics are dropped; its samples are filled in.
std::vector<TensorSpec> OutputSpecs(const Stage& stage, const std::vector<TensorSpec>& inputs,
                                    StepContext context);

}  // namespace torus::parallel
