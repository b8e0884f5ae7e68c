// The table of --describe for every model, against the file of it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "models/model_spec.h"
#include "models/nn/describe.h"
#include "tests/models/on_meta.h"

namespace torus {
namespace {

constexpr int64_t kRows = 2;

std::vector<Variable> InputsOf(const ModelSpec& model) {
  const int64_t size = model.published.input;
  if (model.task == ModelTask::kImages) return {OnMeta({kRows, size, size, 3})};
  return {OnMeta({kRows, size}, DType::kI64)};
}

std::string TableOf(const std::string& spec) {
  const ModelSpec model = ParseModelSpec(spec);
  const auto built = model.build(model.Config(model.published.outputs), spec, {});
  return fmt::format("{}, {}\n{}\n", spec, model.title,
                     nn::ToTable(nn::Describe(*built, InputsOf(model))));
}

// Every model as published, and those that name a size of their own.
std::string AllTables() {
  std::string all;
  for (const std::string& name : ModelNames()) all += TableOf(name);
  for (const char* spec : {"mobilenet_v2:0.35", "amoebanetd:18,256", "amoebanetd:72,512", "gpt2:4"})
    all += TableOf(spec);
  return all;
}

std::string Read(const char* path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DescribeGolden, EveryTableIsThatOfTheFile) {
  const std::string got = AllTables();
  std::ofstream(std::string(std::getenv("TEST_UNDECLARED_OUTPUTS_DIR")) + "/describe.txt") << got;
  EXPECT_EQ(got, Read("tests/golden/describe.txt"))
      << "the test's outputs hold the new describe.txt";
}

}  // namespace
}  // namespace torus
