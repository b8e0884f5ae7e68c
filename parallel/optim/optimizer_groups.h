// Parameter groups: parameters that share options, chosen by hand or by patterns of their names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "autograd/variable.h"

namespace torus::parallel {

// The groups of an optimizer.
template <class Options>
struct OptimizerGroup {
  std::vector<NamedVariable> parameters;  // each in one group alone
  Options options;                        // of all of them
};

// The parameters of all groups, in order.
template <class Group>
std::vector<NamedVariable> ParametersOf(const std::vector<Group>& groups) {
  std::vector<NamedVariable> all;
  for (const Group& group : groups)
    all.insert(all.end(), group.parameters.begin(), group.parameters.end());
  return all;
}

// f(options) of each parameter of all groups.
template <class Options, class F>
auto ForEachOptions(const std::vector<OptimizerGroup<Options>>& groups, const F& f) {
  std::vector<decltype(f(groups[0].options))> all;
  for (const auto& group : groups) all.insert(all.end(), group.parameters.size(), f(group.options));
  return all;
}

// The options of each parameter of all groups.
template <class Options>
std::vector<Options> OptionsOf(const std::vector<OptimizerGroup<Options>>& groups) {
  return ForEachOptions(groups, [](const Options& options) { return options; });
}

// What differs from the other parameters' options for those whose names match the pattern.
struct NamePattern {
  std::string pattern = {};                                // as Matches takes it
  std::optional<double> lr_scale = {}, weight_decay = {};  // absent: as the others
};

// Whether a name matches a pattern from its beginning to its end. '*' stands for any characters,
// dots included, '?' for one; all others for themselves.
bool Matches(std::string_view name, std::string_view pattern);

// For each parameter the index of the first pattern that its name matches, or none. Throws BadInput
// for a pattern that is first for no parameter unless `some` says that these are not all parameters
// of the model (but those of a pipeline's stage).
std::vector<std::optional<size_t>> FirstMatches(const std::vector<NamedVariable>& parameters,
                                                const std::vector<NamePattern>& patterns,
                                                bool some = false);

// Groups of `options`, changed as the first pattern says that matches a parameter's name: a group
// for each pattern with parameters, in their order, and last those that match none.
//
//   Adam adam(GroupsByName<AdamGroup>(model.Parameters(), AdamWOptions(),
//                                     {{.pattern = "*.bias", .weight_decay = 0},
//                                      {.pattern = "head.*", .lr_scale = 10}}));
template <class Group, class Options>
std::vector<Group> GroupsByName(const std::vector<NamedVariable>& parameters,
                                const Options& options, const std::vector<NamePattern>& patterns,
                                bool some = false) {
  std::vector<Group> groups(patterns.size() + 1, Group{{}, options});
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (patterns[i].lr_scale) groups[i].options.lr_scale = *patterns[i].lr_scale;
    if (patterns[i].weight_decay) groups[i].options.weight_decay = *patterns[i].weight_decay;
  }
  const auto matches = FirstMatches(parameters, patterns, some);
  for (size_t i = 0; i < parameters.size(); ++i)
    groups[matches[i].value_or(patterns.size())].parameters.push_back(parameters[i]);
  std::erase_if(groups, [](const Group& group) { return group.parameters.empty(); });
  return groups;
}

}  // namespace torus::parallel
