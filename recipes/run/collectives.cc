#include "recipes/run/collectives.h"

#include "parallel/collectives/all_reduce.h"
#include "parallel/data_parallel/strategy_factory.h"

namespace torus::recipes {

std::vector<std::pair<std::string, std::string>> CollectivesDescriptions() {
  std::vector<std::pair<std::string, std::string>> all{
      {"auto",
       "engine for ddp, local-sgd and diloco over NCCL without --reproducible and "
       "--codec-gradients, "
       "otherwise direct"}};
  for (const auto& algorithm : parallel::AllReduceDescriptions()) all.push_back(algorithm);
  return all;
}

std::vector<std::string> CollectivesNames() {
  std::vector<std::string> names;
  for (const auto& [name, about] : CollectivesDescriptions()) names.push_back(name);
  return names;
}

std::string CollectivesOf(const Settings& settings, bool by_nccl) {
  if (settings.collectives != "auto") return settings.collectives;
  const bool whole = settings.codec_gradients == "none" && !settings.reproducible;
  return by_nccl && parallel::SumsInBuckets(settings.strategy) && whole ? "engine" : "direct";
}

}  // namespace torus::recipes
