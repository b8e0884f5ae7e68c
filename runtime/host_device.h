// Marks a function that runs on the host and, when compiled by nvcc, on a GPU as well. So CPU tests
// run the code that the GPU runs.
#pragma once

#ifdef __CUDACC__
#define TORUS_HOST_DEVICE __host__ __device__
#else
#define TORUS_HOST_DEVICE
#endif
