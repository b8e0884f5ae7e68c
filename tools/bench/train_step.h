// One complete training step of a model, for timing: forward, cross entropy, backward, update.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "autograd/precision.h"
#include "ops/cuda/plans.h"
#include "parallel/pipeline/block.h"
#include "parallel/pipeline/mini_batch.h"
#include "parallel/trainer/train_hooks.h"
#include "parallel/trainer/trainer.h"
#include "tools/bench/step_model.h"

namespace torus::bench {

struct TrainStepOptions {
  std::string model = "mobilenet_v2";
  int64_t size = 224;  // images are size x size; texts have `size` tokens
  int64_t batch = 16;
  bool recompute = false;  // every layer but the first and the last (autograd/recompute.h)
  Precision precision;
  DeviceKind device = DeviceKind::kCpu;
  bool graph = false;    // on a GPU: TrainerOptions::cuda_graphs
  bool dropout = false;  // with the model's published rates
  bool mask = false;     // RoBERTa's: texts of random lengths, padded, with an attention mask
  // On a GPU: what it takes of cuBLASLt's and cuDNN's proposals; must outlive the step. Null: the
  // first.
  cuda::Plans* plans = nullptr;
};

// MODEL:BATCHxSIZE, which :dropout and :mask may follow, on a GPU. Throws BadInput tagged `program`
// if the text is no such.
TrainStepOptions ParseGpuStep(const std::string& program, const std::string& text);

// On a GPU, the first one, a step is that of a Trainer of one rank, as a run takes it: the batch
// comes from the CPU's pinned memory, and gradients are checked before the update.
class TrainStep {
 public:
  // Weights and batch from a fixed seed. Throws BadInput for a mask of a model that takes none.
  explicit TrainStep(const TrainStepOptions& options);
  // Weights and batch, including its size, from a .safetensors file: the weights under the
  // reference's names, "bench.images" (N, 3, S, S) or "bench.tokens" (N, T), and "bench.labels"
  // (N), or (N, T) for a language model. Throws BadInput if the file does not fit the model.
  TrainStep(const TrainStepOptions& options, const std::string& exchange);

  // The loss before the update.
  double Run();
  // So many steps, on a GPU in one Trainer::Train; `after` is called at the end of each. On a CPU
  // only the loss is reported.
  void Run(int steps, const std::function<void(const parallel::StepReport&)>& after);

  const TrainStepOptions& options() const { return options_; }
  // FLOPs of convolutions and products in one step, where a multiply-add counts as two: three times
  // those of the forward, even with recompute.
  double flops() const { return flops_; }
  // Of the steps on a GPU.
  const parallel::TrainTotals& totals() const { return trainer_->totals(); }

 private:
  void Prepare(const Tensor& inputs, const Tensor& labels);
  void MakeTrainer();
  std::vector<Variable> Forward() const;
  Tensor Compute() const;
  double RunOnCpu();

  TrainStepOptions options_;
  StepModel model_;
  std::vector<parallel::Block> blocks_;
  parallel::MiniBatch batch_;
  double flops_ = 0;
  std::unique_ptr<parallel::Trainer> trainer_;  // on a GPU
  // On a CPU.
  std::unique_ptr<parallel::Optimizer> optimizer_;
  StepContext ctx_;
};

}  // namespace torus::bench
