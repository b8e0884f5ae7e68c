#include "recipes/study/run_store.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <string_view>

#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/json.h"
#include "runtime/io/replaced_file.h"

namespace torus::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// FNV-1a, 64 bits. It only distinguishes files; Find compares the settings themselves.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3;
  return hash;
}

std::string SafeName(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, 60))
    safe += std::isalnum(static_cast<unsigned char>(c)) || c == '.' ? c : '-';
  return safe;
}

const std::string& MadeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) Throw<BrokenEnvironment>(path, "cannot make the folder: {}", error.message());
  return path;
}

// Everything that the checksum covers.
Json BodyOf(const PlannedRun& run, const Json& result) {
  return {{"name", run.name}, {"seed", run.seed}, {"settings", run.settings}, {"result", result}};
}

Json Checked(const std::string& path) {
  Json file = io::ReadJsonObject(path);
  const Json checksum = io::Member(file, "checksum");
  file.erase("checksum");
  Require(checksum == Json(Crc32c(file.dump())), path,
          "must be a finished run's, with the checksum of what it says");
  return file;
}

}  // namespace

std::string FileNameOf(const PlannedRun& run) {
  return fmt::format("{}-{}-{:016x}", SafeName(run.name), run.seed,
                     HashOf(run.name + run.settings.dump()));
}

RunStore::RunStore(std::string folder)
    : folder_(std::move(folder)), lock_(MadeFolder(folder_) + "/.lock", folder_) {}

std::string RunStore::PathOf(const PlannedRun& run) const {
  return folder_ + "/" + FileNameOf(run) + ".json";
}

std::optional<Json> RunStore::Find(const PlannedRun& run) {
  damage_.clear();
  const std::string path = PathOf(run);
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  try {
    Json file = Checked(path);
    Json result = io::Member(file, "result");
    if (file == BodyOf(run, result)) return result;
    damage_ = fmt::format("[{}] is of another run", path);
  } catch (const BadInput& bad) {
    damage_ = bad.what();
  }
  return std::nullopt;
}

Json RunStore::Save(const PlannedRun& run, const Json& result) {
  // Numbers that are not finite become null in JSON, so the checksum is computed from what will be
  // read.
  Json file = Json::parse(BodyOf(run, result).dump());
  file["checksum"] = Crc32c(file.dump());
  io::ReplaceFile(PathOf(run), [&](const std::string& fresh) {
    io::OutputFile out(fresh);
    out.Write(file.dump(1) + "\n");
    out.Close(true);
  });
  return file.at("result");
}

}  // namespace torus::study
