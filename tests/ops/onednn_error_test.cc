#include "ops/cpu/onednn_error.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tests/testing/address_space_limit.h"

namespace torus::cpu {
namespace {

template <class Kind>
std::string MessageOf(dnnl_status_t status) {
  try {
    WithOnednnErrors("conv2d", [&] { throw dnnl::error(status, "could not"); });
  } catch (const Kind& e) {
    return e.what();
  }
  return "";
}

TEST(OnednnError, LackOfMemoryIsTheEnvironments) {
  EXPECT_EQ(MessageOf<BrokenEnvironment>(dnnl_out_of_memory), "[conv2d] oneDNN is out of memory");
}

TEST(OnednnError, OthersAreOurs) {
  EXPECT_EQ(MessageOf<InternalError>(dnnl_unimplemented), "[conv2d] oneDNN failed: unimplemented");
}

TEST(OnednnError, WhatIsNotOnednnsPasses) {
  EXPECT_THROW(WithOnednnErrors("conv2d", [] { throw BadInput("no"); }), BadInput);
  int calls = 0;
  WithOnednnErrors("conv2d", [&] { ++calls; });
  EXPECT_EQ(calls, 1);
}

#ifndef TORUS_SANITIZER
TEST(OnednnError, CodeNeedsRoom) {
  EXPECT_NO_THROW(RequireRoomForCode("conv2d"));
  const torus::testing::AddressSpaceLimit limit(size_t{10} << 20);
  EXPECT_THROW(RequireRoomForCode("conv2d"), BrokenEnvironment);
  EXPECT_THROW(WithOnednnErrors("conv2d", [] {}), BrokenEnvironment);
}
#endif

}  // namespace
}  // namespace torus::cpu
