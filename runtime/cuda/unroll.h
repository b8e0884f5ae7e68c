// Loops that are written out by the compiler, so that arrays which they index stay in registers.
#pragma once

// Before a `for` whose bounds are constants. Kernels that a tool instruments to count what a GPU
// executes (third_party/bazel/cuda.bzl) are written out by the host's compiler too; others it
// treats as it likes.
#define TORUS_PRAGMA(text) _Pragma(#text)
#ifdef __CUDACC__
#define TORUS_UNROLL _Pragma("unroll")
#define TORUS_UNROLL_BY(n) TORUS_PRAGMA(unroll n)  // so many turns, 1: none
#elif defined(TORUS_INSTRUMENTED)
#define TORUS_UNROLL _Pragma("GCC unroll 64")
#define TORUS_UNROLL_BY(n) TORUS_PRAGMA(GCC unroll n)
#else
#define TORUS_UNROLL
#define TORUS_UNROLL_BY(n)
#endif
