// One complete training step of a model, for timing: forward, cross entropy, backward, update.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autograd/precision.h"
#include "runtime/graph.h"
#include "runtime/later_checks.h"
#include "runtime/share_statistics.h"
#include "tools/bench/step_model.h"

namespace torus::bench {

struct TrainStepOptions {
  std::string model = "mobilenet_v2";
  int64_t size = 224;  // images are size x size; texts have `size` tokens
  int64_t batch = 16;
  bool recompute = false;  // every layer but the first and the last (autograd/recompute.h)
  Precision precision;
  Device device = {};
  // On a GPU: all steps but the first launch forward and backward as one CUDA graph.
  bool graph = false;
};

class TrainStep {
 public:
  // Weights and batch from a fixed seed.
  explicit TrainStep(const TrainStepOptions& options);
  // Weights and batch, including its size, from a .safetensors file: the weights under the
  // reference's names, "bench.images" (N, 3, S, S) or "bench.tokens" (N, T), and "bench.labels"
  // (N), or (N, T) for a language model. Throws BadInput if the file does not fit the model.
  TrainStep(const TrainStepOptions& options, const std::string& exchange);

  // The loss before the update.
  double Run();

  const TrainStepOptions& options() const { return options_; }
  // FLOPs of convolutions and products in one step, where a multiply-add counts as two: three times
  // those of the forward, even with recompute.
  double flops() const { return flops_; }

 private:
  // A recorded step: its graph, and what the step produces besides the GPU's memory.
  struct Recorded {
    explicit Recorded(Device gpu) : graph(gpu) {}
    Graph graph;
    std::vector<Tensor> gradients;
    std::vector<KeptStatistics> statistics;
    std::vector<LaterChecks::Check> checks;
  };
  void SetBatch(const Tensor& inputs, const Tensor& labels);
  std::vector<Variable> Forward() const;
  void Compute();
  void ComputeAsGraph();
  void Record();
  void Launch();

  TrainStepOptions options_;
  StepModel model_;
  Variable inputs_;
  Tensor labels_;
  StepContext ctx_;
  Tensor loss_;
  std::optional<LaterChecks> checks_;  // on a GPU
  std::optional<std::vector<int64_t>> numbers_;
  std::unique_ptr<Recorded> recorded_;
  double flops_ = 0;
};

}  // namespace torus::bench
