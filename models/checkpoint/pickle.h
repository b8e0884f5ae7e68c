// Reads pickles without executing anything: the protocols 1 to 5 of Python's format (PEP 307, PEP
// 3154, PEP 574) as torch.save writes them.
//
// A pickle is a program for a small stack machine. Its opcodes GLOBAL, REDUCE, NEWOBJ and BUILD can
// call any function by name. This reader calls nothing. It knows the names that rebuild tensors,
// containers and numpy's scalars, and turns these into values (pickle_calls.h). Whatever any other
// name would make becomes a value of kind kObject: its name, arguments and attributes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/io/stored_type.h"

namespace torus::pickle {

enum class Kind {
  kNone,
  kBool,
  kInt,
  kFloat,
  kText,
  kBytes,
  kTuple,
  kList,
  kSet,
  kDict,
  kGlobal,
  kObject,
  kStorage,
  kTensor
};

// A value, owned by its Document. Containers may share values and may even contain themselves.
struct Value {
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // of kInt and kBool; elements of kStorage; offset of kTensor, in elements
  double real = 0;      // of kFloat
  // Of kText, kBytes, kGlobal ("module.name") and kObject (the name that would be called); key of
  // kStorage.
  std::string text;
  // Of containers; of a dict, and of an object's attributes and own items, keys and values in turn;
  // {storage} of kTensor.
  std::vector<Value*> items;
  // Of kObject: what it would be called with, or null. Of kBytes from protocol 2: the text whose
  // characters they are.
  const Value* arguments = nullptr;
  const io::StoredType* type = nullptr;  // of kStorage and kTensor; null: none that can be read
  uint64_t width = 0;                    // of kStorage: bytes of an element; 0: not known
  bool negative = false;  // of kTensor: its values are those of the storage with other signs
  std::vector<int64_t> sizes, strides;  // of kTensor, as the file has them: not yet checked
};

// The value of a text key in a dict, or of an object's attribute; null if there is none.
const Value* Find(const Value& value, std::string_view key);

struct Document {
  std::vector<std::unique_ptr<Value>> values;
  Value* root = nullptr;
  size_t bytes = 0;  // length of the pickle
};

// Reads the pickle at the beginning of `bytes`. Throws BadInput tagged `where` for an opcode that
// is not supported, a truncated pickle, a program that does not leave exactly one value, and more
// than 2^20 values or 2^23 container items. These limits also bound the memory.
Document Read(std::string_view bytes, const std::string& where);

}  // namespace torus::pickle
