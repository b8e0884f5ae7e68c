#include "models/model_spec.h"

#include <fmt/args.h>
#include <fmt/ranges.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <sstream>

#include "models/checkpoint/config_reader.h"
#include "runtime/did_you_mean.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {
namespace {

const ModelDescriptor& Find(const std::string& spec, const std::vector<ModelDescriptor>& models) {
  const std::string name = spec.substr(0, spec.find(':'));
  for (const ModelDescriptor& model : models)
    if (model.name == name) return model;
  const std::vector<std::string> names = ModelNames(models);
  Throw<BadInput>("model", "must be one of {}, got {}{}", fmt::join(names, ", "), spec,
                  DidYouMean(name, names));
}

// Parses all of `text` as a number; 0 if it is not one.
template <class T>
double ReadAs(const std::string& text) {
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end ? static_cast<double>(value) : 0;
}

double ReadNumber(const std::string& spec, const std::string& text, const SizeNumber& number) {
  const double value = number.whole ? ReadAs<int64_t>(text) : ReadAs<double>(text);
  Require(value > 0 && value <= number.most, "model",
          "{}: the {} must be a {}number above 0 and at most {}", spec, number.what,
          number.whole ? "whole " : "", number.most);
  return value;
}

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream items(text + ",");
  for (std::string part; std::getline(items, part, ',');) parts.push_back(part);
  return parts;
}

// "LAYERS,FILTERS"
std::string FormOf(const std::vector<SizeNumber>& numbers) {
  std::string form;
  for (const SizeNumber& number : numbers) form += (form.empty() ? "" : ",") + number.symbol;
  return form;
}

void ReadSizes(const std::string& spec, const std::string& text, ModelSpec& model) {
  Require(!model.size_numbers.empty(), "model", "{}: {} takes nothing after a colon", spec,
          model.name);
  const std::vector<std::string> parts = SplitAtCommas(text);
  if (parts.size() != model.size_numbers.size())
    Throw<BadInput>("model", "{}: needs {}:{}", spec, model.name, FormOf(model.size_numbers));
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  for (size_t i = 0; i < parts.size(); ++i) {
    model.sizes_given.push_back(ReadNumber(spec, parts[i], model.size_numbers[i]));
    words.push_back(parts[i]);
  }
  model.title += fmt::vformat(model.size_title, words);
}

std::string FirstArchitecture(const nlohmann::json& config) {
  const auto found = config.find("architectures");
  const bool named =
      found != config.end() && found->is_array() && !found->empty() && found->front().is_string();
  return named ? found->front().get<std::string>() : "";
}

// Old configurations name only the class that they are of: "GPT2LMHeadModel", "RobertaModel",
// "LlamaForCausalLM". It begins with the type, in other letters.
std::string TypeOfArchitecture(std::string architecture,
                               const std::vector<ModelDescriptor>& models) {
  for (char& c : architecture)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  std::string longest;
  for (const ModelDescriptor& model : models) {
    const std::string& type = model.transformers.model_type;
    if (type.size() > longest.size() && architecture.starts_with(type)) longest = type;
  }
  return longest;
}

}  // namespace

nlohmann::json ModelSpec::Config(int64_t outputs) const { return config(sizes_given, outputs); }

ModelSpec ParseModelSpec(const std::string& spec, const std::vector<ModelDescriptor>& models) {
  ModelSpec model{Find(spec, models)};
  const size_t colon = spec.find(':');
  if (colon == std::string::npos) return model;
  ReadSizes(spec, spec.substr(colon + 1), model);
  if (model.sizes) model.published = model.sizes(model.Config(model.published.outputs), spec);
  return model;
}

std::vector<std::string> ModelNames(const std::vector<ModelDescriptor>& models) {
  std::vector<std::string> names;
  for (const ModelDescriptor& model : models) names.push_back(model.name);
  return names;
}

const ModelDescriptor& DescriptorOfConfig(const nlohmann::json& config, const std::string& where,
                                          const std::vector<ModelDescriptor>& models) {
  std::string type;
  ConfigReader(config, where).Read("model_type", type);
  const std::string architecture = FirstArchitecture(config);
  if (type.empty()) type = TypeOfArchitecture(architecture, models);
  const ModelDescriptor* first = nullptr;
  std::set<std::string> types;
  for (const ModelDescriptor& model : models) {
    const TransformersConfig& transformers = model.transformers;
    if (transformers.model_type.empty()) continue;
    types.insert(transformers.model_type);
    if (transformers.model_type != type) continue;
    if (!architecture.empty() && transformers.architecture == architecture) return model;
    if (first == nullptr) first = &model;
  }
  Require(first != nullptr, where, "model_type must be one of {}, got \"{}\"",
          fmt::join(types, ", "), io::Printable(type));
  return *first;
}

}  // namespace torus
