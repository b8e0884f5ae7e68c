// DeferredChecks: deferred checks of values in GPU memory, such as indices and class numbers. The
// GPU checks the values, and errors are reported at the end of a step. To report them at once, the
// CPU would have to wait for the GPU at each check.
//
//   DeferredChecks checks(gpu);
//   {
//     const DeferredChecks::Scope scope(checks);
//     ... ops check; they go on with other values in the place of wrong ones ...
//   }
//   checks.Report();
//
// Without a scope, an op waits for the GPU and throws at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

class DeferredChecks {
 public:
  // Throws an error for the first wrong value, at `position` in row-major order.
  using Fail = std::function<void(int64_t position, int64_t value)>;
  // Contiguous i64 values to check. They must not change until the report.
  struct Check {
    Tensor values;
    Fail fail;  // throws their error
  };

  // Throws BadInput if `gpu` is not a GPU.
  explicit DeferredChecks(Device gpu);
  DeferredChecks(const DeferredChecks&) = delete;
  DeferredChecks& operator=(const DeferredChecks&) = delete;

  // Registers a check and returns the GPU address that its kernel writes to. The number there
  // starts above all positions; the kernel lowers it to the smallest position of a wrong value.
  // Throws BadInput while a graph is recorded with more checks than were ever pending before.
  int64_t* Expect(Check check);
  // Waits for the GPU's current stream and calls Fail of the first check, in the order of Expect,
  // that found a wrong value. Does nothing if no check is pending.
  void Report();
  // Drops the pending checks.
  void Clear();

  // The pending checks. A step that is launched again as a graph (graph.h) writes to the same
  // numbers, so it has the same checks: pass them to SetExpected while none is pending.
  const std::vector<Check>& expected() const { return expected_; }
  void SetExpected(std::vector<Check> checks) { expected_ = std::move(checks); }

  // While one exists, `checks` collects the checks of the calling thread.
  class Scope {
   public:
    explicit Scope(DeferredChecks& checks);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    DeferredChecks* before_;
  };
  // The calling thread's checks for this GPU, from the innermost scope; null if that is for another
  // GPU or there is none.
  static DeferredChecks* Here(Device gpu);

 private:
  void AddBlock();
  static void Reset(Tensor& block);
  std::vector<int64_t> Found(int64_t count) const;

  const Device gpu_;
  std::vector<Tensor> blocks_;  // i64: the numbers of all checks, one after the other; never moved
  std::vector<Check> expected_;
};

}  // namespace torus
