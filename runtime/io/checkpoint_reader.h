// One checkpoint (checkpoint_manifest.h), opened whole: a writer may replace the folder meanwhile.
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
  // Opens and checks all files but for the values of their tensors. BadInput names the file and
  // what is wrong: one that is missing, of another size, step or contents than the manifest says,
  // or a tensor that is in two; and for a folder without a manifest. BrokenEnvironment for what the
  // system refuses.
  explicit CheckpointReader(const std::string& path);
  // Whether the folder, or its last commit, has a manifest.
  static bool IsOne(const std::string& path);

  const CheckpointManifest& manifest() const { return manifest_; }
  // Tensors that the checkpoint holds as `what` (kWeights, ...), by name.
  using Entries = std::map<std::string, safetensors::Entry>;
  const Entries& entries(const std::string& what) const;
  // One of them, in the file's layout (file_layout.h).
  Tensor Read(const std::string& what, const std::string& name) const;
  // All of them.
  std::vector<NamedTensor> ReadAll(const std::string& what) const;
  // Content of a text file beside them.
  std::string Text(const std::string& name) const;

 private:
  struct Kind {
    Entries entries;
    std::map<std::string, const SafetensorsReader*> in;  // the file of each
  };
  void Add(const std::string& name, const CheckpointFile& file);

  const FolderReader folder_;
  CheckpointManifest manifest_;
  std::map<std::string, SafetensorsReader> files_;
  std::map<std::string, Kind> kinds_;
};

}  // namespace torus::io
