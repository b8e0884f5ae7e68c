#include <gtest/gtest.h>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

class Images : public testing::TestWithParam<Target> {};

TEST_P(Images, AreReadOrRefused) { RunFuzz(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Fuzz, Images, testing::ValuesIn(ImageTargets()), NameOf);

}  // namespace
}  // namespace torus::fuzz
