// Turns oneDNN's failures into errors.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

namespace torus::cpu {

// Throws BrokenEnvironment if oneDNN had no memory; InternalError otherwise.
[[noreturn]] void FailOnednn(std::string_view op, dnnl_status_t status);

// Throws BrokenEnvironment if `ulimit -v` leaves too little address space for code that oneDNN may
// have to generate: it does not check the allocation, and would write to address 0.
void RequireRoomForCode(std::string_view op);

// Calls `call`, which uses oneDNN's C++ interface, and turns its exceptions into those of
// FailOnednn. Also throws the errors of RequireRoomForCode.
template <class Call>
void WithOnednnErrors(std::string_view op, const Call& call) {
  RequireRoomForCode(op);
  try {
    call();
  } catch (const dnnl::error& e) {
    FailOnednn(op, e.status);
  }
}

}  // namespace torus::cpu
