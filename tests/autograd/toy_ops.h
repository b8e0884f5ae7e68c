// Two small recorded ops for autograd's own tests, which may not lean on ops/.
#pragma once

#include "autograd/node.h"
#include "runtime/kernels.h"

namespace torus::testing {

inline Tensor Product(const Tensor& a, const Tensor& b) {
  Tensor out = a.Clone();
  double* p = out.mutable_data<double>();
  const Tensor dense = b.Contiguous();
  for (int64_t i = 0; i < out.numel(); ++i) p[i] *= dense.data<double>()[i];
  return out;
}

// a * b, f64, equal shapes.
inline Variable ToyMul(const Variable& a, const Variable& b) {
  return Record("toy_mul", Product(a.data(), b.data()), {a, b},
                [a = Saved(a), b = Saved(b)](const GradContext& g) {
                  return Gradients{g.wants(0) ? Product(g.grad(), b.get()) : Tensor(),
                                   g.wants(1) ? Product(g.grad(), a.get()) : Tensor()};
                });
}

// a + b, f64, equal shapes; hands its own gradient on, as a careless rule may.
inline Variable ToyAdd(const Variable& a, const Variable& b) {
  Tensor out = a.data().Clone();
  AddInPlace(out, b.data().Contiguous());
  return Record("toy_add", out, {a, b}, [](const GradContext& g) {
    return Gradients{g.grad(), g.grad()};
  });
}

}  // namespace torus::testing
