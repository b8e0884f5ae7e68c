#include "tools/replay/optimizer_case.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "ops/matmul/newton_schulz.h"
#include "parallel/optim/adagrad.h"
#include "parallel/optim/adam.h"
#include "parallel/optim/lion.h"
#include "parallel/optim/muon.h"
#include "parallel/optim/rmsprop.h"
#include "parallel/optim/sgd.h"
#include "tools/replay/attrs.h"
#include "tools/replay/case.h"
#include "tools/replay/tolerance.h"

namespace torus::replay {
namespace {

using Parameters = std::vector<NamedVariable>;

std::unique_ptr<parallel::Optimizer> MakeSgd(Attrs& attrs, Parameters parameters) {
  parallel::SgdOptions options{.momentum = attrs.Number("momentum", 0)};
  options.dampening = attrs.Number("dampening", 0);
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.nesterov = attrs.Flag("nesterov", false);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Sgd>(std::move(parameters), options);
}

template <class Options>
void ReadBetas(Attrs& attrs, Options& options) {
  const nlohmann::json betas = attrs.Raw("betas");
  if (betas.is_null()) return;
  if (!betas.is_array() || betas.size() != 2 || !betas[0].is_number() || !betas[1].is_number())
    Throw<Unsupported>("optimizer", "betas {}", betas.dump());
  options.beta1 = betas[0].get<double>();
  options.beta2 = betas[1].get<double>();
}

std::unique_ptr<parallel::Optimizer> MakeAdam(Attrs& attrs, Parameters parameters,
                                              parallel::AdamOptions options) {
  ReadBetas(attrs, options);
  options.eps = attrs.Number("eps", options.eps);
  options.weight_decay = attrs.Number("weight_decay", options.weight_decay);
  options.decoupled_decay = attrs.Flag("decoupled_weight_decay", options.decoupled_decay);
  options.amsgrad = attrs.Flag("amsgrad", false);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Adam>(std::move(parameters), options);
}

std::unique_ptr<parallel::Optimizer> MakeAdagrad(Attrs& attrs, Parameters parameters) {
  parallel::AdagradOptions options{.lr_decay = attrs.Number("lr_decay", 0)};
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.initial_accumulator_value = attrs.Number("initial_accumulator_value", 0);
  options.eps = attrs.Number("eps", options.eps);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Adagrad>(std::move(parameters), options);
}

std::unique_ptr<parallel::Optimizer> MakeRmsprop(Attrs& attrs, Parameters parameters) {
  parallel::RmspropOptions options;
  options.alpha = attrs.Number("alpha", options.alpha);
  options.eps = attrs.Number("eps", options.eps);
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.momentum = attrs.Number("momentum", 0);
  options.centered = attrs.Flag("centered", false);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Rmsprop>(std::move(parameters), options);
}

std::unique_ptr<parallel::Optimizer> MakeLion(Attrs& attrs, Parameters parameters) {
  parallel::LionOptions options;
  ReadBetas(attrs, options);
  options.weight_decay = attrs.Number("weight_decay", 0);
  options.maximize = attrs.Flag("maximize", false);
  return std::make_unique<parallel::Lion>(std::move(parameters), options);
}

ops::NewtonSchulzOptions ReadNewtonSchulz(Attrs& attrs) {
  ops::NewtonSchulzOptions options;
  options.eps = attrs.Number("eps", options.eps);
  options.steps = attrs.Int("ns_steps", options.steps);
  const nlohmann::json given = attrs.Raw("ns_coefficients");
  if (!given.is_null()) options.coefficients = given.get<std::array<double, 3>>();
  return options;
}

parallel::MuonRate ReadMuonRate(Attrs& attrs) {
  static const std::map<std::string, parallel::MuonRate> known{
      {"original", parallel::MuonRate::kOriginal},
      {"match_rms_adamw", parallel::MuonRate::kMatchRmsAdamw},
      {"spectral_unclamped", parallel::MuonRate::kSpectralUnclamped}};
  const std::string name = attrs.Text("adjust_lr_fn", "original");
  if (!known.contains(name)) Throw<Unsupported>("optimizer", "adjust_lr_fn {}", name);
  return known.at(name);
}

// The sums of a step of the iteration have as many terms as the longer side; a nearly orthogonal
// matrix has elements of about one over the root of that.
double MuonNoise(const Parameters& parameters, double learning_rate, parallel::MuonRate rate,
                 int64_t steps) {
  double noise = 0;
  for (const NamedVariable& p : parameters) {
    if (p.value.rank() != 2 || p.value.numel() == 0) continue;
    const int64_t side = std::max(p.value.dim(0), p.value.dim(1));
    const double size = 1 / std::sqrt(static_cast<double>(side));
    const double one = Tolerance(DType::kBF16, size, {.terms = steps * side, .scale = size});
    noise = std::max(noise, learning_rate * parallel::MuonRateFactor(rate, p.value.shape()) * one);
  }
  return noise;
}

CaseOptimizer MakeMuon(Attrs& attrs, Parameters parameters, CaseOptimizer made) {
  parallel::MuonOptions options;
  options.momentum = attrs.Number("momentum", options.momentum);
  options.nesterov = attrs.Flag("nesterov", true);
  options.weight_decay = attrs.Number("weight_decay", options.weight_decay);
  options.adjust_lr_fn = ReadMuonRate(attrs);
  const ops::NewtonSchulzOptions iteration = ReadNewtonSchulz(attrs);
  made.low_noise = MuonNoise(parameters, made.learning_rate, options.adjust_lr_fn, iteration.steps);
  made.optimizer = std::make_unique<parallel::Muon>(
      std::move(parameters), options,
      [iteration](const Tensor& matrix) { return ops::NewtonSchulz(matrix, iteration); });
  return made;
}

// PyTorch's, and of Lion its authors'.
double UsualRate(const std::string& name) {
  if (name == "lion") return 1e-4;
  return name == "adagrad" || name == "rmsprop" ? 1e-2 : 1e-3;
}

}  // namespace

CaseOptimizer MakeOptimizer(const nlohmann::json& spec, Parameters parameters) {
  Attrs attrs("optimizer", spec);
  const std::string name = attrs.Text("name", "");
  // How PyTorch computes it, not what.
  for (const char* way : {"foreach", "fused", "capturable", "differentiable"}) attrs.Raw(way);
  CaseOptimizer made{.learning_rate = attrs.Number("lr", UsualRate(name))};
  if (name == "sgd" && attrs.Flag("nesterov", false))
    made.nesterov_momentum = attrs.Number("momentum", 0);
  if (name == "sgd")
    made.optimizer = MakeSgd(attrs, std::move(parameters));
  else if (name == "adam")
    made.optimizer = MakeAdam(attrs, std::move(parameters), {});
  else if (name == "adamw")
    made.optimizer = MakeAdam(attrs, std::move(parameters), parallel::AdamWOptions());
  else if (name == "adagrad")
    made.optimizer = MakeAdagrad(attrs, std::move(parameters));
  else if (name == "rmsprop")
    made.optimizer = MakeRmsprop(attrs, std::move(parameters));
  else if (name == "lion")
    made.optimizer = MakeLion(attrs, std::move(parameters));
  else if (name == "muon")
    made = MakeMuon(attrs, std::move(parameters), std::move(made));
  else
    Throw<Unsupported>("optimizer", "no {}", name);
  attrs.Finish();
  return made;
}

}  // namespace torus::replay
