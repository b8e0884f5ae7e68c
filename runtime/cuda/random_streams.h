// The CPU's random streams (runtime/rng.h) for kernels, which draw their words themselves. In
// kernels' sources only.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/cuda/philox.h"
#include "runtime/rng.h"
//
#include "runtime/cuda/hand_over.h"

namespace torus::cuda {

// What Philox needs of a stream, in 64-bit words.
struct StreamPlace {
  uint32_t key0, key1;
  uint64_t high;
  __device__ PhiloxWords Block(int64_t index) const {
    return PhiloxBlock(static_cast<uint64_t>(index), high, key0, key1);
  }
};

// The streams in memory of `device`; StreamsIn reads them.
inline Tensor HandOverStreams(std::string_view op, std::span<const RandomStream> streams,
                              Device device, StreamHandle stream) {
  std::vector<StreamPlace> places;
  for (const RandomStream& s : streams)
    places.push_back({s.key()[0], s.key()[1], s.counter_high()});
  return HandOver<StreamPlace>(op, places, device, stream);
}

inline const StreamPlace* StreamsIn(const Tensor& there) { return HandedOver<StreamPlace>(there); }

}  // namespace torus::cuda
