// What an instruction of the host's processor counts as where a GPU computes the same.
#pragma once

#ifdef __x86_64__

#include <ucontext.h>

namespace torus::ledger {

struct Instruction {
  // In units of one on 32-bit floats, by how many of its results a multiprocessor of an H100 gives
  // in a clock (CUDA C++ programming guide, "arithmetic instructions"). Moves between registers, to
  // and from the stack, and calls count as nothing: they are of the host alone, for a GPU has
  // registers enough, and its compiler inlines.
  double weight = 1;
  bool branch = false;  // a conditional one
};

inline constexpr double kInteger = 2;  // of 32 bits
inline constexpr double kAccess = 4;   // to memory, or between lanes

// The one that is executed next.
Instruction NextInstruction(const gregset_t& registers);

}  // namespace torus::ledger

#endif
