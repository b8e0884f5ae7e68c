#include "tools/labs/questions/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "runtime/error.h"
#include "runtime/kernels.h"
#include "tools/labs/questions/absorbed_rate_sgd.h"
#include "tools/labs/questions/curve.h"
#include "tools/labs/questions/kept_curves.h"
#include "tools/labs/questions/scaling_run.h"

namespace torus::labs {
namespace {

using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

constexpr int64_t kEnoughSteps = 100;

void ZeroLastGammas(std::vector<parallel::Block>& blocks) {
  std::map<std::string, Variable> parameters;
  for (const parallel::Block& block : blocks)
    for (const NamedVariable& parameter : block.parameters)
      parameters[parameter.name] = parameter.value;
  std::vector<std::string> names;
  for (const auto& [name, value] : parameters) names.push_back(name);
  const std::vector<std::string> gammas = LastGammas(names);
  Require(!gammas.empty(), "q4_2", "a zero gamma needs a model of residual blocks with batch norm");
  for (const std::string& gamma : gammas) Fill(parameters.at(gamma).mutable_data(), 0);
}

Table EmptyTable(const LabOptions& o) {
  return Table(fmt::format("Epoch {}", o.epochs),
               {{"run", "", 0},
                {"training loss", "", 4},
                {"training accuracy", "%", 2},
                {"test accuracy", "%", 2}},
               "Each row has the remedies of the rows above it too.");
}

double ScaleOf(const LabOptions& o) {
  return static_cast<double>(LargestBatch(o)) / static_cast<double>(o.small_batch);
}

std::string LargeName(const LabOptions& o, const std::string& remedy) {
  return remedy.empty() ? fmt::format("batch {}, no remedy", LargestBatch(o)) : remedy;
}

int64_t StepsOf(const LabOptions& o) {
  return o.epochs * (CommonImages(o, LargestBatch(o)) / LargestBatch(o));
}

std::vector<Curve> Measure(const LabOptions& o, int64_t steps, const Tell& tell) {
  KeptCurves kept(o, tell);
  std::vector<Curve> curves{kept.Train(SmallName(o), ForRanks(o, o.small_batch, 1), {})};
  const recipes::Settings large = ForRanks(o, o.batches.back(), o.ranks.back());
  for (const NamedRemedies& row : OneByOne())
    curves.push_back(kept.Train(LargeName(o, row.name), SettingsOf(row.on, large),
                                PartsOf(row.on, large, ScaleOf(o), steps)));
  return curves;
}

Table Filled(const LabOptions& o, const std::vector<Curve>& curves) {
  Table table = EmptyTable(o);
  for (const Curve& curve : curves)
    table.Add({curve.name, curve.epochs.back().loss, 100 * curve.epochs.back().accuracy,
               100 * curve.test.accuracy});
  return table;
}

std::string FormulaOf(const LabOptions& o, int64_t steps) {
  Remedies on{.linear_scaling = true, .gradual_warmup = true};
  const LargeBatchRate rate = RateOf(on, o.settings.lr, ScaleOf(o), steps);
  return fmt::format(
      "k = {} / {} = {:.4g}. Linear scaling: rate = k x base = {:.4g} x {:.4g} = {:.4g}. Warm-up: "
      "base + (k base - base) s / {} in step s, so {:.4g}, {:.4g}, ... up to {:.4g} from step {} "
      "on. Momentum correction: m x (rate now / rate before), in step 1 {:.4g} x {:.4g} / {:.4g} = "
      "{:.4g}.",
      LargestBatch(o), o.small_batch, rate.scale, rate.scale, rate.base, rate.scale * rate.base,
      rate.warmup_steps, rate.At(0), rate.At(1), rate.At(rate.warmup_steps), rate.warmup_steps,
      o.settings.momentum, rate.At(1), rate.At(0), o.settings.momentum * rate.At(1) / rate.At(0));
}

// A rate of k times the base suits runs of many steps, in which it may spoil the first ones.
std::string StepsLine(int64_t steps) {
  if (steps >= kEnoughSteps)
    return fmt::format("Each run with the large batch takes {} steps.", steps);
  return fmt::format(
      "Each run with the large batch takes {} steps here, too few for a judgement: a rate of k "
      "times the base is meant for hundreds. Take all images (no --quick), or more --epochs.",
      steps);
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  const int64_t steps = StepsOf(o);
  const std::vector<Curve> curves = Measure(o, steps, tell);
  return {Heading{"What was measured"},
          Filled(o, curves),
          Paragraph{FormulaOf(o, steps)},
          Paragraph{StepsLine(steps)},
          AccuracyPlot(curves),
          LossPlot(curves),
          Heading{"What is switched on"},
          Paragraph{"No remedy: the base rate, batch norm over the images of all ranks, momentum "
                    "that has the rate inside. The trainer's own SGD keeps the rate outside of the "
                    "momentum, which is the corrected form; the rows before use the other one."},
          Paragraph{"A difference of a point in one run of one seed says little: compare several "
                    "with --seed before you believe a remedy."}};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table table = EmptyTable(o);
  table.Add({SmallName(o), {}, {}, {}});
  for (const NamedRemedies& row : OneByOne()) table.Add({LargeName(o, row.name), {}, {}, {}});
  return {{"Fill in the table.", table},
          {"Which remedy helps most here, and what does it mend?"},
          {"Why does momentum need a correction only while the rate changes?"},
          {"What does a zero gamma make of a residual block in the first step?"}};
}

}  // namespace

std::vector<NamedRemedies> OneByOne() {
  std::vector<NamedRemedies> rows{{"", {}}};
  const std::pair<const char*, bool Remedies::*> all[] = {
      {"+ linear scaling", &Remedies::linear_scaling},
      {"+ gradual warm-up", &Remedies::gradual_warmup},
      {"+ momentum correction", &Remedies::momentum_correction},
      {"+ zero-initialised last gamma", &Remedies::zero_gamma},
      {"+ per-rank batch norm", &Remedies::rank_batch_norm}};
  for (const auto& [name, remedy] : all) {
    NamedRemedies row{name, rows.back().on};
    row.on.*remedy = true;
    rows.push_back(row);
  }
  return rows;
}

LargeBatchRate RateOf(const Remedies& on, double base, double scale, int64_t steps) {
  return {.base = base,
          .scale = on.linear_scaling ? scale : 1,
          .warmup_steps = on.gradual_warmup ? std::max<int64_t>(1, steps / 5) : 0};
}

std::vector<std::string> LastGammas(const std::vector<std::string>& parameters) {
  std::map<std::string, std::string> last;  // by block; "bn2.weight" is before "bn3.weight"
  for (const std::string& name : parameters) {
    const size_t norm = name.rfind(".bn");
    if (norm == name.npos || !name.starts_with("layer") || !name.ends_with(".weight")) continue;
    std::string& of_block = last[name.substr(0, norm)];
    of_block = std::max(of_block, name);
  }
  std::vector<std::string> gammas;
  for (const auto& [block, gamma] : last) gammas.push_back(gamma);
  return gammas;
}

recipes::Settings SettingsOf(const Remedies& on, recipes::Settings settings) {
  settings.sync_batch_norm = !on.rank_batch_norm;
  return settings;
}

LabParts PartsOf(const Remedies& on, const recipes::Settings& s, double scale, int64_t steps) {
  LabParts parts;
  parts.learning_rate = [rate = RateOf(on, s.lr, scale, steps)](int64_t step) {
    return rate.At(step);
  };
  if (!on.momentum_correction)
    parts.optimizer = [momentum = s.momentum,
                       decay = s.weight_decay](std::vector<NamedVariable> parameters) {
      const parallel::SgdOptions sgd{.momentum = momentum, .weight_decay = decay};
      return std::make_unique<AbsorbedRateSgd>(std::move(parameters), sgd);
    };
  if (on.zero_gamma) parts.on_blocks = ZeroLastGammas;
  return parts;
}

Lab RemediesLab() {
  return {.name = "q4_2",
          .question = "4.2",
          .title = "remedies for large batches",
          .task = {"Goyal et al. 2017 trained with batches of 8192 images as well as with 256. "
                   "Switch their remedies on one after another, each with all before it, at the "
                   "largest batch on 4 ranks, and see how much of the gap of question 4.1 closes: "
                   "linear scaling of the rate, gradual warm-up, momentum correction, the last "
                   "batch norm of each residual block beginning at zero, and batch norm by the "
                   "images of each rank alone.",
                   "The warm-up takes the first fifth of the steps."},
          .report = Report,
          .answer = Answer};
}

}  // namespace torus::labs
