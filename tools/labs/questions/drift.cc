#include "tools/labs/questions/drift.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "recipes/blocks/build_blocks.h"
#include "tools/labs/questions/formulas.h"
#include "tools/labs/questions/kept_runs.h"
#include "tools/labs/questions/lab_run.h"
#include "tools/labs/questions/replica_weights.h"

namespace torus::labs {
namespace {

using Json = nlohmann::json;
using study::Heading;
using study::Paragraph;
using study::Part;
using study::Table;

double Largest(const std::vector<double>& distances) {
  return *std::max_element(distances.begin(), distances.end());
}

// As without a broadcast: rank r gets the weights of seed + r.
void GiveOwnWeights(const LabRun& run, ReplicaWeights& weights) {
  recipes::Settings own = run.settings();
  for (int64_t rank = 1; rank < run.settings().replicas; ++rank) {
    own.seed = run.settings().seed + static_cast<uint64_t>(rank);
    weights.Set(static_cast<size_t>(rank), recipes::BuildBlocks(own, run.data().form, ""));
  }
}

std::string LineOf(const LabOptions& o, const DriftCurve& curve) {
  return fmt::format("{}: distance {:.4f} at first, {:.4f} after {} steps", curve.of.name,
                     curve.distances.front(), curve.distances.back(), o.steps);
}

Table EmptyTable(const LabOptions& o) {
  return Table(fmt::format("Replicas after {} steps", o.steps),
               {{"run"},
                {"distance at first", "", 4},
                {"distance at the end", "", 4},
                {"of the weights' norm", "%", 2},
                {"loss at first", "", 4},
                {"loss at the end", "", 4}},
               "Distance: the largest norm of the difference of a rank's weights from rank 0's.");
}

Table Filled(const LabOptions& o, const std::vector<DriftCurve>& curves) {
  Table table = EmptyTable(o);
  for (const DriftCurve& curve : curves)
    table.Add({curve.of.name, curve.distances.front(), curve.distances.back(),
               100 * curve.distances.back() / curve.norm, curve.losses.front(),
               curve.losses.back()});
  return table;
}

study::Series SeriesOf(const std::string& name, const std::vector<double>& values, double first) {
  study::Series series{.name = name};
  for (size_t i = 0; i < values.size(); ++i)
    series.points.push_back({first + static_cast<double>(i), values[i]});
  return series;
}

study::Plot DistancePlot(const LabOptions& o, const std::vector<DriftCurve>& curves) {
  study::Plot plot{
      .title = "Distance between the replicas' weights", .x = {"step"}, .y = {"distance"}};
  for (const DriftCurve& curve : curves) {
    plot.series.push_back(SeriesOf(curve.of.name, curve.distances, 0));
    if (curve.of.shares_weights) continue;
    std::vector<double> decay =
        DistanceFactors(o.steps, o.settings.lr, o.settings.momentum, o.settings.weight_decay);
    for (double& factor : decay) factor *= curve.distances.front();
    plot.series.push_back(SeriesOf("what weight decay makes of it", decay, 0));
  }
  return plot;
}

study::Plot LossPlotOf(const std::vector<DriftCurve>& curves) {
  study::Plot plot{.title = "Training loss", .x = {"step"}, .y = {"loss"}};
  for (const DriftCurve& curve : curves)
    plot.series.push_back(SeriesOf(curve.of.name, curve.losses, 1));
  return plot;
}

std::string FormulaOf(const LabOptions& o, const DriftCurve& alone) {
  const double factor =
      DistanceFactors(o.steps, o.settings.lr, o.settings.momentum, o.settings.weight_decay).back();
  return fmt::format(
      "All replicas step by the same average gradient g: w_r - rate g - (w_0 - rate g) = w_r - "
      "w_0, "
      "so their distance stays. Only weight decay shrinks it, after {} steps by the factor {:.6f}: "
      "{:.4f} x {:.6f} = {:.4f}; measured {:.4f}.",
      o.steps, factor, alone.distances.front(), factor, alone.distances.front() * factor,
      alone.distances.back());
}

Json ToJson(const DriftCurve& curve) {
  return {{"distances", curve.distances}, {"losses", curve.losses}, {"norm", curve.norm}};
}

std::vector<double> NumbersOf(const Json& json) {
  std::vector<double> numbers;
  for (const Json& number : json) numbers.push_back(NumberFromJson(number));
  return numbers;
}

DriftCurve Kept(KeptRuns& kept, const LabOptions& o, const DriftCase& of, const Tell& tell) {
  Json key = KeySettings(o, ForRanks(o, o.batches.front(), o.ranks.back()));
  key["steps"] = o.steps;
  bool measured = false;
  const Json json = kept.Get(of.name, o.settings.seed, key, [&] {
    measured = true;
    return ToJson(MeasureDrift(o, of, tell));
  });
  const DriftCurve curve{.of = of,
                         .distances = NumbersOf(json.at("distances")),
                         .losses = NumbersOf(json.at("losses")),
                         .norm = NumberFromJson(json.at("norm"))};
  if (!measured) tell(LineOf(o, curve));
  return curve;
}

std::vector<Part> Answer(const LabOptions& o, const Tell& tell) {
  KeptRuns kept(o, kKeptCurves, tell);
  std::vector<DriftCurve> curves;
  for (const DriftCase& of : DriftCases()) curves.push_back(Kept(kept, o, of, tell));
  return {
      Heading{"What was measured"},
      Filled(o, curves),
      DistancePlot(o, curves),
      Paragraph{FormulaOf(o, curves.at(1))},
      LossPlotOf(curves),
      Paragraph{"Gradients alone do not suffice: a rank that begins elsewhere stays elsewhere. "
                "Each gradient is right at its own rank's weights and wrong at all others', and "
                "their average is the gradient of none of the models. So the weights of one "
                "rank must go to all before the first step; then averaged gradients keep all "
                "replicas equal, bit for bit."}};
}

std::vector<Asked> Report(const LabOptions& o) {
  Table table = EmptyTable(o);
  for (const DriftCase& of : DriftCases()) table.Add({of.name, {}, {}, {}, {}, {}});
  return {{"Is it enough to exchange gradients? Say what you expect before you measure."},
          {"Fill in the table.", table},
          {"Why does the distance behave as it does? Derive it from the step's formula."},
          {"What else must be shared, and when?"}};
}

}  // namespace

std::vector<DriftCase> DriftCases() {
  return {{"weights shared, gradients averaged", true, true},
          {"gradients alone: own weights at first", false, true},
          {"nothing but the first weights", true, false}};
}

DriftCurve MeasureDrift(const LabOptions& o, const DriftCase& of, const Tell& tell) {
  DriftCurve curve{.of = of};
  ReplicaWeights weights;
  recipes::Settings settings = ForRanks(o, o.batches.front(), o.ranks.back());
  if (!of.shares_gradients) {
    settings.strategy = "none";
    settings.collectives = "auto";
  }
  LabRun run(settings,
             {.images = o.images,
              .links = LinksOf(o, settings.replicas),
              .on_blocks = [&](std::vector<parallel::Block>& blocks) { weights.Add(blocks); }});
  if (!of.shares_weights) GiveOwnWeights(run, weights);
  curve.distances.push_back(Largest(weights.Distances()));
  for (int64_t step = 0; step < o.steps; ++step) {
    curve.losses.push_back(run.TrainSteps(1).loss);
    curve.distances.push_back(Largest(weights.Distances()));
  }
  curve.norm = weights.Norm();
  tell(LineOf(o, curve));
  return curve;
}

Lab GradientsAloneLab() {
  return {.name = "q7",
          .question = "7",
          .title = "gradients alone",
          .task = {"Train on 4 ranks whose gradients are averaged in every step, but whose weights "
                   "nobody has shared: each rank draws its own at the beginning. Draw how far the "
                   "replicas lie apart, step by step, beside a run that shares the weights once, "
                   "and one that shares nothing else."},
          .report = Report,
          .answer = Answer,
          .least_ranks = 2};
}

}  // namespace torus::labs
