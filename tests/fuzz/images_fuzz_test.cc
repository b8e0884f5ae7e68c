#include <gtest/gtest.h>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

TEST(Fuzz, Images) {
  for (const Target& target : ImageTargets()) RunFuzz(target);
}

}  // namespace
}  // namespace torus::fuzz
