#include "runtime/batched_work.h"

#include <utility>

namespace torus {
namespace {

thread_local BatchedWork* innermost = nullptr;  // of the calling thread

}  // namespace

BatchedWork::BatchedWork() : outer_(std::exchange(innermost, this)) {}

BatchedWork::~BatchedWork() { innermost = outer_; }

BatchedWork* BatchedWork::Here() { return innermost; }

void BatchedWork::Finish() {
  for (const auto batches = std::exchange(batches_, {}); const auto& [run, batch] : batches)
    batch->Run();
}

}  // namespace torus
