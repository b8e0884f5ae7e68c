// Files of torch.save (.pt, .pth, .th, .bin): the archive that PyTorch writes since 1.6, and the
// stream of pickles before that. Read by pickle.h, so nothing in such a file is executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

struct TorchFile {
  std::vector<NamedTensor> tensors;  // contiguous, in the file's order
  // What else stands in it, as "best_prec1 = 91.73": the first 4096.
  std::vector<std::string> others;
};

// Reads every tensor. Names are the dictionaries' keys from the outside in, joined by dots, list
// places as numbers; the outermost are left out while there is but one dictionary with tensors on
// that level ("state_dict"). BadInput tagged with the path for what is no such file, or is damaged:
// each storage must have the length that its tensors were saved with, each tensor lie within its
// storage and be no larger, and all together have at most 8 times the file's bytes; names have up
// to 1000 characters. So memory is bounded by a small multiple of the file's size.
TorchFile ReadTorchFile(const std::string& path);

// The same of a file's bytes; errors are tagged `where`.
TorchFile ReadTorchBytes(std::string_view bytes, const std::string& where);

}  // namespace torus
