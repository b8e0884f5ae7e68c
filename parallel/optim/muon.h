// Muon (Jordan et al. 2024, https://kellerjordan.github.io/posts/muon), as torch.optim.Muon:
// momentum whose matrix is replaced by a nearly orthogonal one. For matrices of hidden layers;
// embeddings, heads, biases and norms take another optimizer (MuonWithAdamW).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/optim/adam.h"
#include "parallel/optim/optimizer_groups.h"
#include "parallel/optim/rule_optimizer.h"

namespace torus::parallel {

// Returns a matrix of the same singular vectors whose singular values are near 1, of the same shape
// and dtype: ops::NewtonSchulz (ops/matmul/newton_schulz.h), bound to its options. It is handed
// over because optimizers do not know matrix products.
using Orthogonalize = std::function<Tensor(const Tensor& matrix)>;

// The factor of the rate of a matrix (rows, columns).
enum class MuonRate {
  kOriginal,           // sqrt(max(1, rows / columns))
  kMatchRmsAdamw,      // 0.2 sqrt(max(rows, columns)) (Liu et al. 2025, arXiv:2502.16982, eq. 4)
  kSpectralUnclamped,  // sqrt(rows / columns)
};

// That factor. Of a matrix without elements it is undefined.
double MuonRateFactor(MuonRate rate, const Shape& matrix);

// PyTorch's arguments and defaults. Members without a comment are those.
struct MuonOptions {
  double lr_scale = 1;  // factor of the step's rate: PyTorch's lr of the group / the common lr
  double momentum = 0.95;
  bool nesterov = true;
  double weight_decay = 0.1;  // decoupled; by the rate without the factor
  MuonRate adjust_lr_fn = MuonRate::kOriginal;
};
// Parameters that share options.
using MuonGroup = OptimizerGroup<MuonOptions>;

// Its state is PARAMETER.momentum_buffer and PARAMETER.step.
class Muon : public OptimizerOfRule<MomentumScalars> {
 public:
  // Throws BadInput for parameters that are no matrices, a negative lr_scale or weight_decay, and a
  // momentum outside of [0, 1).
  Muon(const std::vector<MuonGroup>& groups, Orthogonalize orthogonalize);
  // One group.
  Muon(std::vector<NamedVariable> parameters, const MuonOptions& options,
       Orthogonalize orthogonalize)
      : Muon(std::vector<MuonGroup>{{std::move(parameters), options}}, std::move(orthogonalize)) {}

  bool splits() const override { return false; }

 private:
  MomentumScalars ScalarsOf(size_t i, double learning_rate, double gradient_scale,
                            double step) override;
  void Run(std::vector<RuleItem>& items) override;

  std::vector<MuonOptions> options_;          // of each parameter
  std::vector<DirectionScalars> directions_;  // of each parameter, in the step prepared last
  Orthogonalize orthogonalize_;
};

// Muon for the matrices whose names match none of the patterns `others` (optimizer_groups.h), such
// as those of embeddings and heads, and AdamW for all other parameters, as one optimizer. The
// parameters are in another order than given: Muon's first.
std::unique_ptr<Optimizer> MuonWithAdamW(const std::vector<NamedVariable>& parameters,
                                         const std::vector<std::string>& others,
                                         const MuonOptions& muon, const AdamOptions& adamw,
                                         Orthogonalize orthogonalize);

}  // namespace torus::parallel
