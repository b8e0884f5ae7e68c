#include "runtime/io/checkpoint_manifest.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "runtime/error.h"
#include "runtime/io/folder_names.h"
#include "runtime/io/json.h"

namespace torus::io {
namespace {

using Json = nlohmann::json;

constexpr int64_t kVersion = 1;

int64_t Number(const Json& json, const char* key, const std::string& path) {
  const Json& value = Member(json, key);
  Require(value.is_number_integer() && value.get<int64_t>() >= 0, path,
          "\"{}\" must be a number from 0 on, got {}", key, Brief(value));
  return value.get<int64_t>();
}

// Of the manifest without its own checksum.
std::string SumOfManifest(Json json) {
  json.erase("crc32c");
  return fmt::format("{:08x}", SumOf(json.dump()).crc32c);
}

void CheckSum(const Json& json, const std::string& path) {
  const Json& listed = Member(json, "crc32c");
  if (listed.is_null()) return;
  const std::string found = SumOfManifest(json);
  Require(listed == found, path,
          "is damaged: it must have the checksum (CRC-32C) {} that it names, got {}", Brief(listed),
          found);
}

CheckpointFile FileFrom(const std::string& name, const Json& json, const std::string& path) {
  Require(IsFileName(name), path, "{} is not the name of a file in this folder", Printable(name));
  const Json &holds = Member(json, "holds"), &tensors = Member(json, "tensors");
  Require(holds.is_string() && tensors.is_array(), path,
          "{} must say what it holds and list its tensors", Printable(name));
  CheckpointFile file{.holds = holds.get<std::string>(),
                      .bytes = static_cast<uint64_t>(Number(json, "bytes", path))};
  const std::array<std::string, 5> kinds{kWeights, kOptimizer, kAverages, kCodecs, kReplicas};
  Require(std::ranges::count(kinds, file.holds) == 1, path, "{} must hold {}, got {}",
          Printable(name), fmt::join(kinds, ", "), Printable(file.holds));
  if (json.contains("crc32c")) file.crc32c = FileSumFrom(json, path).crc32c;
  for (const Json& tensor : tensors) {
    Require(tensor.is_string(), path, "{} lists {} as a tensor's name", Printable(name),
            Brief(tensor));
    file.tensors.push_back(tensor.get<std::string>());
  }
  return file;
}

}  // namespace

std::string ToText(const CheckpointManifest& manifest) {
  nlohmann::ordered_json json = {
      {"version", kVersion}, {"commit", manifest.commit}, {"step", manifest.step}};
  if (manifest.loss_scale > 0) {
    json["loss_scale"] = manifest.loss_scale;
    json["good_steps"] = manifest.good_steps;
  }
  nlohmann::ordered_json& files = json["files"] = nlohmann::ordered_json::object();
  for (const auto& [name, file] : manifest.files) {
    nlohmann::ordered_json& entry = files[name] = {{"holds", file.holds}, {"bytes", file.bytes}};
    if (file.crc32c) entry["crc32c"] = ToJson(FileSum{file.bytes, *file.crc32c})["crc32c"];
    entry["tensors"] = file.tensors;
  }
  nlohmann::ordered_json& texts = json["texts"] = nlohmann::ordered_json::object();
  for (const auto& [name, sum] : manifest.texts) texts[name] = ToJson(sum);
  json["crc32c"] = SumOfManifest(Json(json));
  return json.dump(1) + "\n";
}

CheckpointManifest ManifestFrom(const std::string& text, const std::string& path) {
  const Json json = ParseJsonObject(text, path);
  const int64_t version = Number(json, "version", path);
  Require(version == kVersion, path, "must be of version {}, got {}", kVersion, version);
  CheckSum(json, path);
  CheckpointManifest manifest{.step = Number(json, "step", path),
                              .commit = Number(json, "commit", path)};
  if (json.contains("loss_scale")) {
    manifest.loss_scale = Number(json, "loss_scale", path);
    manifest.good_steps = Number(json, "good_steps", path);
  }
  const Json& files = Member(json, "files");
  Require(files.is_object(), path, "must list \"files\", got {}", Brief(files));
  for (const auto& [name, file] : files.items())
    manifest.files.emplace(name, FileFrom(name, file, path));
  for (const auto& [name, sum] : Member(json, "texts").items()) {
    Require(IsFileName(name), path, "{} is not the name of a file in this folder", Printable(name));
    manifest.texts[name] = FileSumFrom(sum, path);
  }
  return manifest;
}

}  // namespace torus::io
