// Graph: work for a GPU that is recorded once and put into a stream again by one call (CUDA graphs:
// CUDA C++ programming guide, "CUDA Graphs"). A training step of a thousand small kernels costs the
// CPU a launch each, which is more than a fast GPU takes to run them.
//
//   Graph graph(gpu);
//   graph.Record([&] { y = Model(x); });  // nothing runs yet
//   for (int64_t step = 0; ...; ++step) {
//     Copy(batch, x);
//     graph.Launch(step);  // y is that of the new x
//   }
//
// Each launch does the same with the same memory and the same numbers. What changes from one to the
// next lies in memory that is written before it: inputs by the caller, the rest by Renewed. The
// memory of tensors that are made while recording belongs to the graph, whether they are kept or
// not (memory_pool.h): those that are kept have their values behind each launch, until the next.
//
// While recording, the thread may not wait for the GPU, nor read its memory. That throws
// BrokenEnvironment, and the recording is spoilt. Work of earlier steps must not lead into it by
// memory that is freed later: what is read must outlive the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "runtime/memory_pool.h"
#include "runtime/stream.h"
#include "runtime/tensor.h"

namespace torus {

class Graph {
 public:
  // Writes a step's numbers.
  using Renew = std::function<void(int64_t step, std::span<int64_t> words)>;

  // BadInput for what is no GPU that is there.
  explicit Graph(Device gpu);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Once: calls `work`, on this thread, with a stream of the graph's own as the current one of the
  // GPU. Everything that it uses for the first time in the process must have been used before: a
  // library that is loaded, a plan that is looked for. What `work` throws; then the graph is of no
  // use.
  void Record(const std::function<void()>& work);

  // Puts the recorded work into the calling thread's current stream of the GPU, with the numbers of
  // `step`. Always the same stream, or one that waits for the one before.
  void Launch(int64_t step);

  // For what records: `count` words (i64) on the GPU, which `renew` writes anew for each launch.
  // What it uses must outlive the graph.
  Tensor Renewed(int64_t count, Renew renew);

  // What the calling thread records on a GPU; null where it records nothing there.
  static Graph* RecordedHere(Device gpu);

 private:
  // One copy a launch brings the words of all that Renewed gave out.
  struct Words {
    Tensor there, here;  // here: pinned
    int64_t taken = 0;
  };
  struct Renewal {
    std::span<int64_t> words;  // of the memory here
    Renew renew;
  };
  Words& RoomFor(int64_t count);
  void RenewAll(int64_t step);

  const Device gpu_;
  const std::shared_ptr<MemoryPool> pool_;
  std::vector<Words> words_;
  std::vector<Renewal> renewals_;
  std::optional<Event> renewed_;  // the words here may be written again
  void* graph_ = nullptr;         // cuda::GraphHandle
};

}  // namespace torus
