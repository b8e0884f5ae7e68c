// Marks a functor body that both the host compiler and nvcc translate, so that CPU tests run the
// very arithmetic of the CUDA kernel.
#pragma once

#ifdef __CUDACC__
#define TORUS_HOST_DEVICE __host__ __device__
#else
#define TORUS_HOST_DEVICE
#endif
