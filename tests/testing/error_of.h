// What a reader says of an input that it refuses.
#pragma once

#include <string>

#include "runtime/error.h"

namespace torus::testing {

// The message of the BadInput that `f` throws; "no error" if it returns.
template <class F>
std::string ErrorOf(const F& f) {
  try {
    f();
  } catch (const BadInput& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace torus::testing
