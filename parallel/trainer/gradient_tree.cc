#include "parallel/trainer/gradient_tree.h"

#include <utility>

#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

std::vector<Tensor> Merge(std::vector<Tensor> left, std::vector<Tensor> right) {
  for (size_t i = 0; i < left.size(); ++i) {
    if (!left[i].defined())
      left[i] = std::move(right[i]);
    else if (right[i].defined())
      AddInPlace(left[i], right[i]);
  }
  return left;
}

}  // namespace

void GradientTree::Take(int micro_batch) {
  for (; taken_ < micro_batch; ++taken_) sums_.Push(Gradients(uses_.size()), Merge);
  Gradients gradients;
  for (NamedVariable& use : uses_) {
    const Tensor& gradient = use.value.grad();
    // A gradient may share its memory with another tensor only where it is strided.
    gradients.push_back(gradient.defined() ? gradient.Contiguous() : Tensor());
    use.value.ZeroGrad();
  }
  sums_.Push(std::move(gradients), Merge);
  ++taken_;
}

void GradientTree::Finish() {
  taken_ = 0;
  if (sums_.empty()) return;
  Gradients gradients = sums_.Take(Merge);
  for (size_t i = 0; i < uses_.size(); ++i)
    if (gradients[i].defined()) uses_[i].value.SetGrad(std::move(gradients[i]));
}

}  // namespace torus::parallel
