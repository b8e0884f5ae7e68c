// ShardPlan: which elements of each parameter each replica holds. All ranks of a run make the same
// one from the whole model, so that the uses of a tied parameter are cut alike, wherever they lie.
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
  kParameters,  // whole parameters, each to the replica that holds least of its stage so far
  kBlocks,      // runs of norm blocks (gradient_norm.h), as even as these allow
};

// A parameter of the model; `stage`: that of its first use.
struct ShardedParameter {
  std::string name;
  int64_t elements = 0;
  int stage = 0;
};

// By parameter and replica; the ranges of one parameter follow each other in some order of the
// replicas, and may be empty.
using ShardPlan = std::map<std::string, std::vector<ElementRange>>;

ShardPlan MakeShardPlan(ShardRule rule, const std::vector<ShardedParameter>& model, int replicas);

}  // namespace torus::parallel
