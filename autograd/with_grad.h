// WithGrad: recording, within a NoGrad too, as recomputing does.
#pragma once

namespace torus {

// While one lives, gradients are recorded on this thread; the innermost of NoGrad and WithGrad
// counts.
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
