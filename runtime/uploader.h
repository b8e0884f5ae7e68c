// Uploader: copies the batches of a GPU's steps to it, in a stream of its own: that of the next one
// while the GPU computes on the one before.
//
//   uploader.Begin();  Tensor x = uploader.Copy(images);      // step 0
//   uploader.Await();                                         // the current stream may read x
//   ... work on x is put into the current stream ...
//   uploader.Begin();  Tensor y = uploader.Copy(next_images); // step 1, beside it
//   uploader.Release();                                       // no more work on x
//   uploader.Await(); ...
//
// The caching allocator hands a freed block to whoever asks next, in the order of one stream; so
// what another stream writes has blocks that the allocator does not hand out: each of two batches
// has its own, which are written again behind the work that Release stands behind.
#pragma once

#include <array>
#include <vector>

#include "runtime/stream.h"
#include "runtime/tensor.h"

namespace torus {

class Uploader {
 public:
  // BadInput for what is no GPU.
  explicit Uploader(Device gpu);
  ~Uploader();  // waits for its copies
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // Begins the next batch. At most two are there at once: one that was awaited and not released,
  // and the one that begins.
  void Begin();
  // A copy of a CPU's tensor for the batch that was begun last, contiguous; `from` may be dropped.
  // Nothing waits where it is pinned (pinned.h).
  Tensor Copy(const Tensor& from);
  // What the current stream of the GPU is given from now on comes behind the copies of the batch
  // that was begun last.
  void Await();
  // What it was given until now is all that uses the batch that was awaited last. Tensors of it
  // that are kept longer keep their memory, and others take its place.
  void Release();

 private:
  struct Batch {
    explicit Batch(Device gpu) : copied(gpu), used(gpu) {}
    std::vector<Tensor> blocks;  // u8, of the GPU
    size_t taken = 0;            // of these
    std::vector<Tensor> sources;
    Event copied, used;
  };
  Tensor BlockOf(Batch& batch, size_t bytes);

  const Device gpu_;
  Stream stream_;
  std::array<Batch, 2> batches_;
  size_t begun_ = 1, awaited_ = 1;  // the last
};

}  // namespace torus
