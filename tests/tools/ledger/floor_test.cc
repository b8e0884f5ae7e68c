// Which bytes and FLOPs are the least that a step needs.
#include "tools/ledger/floor.h"

#include <gtest/gtest.h>

#include "tools/ledger/machine.h"

namespace torus::ledger {
namespace {

const char kTensors[3] = {};

TensorBytes Of(int tensor, double bytes = 100) { return {&kTensors[tensor], bytes, bytes, bytes}; }

Works Of(std::vector<Work> works) {
  Works out;
  for (Work& work : works) out.push_back(std::make_shared<const Work>(std::move(work)));
  return out;
}

TEST(Floor, ATensorIsWrittenOnceAndReadOnce) {
  const Floor floor = FloorOf(Of({{.written = {Of(0)}},
                                  {.written = {Of(0)}},
                                  {.read = {Of(0)}, .written = {Of(1)}},
                                  {.read = {Of(0)}}}));
  EXPECT_EQ(floor.bytes, 100 + 100 + 100);
  EXPECT_EQ(floor.memory_seconds, 300 / Machine().memory_bytes);
  EXPECT_EQ(floor.seconds(), floor.memory_seconds);
}

TEST(Floor, WhatIsWrittenAnewCountsAnew) {
  const Floor floor =
      FloorOf(Of({{.written = {Of(0)}}, {.read = {Of(0)}, .written = {Of(0)}}, {.read = {Of(0)}}}));
  EXPECT_EQ(floor.bytes, 400);
}

TEST(Floor, WhatCopiesWriteIsNotNeeded) {
  const Floor floor = FloorOf(Of({{.written = {Of(0)}},
                                  {.op = "copy", .read = {Of(0)}, .written = {Of(1)}},
                                  {.read = {Of(1)}, .written = {Of(2)}}}));
  EXPECT_EQ(floor.bytes, 100 + 100 + 100);
}

TEST(Floor, FlopsTakeTheirUnitsTime) {
  const Floor floor = FloorOf(Of({{.flops = RateOf(Unit::kLow), .unit = Unit::kLow},
                                  {.flops = 2 * RateOf(Unit::kF32), .unit = Unit::kF32}}));
  EXPECT_DOUBLE_EQ(floor.flops_seconds, 3);
  EXPECT_EQ(floor.seconds(), floor.flops_seconds);
}

}  // namespace
}  // namespace torus::ledger
