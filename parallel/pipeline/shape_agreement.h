// The exchange of shapes before step 0: each stage tells the next one which tensors it will send.
#pragma once

#include <string>
#include <vector>

#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/tensor_header.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

// Shapes on their way to another rank. Wait blocks until they have been received; call it before
// the destructor.
class SentSpecs {
 public:
  // Sends `specs` from the rank before a cut to the rank after it, which calls RecvSpecs. `cut`:
  // the number of the first stage after the cut. `what`: for errors, "shapes between stages 0 and
  // 1". `peer`: the other rank.
  SentSpecs(Transport& transport, int peer, int cut, const std::string& what,
            const std::vector<TensorSpec>& specs);
  SentSpecs(const SentSpecs&) = delete;
  SentSpecs& operator=(const SentSpecs&) = delete;
  void Wait();  // until they have been received

 private:
  uint64_t count_;
  std::vector<TensorHeader> headers_;
  Pending count_sent_, headers_sent_;
};
// What SentSpecs sends, on the rank after the cut.
std::vector<TensorSpec> RecvSpecs(Transport& transport, int peer, int cut, const std::string& what);

// Returns the shapes and types of the stage's outputs for these inputs, found by a forward on the
// device meta with gradients off. `context` says whether it runs in training mode, after which the
// stage's statistics are dropped; its samples are filled in here.
std::vector<TensorSpec> OutputSpecs(const Stage& stage, const std::vector<TensorSpec>& inputs,
                                    StepContext context);

}  // namespace torus::parallel
