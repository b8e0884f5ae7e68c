// Files of named tensors in the safetensors format (https://github.com/huggingface/safetensors):
//   8 bytes little-endian header length | JSON header | tensor bytes
//   header: {"__metadata__": {string: string}, NAME: {"dtype": "F32", "shape": [2, 3],
//   "data_offsets": [begin, end]}}
// Files written here carry checksums of their header and of each tensor (safetensors_sums.h), and
// whoever reads one checks them: a damaged file is refused.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/file.h"
#include "runtime/io/safetensors_header.h"
#include "runtime/tensor.h"

namespace torus {

// Of tensors whose type in a file is none of tensors' (io/stored_type.h): name -> that type, such
// as "F8_E4M3".
using NarrowTypes = std::map<std::string, std::string>;

// What a file holds.
struct SafetensorsFile {
  std::map<std::string, std::string> metadata;  // empty if the file has none
  NarrowTypes narrow;                           // of those that are held in a wider type
  std::vector<NamedTensor> tensors;             // in the order of their bytes
};

// Reads a whole file into CPU tensors. Strict: the header must be UTF-8 JSON of exactly the form
// above (white space may surround it) without duplicate keys, at most 100 MB and within the file.
// The tensors must cover the bytes after it without holes, overlaps or remainder, each with exactly
// the length of its shape and dtype. All this is checked before any tensor is allocated. Tensors of
// F64 F32 BF16 F16 I64 I32 U8 BOOL have that dtype; F8_E4M3 F8_E5M2 I8 I16 U16 U32 U64 are held in
// a wider one without loss. Throws BadInput for anything else, and for a header or tensor whose
// checksum differs, in one line that names the file and the tensor.
SafetensorsFile ReadSafetensors(const std::string& path);
SafetensorsFile ReadSafetensors(const io::InputFile& file);

// Opens a file and checks all but the tensors' values. Each tensor is read on request, so memory is
// needed only for the tensors that are read.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const io::InputFile& file);  // which must outlive it

  // The metadata of the header.
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  // In the order of their bytes.
  const std::vector<safetensors::Entry>& entries() const { return header_.entries; }
  // Reads one tensor, on the CPU. Throws BadInput if its checksum differs.
  Tensor Read(const safetensors::Entry& entry) const;
  // The checksum (CRC-32C) of the whole file, if the tensors' are what the header says. None for a
  // file without checksums.
  std::optional<uint32_t> checksum() const { return checksum_; }

 private:
  const io::InputFile& file_;
  uint64_t data_start_ = 0;
  safetensors::Header header_;
  std::optional<uint32_t> checksum_;
};

// Writes CPU tensors, which may be strided, and waits until they are on the disk. Data begins at a
// multiple of 64 bytes and wide dtypes come first, otherwise in the given order. So every tensor is
// aligned to its elements, and equal input gives equal bytes. Tensors that `narrow` names, which
// must have values of that type, are written in it. Before touching the file, throws
// BadInput for a duplicate name, one that is not UTF-8 or is "__metadata__", and undefined tensors.
// Throws BrokenEnvironment with path and reason if the file cannot be written. Not atomic: see
// folder.h. Returns the checksum (CRC-32C) of the whole file.
uint32_t WriteSafetensors(const std::string& path, const std::vector<NamedTensor>& tensors,
                          const std::map<std::string, std::string>& metadata = {},
                          const NarrowTypes& narrow = {},
                          io::IfExists if_exists = io::IfExists::kTruncate);

}  // namespace torus
