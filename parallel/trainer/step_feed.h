// StepFeed: supplies the batches of a rank's steps on its device. On a GPU the next step's batch is
// fetched and copied while the GPU computes the current step. Internal to the trainer.
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
  // Returns the batch of a step, in CPU memory.
  using Fetch = std::function<MiniBatch(int64_t step)>;

  explicit StepFeed(Device device) {
    if (device.kind == DeviceKind::kCuda) uploader_.emplace(device);
  }

  // Starts serving steps below `end`; drops a batch that was fetched ahead before.
  void Open(Fetch fetch, int64_t end);
  // Returns the batch of a step, ready for the model. Throws what Fetch throws for it.
  MiniBatch Take(int64_t step);
  // Call when all work on the last taken batch has been enqueued in the current stream.
  void Release();
  // On a GPU, fetches the batch of the step that may be taken next, unless that is done already.
  // Take throws what fails here.
  void FetchAhead(int64_t step) noexcept;

 private:
  struct Ahead {
    int64_t step = 0;
    MiniBatch batch;
    std::exception_ptr failure;  // set instead of `batch`
  };
  MiniBatch FetchAndUpload(int64_t step);

  std::optional<Uploader> uploader_;
  Fetch fetch_;
  int64_t end_ = 0;
  std::optional<Ahead> ahead_;
};

}  // namespace torus::parallel
