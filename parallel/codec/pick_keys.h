// Selection by counting: finds the keys at a few ranks without sorting.
#pragma once

#include <cstdint>
#include <span>

namespace torus::parallel {

// Sets out[i] to the key at ranks[i] when `keys`, all distinct, are sorted ascending. `ranks`
// ascend, each in [0, keys.size()). Time is at most linear in keys x ranks for each of at most six
// steps, whatever the keys are; one step leaves few of them unless they are very unevenly spread.
void PickKeys(std::span<const uint64_t> keys, std::span<const int64_t> ranks,
              std::span<uint64_t> out);

}  // namespace torus::parallel
