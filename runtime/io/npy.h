// NumPy's files: .npy, one array (format of numpy.lib.format, versions 1.0 to 3.0), and .npz, a ZIP
// archive of named ones.
//
//   "\x93NUMPY" | version | header length | {'descr': '<f4', 'fortran_order': False, 'shape': (2,
//   3), } | elements
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace torus {

// Reads a CPU tensor. Elements f2 f4 f8 i4 i8 u1 b1 have that dtype; i1 i2 u2 are held in i32, u4
// u8 in i64. Big-endian elements are swapped, arrays in Fortran's order are laid out anew. Throws
// BadInput that names the file for all else: other types (complex numbers, text, Python objects,
// structures), a header that is not exactly as above, more or fewer bytes than the shape needs, and
// more than kMaxRank dimensions.
Tensor ReadNpy(const std::string& path);
// The same from a file's contents; errors are tagged `where`.
Tensor ReadNpyBytes(std::string_view bytes, const std::string& where);

// Writes a tensor, which may be strided and on any device, in version 1.0 and C's order. Throws
// BadInput for bf16, which NumPy has not (cast it to f32), and for a tensor that is undefined or on
// meta.
void WriteNpy(const std::string& path, const Tensor& tensor);

// Reads all arrays of an archive, stored or deflated (numpy.savez, savez_compressed), in the order
// of their names, which have no ".npy".
std::vector<NamedTensor> ReadNpz(const std::string& path);
std::vector<NamedTensor> ReadNpzBytes(std::string_view bytes, const std::string& where);

// Writes an archive that numpy.load reads; equal input gives equal bytes. Throws BadInput for an
// array or archive of 4 GiB or more, and for a name that is empty or comes twice.
void WriteNpz(const std::string& path, const std::vector<NamedTensor>& tensors,
              bool compressed = false);

}  // namespace torus
