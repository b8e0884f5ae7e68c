// Puts into words why tensors do not fit a model.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace torus {

class Misfit {
 public:
  void Missing(const std::string& name) { missing_.push_back(name); }
  void Surplus(const std::string& name) { surplus_.push_back(name); }
  // `what` is wrong with a tensor that both have: " comes twice".
  void Other(const std::string& name, const std::string& what) { others_.push_back(name + what); }

  const std::vector<std::string>& missing() const { return missing_; }  // their names
  const std::vector<std::string>& surplus() const { return surplus_; }  // their names
  const std::vector<std::string>& others() const { return others_; }    // names and what is wrong

  size_t count() const { return missing_.size() + surplus_.size() + others_.size(); }
  // "does not fit the model in 4 tensors: a is f32 (2) and must be f32 (3); b is missing; c is
  // surplus; and 1 more". Of each kind at least some are shown, since of another model's file every
  // tensor is a problem. If most missing names would be there with another beginning, says which.
  std::string Text() const;

 private:
  std::string Guess() const;

  std::vector<std::string> others_, missing_, surplus_;
};

}  // namespace torus
