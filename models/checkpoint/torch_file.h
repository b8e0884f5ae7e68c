// Reads files of torch.save (.pt, .pth, .th, .bin): the ZIP archives that PyTorch has written since
// 1.6, and the older streams of pickles. pickle.h reads them, so nothing in a file is executed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/safetensors.h"
#include "runtime/tensor.h"

namespace torus {

struct TorchFile {
  // In the file's order. A name is the path of dictionary keys, list indices and attributes, joined
  // by dots: "state_dict.conv1.weight". Tensors may be strided, also with strides of 0, and share
  // memory where the file's do.
  std::vector<NamedTensor> tensors;
  NarrowTypes narrow;
  // The keys of the innermost dictionary that holds all of them: "state_dict", or empty.
  std::string inner;
  // Other values in the file, such as "best_prec1 = 91.73": the first 4096.
  std::vector<std::string> others;
};

// Reads every tensor. Throws BadInput tagged with the path for another kind of file or a damaged
// one: each storage must have the length recorded for it, each tensor must lie within its storage,
// all tensors together may have at most 1 GiB and 8 times the bytes of the file, and a name at most
// 1000 characters. The memory is bounded by a small multiple of the file's size.
TorchFile ReadTorchFile(const std::string& path);

// Reads the contents of such a file; errors are tagged `where`.
TorchFile ReadTorchBytes(std::string_view bytes, const std::string& where);

}  // namespace torus
