// A loader whose worker has no memory even for the message of what failed. This program has an
// operator new of its own.
#include <gtest/gtest.h>

#include <cstdlib>
#include <new>
#include <stdexcept>

#include "data/loading/loader.h"

namespace {

thread_local bool without_memory = false;

}  // namespace

// Not inlined: where one of the two is and the other is not, gcc takes them for a mismatch.
[[gnu::noinline]] void* operator new(size_t bytes) {
  void* const block = without_memory ? nullptr : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}
[[gnu::noinline]] void operator delete(void* block) noexcept { std::free(block); }
[[gnu::noinline]] void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace torus::data {
namespace {

Batch FailWithoutMemory(const MicroBatch&) {
  const std::runtime_error error("what does not fit beside the name of the micro-batch");
  without_memory = true;
  throw error;
}

TEST(Loader, WorkerWithoutMemoryForItsMessageIsAnErrorOfEachReader) {
  Loader loader(Sampler({.size = 8, .batch_size = 2}), FailWithoutMemory, {.workers = 1});
  EXPECT_THROW(loader.Fetch(0, 0, 0), std::bad_alloc);
  EXPECT_THROW(loader.Fetch(1, 0, 0), std::bad_alloc);
}

}  // namespace
}  // namespace torus::data
