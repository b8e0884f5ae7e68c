#include "tools/simulate/tensor_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/model_spec.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

using parallel::TensorParallelStage;

// A layer with attention and an MLP has four products whose weights are split; a table of tokens
// or a head has one.
constexpr size_t kSplitsOfBlock = 4;

struct ModelParts {
  int blocks = 0;
  bool embedding = false, head = false;
};

ModelParts PartsOf(const TensorFlags& flags) {
  Require(!flags.model.empty(), "simulate",
          "--tensor {} needs the model whose blocks it splits: give --model", flags.ranks);
  const ModelSpec spec = ParseModelSpec(flags.model);
  const auto model =
      spec.build(spec.Config(spec.published.outputs), spec.name, {.head_in_loss = true});
  ModelParts parts{.head = IsLanguageModel(spec.task)};
  for (const nn::Sequential::Layer& layer : model->layers()) {
    const size_t splits = layer.module->Splits(layer.name).size();
    if (splits >= kSplitsOfBlock) ++parts.blocks;
    if (splits > 0 && parts.blocks == 0) parts.embedding = true;
    layer.module->Split({0, flags.ranks});
  }
  Require(parts.blocks > 0, "simulate",
          "--tensor {} splits the blocks of RoBERTa, GPT and Llama, got --model {}", flags.ranks,
          flags.model);
  return parts;
}

parallel::LinkModel LinkOf(const TensorFlags& flags) {
  return flags.link.empty() ? parallel::LinkModel{} : parallel::ParseLink(flags.link);
}

}  // namespace

std::vector<TensorParallelStage> StagesOf(const TensorFlags& flags,
                                          const parallel::Pipeline& pipeline) {
  const ModelParts parts = PartsOf(flags);
  const std::vector<double>& boundary = pipeline.costs.boundary_bytes;
  std::vector<TensorParallelStage> stages(pipeline.ranks);
  for (int r = 0; r < pipeline.ranks; ++r) {
    const int more = r < parts.blocks % pipeline.ranks ? 1 : 0;
    stages[r].blocks = parts.blocks / pipeline.ranks + more;
    stages[r].activation_bytes = flags.activation;
    if (flags.activation == 0 && !boundary.empty()) stages[r].activation_bytes = boundary[r];
  }
  stages.front().embedding = parts.embedding;
  stages.back().head = parts.head;
  return stages;
}

std::string SplitStages(const TensorFlags& flags, parallel::Pipeline& pipeline) {
  const std::vector<TensorParallelStage> stages = StagesOf(flags, pipeline);
  const parallel::LinkModel link = LinkOf(flags);
  pipeline.costs = parallel::WithTensorParallel(
      pipeline.costs, flags.ranks, stages, link,
      flags.share_cuts ? parallel::TensorCuts::kShared : parallel::TensorCuts::kWhole);
  const TensorParallelStage& most = *std::ranges::max_element(
      stages, {}, [&](const auto& stage) { return TensorParallelBytes(flags.ranks, stage); });
  const int sums = ForwardSums(most) + BackwardSums(most);
  return fmt::format(
      "{} tensor-parallel ranks a stage: {} sums a micro-batch, {:.1f} MiB sent and {:.6g} s, on "
      "the rank with most\n",
      flags.ranks, sums, TensorParallelBytes(flags.ranks, most) / 0x1p20,
      sums * parallel::AllReduceSeconds(flags.ranks, most.activation_bytes, link));
}

}  // namespace torus::tools
