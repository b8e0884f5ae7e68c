// Checkpoints: a TrainState as files (runtime/io/checkpoint_manifest.h), a few for each part of the
// model, in a folder that is committed atomically.
//
// Part P consists of the files weights-P, optimizer-P, averages-P, codecs-P and
// replicas-P.safetensors; empty ones are left out. A Trainer makes one part per stage, written by
// the rank that owns the stage (Trainer::Save); the state of codecs, and of replicas that exchange
// weights, of tensor-parallel rank t (of T) of replica r is in part P + (r T + t) x stages. In the
// files tensors have PyTorch's layout (io/file_layout.h).
#pragma once

#include <map>
#include <string>

#include "parallel/trainer/train_state.h"
#include "runtime/io/checkpoint_manifest.h"
#include "runtime/io/checkpoint_reader.h"
#include "runtime/io/folder.h"

namespace torus::parallel {

// Throws BadInput tagged `folder`, naming the tensor, if a value is infinite or NaN: such a state
// must not replace a good one.
void RequireFinite(const std::string& folder, const TrainState& state);

// Writes the files of a part into the folder `path`, and returns what it wrote. Throws
// BrokenEnvironment with path and reason if that fails.
using CheckpointFiles = std::map<std::string, io::CheckpointFile>;
CheckpointFiles WritePart(const std::string& path, int part, const TrainState& state);

// Writes the manifest of all parts' files, which must exist, and `texts` (file name -> content),
// then commits: if the process is killed at any moment, the folder is either the old one or the new
// one. Throws BrokenEnvironment if a file is missing or incomplete.
void CommitCheckpoint(io::FolderWriter& writer, const std::string& folder, int64_t step,
                      const LossScaleState& scale, const CheckpointFiles& files,
                      const std::map<std::string, std::string>& texts);

// Does all of this for a whole state in memory, as part 0.
void SaveCheckpoint(const std::string& folder, const TrainState& state,
                    const std::map<std::string, std::string>& texts = {});

// A source that reads from `checkpoint`, which must outlive it.
StateSource SourceOf(const io::CheckpointReader& checkpoint);
// Reads a whole checkpoint; tensors are sorted by name.
TrainState LoadCheckpoint(const std::string& folder);

}  // namespace torus::parallel
