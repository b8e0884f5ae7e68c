// Declares a kernel once for all devices. In namespace torus (or torus::parallel)
//
//   // y = exp(x) / sum(exp(x)) of each row.
//   TORUS_KERNEL(Softmax, "softmax", y.device(), (const Tensor& x, Tensor& y), (x, y));
//
// declares cpu::Softmax and cuda::Softmax, which the family defines in its folders cpu/ and cuda/,
// and kernels::Softmax, which calls that of `y.device()` (runtime/dispatch.h). All three have the
// parameters of the fourth argument; the fifth repeats their names. A GPU's kernel uses
// CurrentStream of that device, and waits for nothing unless its contract says so.
//
// kernels:: is there for targets with gpu_aware = True (runtime/on_device.h). Others see the
// declarations alone, and compile alike in every build.
#pragma once

#include "runtime/dispatch.h"
#include "runtime/stream.h"
#ifdef TORUS_GPUS
#include "runtime/gpu_dispatch.h"
#endif

// A kernel for CPUs and for GPUs.
#define TORUS_KERNEL(name, op, device, parameters, arguments) \
  TORUS_OBSERVED_KERNEL(name, op, device, parameters, arguments, )

// The same of a matrix product or a convolution of `flops` floating-point operations, of which it
// notifies observers (autograd/observe_product.h).
#define TORUS_PRODUCT_KERNEL(name, op, device, parameters, arguments, flops) \
  TORUS_OBSERVED_KERNEL(name, op, device, parameters, arguments, ObserveProduct(flops);)

// A kernel for GPUs alone; on a CPU, kernels::name throws BadInput.
#define TORUS_GPU_KERNEL(name, op, device, parameters, arguments) \
  namespace cuda {                                                \
  void name parameters;                                           \
  }                                                               \
  TORUS_DISPATCHED(, name, parameters, DispatchToGpu(op, device, [&] { cuda::name arguments; });)

// A kernel that is a template of one class F, which its families instantiate.
#define TORUS_KERNEL_TEMPLATE(F, name, op, device, parameters, arguments) \
  namespace cpu {                                                         \
  template <class F>                                                      \
  void name parameters;                                                   \
  }                                                                       \
  namespace cuda {                                                        \
  template <class F>                                                      \
  void name parameters;                                                   \
  }                                                                       \
  TORUS_DISPATCHED(template <class F>, name, parameters,                  \
                   Dispatch(                                              \
                       op, device, [&] { cpu::name arguments; }, [&] { cuda::name arguments; });)

#define TORUS_OBSERVED_KERNEL(name, op, device, parameters, arguments, observe) \
  namespace cpu {                                                               \
  void name parameters;                                                         \
  }                                                                             \
  namespace cuda {                                                              \
  void name parameters;                                                         \
  }                                                                             \
  TORUS_DISPATCHED(, name, parameters,                                          \
                   observe Dispatch(                                            \
                       op, device, [&] { cpu::name arguments; }, [&] { cuda::name arguments; });)

#ifdef TORUS_GPUS
#define TORUS_DISPATCHED(head, name, parameters, ...) \
  namespace kernels {                                 \
  head inline void name parameters { __VA_ARGS__ }    \
  }                                                   \
  static_assert(true)
#else
#define TORUS_DISPATCHED(head, name, parameters, ...) static_assert(true)
#endif
