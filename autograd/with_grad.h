// WithGrad: records gradients even inside a NoGrad scope, as recomputation needs.
#pragma once

namespace torus {

// While one exists, gradients are recorded on this thread. The innermost NoGrad or WithGrad
// decides.
class WithGrad {
 public:
  WithGrad();
  ~WithGrad();
  WithGrad(const WithGrad&) = delete;
  WithGrad& operator=(const WithGrad&) = delete;

 private:
  bool before_;
};

}  // namespace torus
