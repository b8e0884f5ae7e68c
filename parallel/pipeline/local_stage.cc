#include "parallel/pipeline/local_stage.h"

#include <cmath>
#include <utility>

namespace torus::parallel {

LocalStage::LocalStage(StageWorker worker, int stage, int micro_batches)
    : worker(std::move(worker)),
      stage(stage),
      inputs(micro_batches),
      outputs(micro_batches),
      output_grads(micro_batches),
      input_grads(micro_batches) {}

void LocalStage::Connect(const Neighbours& n, const std::vector<TensorSpec>& in,
                         const std::vector<TensorSpec>& out) {
  const int micro_batches = static_cast<int>(inputs.size());
  const auto activation = [&](int peer, int cut) {
    return TensorLink::Options{n.transport, peer, TagClass::kActivation, cut, n.activation_codec};
  };
  const auto gradient = [&](int peer, int cut) {
    return TensorLink::Options{n.transport, peer, TagClass::kGradient, cut, n.gradient_codec};
  };
  if (n.rank_before >= 0) {
    activation_in.emplace(activation(n.rank_before, stage), in, micro_batches).PrepareToRecv();
    gradient_out.emplace(gradient(n.rank_before, stage), in, micro_batches).PrepareToSend();
  }
  if (n.rank_after >= 0) {
    activation_out.emplace(activation(n.rank_after, stage + 1), out, micro_batches).PrepareToSend();
    gradient_in.emplace(gradient(n.rank_after, stage + 1), out, micro_batches).PrepareToRecv();
  }
}

void LocalStage::Flush(RankTotals& totals) {
  if (activation_out) activation_out->Flush(totals);
  if (gradient_out) gradient_out->Flush(totals);
}

void LocalStage::Reset() {
  worker.ResetLoss();
  for (auto* link : {&activation_in, &activation_out, &gradient_in, &gradient_out})
    if (*link) (*link)->ResetFinite();
}

bool LocalStage::finite() const {
  bool finite = std::isfinite(worker.loss());
  for (const auto* link : {&activation_in, &activation_out, &gradient_in, &gradient_out})
    finite = finite && (!*link || (*link)->finite());
  return finite;
}

}  // namespace torus::parallel
