// Files of named tensors in the safetensors format (https://github.com/huggingface/safetensors):
//   8 bytes little-endian header length | JSON header | tensor bytes
//   header: {"__metadata__": {string: string}, NAME: {"dtype": "F32", "shape": [2, 3],
//   "data_offsets": [begin, end]}}
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/io/file.h"
#include "runtime/io/safetensors_header.h"
#include "runtime/tensor.h"

namespace torus {

struct SafetensorsFile {
  std::map<std::string, std::string> metadata;
  std::vector<NamedTensor> tensors;  // in the order of their bytes
};

// Reads a whole file into CPU tensors. Strict: the header must be UTF-8 JSON of exactly the form
// above (white space may surround it) without duplicate keys, at most 100 MB and within the file.
// The tensors must cover the bytes after it without holes, overlaps or remainder, each with exactly
// the length of its shape and dtype. All this is checked before any tensor is allocated. dtypes:
// F64 F32 BF16 F16 I64 I32 U8 BOOL. Throws BadInput for anything else, in one line that names the
// file and the tensor.
SafetensorsFile ReadSafetensors(const std::string& path);
SafetensorsFile ReadSafetensors(const io::InputFile& file);

// Opens a file and checks all but the tensors' values. Each tensor is read on request, so memory is
// needed only for the tensors that are read.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const io::InputFile& file);  // which must outlive it

  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  // In the order of their bytes.
  const std::vector<safetensors::Entry>& entries() const { return header_.entries; }
  Tensor Read(const safetensors::Entry& entry) const;

 private:
  const io::InputFile& file_;
  uint64_t data_start_ = 0;
  safetensors::Header header_;
};

// Writes CPU tensors, which may be strided, and waits until they are on the disk. Data begins at a
// multiple of 64 bytes and wide dtypes come first, otherwise in the given order. So every tensor is
// aligned to its elements, and equal input gives equal bytes. Before touching the file, throws
// BadInput for a duplicate name, one that is not UTF-8 or is "__metadata__", and undefined tensors.
// Throws BrokenEnvironment with path and reason if the file cannot be written. Not atomic: see
// folder.h.
void WriteSafetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                      const std::map<std::string, std::string>& metadata = {});

}  // namespace torus
