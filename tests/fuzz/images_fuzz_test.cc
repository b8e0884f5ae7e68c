#include <gtest/gtest.h>

#include <cctype>
#include <string>

#include "tests/fuzz/targets.h"

namespace torus::fuzz {
namespace {

class Images : public testing::TestWithParam<Target> {};

TEST_P(Images, AreReadOrRefused) { RunFuzz(GetParam()); }

std::string NameOf(const testing::TestParamInfo<Target>& info) {
  std::string name;
  for (const char c : info.param.name)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Images, testing::ValuesIn(ImageTargets()), NameOf);

}  // namespace
}  // namespace torus::fuzz
