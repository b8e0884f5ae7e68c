#include "models/nn/cost.h"

#include <algorithm>
#include <numeric>

#include "autograd/op_observer.h"
#include "runtime/error.h"

namespace torus::nn {
namespace {

class CostObserver : public OpObserver {
 public:
  void OnOp(std::string_view, const std::vector<Variable>& inputs,
            const std::vector<Variable>& outputs) override {
    for (const Variable& output : outputs)
      if (IsFloating(output.dtype()) && !IsView(output, inputs))
        bytes_ += static_cast<int64_t>(output.data().bytes());
  }
  void OnProduct(int64_t flops) override { flops_ += flops; }

  int64_t flops() const { return flops_; }
  int64_t bytes() const { return bytes_; }

 private:
  static bool IsView(const Variable& output, const std::vector<Variable>& inputs) {
    return std::ranges::any_of(inputs, [&](const Variable& input) {
      return input.defined() && input.data().storage() == output.data().storage();
    });
  }

  int64_t flops_ = 0, bytes_ = 0;
};

StepContext Context(int64_t samples, bool training) {
  StepContext context{.training = training};
  context.samples.resize(static_cast<size_t>(samples));
  std::iota(context.samples.begin(), context.samples.end(), 0);
  return context;
}

LayerCost Run(Module& layer, std::vector<Variable>& values, bool training) {
  CostObserver observer;
  values = layer.ForwardAll(values, Context(values[0].dim(0), training));
  int64_t bytes = 0;
  for (const Variable& value : values) bytes += static_cast<int64_t>(value.data().bytes());
  return {.output = values[0].shape(),
          .flops = observer.flops(),
          .activation_bytes = observer.bytes(),
          .output_bytes = bytes};
}

}  // namespace

LayerCost CostOf(Module& layer, std::vector<Variable>& values) {
  TORUS_CHECK(!values.empty() && values[0].data().device() == kMetaDevice);
  try {
    return Run(layer, values, /*training=*/true);
  } catch (const BadInput&) {  // if the evaluation fails too, it throws
    return Run(layer, values, /*training=*/false);
  }
}

}  // namespace torus::nn
