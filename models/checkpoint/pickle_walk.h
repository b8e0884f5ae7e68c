// Finds the tensors in what a pickle made.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/checkpoint/pickle.h"

namespace torus::pickle {

// A place in nested dictionaries, lists, objects' attributes and modules: the keys that lead there.
using Path = std::vector<std::string>;

// Calls `on_tensor` for each tensor and `on_other` for each other value, in the file's order.
// Containers are entered, except lists and sets of plain values. A torch.nn.Module that was saved
// whole has its parameters and persistent buffers under the names of its state_dict. A container in
// itself is not entered again. Throws BadInput tagged `where` for more than 64 levels, more than
// 2^20 values, and paths of more than 1000 characters.
struct Visitor {
  std::function<void(const Path&, const Value&)> on_tensor, on_other;
};
void Walk(const Value& root, const Visitor& visitor, const std::string& where);

// The keys joined by dots: the name of what lies there.
std::string Joined(const Path& path);

// A value in words, at most some hundred characters: 0.1, "text", torch.device("cuda", 0).
std::string Text(const Value& value);

}  // namespace torus::pickle
