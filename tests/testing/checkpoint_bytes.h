// The contents of a checkpoint, independent of how they are distributed over its files, to compare
// runs of any layout.
#pragma once

#include <initializer_list>
#include <string>

#include "runtime/io/checkpoint_reader.h"

namespace torus::testing {

// Names, dtypes and bytes of all tensors of the given kinds, sorted by name within each kind.
inline std::string CheckpointBytes(const std::string& folder,
                                   std::initializer_list<const char*> kinds = {
                                       io::kWeights, io::kOptimizer, io::kAverages}) {
  const io::CheckpointReader checkpoint(folder);
  std::string bytes;
  for (const char* kind : kinds)
    for (const NamedTensor& tensor : checkpoint.ReadAll(kind)) {
      bytes += tensor.name + ' ' + std::string(Name(tensor.value.dtype())) + ' ';
      bytes.append(static_cast<const char*>(tensor.value.raw()), tensor.value.bytes());
    }
  return bytes;
}

}  // namespace torus::testing
