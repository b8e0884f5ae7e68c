#include "models/gpt2/conv1d.h"

#include "ops/matmul/linear.h"
#include "runtime/error.h"

namespace torus {

Conv1d::Conv1d(const Conv1dOptions& o) {
  weight_ = AddParameter("weight", {o.in, o.out}, o.dtype, nn::Normal(0, o.stddev));
  if (o.bias) bias_ = AddParameter("bias", {o.out}, o.dtype, nn::Constant(0));
}

Variable Conv1d::Forward(const Variable& x, const StepContext&) {
  return ops::LinearInOut(x, weight_, bias_);
}

}  // namespace torus
