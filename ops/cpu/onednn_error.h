// oneDNN's failures as errors of ours.
#pragma once

#include <oneapi/dnnl/dnnl_types.h>

#include <oneapi/dnnl/dnnl.hpp>
#include <string_view>

namespace torus::cpu {

// BrokenEnvironment where oneDNN had no memory; InternalError otherwise.
[[noreturn]] void FailOnednn(std::string_view op, dnnl_status_t status);

// BrokenEnvironment where `ulimit -v` leaves too little address space for code that oneDNN may have
// to compile: it does not look whether it got any, and would write to address 0.
void RequireRoomForCode(std::string_view op);

// Calls into oneDNN's C++ interface; what it throws comes out as FailOnednn's. The errors of
// RequireRoomForCode.
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
