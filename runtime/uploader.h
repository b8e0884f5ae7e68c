// Uploader: copies batches to a GPU in a stream of its own, so that the next batch is copied while
// the GPU computes on the current one.
//
//   uploader.Begin();  Tensor x = uploader.Copy(images);      // step 0
//   uploader.Await();                                         // the current stream may read x
//   ... work on x is put into the current stream ...
//   uploader.Begin();  Tensor y = uploader.Copy(next_images); // step 1, beside it
//   uploader.Release();                                       // no more work on x
//   uploader.Await(); ...
//
// The caching allocator reuses a freed block at once, which is safe only within one stream. The
// uploader writes from another stream, so it keeps blocks of its own for each of two batches. It
// overwrites a batch's blocks only after the work that was queued before the batch's Release.
#pragma once

#include <array>
#include <vector>

#include "runtime/stream.h"
#include "runtime/tensor.h"

namespace torus {

class Uploader {
 public:
  // Throws BadInput if `gpu` is not a GPU.
  explicit Uploader(Device gpu);
  ~Uploader();  // waits for its copies
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Begins the next batch. At most two batches exist at once: one that was awaited and not yet
  // released, and the one that begins.
  void Begin();
  // Copies a CPU tensor to the GPU, contiguous, as part of the batch begun last; `from` may be
  // dropped at once. If `from` is pinned (pinned.h), the call does not wait.
  Tensor Copy(const Tensor& from);
  // Work queued in the GPU's current stream from now on runs after the copies of the batch begun
  // last.
  void Await();
  // Declares that all work on the batch awaited last is queued in the current stream. Tensors of
  // the batch that are kept longer keep their memory, and the batch gets new blocks instead.
  void Release();

 private:
  struct Batch {
    explicit Batch(Device gpu) : copied(gpu), used(gpu) {}
    std::vector<Tensor> blocks;  // u8, on the GPU
    size_t taken = 0;            // how many of the blocks are in use
    std::vector<Tensor> sources;
    Event copied, used;
  };
  Tensor BlockOf(Batch& batch, size_t bytes);

  const Device gpu_;
  Stream stream_;
  std::array<Batch, 2> batches_;
  size_t begun_ = 1, awaited_ = 1;  // indices of the last ones
};

}  // namespace torus
