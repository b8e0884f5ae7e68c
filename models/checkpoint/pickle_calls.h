// What a pickle's calls of known functions make. Nothing is called.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/checkpoint/pickle.h"

namespace torus::pickle {

// Makes values for one pickle, through functions of its reader.
struct Maker {
  std::function<Value*(Kind)> make;  // a new value of the document
  // Appends to a container, and counts the items.
  std::function<void(Value* container, const std::vector<Value*>& items)> append;
  // Throws BadInput that says where in the pickle.
  std::function<void(const std::string& what)> fail;
};

// The value of `function`, a kGlobal or kObject, called with the tuple `arguments`: a tensor from
// storage, offset, sizes and strides; a parameter's tensor; a dict, a set, a tuple, bytes, a
// number; for all others a kObject.
Value* Call(const Maker& maker, const Value& function, const Value& arguments);

// The storage of a persistent id: ("storage", class, key, location, elements, ...).
Value* StorageOf(const Maker& maker, const Value& id);

}  // namespace torus::pickle
