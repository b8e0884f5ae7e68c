#include "recipes/run/plans_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/file_sum.h"
#include "runtime/io/json.h"
#include "runtime/io/replaced_file.h"

namespace torus::recipes {
namespace {

using Json = nlohmann::json;
using cuda::PlanOrigin;

constexpr int64_t kVersion = 1;

Json ToJson(const StoredPlans& plans) {
  Json choices = Json::object();
  for (const auto& [what, choice] : plans.choices)
    choices[what] = {
        {"index", choice.index}, {"proposal", choice.proposal}, {"timed", choice.timed}};
  return {{"version", kVersion},
          {"gpu", plans.origin.gpu},
          {"cublas_lt", plans.origin.cublas_lt},
          {"cudnn", plans.origin.cudnn},
          {"choices", choices}};
}

std::string TextIn(const Json& json, const char* key, const std::string& path) {
  const Json& text = io::Member(json, key);
  Require(text.is_string(), path, "must have a text \"{}\", got {}", key, io::Brief(text));
  return text.get<std::string>();
}

cuda::PlanChoice ChoiceFrom(const Json& json, const std::string& path) {
  const Json &index = io::Member(json, "index"), &timed = io::Member(json, "timed");
  Require(index.is_number_unsigned() && index <= 1'000'000, path,
          "must have an index of each choice, got {}", io::Brief(index));
  Require(timed.is_boolean(), path, "must say of each choice if it was timed, got {}",
          io::Brief(timed));
  return {index.get<int64_t>(), TextIn(json, "proposal", path), timed.get<bool>()};
}

// Removes the sum. What was edited or damaged would otherwise be another choice.
void CheckSum(Json& json, const std::string& path) {
  const io::FileSum stored = io::FileSumFrom(io::Member(json, "sum"), path);
  json.erase("sum");
  const io::FileSum now = io::SumOf(json.dump());
  Require(stored == now, path,
          "is damaged: its sum is of {} bytes with checksum {:08x}, its contents are {} bytes with "
          "{:08x}",
          stored.bytes, stored.crc32c, now.bytes, now.crc32c);
}

std::string TextOf(const PlanOrigin& origin) {
  return fmt::format("{} with cuBLASLt {} and cuDNN {}", origin.gpu, origin.cublas_lt,
                     origin.cudnn);
}

}  // namespace

void WritePlans(const std::string& path, const StoredPlans& plans) {
  Json json = ToJson(plans);
  json["sum"] = io::ToJson(io::SumOf(json.dump()));
  io::ReplaceFile(path, [&](const std::string& fresh) {
    io::OutputFile file(fresh);
    file.Write(json.dump(1) + "\n");
    file.Close(true);
  });
}

StoredPlans ReadPlans(const std::string& path) {
  Json json = io::ReadJsonObject(path);
  const Json& version = io::Member(json, "version");
  Require(version == kVersion, path, "must have version {}, got {}", kVersion, io::Brief(version));
  CheckSum(json, path);
  StoredPlans plans{
      {TextIn(json, "gpu", path), TextIn(json, "cublas_lt", path), TextIn(json, "cudnn", path)},
      {}};
  const Json& choices = io::Member(json, "choices");
  Require(choices.is_object(), path, "must have choices, got {}", io::Brief(choices));
  for (const auto& [what, choice] : choices.items())
    plans.choices.emplace(what, ChoiceFrom(choice, path));
  return plans;
}

cuda::PlanChoices ReadPlansFor(const PlanOrigin& here, const std::string& path) {
  StoredPlans plans = ReadPlans(path);
  if (plans.origin != here)
    Throw<BadInput>(path,
                    "has choices for {}, and here is {}: other ones give other bits; --plans none "
                    "goes on without them",
                    TextOf(plans.origin), TextOf(here));
  return std::move(plans.choices);
}

}  // namespace torus::recipes
