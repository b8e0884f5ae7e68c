// Loops that are written out by the compiler, so that arrays which they index stay in registers.
#pragma once

// Before a `for` whose bounds are constants. Other compilers decide for themselves.
#ifdef __CUDACC__
#define TORUS_UNROLL _Pragma("unroll")
#else
#define TORUS_UNROLL
#endif
