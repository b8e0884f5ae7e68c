// Reads pickles without executing anything. Supports the part of Python's pickle format (PEP 307,
// PEP 3154) that torch.save writes for tensors in dictionaries, lists and tuples.
//
// A pickle is a program for a small stack machine. Its opcodes GLOBAL and REDUCE can call any
// function by name. This reader accepts only the names that rebuild tensors and parameters,
// storages, OrderedDict and torch.Size, and turns them into values. Any other name is an error;
// nothing is ever called.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/tensor.h"

namespace torus::pickle {

enum class Kind {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kTuple,
  kList,
  kDict,
  kGlobal,
  kStorage,
  kTensor
};

// A value, owned by its Document. Containers may share values and may even contain themselves.
struct Value {
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // of kInt and kBool; elements of kStorage; offset of kTensor
  double real = 0;      // of kFloat
  std::string text;     // of kText and kGlobal ("module.name"); key of kStorage
  std::vector<Value*>
      items;  // of containers (a dict's keys and values in turn); {storage} of kTensor
  DType dtype = DType::kF32;            // of kStorage
  std::vector<int64_t> sizes, strides;  // of kTensor, as the file has them: not yet checked
};

struct Document {
  std::vector<std::unique_ptr<Value>> values;
  Value* root = nullptr;
  size_t bytes = 0;  // length of the pickle
};

// Reads the pickle at the beginning of `bytes`. Throws BadInput tagged `where` for an opcode or a
// name that is not supported, a truncated pickle, a program that does not leave exactly one value,
// and more than 2^20 values or 2^23 container items. These limits also bound the memory.
Document Read(std::string_view bytes, const std::string& where);

}  // namespace torus::pickle
