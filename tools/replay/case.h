// A case: what another framework computed, in one .safetensors file.
//
// The metadata has "format" = "1" and "case", a JSON object; its "op" is an operator's name in
// torch or torch.nn.functional, or "model", "train" or "optimizer". Tensors are named by role and
// lie in PyTorch's layout:
//
//   an operator  "attrs" are its arguments that are not tensors; in.X a tensor argument, out.I an
//                output, grad_out.I the seed of a backward, grad_in.X what it gives, after.X an
//                argument changed in place
//   model        one forward and backward: "model", "config"; param.X, in.images, in.labels,
//                out.logits, out.loss, grad_param.X, after.X (running statistics)
//   train        "optimizer", "steps", "restart": in.* with a leading dimension of steps,
//   out.losses;
//                from param.X to final.X, or with restart each step I from state.I.param.X and
//                state.I.momentum.X to state.I+1
//   optimizer    "optimizer", "steps": param.p, grad.p (steps leading), out.p after each step
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "runtime/error.h"
#include "runtime/tensor.h"

namespace torus::replay {

// What a case asks for and Torus has not: said in the report, neither passed nor failed.
class Unsupported : public Error {
 public:
  using Error::Error;
};

struct Case {
  std::string path;
  nlohmann::json spec;                    // the "case" of the metadata
  std::map<std::string, Tensor> tensors;  // "in.input", "out.0", ...
  Device device;                          // where they lie, and where the case is computed

  // BadInput naming the tensor when the case has none of that name.
  const Tensor& Get(const std::string& name) const;
  // Undefined when the case has none of that name.
  Tensor Find(const std::string& name) const;
  // Tensors whose names begin with `prefix`, by the rest of their names.
  std::map<std::string, Tensor> Group(const std::string& prefix) const;
};

// Its tensors go to `device`. BadInput for a file that is no case of format 1.
Case ReadCase(const std::string& path, Device device = {});

}  // namespace torus::replay
