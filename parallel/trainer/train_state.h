// The state of training: all that it needs to go on as if it had never stopped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "runtime/io/folder_reader.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Tensors have the model's names, so that a run with other stages or replicas can load them, and its
// layout in memory.
struct TrainState {
  // Mini-batches done. With the sampler's seed it gives the position in the data too.
  int64_t step = 0;
  // Parameters and buffers, in model order; a tied parameter once. Running statistics are those of
  // replica 0: each replica's batch norm sees its own part of the data, only replica 0's figures
  // are ever evaluated or saved, and training does not depend on them. When Trainer::Train returns,
  // all replicas hold them.
  std::vector<NamedTensor> weights;
  std::vector<NamedTensor> optimizer;  // under the optimizer's names; equal on all replicas
  std::vector<NamedTensor> averages;   // of the parameters, where the run keeps them
};

// Writes a folder: weights.safetensors, optimizer.safetensors, averages.safetensors where there are
// any, and `texts`, file name -> content, for what the application wants to find again. Tensors have
// PyTorch's layout there (io/file_layout.h), as a run's own checkpoints have; the metadata of each
// file say so ("format") and hold the step, which tells files of two checkpoints apart. Committed
// whole: a kill at any moment leaves the old folder or the new one. BadInput, and the old folder
// stays, for a value that is infinite or NaN, naming its tensor; BrokenEnvironment names path and
// reason.
void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts = {});

// One checkpoint, opened whole: a run may replace the folder meanwhile. BadInput names the file and
// what is wrong with it, BrokenEnvironment what the system refused.
class CheckpointReader {
 public:
  explicit CheckpointReader(const std::string& folder);

  TrainState State() const;
  // Content of a text file.
  std::string Text(const std::string& name) const;

 private:
  std::vector<NamedTensor> Tensors(const char* file, int64_t step) const;

  const io::FolderReader folder_;
};

TrainState LoadCheckpoint(const std::string& folder);

}  // namespace torus::parallel
