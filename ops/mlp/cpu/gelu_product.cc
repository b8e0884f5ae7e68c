#include "ops/activation/activation_functors.h"
#include "ops/elementwise/kernels.h"
#include "ops/matmul/kernels.h"
#include "ops/mlp/kernels.h"

namespace torus::cpu {

void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h) {
  Tensor inner = z.defined() ? z : Tensor(h.shape(), h.dtype(), h.device());
  Product(a, b, bias, inner);
  MapForward("gelu_mlp", ops::GeluTanhFunctor{}, inner, h);
}

void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz) {
  Tensor dh(dz.shape(), dz.dtype(), dz.device());
  ProductByTransposed(a, b, Tensor(), dh);
  MapBackward("gelu_mlp", ops::GeluTanhFunctor{}, z, dh, dz);
}

}  // namespace torus::cpu
