#include "parallel/trainer/train_state.h"

#include <charconv>

#include "runtime/error.h"
#include "runtime/io/file.h"
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

// The tensors of a file beside the optimizer's. Earlier checkpoints had the step in that one alone.
std::vector<NamedTensor> OfStep(int64_t step, const io::InputFile& file) {
  SafetensorsFile read = ReadSafetensors(file);
  if (read.metadata.contains(kStep)) {
    const int64_t own = StepIn(read, file.path());
    Require(own == step, file.path(), "is of step {}, but {} is of step {}: two checkpoints' files",
            own, kOptimizer, step);
  }
  return std::move(read.tensors);
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
  const std::map<std::string, std::string> commit{{kStep, std::to_string(state.step)}};
  WriteSafetensors(base + kWeights, state.weights, commit);
  WriteSafetensors(base + kOptimizer, state.optimizer, commit);
  if (!state.averages.empty()) WriteSafetensors(base + kAverages, state.averages, commit);
  for (const auto& [name, text] : texts) WriteText(base + name, text);
  writer.Commit();
}

CheckpointReader::CheckpointReader(const std::string& folder) : folder_(folder) {}

TrainState CheckpointReader::State() const {
  const io::InputFile& optimizer_file = folder_.File(kOptimizer);
  SafetensorsFile optimizer = ReadSafetensors(optimizer_file);
  TrainState state{.step = StepIn(optimizer, optimizer_file.path()),
                   .optimizer = std::move(optimizer.tensors)};
  state.weights = OfStep(state.step, folder_.File(kWeights));
  if (folder_.Has(kAverages)) state.averages = OfStep(state.step, folder_.File(kAverages));
  return state;
}

std::string CheckpointReader::Text(const std::string& name) const {
  return folder_.File(name).ReadAll();
}

TrainState LoadCheckpoint(const std::string& folder) { return CheckpointReader(folder).State(); }

}  // namespace torus::parallel
