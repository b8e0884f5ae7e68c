// Marks a function that runs on the host and, compiled by nvcc, on a GPU too. Its body is what the
// CPU tests run.
#pragma once

#ifdef __CUDACC__
#define TORUS_HOST_DEVICE __host__ __device__
#else
#define TORUS_HOST_DEVICE
#endif
