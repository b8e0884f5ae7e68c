// A case: inputs and results of another framework's computation, in one .safetensors file.
//
// The metadata has "format" = "1" and "case", a JSON object; its "op" is the name of an operator in
// torch or torch.nn.functional, or "model", "train" or "optimizer". Tensors are named by their role
// and have PyTorch's layout:
//
//   an operator  "attrs" are its arguments that are not tensors; in.X is a tensor argument, out.I
//                an output, grad_out.I the gradient of out.I that the backward starts from,
//                grad_in.X the resulting gradient of in.X, after.X an argument changed in place
//   model        one forward and backward: "model", "config"; param.X, in.images, in.labels,
//                out.logits, out.loss, grad_param.X, after.X (running statistics)
//   train        "optimizer", "steps", "restart": in.* with a leading dimension of steps,
//                out.losses; from param.X to final.X, or with restart each step I from
//                state.I.param.X and state.I.momentum.X to state.I+1
//   optimizer    "optimizer", "steps": param.p, grad.p (with a leading dimension of steps), out.p
//                after each step
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace torus::replay {

// Thrown if a case needs something that Torus does not have. The report says so, and counts the
// case as neither passed nor failed.
class Unsupported : public Error {
 public:
  using Error::Error;
};

struct Case {
  std::string path;
  nlohmann::json spec;                    // the "case" of the metadata
  std::map<std::string, Tensor> tensors;  // "in.input", "out.0", ...
  Device device;                          // of the tensors and of the computation

  // Throws BadInput, naming the tensor, if the case has none of that name.
  const Tensor& Get(const std::string& name) const;
  // The same, but undefined if the case has none of that name.
  Tensor Find(const std::string& name) const;
  // Tensors whose names begin with `prefix`, by the rest of their names.
  std::map<std::string, Tensor> Group(const std::string& prefix) const;
};

// Reads a case and copies its tensors to `device`. Throws BadInput if the file is not a case of
// format 1.
Case ReadCase(const std::string& path, Device device = {});

}  // namespace torus::replay
