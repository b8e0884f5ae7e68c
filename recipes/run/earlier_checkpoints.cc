#include "recipes/run/earlier_checkpoints.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder.h"
#include "runtime/io/folder_names.h"
#include "runtime/io/folder_reader.h"
#include "runtime/io/json.h"
#include "runtime/io/link_files.h"

namespace torus::recipes {
namespace {

constexpr std::string_view kStep = "step-";
constexpr char kResult[] = "test.json";

// -1 for any other name.
int64_t StepOf(const std::string& name) {
  int64_t step = -1;
  if (!name.starts_with(kStep)) return -1;
  const char* const end = name.data() + name.size();
  const auto read = std::from_chars(name.data() + kStep.size(), end, step);
  return read.ec == std::errc() && read.ptr == end && step >= 0 ? step : -1;
}

bool IsFinite(const nlohmann::json& figure) {
  return figure.is_number() && std::isfinite(figure.get<double>());
}

// Higher is better; minus infinity if the loss is not finite, whatever the accuracy.
double Figure(const nlohmann::json& result) {
  const nlohmann::json& accuracy = io::Member(result, "accuracy");
  const nlohmann::json& loss = io::Member(result, "loss");
  if (!IsFinite(loss)) return -std::numeric_limits<double>::infinity();
  return IsFinite(accuracy) ? accuracy.get<double>() : -loss.get<double>();
}

}  // namespace

std::vector<int64_t> EarlierSteps(const RunFolder& folder) {
  std::vector<int64_t> steps;
  const std::string earlier = folder.path + "/earlier";
  std::error_code none;
  if (!std::filesystem::is_directory(earlier, none)) return steps;
  for (const std::string& name : io::NamesIn(earlier))
    if (const int64_t step = StepOf(name); step >= 0) steps.push_back(step);
  std::ranges::sort(steps, std::greater{});
  return steps;
}

void KeepAsEarlier(const RunFolder& folder, int64_t step) {
  io::FolderWriter writer(folder.earlier(step));
  io::LinkFiles(folder.checkpoint(), writer.temporary());
  writer.Commit();
}

void RemoveEarlier(const RunFolder& folder, int64_t step, int64_t most) {
  int64_t left = 0;
  for (const int64_t earlier : EarlierSteps(folder))
    if (earlier >= step || ++left > most) io::RemoveFolder(folder.earlier(earlier));
}

void KeepAsBest(const RunFolder& folder, const nlohmann::json& result) {
  io::FolderWriter writer(folder.best());
  io::LinkFiles(folder.checkpoint(), writer.temporary());
  io::OutputFile file(writer.temporary() + "/" + kResult, io::IfExists::kRefuse);
  file.Write(result.dump(2) + "\n");
  file.Close(true);
  writer.Commit();
}

// Before --validation all were chosen on the test set, and said no part.
nlohmann::json BestResult(const RunFolder& folder, const std::string& part) try {
  const io::FolderReader best(folder.best());
  const nlohmann::json result =
      io::ParseJsonObject(best.File(kResult).ReadAll(), folder.best() + "/" + kResult);
  return result.value("part", nlohmann::json("test")) == part ? result : nlohmann::json();
} catch (const BadInput&) {
  return nullptr;  // none, or one that is damaged and may be replaced
}

bool IsBetter(const nlohmann::json& result, const nlohmann::json& best) {
  return Figure(result) > Figure(best);
}

}  // namespace torus::recipes
