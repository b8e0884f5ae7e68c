// OpObserver: told of every op of its thread, so that shapes and costs are read off a run, on the
// device meta if it is to cost nothing.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus {

// Observes the ops of the thread that made it while it lives; observers nest, and all are told.
class OpObserver {
 public:
  OpObserver();
  virtual ~OpObserver();
  OpObserver(const OpObserver&) = delete;
  OpObserver& operator=(const OpObserver&) = delete;

  // An op was recorded, with or without a gradient. An output may be a view of an input: it then
  // shares its storage.
  virtual void OnOp(std::string_view op, const std::vector<Variable>& inputs,
                    const std::vector<Variable>& outputs) = 0;
  // A matrix product or convolution was asked of a device, in a forward or a backward, that takes
  // so many floating-point operations; a multiply-add is two.
  virtual void OnProduct(int64_t flops) = 0;

 private:
  friend void ObserveOp(std::string_view op, const std::vector<Variable>& inputs,
                        const std::vector<Variable>& outputs);
  friend void ObserveProduct(int64_t flops);
  OpObserver* before_;
};

// Tell the thread's observers; Record calls the first, the doors of products the second.
void ObserveOp(std::string_view op, const std::vector<Variable>& inputs,
               const std::vector<Variable>& outputs);
void ObserveProduct(int64_t flops);

}  // namespace torus
