// LocalStage: a stage of this rank, what waits to be used or sent, and its links to other ranks.
#pragma once

#include <optional>
#include <vector>

#include "parallel/pipeline/stage_worker.h"
#include "parallel/pipeline/tensor_link.h"

namespace torus::parallel {

struct LocalStage {
  LocalStage(StageWorker worker, int stage, int micro_batches);

  // What the links are made of. A rank of -1: no link, at an end of the model or between two stages
  // of one rank.
  struct Neighbours {
    Transport* transport = nullptr;
    int rank_before = -1, rank_after = -1;
    Codec* activation_codec = nullptr;
    Codec* gradient_codec = nullptr;
  };
  // Makes links and their buffers for the largest micro-batch's inputs and outputs.
  void Connect(const Neighbours& neighbours, const std::vector<TensorSpec>& inputs,
               const std::vector<TensorSpec>& outputs);
  // Blocks until all that was sent has been taken.
  void Flush(RankTotals& totals);

  // Begins a mini-batch: forgets the loss, and what its links met.
  void Reset();
  // Whether the loss and all that met a codec since Reset are finite.
  bool finite() const;

  StageWorker worker;
  int stage;
  // One entry a micro-batch.
  std::vector<std::vector<Tensor>> inputs, outputs, output_grads, input_grads;
  std::optional<TensorLink> activation_in, activation_out, gradient_in, gradient_out;
};

}  // namespace torus::parallel
