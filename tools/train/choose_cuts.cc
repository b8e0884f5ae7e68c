#include "tools/train/choose_cuts.h"

#include <nlohmann/json.hpp>

#include "parallel/trainer/block_costs.h"
#include "parallel/trainer/world_layout.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"

namespace torus::tools {
namespace {

using Json = nlohmann::json;

std::vector<double> StaticCosts(const std::vector<parallel::Block>& blocks) {
  std::vector<double> costs;
  for (const parallel::Block& block : blocks) costs.push_back(block.cost);
  return costs;
}

// With the threads that a rank will have.
std::vector<double> Measure(const Task& task, const Settings& settings,
                            const std::vector<parallel::Block>& blocks) {
  const int before = TeamSize();
  SetTeamSize(parallel::ThreadShare(static_cast<int>(settings.threads),
                                    static_cast<int>(settings.stages * settings.replicas), 0));
  const std::vector<double> costs = parallel::MeasureBlockCosts(blocks, task.LargestInputs());
  SetTeamSize(before);
  return costs;
}

}  // namespace

CutChoice ChooseCuts(const Task& task, const Settings& settings) {
  const std::vector<parallel::Block> blocks = task.Blocks();
  const auto stages = static_cast<int>(settings.stages);
  Require(blocks.size() >= static_cast<size_t>(stages), "train",
          "--stages {} needs as many layers, but {} has {}", stages, settings.model, blocks.size());
  CutChoice choice;
  if (settings.cut == "auto") {
    choice.measured = Measure(task, settings, blocks);
    choice.cuts = parallel::BalanceCuts(choice.measured, stages);
  } else if (settings.cut.empty()) {
    choice.cuts = parallel::BalanceCuts(StaticCosts(blocks), stages);
  } else {
    choice.cuts = parallel::ParseCuts(settings.cut);
    parallel::CheckCuts(choice.cuts, static_cast<int>(blocks.size()));
  }
  return choice;
}

Json ToJson(const CutChoice& choice) {
  return {{"cuts", choice.cuts}, {"measured_seconds", choice.measured}};
}

CutChoice CutChoiceFromJson(const Json& json, const std::string& where) try {
  return {json.at("cuts").get<parallel::Cuts>(),
          json.at("measured_seconds").get<std::vector<double>>()};
} catch (const Json::exception& error) {
  Throw<BadInput>(where, "must have cuts and measured_seconds: {}", error.what());
}

}  // namespace torus::tools
