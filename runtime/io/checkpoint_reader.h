// Reads one checkpoint (checkpoint_manifest.h). All files are opened at once, so a writer may
// replace the folder meanwhile.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "runtime/io/checkpoint_manifest.h"
#include "runtime/io/folder_reader.h"
#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus::io {

class CheckpointReader {
 public:
  // Opens all files and checks everything except the tensors' values, which are checked as they are
  // read. Throws BadInput naming the file and the problem: no manifest, a missing file, a file
  // whose size, checksum, step or contents differ from the manifest, or a tensor that is in two
  // files. Throws BrokenEnvironment for errors of the system.
  explicit CheckpointReader(const std::string& path);
  // Whether the folder, or its last commit, has a manifest.
  static bool IsOne(const std::string& path);

  const CheckpointManifest& manifest() const { return manifest_; }
  // The tensors that the checkpoint holds as `what` (kWeights, ...), by name.
  using Entries = std::map<std::string, safetensors::Entry>;
  const Entries& entries(const std::string& what) const;
  // Reads one tensor, in the file's layout (file_layout.h). Throws BadInput if it is damaged.
  Tensor Read(const std::string& what, const std::string& name) const;
  // Reads all tensors of this kind.
  std::vector<NamedTensor> ReadAll(const std::string& what) const;
  // The content of a text file in the folder.
  std::string Text(const std::string& name) const;

 private:
  struct Kind {
    Entries entries;
    std::map<std::string, const SafetensorsReader*> in;  // the file of each entry
  };
  void Add(const std::string& name, const CheckpointFile& file);

  const FolderReader folder_;
  CheckpointManifest manifest_;
  std::map<std::string, SafetensorsReader> files_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace torus::io
