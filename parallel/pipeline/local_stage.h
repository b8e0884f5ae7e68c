// LocalStage: a stage that this rank runs, its tensors between two actions, and its links to other
// ranks.
#pragma once

#include <optional>
#include <vector>

#include "parallel/pipeline/stage_worker.h"
#include "parallel/pipeline/tensor_link.h"

namespace torus::parallel {

struct LocalStage {
  LocalStage(StageWorker worker, int stage, int micro_batches);

  // The ranks of the stages before and after this one, and the codecs between them. -1: no link,
  // because there is no such stage or this rank runs it too.
  struct Neighbours {
    Transport* transport = nullptr;
    int rank_before = -1, rank_after = -1;
    Codec* activation_codec = nullptr;
    Codec* gradient_codec = nullptr;
  };
  // Makes the links, with buffers for the inputs and outputs of the largest micro-batch.
  void Connect(const Neighbours& neighbours, const std::vector<TensorSpec>& inputs,
               const std::vector<TensorSpec>& outputs);
  // Blocks until everything sent has been received.
  void Flush(RankTotals& totals);

  // Begins a mini-batch: the loss is 0 and finite() true.
  void Reset();
  // Whether the loss, and every tensor sent or received through a codec since Reset, are finite.
  bool finite() const;

  StageWorker worker;
  int stage;
  // One entry for each micro-batch.
  std::vector<std::vector<Tensor>> inputs, outputs, output_grads, input_grads;
  std::optional<TensorLink> activation_in, activation_out, gradient_in, gradient_out;
};

}  // namespace torus::parallel
