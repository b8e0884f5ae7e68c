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
// next lies in memory that is written before it: inputs by the caller, the rest by Renewed; tables
// that stay as they are by Kept. The memory of tensors that are made while recording belongs to the
// graph, whether they are kept or not (memory_pool.h): those that are kept have their values behind
// each launch, until the next.
//
// While recording, the thread may not wait for the GPU, nor read its memory but by ReadNumber: that
// throws BrokenEnvironment, and the recording is spoilt. Memory from before that the work uses must
// outlive the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
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

  // What ReadNumber gives while recording, in its order: what it read when the same work was run
  // before (NumberLog). Before Record.
  void Assume(std::vector<int64_t> numbers) { assumed_ = std::move(numbers); }

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

  // For what records: `values` (i64) on the GPU, which are written before the first launch.
  Tensor Kept(std::span<const int64_t> values);

  // Whether what was assumed was so in the last launch; where not, all that came out of it is void.
  // Waits for the current stream where anything was assumed.
  bool Held() const;

  // What the calling thread records on a GPU; null where it records nothing there.
  static Graph* RecordedHere(Device gpu);

 private:
  // One copy a launch brings the words of all that Renewed gave out; another, in the first alone,
  // those that are kept.
  struct Words {
    Tensor there, here;  // here: pinned
    int64_t taken = 0;
  };
  struct Renewal {
    std::span<int64_t> words;  // of the memory here
    Renew renew;
  };
  friend int64_t ReadNumber(const Tensor& number);
  int64_t AssumedFor(const Tensor& number);
  Words& RoomFor(int64_t count, std::vector<Words>& parts) const;
  void WriteWords(int64_t step);

  const Device gpu_;
  const std::shared_ptr<MemoryPool> pool_;
  std::vector<Words> words_, kept_;
  bool kept_is_there_ = false;
  std::vector<Renewal> renewals_;
  std::vector<int64_t> assumed_;
  std::vector<Tensor> read_;      // by ReadNumber while recording
  std::optional<Event> renewed_;  // the words here may be written again
  void* graph_ = nullptr;         // cuda::GraphHandle
};

// A whole number (i64) of a GPU's memory that shapes depend on: how many tokens are masked. Waits
// for the GPU. While recording there is nothing to read yet: it is taken to be what
// Graph::Assume says, and work that uses it must be harmless where it is not.
int64_t ReadNumber(const Tensor& number);

// While one lives, the calling thread's ReadNumber notes what it reads.
class NumberLog {
 public:
  NumberLog();
  ~NumberLog();
  NumberLog(const NumberLog&) = delete;
  NumberLog& operator=(const NumberLog&) = delete;
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  std::vector<int64_t> numbers_;
  NumberLog* before_;
  friend int64_t ReadNumber(const Tensor& number);
};

}  // namespace torus
