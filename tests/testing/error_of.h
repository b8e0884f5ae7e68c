// What is said where something is refused or fails.
#pragma once

#include <string>

#include "runtime/error.h"

namespace torus::testing {

// The message of the exception of this kind that `f` throws; "no error" if it returns. Others pass.
template <class Kind = BadInput, class F>
std::string ErrorOf(const F& f) {
  try {
    f();
  } catch (const Kind& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace torus::testing
