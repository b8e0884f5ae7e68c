// What a checkpoint holds, wherever in it: runs of any layout are compared by it.
#pragma once

#include <initializer_list>
#include <string>

#include "runtime/io/checkpoint_reader.h"

namespace torus::testing {

// Names and bytes of all tensors that it holds as one of `kinds`, by name.
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
