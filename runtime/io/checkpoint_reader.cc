#include "runtime/io/checkpoint_reader.h"

#include <filesystem>
#include <set>

#include "runtime/error.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/json.h"
#include "runtime/progress.h"

namespace torus::io {
namespace {

CheckpointManifest ReadManifest(const FolderReader& folder) {
  Require(
      folder.Has(kCheckpointManifest), folder.path(),
      "must be a checkpoint, got no {} there (an earlier version's checkpoints have none; their "
      "weights.safetensors can be read by itself)",
      kCheckpointManifest);
  return ManifestFrom(folder.File(kCheckpointManifest).ReadAll(),
                      folder.path() + "/" + kCheckpointManifest);
}

void CheckNames(const SafetensorsReader& reader, const CheckpointFile& file,
                const std::string& path) {
  std::set<std::string> listed(file.tensors.begin(), file.tensors.end());
  for (const safetensors::Entry& entry : reader.entries())
    Require(listed.erase(entry.name) == 1, path, "has {}, which {} does not list",
            Printable(entry.name), kCheckpointManifest);
  if (!listed.empty())
    Throw<BadInput>(path, "lacks {}, which {} lists", Printable(*listed.begin()),
                    kCheckpointManifest);
}

void CheckStep(const SafetensorsReader& reader, int64_t step, const std::string& path) {
  const auto found = reader.metadata().find("step");
  Require(found != reader.metadata().end(), path, "metadata must have the step, got none");
  Require(found->second == std::to_string(step), path,
          "is of step {}, but {} is of step {}: two checkpoints' files", Printable(found->second),
          kCheckpointManifest, step);
}

}  // namespace

bool CheckpointReader::IsOne(const std::string& path) {
  std::error_code none;
  const std::string folder = CommittedFolder(path);
  return !folder.empty() &&
         std::filesystem::is_regular_file(folder + "/" + kCheckpointManifest, none);
}

CheckpointReader::CheckpointReader(const std::string& path)
    : folder_(path), manifest_(ReadManifest(folder_)) {
  for (const auto& [name, file] : manifest_.files) Add(name, file);
  for (const auto& [name, sum] : manifest_.texts)
    RequireSum(folder_.File(name), sum, kCheckpointManifest);
}

void CheckpointReader::Add(const std::string& name, const CheckpointFile& file) {
  const InputFile& input = folder_.File(name);
  const std::string& path = input.path();
  Require(input.size() == file.bytes, path, "must have the {} bytes of {}, got {}", file.bytes,
          kCheckpointManifest, input.size());
  const SafetensorsReader& reader = files_.try_emplace(name, input).first->second;
  CheckStep(reader, manifest_.step, path);
  CheckNames(reader, file, path);
  if (file.crc32c) RequireSum(input, {file.bytes, *file.crc32c}, kCheckpointManifest);
  Kind& kind = kinds_[file.holds];
  for (const safetensors::Entry& entry : reader.entries()) {
    Require(kind.entries.emplace(entry.name, entry).second, path, "has {}, as another file has",
            Printable(entry.name));
    kind.in[entry.name] = &reader;
  }
}

const CheckpointReader::Entries& CheckpointReader::entries(const std::string& what) const {
  static const Entries kNone;
  const auto found = kinds_.find(what);
  return found == kinds_.end() ? kNone : found->second.entries;
}

Tensor CheckpointReader::Read(const std::string& what, const std::string& name) const {
  TickProgress();
  const Kind& kind = kinds_.at(what);
  return kind.in.at(name)->Read(kind.entries.at(name));
}

std::vector<NamedTensor> CheckpointReader::ReadAll(const std::string& what) const {
  std::vector<NamedTensor> all;
  for (const auto& [name, entry] : entries(what)) all.push_back({name, Read(what, name)});
  return all;
}

std::string CheckpointReader::Text(const std::string& name) const {
  return folder_.File(name).ReadAll();
}

}  // namespace torus::io
