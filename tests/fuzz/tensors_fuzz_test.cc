#include <gtest/gtest.h>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

TEST(Fuzz, Tensors) {
  for (const Target& target : TensorTargets()) RunFuzz(target);
}

}  // namespace
}  // namespace torus::fuzz
