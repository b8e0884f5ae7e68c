// Times work on a GPU. For sources built with CUDA only.
#pragma once

#include <algorithm>
#include <array>

#include "runtime/device.h"
#include "runtime/error.h"
//
#include "runtime/cuda/kernel.h"

namespace torus::cuda {

inline void CheckTiming(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    Throw<BrokenEnvironment>("plans", "{}: {}", call, cudaGetErrorString(status));
}

// A point in a stream that knows when it was reached.
class TimedEvent {
 public:
  TimedEvent() { CheckTiming(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~TimedEvent() { cudaEventDestroy(event_); }
  TimedEvent(const TimedEvent&) = delete;
  TimedEvent& operator=(const TimedEvent&) = delete;

  void Record(cudaStream_t stream) {
    CheckTiming(cudaEventRecord(event_, stream), "cudaEventRecord");
  }
  // Waits until the other, later event is reached.
  double SecondsTo(const TimedEvent& later) const {
    CheckTiming(cudaEventSynchronize(later.event_), "cudaEventSynchronize");
    float milliseconds = 0;
    CheckTiming(cudaEventElapsedTime(&milliseconds, event_, later.event_), "cudaEventElapsedTime");
    return 1e-3 * milliseconds;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Lets the stream wait that long. A template, since each source that includes it has its own.
template <class Cycles>
__global__ void SpinFor(Cycles cycles) {
  const Cycles begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

// The median time of what `run` launches in the stream, after one launch that loads it. A sample is
// of several launches that are queued while the GPU is kept busy, since a CPU may take longer to
// launch a small kernel than the GPU to run it.
template <class Run>
double GpuSeconds(StreamHandle stream, const Run& run) {
  constexpr int kLaunches = 5;
  constexpr long long kCycles = 300'000;  // about 0.2 ms
  std::array<double, 5> samples;
  const auto queue = static_cast<cudaStream_t>(stream);
  run();
  for (double& sample : samples) {
    TimedEvent begin, end;
    Launch("plans", 1, 1, 0, stream, SpinFor<long long>, kCycles);
    begin.Record(queue);
    for (int i = 0; i < kLaunches; ++i) run();
    end.Record(queue);
    sample = begin.SecondsTo(end) / kLaunches;
  }
  const auto middle = samples.begin() + samples.size() / 2;
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace torus::cuda
