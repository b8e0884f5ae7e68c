// What tests over the fake of NCCL share.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tests/parallel/transport/nccl/over_fake.h"

namespace torus::parallel {

inline constexpr double kLong = 60, kShort = 0.5;

// Numbers stand for streams.
inline StreamHandle StreamOf(intptr_t number) { return reinterpret_cast<StreamHandle>(number); }

inline std::vector<std::string> Starting(const std::vector<std::string>& calls,
                                         const std::string& with) {
  std::vector<std::string> found;
  std::ranges::copy_if(calls, std::back_inserter(found),
                       [&](const std::string& call) { return call.starts_with(with); });
  return found;
}

inline std::string ErrorOf(int ranks, const std::function<void(Transport&, FakeNccl&)>& fn) {
  try {
    RunOverFake(ranks, kShort, fn);
  } catch (const BrokenEnvironment& error) {
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}

inline void ExpectHolds(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(message.find(part), std::string::npos) << part << " in: " << message;
}

}  // namespace torus::parallel
