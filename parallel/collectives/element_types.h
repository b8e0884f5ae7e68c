// The element types that collectives sum.
#pragma once

#include <cstdint>

// Calls a macro with each of them, for explicit instantiations.
#define TORUS_FOR_SUMMED_TYPES(MACRO) \
  MACRO(double)                       \
  MACRO(float)                        \
  MACRO(int64_t)                      \
  MACRO(int32_t)
