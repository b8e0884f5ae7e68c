#include "parallel/trainer/checkpoint.h"

#include <algorithm>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/file_sum.h"
#include "runtime/io/safetensors.h"
#include "runtime/non_finite.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

using io::CheckpointFile;
using io::kCheckpointManifest;

void WriteText(const std::string& path, const std::string& text) {
  io::OutputFile file(path, io::IfExists::kRefuse);
  file.Write(text);
  file.Close(true);
}

uint64_t SizeOfFile(const std::string& path) {
  std::error_code error;
  const uint64_t bytes = std::filesystem::file_size(path, error);
  if (error) Throw<BrokenEnvironment>(path, "cannot be seen: {}", error.message());
  return bytes;
}

// The metadata of PyTorch's own files, and the step.
CheckpointFile WriteTensors(const std::string& path, const char* holds, int64_t step,
                            std::vector<NamedTensor> tensors) {
  CheckpointFile file{.holds = holds};
  for (NamedTensor& tensor : tensors) {
    file.tensors.push_back(tensor.name);
    tensor.value = ToFileLayout(tensor.value);  // a view
  }
  file.crc32c = WriteSafetensors(path, tensors, {{"step", std::to_string(step)}, {"format", "pt"}},
                                 {}, io::IfExists::kRefuse);
  file.bytes = SizeOfFile(path);
  return file;
}

int64_t CommitBefore(const std::string& folder) try {
  return io::CheckpointReader::IsOne(folder) ? io::CheckpointReader(folder).manifest().commit : 0;
} catch (const BadInput&) {
  return 0;  // damaged, and about to be replaced
}

Shape InMemory(const Shape& files) {
  return files.rank() == 4 ? Shape{files[0], files[2], files[3], files[1]} : files;
}

TensorSource SourceOf(const io::CheckpointReader& checkpoint, const char* what) {
  TensorSource source;
  for (const auto& [name, entry] : checkpoint.entries(what))
    source.specs[name] = {InMemory(entry.shape), entry.dtype};
  source.read = [&checkpoint, what](const std::string& name) {
    return FromFileLayout(checkpoint.Read(what, name));
  };
  return source;
}

std::vector<NamedTensor> ReadAll(const TensorSource& source) {
  std::vector<NamedTensor> tensors;
  for (const auto& [name, spec] : source.specs) tensors.push_back({name, source.read(name)});
  return tensors;
}

}  // namespace

void RequireFinite(const std::string& folder, const TrainState& state) {
  for (const auto* tensors :
       {&state.weights, &state.optimizer, &state.averages, &state.codecs, &state.replicas})
    for (const NamedTensor& tensor : *tensors) {
      const int64_t bad = CountNonFinite(tensor.value);
      Require(bad == 0, folder,
              "is left as it is: after step {} {} has {} values of {} that are infinite or NaN",
              state.step, tensor.name, bad, tensor.value.numel());
    }
}

CheckpointFiles WritePart(const std::string& path, int part, const TrainState& state) {
  CheckpointFiles files;
  const std::pair<const char*, const std::vector<NamedTensor>*> lists[] = {
      {io::kWeights, &state.weights},
      {io::kOptimizer, &state.optimizer},
      {io::kAverages, &state.averages},
      {io::kCodecs, &state.codecs},
      {io::kReplicas, &state.replicas}};
  for (const auto& [holds, tensors] : lists) {
    if (tensors->empty()) continue;
    TickProgress();
    const std::string name = fmt::format("{}-{}.safetensors", holds, part);
    files[name] = WriteTensors(path + "/" + name, holds, state.step, *tensors);
  }
  return files;
}

void CommitCheckpoint(io::FolderWriter& writer, const std::string& folder, int64_t step,
                      const LossScaleState& scale, const CheckpointFiles& files,
                      const std::map<std::string, std::string>& texts) {
  const std::string base = writer.temporary() + "/";
  for (const auto& [name, file] : files) {
    const uint64_t bytes = SizeOfFile(base + name);
    if (bytes != file.bytes)
      Throw<BrokenEnvironment>(base + name, "must have {} bytes, got {}", file.bytes, bytes);
  }
  io::CheckpointManifest manifest{.step = step,
                                  .commit = CommitBefore(folder) + 1,
                                  .loss_scale = scale.value,
                                  .good_steps = scale.good_steps,
                                  .files = files};
  for (const auto& [name, text] : texts) {
    WriteText(base + name, text);
    manifest.texts[name] = io::SumOf(text);
  }
  WriteText(base + kCheckpointManifest, io::ToText(manifest));
  writer.Commit();
}

void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts) {
  RequireFinite(folder, state);
  io::FolderWriter writer(folder);
  CommitCheckpoint(writer, folder, state.step, state.loss_scale,
                   WritePart(writer.temporary(), 0, state), texts);
}

StateSource SourceOf(const io::CheckpointReader& checkpoint) {
  const io::CheckpointManifest& manifest = checkpoint.manifest();
  return {.step = manifest.step,
          .weights = SourceOf(checkpoint, io::kWeights),
          .optimizer = SourceOf(checkpoint, io::kOptimizer),
          .averages = SourceOf(checkpoint, io::kAverages),
          .codecs = SourceOf(checkpoint, io::kCodecs),
          .replicas = SourceOf(checkpoint, io::kReplicas),
          .loss_scale = {manifest.loss_scale, manifest.good_steps}};
}

TrainState LoadCheckpoint(const std::string& folder) {
  const io::CheckpointReader checkpoint(folder);
  const StateSource source = SourceOf(checkpoint);
  return {.step = source.step,
          .weights = ReadAll(source.weights),
          .optimizer = ReadAll(source.optimizer),
          .averages = ReadAll(source.averages),
          .codecs = ReadAll(source.codecs),
          .replicas = ReadAll(source.replicas),
          .loss_scale = source.loss_scale};
}

}  // namespace torus::parallel
