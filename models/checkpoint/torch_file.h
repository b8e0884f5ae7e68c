// Reads files of torch.save (.pt, .pth, .th, .bin): the ZIP archives that PyTorch has written since
// 1.6, and the older streams of pickles. pickle.h reads them, so nothing in a file is executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

struct TorchFile {
  std::vector<NamedTensor> tensors;  // contiguous, in the file's order
  // Other values in the file, such as "best_prec1 = 91.73": the first 4096.
  std::vector<std::string> others;
};

// Reads every tensor. A name is the path of dictionary keys and list indices, joined by dots. Outer
// keys are left out as long as their level has only one dictionary with tensors ("state_dict").
// Throws BadInput tagged with the path for another kind of file or a damaged one: each storage must
// have the length recorded for it, each tensor must lie within its storage and be no larger, all
// tensors together may have at most 8 times the bytes of the file, and a name at most 1000
// characters. So memory is bounded by a small multiple of the file's size.
TorchFile ReadTorchFile(const std::string& path);

// Reads the contents of such a file; errors are tagged `where`.
TorchFile ReadTorchBytes(std::string_view bytes, const std::string& where);

}  // namespace torus
