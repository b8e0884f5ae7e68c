#include "autograd/op_observer.h"

namespace torus {
namespace {

thread_local OpObserver* innermost = nullptr;

}  // namespace

OpObserver::OpObserver() : before_(innermost) { innermost = this; }

OpObserver::~OpObserver() { innermost = before_; }

void ObserveOp(std::string_view op, const std::vector<Variable>& inputs,
               const std::vector<Variable>& outputs) {
  for (OpObserver* o = innermost; o != nullptr; o = o->before_) o->OnOp(op, inputs, outputs);
}

void ObserveProduct(int64_t flops) {
  if (flops == 0) return;
  for (OpObserver* o = innermost; o != nullptr; o = o->before_) o->OnProduct(flops);
}

}  // namespace torus
