// StepFeed: the batches of a rank's steps, where it computes. On a GPU the batch of the next step
// is fetched and copied while the GPU computes on the one before. Trainer's own part.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <optional>

#include "parallel/pipeline/mini_batch.h"
#include "runtime/uploader.h"

namespace torus::parallel {

class StepFeed {
 public:
  // The batch of a step, in the CPU's memory.
  using Fetch = std::function<MiniBatch(int64_t step)>;

  explicit StepFeed(Device device) {
    if (device.kind == DeviceKind::kCuda) uploader_.emplace(device);
  }

  // Steps below `end` may be asked for now. What was fetched ahead before is forgotten.
  void Open(Fetch fetch, int64_t end);
  // The batch of a step, ready for the model. What its Fetch throws.
  MiniBatch Take(int64_t step);
  // When all work on the batch that was taken last has been put into the current stream.
  void Release();
  // On a GPU fetches the batch of a step that may be taken next, unless it is there; what fails
  // Take throws.
  void FetchAhead(int64_t step) noexcept;

 private:
  struct Ahead {
    int64_t step = 0;
    MiniBatch batch;
    std::exception_ptr failure;  // instead
  };
  MiniBatch FetchAndUpload(int64_t step);

  std::optional<Uploader> uploader_;
  Fetch fetch_;
  int64_t end_ = 0;
  std::optional<Ahead> ahead_;
};

}  // namespace torus::parallel
