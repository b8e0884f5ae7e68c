#include "parallel/trainer/train_state.h"

#include <charconv>
#include <filesystem>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder.h"
#include "runtime/io/json.h"
#include "runtime/io/safetensors.h"

namespace torus::parallel {
namespace {

constexpr char kAverages[] = "averages.safetensors";

void WriteText(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(true);
}

int64_t StepIn(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find("step");
  Require(found != file.metadata.end(), path, "metadata must have the step, got none");
  const std::string& text = found->second;
  int64_t step = -1;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), step).ptr;
  Require(end == text.data() + text.size() && step >= 0, path,
          "metadata \"step\" must be a number from 0 on, got \"{}\"", io::Printable(text));
  return step;
}

void RequireFolder(const std::string& folder) {
  Require(io::RecoverFolder(folder), folder, "must be a checkpoint folder, got no such folder");
}

}  // namespace

void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts) {
  io::FolderWriter writer(folder);
  const std::string base = writer.temporary() + "/";
  WriteSafetensors(base + "weights.safetensors", state.weights);
  WriteSafetensors(base + "optimizer.safetensors", state.optimizer,
                   {{"step", std::to_string(state.step)}});
  if (!state.averages.empty()) WriteSafetensors(base + kAverages, state.averages);
  for (const auto& [name, text] : texts) WriteText(base + name, text);
  writer.Commit();
}

TrainState LoadCheckpoint(const std::string& folder) {
  RequireFolder(folder);
  const std::string optimizer_path = folder + "/optimizer.safetensors";
  SafetensorsFile optimizer = ReadSafetensors(optimizer_path);
  TrainState state{.step = StepIn(optimizer, optimizer_path),
                   .weights = ReadSafetensors(folder + "/weights.safetensors").tensors,
                   .optimizer = std::move(optimizer.tensors)};
  const std::string averages = folder + "/" + kAverages;
  if (std::filesystem::exists(averages)) state.averages = ReadSafetensors(averages).tensors;
  return state;
}

std::string ReadCheckpointText(const std::string& folder, const std::string& name) {
  RequireFolder(folder);
  const io::InputFile file(folder + "/" + name);
  std::string text(file.size(), '\0');
  file.ReadAt(0, text.data(), text.size());
  return text;
}

}  // namespace torus::parallel
