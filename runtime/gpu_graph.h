// GpuGraph: GPU work that is recorded once and then launched again and again by one call (CUDA
// graphs: CUDA C++ programming guide, "CUDA Graphs"). Otherwise a training step of a thousand small
// kernels costs the CPU a thousand launches, which take longer than a fast GPU needs to run the
// kernels.
//
//   GpuGraph graph(gpu);
//   graph.Record([&] { y = Model(x); });  // nothing runs yet
//   for (int64_t step = 0; ...; ++step) {
//     Copy(batch, x);
//     graph.Launch(step);  // y is that of the new x
//   }
//
// Each launch does the same work with the same memory and the same numbers. What differs between
// launches must be in memory that is written before each launch: the caller writes inputs, Renewed
// writes the rest. Kept holds tables that never change. Memory of tensors made while recording
// belongs to the graph, even after the tensors are gone (memory_pool.h). Tensors that still exist
// hold their values after each launch, until the next.
//
// While recording, the thread must not wait for the GPU, nor read its memory except with
// ReadNumber: that throws BrokenEnvironment and invalidates the recording. Memory allocated earlier
// that the work uses must outlive the graph.
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

class GpuGraph {
 public:
  // Writes the numbers of a step.
  using Renew = std::function<void(int64_t step, std::span<int64_t> words)>;

  // Throws BadInput if `gpu` is not a GPU of this machine.
  explicit GpuGraph(Device gpu);
  ~GpuGraph();
  GpuGraph(const GpuGraph&) = delete;
  GpuGraph& operator=(const GpuGraph&) = delete;

  // Sets what ReadNumber returns while recording, in order: the numbers that it read when the same
  // work ran before (NumberLog). Call it before Record.
  void Assume(std::vector<int64_t> numbers) { assumed_ = std::move(numbers); }

  // Calls `work` on this thread, with a stream of the graph's own as the GPU's current stream. May
  // be called once. Anything that is initialised at its first use in the process must have been
  // used before, such as a library that is loaded or a plan that is searched. Rethrows what `work`
  // throws; the graph is then unusable.
  void Record(const std::function<void()>& work);

  // Launches the recorded work in the calling thread's current stream of the GPU, with the numbers
  // of `step`. Always use the same stream, or one that waits for the previous one.
  void Launch(int64_t step);

  // For recorded work: returns `count` words (i64) on the GPU, which `renew` writes again before
  // each launch. What `renew` uses must outlive the graph.
  Tensor Renewed(int64_t count, Renew renew);

  // For recorded work: returns `values` (i64) on the GPU, written before the first launch.
  Tensor Kept(std::span<const int64_t> values);

  // Whether the assumed numbers were right in the last launch. If not, all results of that launch
  // are invalid. Waits for the current stream if anything was assumed.
  bool Held() const;

  // The graph that the calling thread is recording on this GPU; null if none.
  static GpuGraph* RecordedHere(Device gpu);

 private:
  // A part of the words in GPU memory, with its source in CPU memory. Parts from Renewed are copied
  // before each launch, parts from Kept only before the first.
  struct Words {
    Tensor there, here;  // `here` is pinned CPU memory
    int64_t taken = 0;
  };
  struct Renewal {
    std::span<int64_t> words;  // in Words::here
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
  std::vector<Tensor> read_;      // read by ReadNumber while recording
  std::optional<Event> renewed_;  // when done, Words::here may be written again
  void* graph_ = nullptr;         // cuda::GraphHandle
};

// Reads an i64 from GPU memory on which shapes depend, such as the number of masked tokens. Waits
// for the GPU. While recording there is nothing to read yet: the result is what GpuGraph::Assume
// set, and work that uses it must be harmless if it turns out wrong.
int64_t ReadNumber(const Tensor& number);

// While one exists, it logs what the calling thread's ReadNumber reads.
class NumberLog {
 public:
  NumberLog();
  ~NumberLog();
  NumberLog(const NumberLog&) = delete;
  NumberLog& operator=(const NumberLog&) = delete;
  // In the order in which they were logged.
  const std::vector<int64_t>& numbers() const { return numbers_; }

 private:
  std::vector<int64_t> numbers_;
  NumberLog* before_;
  friend int64_t ReadNumber(const Tensor& number);
};

}  // namespace torus
