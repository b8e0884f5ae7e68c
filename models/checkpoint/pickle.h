// A reader of pickles that executes nothing: of Python's pickle format (PEP 307, PEP 3154) only
// what torch.save writes for tensors in dictionaries, lists and tuples.
//
// A pickle is a program for a small stack machine, and its opcodes GLOBAL and REDUCE call any
// function that they name. Here they name: a tensor's or parameter's rebuilding, storages,
// OrderedDict and torch.Size. These become values; every other name is an error, and nothing is
// ever called.
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
  size_t bytes = 0;  // that the pickle took
};

// Reads the pickle at the beginning of `bytes`. BadInput tagged `where` for an opcode or a name
// that is not among the above, whatever ends too early, a program that does not leave one value,
// and more than 2^20 values or 2^23 items of containers, which also bounds the memory.
Document Read(std::string_view bytes, const std::string& where);

}  // namespace torus::pickle
