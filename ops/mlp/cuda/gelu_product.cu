#include "ops/activation/activation_functors.h"
#include "ops/cuda/gemm_of_tensors.h"
#include "ops/elementwise/kernels.h"
#include "ops/matmul/kernels.h"
#include "ops/mlp/kernels.h"

namespace torus::cuda {
namespace {

// Fused into the product's call, if cuBLASLt supports it.
bool GeluInProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h,
                   StreamHandle stream) {
  bool done = false;
  VisitProduct("gelu_mlp", a.dtype(), h.dtype(), [&]<class In, class Out>(ProductTypes<In, Out>) {
    GemmCall<In, Out> call = GemmCallOf<In, Out>(false, a, false, b, h);
    call.bias = ElementsOrNull<Out>(bias);
    GemmEpilogue<Out> epilogue{.kind = EpilogueKind::kGelu, .out = MutableElementsOrNull<Out>(z)};
    if (z.defined()) epilogue.stride = RowStride(z);
    done = GemmWithEpilogue(call, epilogue, h.device(), stream);
  });
  return done;
}

bool GradientInProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz,
                       StreamHandle stream) {
  bool done = false;
  VisitProduct("gelu_mlp", a.dtype(), dz.dtype(), [&]<class In, class Out>(ProductTypes<In, Out>) {
    const GemmEpilogue<Out> epilogue{
        .kind = EpilogueKind::kGeluGradient, .in = Elements<Out>(z), .stride = RowStride(z)};
    done =
        GemmWithEpilogue(GemmCallOf<In, Out>(false, a, true, b, dz), epilogue, dz.device(), stream);
  });
  return done;
}

}  // namespace

void GeluProduct(const Tensor& a, const Tensor& b, const Tensor& bias, Tensor& z, Tensor& h) {
  const StreamHandle stream = CurrentStream(h.device());
  if (GeluInProduct(a, b, bias, z, h, stream)) return;
  Tensor inner = z.defined() ? z : Tensor(h.shape(), h.dtype(), h.device());
  Product(a, b, bias, inner);
  MapForward("gelu_mlp", ops::GeluTanhFunctor{}, inner, h);
}

void GeluGradientProduct(const Tensor& a, const Tensor& b, const Tensor& z, Tensor& dz) {
  const StreamHandle stream = CurrentStream(dz.device());
  if (GradientInProduct(a, b, z, dz, stream)) return;
  Tensor dh(dz.shape(), dz.dtype(), dz.device());
  ProductByTransposed(a, b, Tensor(), dh);
  MapBackward("gelu_mlp", ops::GeluTanhFunctor{}, z, dh, dz);
}

}  // namespace torus::cuda
