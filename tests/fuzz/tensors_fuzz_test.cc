#include <gtest/gtest.h>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

class Tensors : public ::testing::TestWithParam<Target> {};

TEST_P(Tensors, AreReadOrRefused) { RunFuzz(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Fuzz, Tensors, ::testing::ValuesIn(TensorTargets()), NameOf);

}  // namespace
}  // namespace torus::fuzz
