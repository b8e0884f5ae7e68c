#include "parallel/trainer/train_state.h"

#include <charconv>

#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/file_layout.h"
#include "runtime/io/folder.h"
#include "runtime/io/json.h"
#include "runtime/io/safetensors.h"
#include "runtime/non_finite.h"

namespace torus::parallel {
namespace {

constexpr char kWeights[] = "weights.safetensors";
constexpr char kOptimizer[] = "optimizer.safetensors";
constexpr char kAverages[] = "averages.safetensors";

void WriteText(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(true);
}

constexpr char kStep[] = "step";
// As PyTorch's own files say whose layout they have.
constexpr char kFormat[] = "format", kPyTorch[] = "pt";

int64_t StepIn(const SafetensorsFile& file, const std::string& path) {
  const auto found = file.metadata.find(kStep);
  Require(found != file.metadata.end(), path, "metadata must have the step, got none");
  const std::string& text = found->second;
  int64_t step = -1;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), step).ptr;
  Require(end == text.data() + text.size() && step >= 0, path,
          "metadata \"step\" must be a number from 0 on, got \"{}\"", io::Printable(text));
  return step;
}

// Earlier checkpoints had the step in the optimizer's file alone.
void RequireStep(int64_t step, const SafetensorsFile& file, const std::string& path) {
  if (!file.metadata.contains(kStep)) return;
  const int64_t own = StepIn(file, path);
  Require(own == step, path, "is of step {}, but {} is of step {}: two checkpoints' files", own,
          kOptimizer, step);
}

// Views: no copies.
std::vector<NamedTensor> InFileLayout(std::vector<NamedTensor> tensors) {
  for (NamedTensor& tensor : tensors) tensor.value = ToFileLayout(tensor.value);
  return tensors;
}

// Earlier checkpoints did not say their layout: a run's, which have settings, were as they are now,
// an application's were as in memory.
std::vector<NamedTensor> InMemoryLayout(SafetensorsFile file, const io::FolderReader& folder) {
  if (file.metadata.contains(kFormat) || folder.Has("settings.json"))
    for (NamedTensor& tensor : file.tensors) tensor.value = FromFileLayout(tensor.value);
  return std::move(file.tensors);
}

// A checkpoint that is of no use must not replace a good one.
void RequireFinite(const std::string& folder, int64_t step,
                   const std::vector<NamedTensor>& tensors) {
  for (const NamedTensor& tensor : tensors) {
    const int64_t bad = CountNonFinite(tensor.value);
    Require(bad == 0, folder,
            "is left as it is: after step {} {} has {} values of {} that are infinite or NaN", step,
            tensor.name, bad, tensor.value.numel());
  }
}

}  // namespace

void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts) {
  for (const auto* tensors : {&state.weights, &state.optimizer, &state.averages})
    RequireFinite(folder, state.step, *tensors);
  io::FolderWriter writer(folder);
  const std::string base = writer.temporary() + "/";
  const std::map<std::string, std::string> commit{{kStep, std::to_string(state.step)},
                                                  {kFormat, kPyTorch}};
  WriteSafetensors(base + kWeights, InFileLayout(state.weights), commit);
  WriteSafetensors(base + kOptimizer, InFileLayout(state.optimizer), commit);
  if (!state.averages.empty())
    WriteSafetensors(base + kAverages, InFileLayout(state.averages), commit);
  for (const auto& [name, text] : texts) WriteText(base + name, text);
  writer.Commit();
}

CheckpointReader::CheckpointReader(const std::string& folder) : folder_(folder) {}

std::vector<NamedTensor> CheckpointReader::Tensors(const char* name, int64_t step) const {
  const io::InputFile& file = folder_.File(name);
  SafetensorsFile read = ReadSafetensors(file);
  RequireStep(step, read, file.path());
  return InMemoryLayout(std::move(read), folder_);
}

TrainState CheckpointReader::State() const {
  const io::InputFile& optimizer_file = folder_.File(kOptimizer);
  SafetensorsFile optimizer = ReadSafetensors(optimizer_file);
  TrainState state{.step = StepIn(optimizer, optimizer_file.path()),
                   .optimizer = InMemoryLayout(std::move(optimizer), folder_)};
  state.weights = Tensors(kWeights, state.step);
  if (folder_.Has(kAverages)) state.averages = Tensors(kAverages, state.step);
  return state;
}

std::string CheckpointReader::Text(const std::string& name) const {
  return folder_.File(name).ReadAll();
}

TrainState LoadCheckpoint(const std::string& folder) { return CheckpointReader(folder).State(); }

}  // namespace torus::parallel
