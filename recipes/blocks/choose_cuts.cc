#include "recipes/blocks/choose_cuts.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "parallel/codec/codec_choice.h"
#include "parallel/codec/make_codec.h"
#include "parallel/link/link_table.h"
#include "parallel/pipeline/partition.h"
#include "parallel/schedule/best_cuts.h"
#include "parallel/trainer/block_costs.h"
#include "recipes/blocks/auto_cut.h"
#include "recipes/blocks/build_blocks.h"
#include "recipes/blocks/cut_bytes.h"
#include "recipes/blocks/layer_list.h"
#include "recipes/data/task_loss.h"
#include "recipes/model/model_of.h"
#include "recipes/run/lora.h"
#include "recipes/settings/device.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/team_size_guard.h"

namespace torus::recipes {
namespace {

std::vector<double> StaticCosts(const std::vector<nn::LayerSummary>& layers) {
  std::vector<double> costs;
  for (const nn::LayerSummary& layer : layers) costs.push_back(nn::StaticCost(layer.cost));
  return costs;
}

std::unique_ptr<parallel::Codec> CodecOf(const Settings& settings) {
  const int stages = static_cast<int>(settings.stages);
  const auto choice = parallel::ParseCodecChoice("--codec", settings.codec, stages);
  return choice.everywhere == "none" ? nullptr : parallel::MakeCodec(choice.everywhere);
}

// Measures with a rank's equal share of the threads, and with the run's loss, which includes a
// language model's head.
parallel::CostModel Measure(const Settings& settings, const DataForm& form,
                            parallel::Codec* codec) {
  const TeamSizeGuard team(std::max(1, static_cast<int>(settings.threads / RanksOf(settings))));
  const ModelSpec model = ModelOf(settings);
  const std::vector<parallel::TensorSpec> inputs = form.inputs(LargestMicroBatch(settings));
  const Device device = CheckedDevice("train", settings.device);
  std::vector<Tensor> targets = SampleTargets(model.task, inputs[0].shape);
  for (Tensor& target : targets) target = target.To(device);
  const parallel::CostModel costs = parallel::MeasureBlockCosts(
      BuildBlocks(settings, form, ""), inputs,
      {.loss = [loss = TaskLoss(model, PrecisionOf(settings), settings.label_smoothing),
                &targets](const auto& outputs) { return loss(outputs, targets); },
       .optimizer = OptimizerOf(settings, form),
       .codec = codec,
       .device = device});
  AllocatorFor(device).ReleaseCached();
  return costs;
}

// Bytes of each layer's weights, their gradients, and the optimizer's state. A tied parameter
// counts in the first layer that has it.
std::vector<double> StateBytes(const Settings& settings, const DataForm& form) {
  const ModelSpec spec = ModelOf(settings);
  const auto model = spec.build(spec.Config(form.classes), spec.name, {});
  const auto of_optimizer = BytesOfOptimizerState(settings, form);
  std::set<std::string> counted;
  std::vector<double> bytes;
  for (const auto& layer : model->layers()) {
    double own = 0;
    for (const NamedVariable& parameter : layer.module->Parameters(layer.name))
      if (counted.insert(parameter.name).second)
        own += 2 * static_cast<double>(parameter.value.data().bytes()) + of_optimizer(parameter);
    bytes.push_back(own);
  }
  return bytes;
}

// `rate`: operations per second.
parallel::CostModel Count(const Settings& settings, const DataForm& form,
                          const std::vector<nn::LayerSummary>& layers, double rate,
                          parallel::Codec* codec) {
  const std::vector<bool> recomputed =
      ParseLayerList("--recompute", settings.recompute, static_cast<int>(layers.size()));
  const std::vector<double> states = StateBytes(settings, form);
  parallel::CostModel costs;
  for (size_t i = 0; i < layers.size(); ++i) {
    const nn::LayerCost& cost = layers[i].cost;
    const double forward = nn::StaticCost(cost) / rate;
    const double state = states[i];
    costs.forward.push_back(forward);
    costs.backward.push_back((recomputed[i] ? 3 : 2) * forward);
    costs.step.push_back(nn::StaticCost({.activation_bytes = static_cast<int64_t>(state)}) / rate);
    costs.boundary_bytes.push_back(CutBytes(cost, codec));
    costs.state_bytes.push_back(state);
    costs.activation_bytes.push_back(
        static_cast<double>(recomputed[i] ? cost.output_bytes : cost.activation_bytes));
  }
  return costs;
}

// The links between the first replica's ranks.
parallel::LinkTable LinksOf(const std::vector<std::string>& specs, int ranks) {
  const parallel::LinkTable all = parallel::ParseLinks(specs);
  parallel::LinkTable links;
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to) links.Set(from, to, all.Get(from, to));
  return links;
}

// A step runs the schedule `rounds` times before the all-reduce and the optimizer's step.
CutPrediction Predict(const parallel::Schedule& schedule, const parallel::CutPlan& plan,
                      int64_t rounds) {
  parallel::CostModel costs = plan.costs;
  costs.step.clear();
  const parallel::Simulation pipeline = Simulate(schedule, costs);
  return {static_cast<double>(rounds - 1) * pipeline.makespan + plan.simulation.makespan,
          pipeline.bubble, plan.simulation.peak_bytes};
}

std::vector<double> Limits(const std::vector<uint64_t>& memory, int ranks) {
  Require(memory.size() <= 1 || std::ssize(memory) == ranks, "train",
          "--rank-memory needs one size, or one for each of {} ranks, got {}", ranks,
          memory.size());
  if (memory.size() == 1) return std::vector<double>(ranks, static_cast<double>(memory[0]));
  return {memory.begin(), memory.end()};
}

CutChoice ChooseBest(const Settings& settings, const DataForm& form,
                     const std::vector<nn::LayerSummary>& layers, const CutConditions& conditions) {
  const parallel::PipelineSize size = PipelineOf(settings);
  const parallel::Schedule schedule = conditions.schedule
                                          ? parallel::MakeSchedule(conditions.schedule, size)
                                          : parallel::MakeSchedule(settings.schedule, size);
  const auto codec = CodecOf(settings);
  const double rate = CountedRate(settings.cut);
  parallel::CostModel blocks = rate > 0 ? Count(settings, form, layers, rate, codec.get())
                                        : Measure(settings, form, codec.get());
  blocks.links = LinksOf(settings.links, size.ranks);
  const parallel::CutPlan plan =
      BestCuts(schedule, blocks, Limits(conditions.rank_memory, size.ranks));
  CutChoice choice{plan.cuts, {}, Predict(schedule, plan, settings.accumulate)};
  for (size_t i = 0; rate == 0 && i < blocks.forward.size(); ++i)
    choice.measured.push_back(blocks.forward[i] + blocks.backward[i]);
  return choice;
}

}  // namespace

CutChoice ChooseCuts(const Settings& settings, const DataForm& form,
                     const CutConditions& conditions) {
  const std::vector<nn::LayerSummary> layers = DescribeLayers(settings, form);
  const auto stages = static_cast<int>(settings.stages);
  Require(layers.size() >= static_cast<size_t>(stages), "train",
          "--stages {} needs as many layers, but {} has {}", stages, settings.model, layers.size());
  if (IsAutoCut(settings.cut)) return ChooseBest(settings, form, layers, conditions);
  if (settings.cut.empty()) return {parallel::BalanceCuts(StaticCosts(layers), stages), {}};
  const parallel::Cuts cuts = parallel::ParseCuts(settings.cut);
  parallel::CheckCuts(cuts, static_cast<int>(layers.size()));
  return {cuts, {}};
}

}  // namespace torus::recipes
