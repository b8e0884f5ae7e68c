// LaterChecks: values in a GPU's memory that must be right (indices, class numbers) are looked at
// by the GPU, and what is wrong is told at the end of a step: to tell it at once the CPU would wait
// for the GPU at each of them.
//
//   LaterChecks checks(gpu);
//   {
//     const LaterChecks::Scope scope(checks);
//     ... ops check; they go on with other values in the place of wrong ones ...
//   }
//   checks.Report();
//
// Without a scope an op waits, and throws at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

class LaterChecks {
 public:
  // Throws for the value that is wrong first, at `position` in row-major order.
  using Fail = std::function<void(int64_t position, int64_t value)>;
  // Contiguous i64 values that are looked at, and must stay until the report.
  struct Check {
    Tensor values;
    Fail fail;
  };

  // BadInput for what is no GPU.
  explicit LaterChecks(Device gpu);
  LaterChecks(const LaterChecks&) = delete;
  LaterChecks& operator=(const LaterChecks&) = delete;

  // For a kernel: a number in the GPU's memory, above all positions, that it lowers to the smallest
  // position of a wrong value. Where too many wait for their report it comes first.
  int64_t* Expect(Check check);
  // Waits for the current stream of the GPU, unless nothing was expected since the last report, and
  // calls the first Fail, in the order of Expect, that something wrong was found for.
  void Report();
  // Forgets what was expected.
  void Clear();

  // What was expected and not reported. A step that is launched again as a graph (graph.h) lowers
  // the same numbers, so it has the same checks: SetExpected, in place of none.
  const std::vector<Check>& expected() const { return expected_; }
  void SetExpected(std::vector<Check> checks) { expected_ = std::move(checks); }

  // While one lives, `checks` are the calling thread's.
  class Scope {
   public:
    explicit Scope(LaterChecks& checks);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    LaterChecks* before_;
  };
  // The calling thread's, of the innermost scope; null without one for this GPU.
  static LaterChecks* Here(Device gpu);

 private:
  void Reset();

  Tensor first_;  // (kMost), i64: of each check
  std::vector<Check> expected_;
};

}  // namespace torus
