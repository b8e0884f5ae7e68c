// Loops that are written out by the compiler, so that arrays which they index stay in registers.
#pragma once

// Before a `for` whose bounds are constants. Other compilers decide for themselves.
#ifdef __CUDACC__
#define TORUS_UNROLL _Pragma("unroll")
#define TORUS_PRAGMA(text) _Pragma(#text)
#define TORUS_UNROLL_BY(n) TORUS_PRAGMA(unroll n)  // so many turns, 1: none
#else
#define TORUS_UNROLL
#define TORUS_UNROLL_BY(n)
#endif
