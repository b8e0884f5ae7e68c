#include "parallel/optim/muon.h"

#include <algorithm>
#include <cmath>

#include "parallel/optim/joint_optimizer.h"
#include "parallel/optim/rule_kernels.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

bool AnyMatches(const std::string& name, const std::vector<std::string>& patterns) {
  return std::ranges::any_of(patterns, [&](const auto& pattern) { return Matches(name, pattern); });
}

}  // namespace

double MuonRateFactor(MuonRate rate, const Shape& matrix) {
  const auto rows = static_cast<double>(matrix[0]), columns = static_cast<double>(matrix[1]);
  switch (rate) {
    case MuonRate::kMatchRmsAdamw:
      return 0.2 * std::sqrt(std::max(rows, columns));
    case MuonRate::kSpectralUnclamped:
      return std::sqrt(rows / columns);
    default:
      return std::sqrt(std::max(1.0, rows / columns));
  }
}

Muon::Muon(const std::vector<MuonGroup>& groups, Orthogonalize orthogonalize)
    : OptimizerOfRule(
          "muon", ParametersOf(groups),
          ForEachOptions(
              groups, [](const MuonOptions&) { return std::vector<Kind>{{"momentum_buffer"}}; })),
      options_(OptionsOf(groups)),
      directions_(options_.size()),
      orthogonalize_(std::move(orthogonalize)) {
  for (const auto& [parameter, value] : parameters())
    Require(value.rank() == 2 && value.numel() > 0, name(), "parameter {} must be a matrix, got {}",
            parameter, value);
  for (const MuonOptions& o : options_) {
    CheckAtLeast0(name(), "lr_scale", o.lr_scale);
    CheckAtLeast0(name(), "weight_decay", o.weight_decay);
    CheckBelow1(name(), "momentum", o.momentum);
  }
}

MomentumScalars Muon::ScalarsOf(size_t i, double learning_rate, double gradient_scale, double) {
  const MuonOptions& o = options_[i];
  const double rate = learning_rate * o.lr_scale;
  directions_[i] = {.learning_rate = rate,
                    .weight_decay = o.weight_decay,
                    .size = rate * MuonRateFactor(o.adjust_lr_fn, parameters()[i].value.shape())};
  return {.gradient_scale = gradient_scale, .momentum = o.momentum, .nesterov = o.nesterov};
}

void Muon::Run(std::vector<RuleItem>& items) {
  for (RuleItem& item : items)
    item.states[1] = Empty(item.gradient.shape(), item.gradient.dtype(), item.gradient.device());
  kernels::RuleStep(items, Prepared());
  auto directions = std::make_shared<std::vector<DirectionScalars>>();
  for (const size_t i : WithGradient()) directions->push_back(directions_[i]);
  for (RuleItem& item : items)
    item = {orthogonalize_(item.states[1]).Contiguous(), item.parameter, {}};
  kernels::RuleStep(items, std::shared_ptr<const std::vector<DirectionScalars>>(directions));
}

std::unique_ptr<Optimizer> MuonWithAdamW(const std::vector<NamedVariable>& parameters,
                                         const std::vector<std::string>& others,
                                         const MuonOptions& muon, const AdamOptions& adamw,
                                         Orthogonalize orthogonalize) {
  std::vector<NamedVariable> matrices, rest;
  for (const NamedVariable& parameter : parameters) {
    const bool hidden = parameter.value.rank() == 2 && !AnyMatches(parameter.name, others);
    (hidden ? matrices : rest).push_back(parameter);
  }
  std::vector<std::unique_ptr<Optimizer>> parts;
  parts.push_back(std::make_unique<Muon>(std::move(matrices), muon, std::move(orthogonalize)));
  parts.push_back(std::make_unique<Adam>(std::move(rest), adamw));
  return std::make_unique<JointOptimizer>(std::move(parts));
}

}  // namespace torus::parallel
