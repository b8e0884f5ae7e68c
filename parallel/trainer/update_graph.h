// UpdateGraph: one part of a rank's weight update, recorded once and then launched as one CUDA
// graph (runtime/gpu_graph.h). Internal to the trainer.
//
// For steps whose forwards and backwards are a launch of a graph (pipeline/step_graph.h), which
// leaves the gradients at the same addresses each time. With a new key the part is computed without
// a graph, which loads libraries. With the same key again it is recorded and launched; from then on
// it is launched whenever it has that key. All give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/gpu_graph.h"
#include "runtime/tensor.h"

namespace torus::parallel {

class UpdateGraph {
 public:
  // All addresses and numbers that a recording fixes.
  class Key {
   public:
    // Adds the tensor's address and layout, or that it is undefined.
    void Add(const Tensor& tensor);
    void Add(uint64_t number) { words_.push_back(number); }
    friend bool operator==(const Key&, const Key&) = default;

   private:
    std::vector<uint64_t> words_;
  };
  // Enqueues the GPU's work without waiting, and returns the tensor that the host will read, or an
  // undefined one. Values that differ from step to step must be renewed (GpuGraph::Renewed).
  using Work = std::function<Tensor()>;

  // `part` is a name for traces and must outlive this object (a literal).
  UpdateGraph(Device gpu, const char* part) : gpu_(gpu), part_(part) {}

  // Has the effect of work(), in the current stream, and returns its result, whose values stay
  // valid until the next Run. `key`: all that `work` reads and writes, always in the same order,
  // except memory that it allocates itself.
  Tensor Run(const Key& key, int64_t step, const Work& work);

  // The number of launched Runs, including the recorded ones.
  int64_t launched() const { return launched_; }
  // What has prevented a recording; all later Runs are then computed without a graph. Empty if
  // nothing has.
  const std::string& why_not() const { return why_not_; }

 private:
  struct Recorded {
    explicit Recorded(Device gpu) : graph(gpu) {}
    Key key;
    Tensor result;
    GpuGraph graph;
  };
  bool TryRecord(int64_t step, const Work& work);
  Tensor Launch(int64_t step);

  Device gpu_;
  const char* part_;
  Key before_;  // of the Run before
  std::unique_ptr<Recorded> recorded_;
  int64_t launched_ = 0;
  std::string why_not_;
};

}  // namespace torus::parallel
