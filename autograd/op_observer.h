// OpObserver: is notified of every op that its thread runs, to collect shapes and costs. On the
// meta device this costs neither computation nor memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "autograd/observe_product.h"
#include "autograd/variable.h"

namespace torus {

// Observes the ops of the thread that created it, as long as it exists. Observers nest; all of them
// are notified.
class OpObserver {
 public:
  OpObserver();
  virtual ~OpObserver();
  OpObserver(const OpObserver&) = delete;
  OpObserver& operator=(const OpObserver&) = delete;

  // Called after an op was recorded, with or without a gradient. An output may be a view of an
  // input; the two then share storage.
  virtual void OnOp(std::string_view op, const std::vector<Variable>& inputs,
                    const std::vector<Variable>& outputs) = 0;
  // Called when a matrix product or convolution of `flops` floating-point operations is submitted
  // to a device, in a forward or a backward. A multiply-add counts as two.
  virtual void OnProduct(int64_t flops) = 0;

 private:
  friend void ObserveOp(std::string_view op, const std::vector<Variable>& inputs,
                        const std::vector<Variable>& outputs);
  friend void ObserveProduct(int64_t flops);
  OpObserver* before_;
};

// Notifies the thread's observers; Record calls it.
void ObserveOp(std::string_view op, const std::vector<Variable>& inputs,
               const std::vector<Variable>& outputs);

}  // namespace torus
