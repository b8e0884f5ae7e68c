// What every transport must do. A new transport's test instantiates this suite.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "parallel/transport/transport.h"
#include "runtime/error.h"

namespace torus::parallel {

using RankFn = std::function<void(Transport&)>;

// Runs fn on each rank of a new world with that timeout, and throws the first error: over processes
// in each of them, also in those that have no rank. A rank's process sees no other's variables.
struct Factory {
  const char* name;
  std::function<void(int ranks, double timeout, const RankFn& fn)> run;
  // Whether a message that has been started can be taken back; else dropping it aborts the run.
  bool withdraws = true;
};

class Conformance : public testing::TestWithParam<Factory> {
 protected:
  void Run(int ranks, const RankFn& fn, double timeout = 60) { GetParam().run(ranks, timeout, fn); }

  // The message of the BrokenEnvironment that the run ends with.
  std::string FirstError(int ranks, const RankFn& fn, double timeout = 60) {
    try {
      Run(ranks, fn, timeout);
    } catch (const BrokenEnvironment& e) {
      return e.what();
    }
    ADD_FAILURE() << "no error";
    return "";
  }
};

}  // namespace torus::parallel
