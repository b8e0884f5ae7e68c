// The random streams of runtime/rng.h in kernels, which draw the words themselves. Only for kernel
// sources.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "runtime/cuda/philox.h"
#include "runtime/gpu_graph.h"
#include "runtime/rng.h"
//
#include "runtime/cuda/hand_over.h"

namespace torus::cuda {

// The key and upper counter half of a stream, as two 64-bit words.
struct StreamPlace {
  uint32_t key0, key1;
  uint64_t high;
  __device__ PhiloxWords Block(int64_t index) const {
    return PhiloxBlock(static_cast<uint64_t>(index), high, key0, key1);
  }
};

inline StreamPlace PlaceOf(const RandomStream& s) {
  return {s.key()[0], s.key()[1], s.counter_high()};
}

// For a recorded graph: the same streams, in the step of each launch.
inline Tensor RenewedStreams(std::span<const RandomStream> streams, GpuGraph& graph) {
  static_assert(sizeof(StreamPlace) == 2 * sizeof(int64_t));
  const std::vector<RandomStream> recorded(streams.begin(), streams.end());
  return graph.Renewed(2 * std::ssize(streams), [recorded](int64_t step, std::span<int64_t> to) {
    for (size_t i = 0; i < recorded.size(); ++i) {
      const StreamPlace place = PlaceOf(recorded[i].InStep(static_cast<uint64_t>(step)));
      std::memcpy(&to[2 * i], &place, sizeof place);
    }
  });
}

// Returns the streams in memory of `device`; read them with StreamsIn.
inline Tensor HandOverStreams(std::string_view op, std::span<const RandomStream> streams,
                              Device device, StreamHandle stream) {
  if (GpuGraph* graph = GpuGraph::RecordedHere(device)) return RenewedStreams(streams, *graph);
  std::vector<StreamPlace> places;
  for (const RandomStream& s : streams) places.push_back(PlaceOf(s));
  return HandOver<StreamPlace>(op, places, device, stream);
}

inline const StreamPlace* StreamsIn(const Tensor& there) { return HandedOver<StreamPlace>(there); }

}  // namespace torus::cuda
