// ShardPlan: which elements of each parameter each replica holds. All ranks of a run make the same
// plan from the whole model, so that all uses of a tied parameter are split alike, whatever rank
// they are on.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace torus::parallel {

// [begin, end) of a parameter's elements in row-major order.
struct ElementRange {
  int64_t begin = 0, end = 0;
  int64_t size() const { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

enum class ShardRule : uint8_t {
  kFirst,       // replica 0 holds all
  kParameters,  // whole parameters, each to the replica that holds the least of its stage so far
  kBlocks,      // consecutive norm blocks (norm_block.h), as evenly as these allow
};

// A parameter of the model; `stage`: that of its first use.
struct ShardedParameter {
  std::string name;
  int64_t elements = 0;
  int stage = 0;
};

// By parameter and replica. The ranges of a parameter cover it without gaps, in some order of the
// replicas; some may be empty.
using ShardPlan = std::map<std::string, std::vector<ElementRange>>;

ShardPlan MakeShardPlan(ShardRule rule, const std::vector<ShardedParameter>& model, int replicas);

}  // namespace torus::parallel
