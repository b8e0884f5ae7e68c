#include "parallel/data_parallel/unsynchronized.h"

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {
namespace {

void AddDrift(const Tensor& own, const Tensor& first, SquaredDrift& drift) {
  VisitCompute("drift", own.dtype(), [&]<class T>(ComputeType<T>) {
    const T *a = own.data<T>(), *b = first.data<T>();
    for (int64_t i = 0; i < own.numel(); ++i) {
      const auto value = static_cast<double>(b[i]), apart = static_cast<double>(a[i]) - value;
      drift.distance += apart * apart;
      drift.weights += value * value;
    }
  });
}

}  // namespace

void Unsynchronized::ReduceGradients(const std::string&, double share) {
  for (NamedVariable& use : uses()) {
    if (!use.value.grad().defined()) continue;
    // A gradient may share its memory with another tensor only where it is strided.
    Tensor gradient = use.value.grad().Contiguous();
    ScaleInPlace(gradient, 1 / share);
    use.value.SetGrad(std::move(gradient));
  }
}

SquaredDrift DriftOf(Communicator& replicas, const std::vector<NamedVariable>& parameters,
                     const std::string& what) {
  SquaredDrift drift;
  for (const auto& [name, value] : parameters) {
    const Tensor own = value.data().To(Device{}), first = own.Clone();
    replicas.Broadcast({{name, first}}, what);
    AddDrift(own, first, drift);
  }
  return drift;
}

}  // namespace torus::parallel
