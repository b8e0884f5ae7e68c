// UpdateGraph: a part of what a rank does from its gradients to its next weights, recorded once and
// then launched as one graph (runtime/graph.h). Trainer's own part.
//
// For steps whose computing is the launch of a graph (pipeline/step_graph.h), which leaves the
// gradients where the launch before left them. With a new key the part is computed as ever, which
// loads libraries; with the same key again it is recorded, and launched; from then on launched
// wherever it has that key. All give the same bits.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/graph.h"
#include "runtime/tensor.h"

namespace torus::parallel {

class UpdateGraph {
 public:
  // What recorded work has in it as an address or a number.
  class Key {
   public:
    // Where the tensor lies, and how it is laid out there; or that it is undefined.
    void Add(const Tensor& tensor);
    void Add(uint64_t number) { words_.push_back(number); }
    friend bool operator==(const Key&, const Key&) = default;

   private:
    std::vector<uint64_t> words_;
  };
  // Gives the GPU its work, without a wait, and returns what the host will read of it; or nothing,
  // an undefined tensor. What differs from step to step it renews (Graph::Renewed).
  using Work = std::function<Tensor()>;

  // `part` is for traces and must outlive it (a literal).
  UpdateGraph(Device gpu, const char* part) : gpu_(gpu), part_(part) {}

  // Brings about what work() does, in the current stream, and gives what it returns, whose values
  // stay until the next Run. `key`: of all that it reads and writes, in one order, but of memory
  // that it makes itself.
  Tensor Run(const Key& key, int64_t step, const Work& work);

  // Calls of Run that were a launch; the recorded one counts.
  int64_t launched() const { return launched_; }
  // What has prevented a recording; from then on all is computed as ever. Empty: nothing.
  const std::string& why_not() const { return why_not_; }

 private:
  struct Recorded {
    explicit Recorded(Device gpu) : graph(gpu) {}
    Key key;
    Tensor result;
    Graph graph;
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
