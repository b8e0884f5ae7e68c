#include "parallel/pipeline/skip_connections.h"

#include <algorithm>
#include <map>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

using Places = std::map<std::string, int>;  // the block of each name

Places PlacesOf(const std::vector<Block>& blocks, std::vector<std::string> Block::*names,
                const char* verb) {
  Places places;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (const std::string& name : blocks[i].*names) {
      const auto [at, fresh] = places.try_emplace(name, static_cast<int>(i));
      Require(fresh, "pipeline", "one block may {} {}, got {} and {}", verb, name,
              blocks[at->second].name, blocks[i].name);
    }
  return places;
}

int StageOf(int block, const Cuts& cuts) {
  return static_cast<int>(std::ranges::upper_bound(cuts, block) - cuts.begin());
}

}  // namespace

std::vector<SkipConnection> FindSkipConnections(const std::vector<Block>& blocks,
                                                const Cuts& cuts) {
  Places taken = PlacesOf(blocks, &Block::takes, "take");
  PlacesOf(blocks, &Block::stashes, "stash");
  std::vector<SkipConnection> skips;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (const std::string& name : blocks[i].stashes) {
      const auto taker = taken.extract(name);
      Require(!taker.empty(), "pipeline", "block {} stashes {}, which no block takes",
              blocks[i].name, name);
      const int to = taker.mapped();
      Require(to > static_cast<int>(i), "pipeline",
              "{} must be taken by a later block than {}, which stashes it, got {}", name,
              blocks[i].name, blocks[to].name);
      const SkipConnection skip{name, StageOf(static_cast<int>(i), cuts), StageOf(to, cuts)};
      if (skip.from < skip.to) skips.push_back(skip);
    }
  Require(taken.empty(), "pipeline", "block {} takes {}, which no block stashes",
          taken.empty() ? "" : blocks[taken.begin()->second].name,
          taken.empty() ? "" : taken.begin()->first);
  return skips;
}

}  // namespace torus::parallel
