// Checkpoints: a TrainState as files (runtime/io/checkpoint_manifest.h), some for each part of the
// model, in a folder that is committed whole.
//
// Part P is the files weights-P, optimizer-P, averages-P and codecs-P.safetensors, those of them
// that have anything; a Trainer makes a part of each stage, and the ranks that own the stages write
// them (Trainer::Save); replica R above 0 has its codecs' in part P + R x stages. Tensors have
// PyTorch's layout there (io/file_layout.h).
#pragma once

#include <map>
#include <string>

#include "parallel/trainer/train_state.h"
#include "runtime/io/checkpoint_manifest.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/folder.h"

namespace torus::parallel {

// BadInput tagged `folder` for a value that is infinite or NaN, naming its tensor: such a state
// must not replace a good one.
void RequireFinite(const std::string& folder, const TrainState& state);

// Writes the files of a part into the folder `path`, and says what they are. BrokenEnvironment
// names path and reason.
using CheckpointFiles = std::map<std::string, io::CheckpointFile>;
CheckpointFiles WritePart(const std::string& path, int part, const TrainState& state);

// Writes the manifest of all parts' files, which must be there, and `texts`, file name -> content,
// then commits: a kill at any moment leaves the old folder or the new one. BrokenEnvironment for a
// file that is not there, or not whole.
void CommitCheckpoint(io::FolderWriter& writer, const std::string& folder, int64_t step,
                      const LossScaleState& scale, const CheckpointFiles& files,
                      const std::map<std::string, std::string>& texts);

// All of this for a whole state in memory, as part 0.
void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts = {});

// `checkpoint` must outlive what is returned.
StateSource SourceOf(const io::CheckpointReader& checkpoint);
// All of it; tensors by name.
TrainState LoadCheckpoint(const std::string& folder);

}  // namespace torus::parallel
