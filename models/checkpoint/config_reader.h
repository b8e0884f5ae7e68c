// ConfigReader: reads typed values from a config.json.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace torus {

// The largest number of layers a configuration may ask for, so that a damaged number cannot exhaust
// the memory.
inline constexpr int64_t kMostLayers = 1000;

// If a key is absent or null, Read leaves `value` unchanged, so a struct's defaults can be the
// reference's. Throws BadInput tagged `where` for a value of another type, an integer below `least`
// or beyond 2^28, a string of more than 100 bytes, and a configuration that is not an object.
// Unread keys are an error only with RequireKnown: a config.json also holds settings of the
// tokenizer and of the program that wrote it.
class ConfigReader {
 public:
  ConfigReader(const nlohmann::json& config, std::string where);

  void Read(const std::string& key, int64_t& value, int64_t least = 1) const;
  void Read(const std::string& key, double& value) const;
  void Read(const std::string& key, bool& value) const;
  void Read(const std::string& key, std::string& value) const;
  void Read(const std::string& key, std::optional<int64_t>& value, int64_t least = 1) const;
  void Read(const std::string& key, std::optional<double>& value) const;

  // A number of layers: at most kMostLayers.
  void ReadLayers(const std::string& key, int64_t& value) const;

  // Throws BadInput unless `key` is absent, null or `only`: any other value asks for something that
  // is not implemented.
  void RequireOnly(const std::string& key, const nlohmann::json& only) const;
  // Throws BadInput that names each key outside of `keys`: for configurations in which every key
  // must be read.
  void RequireKnown(const std::set<std::string>& keys) const;
  // The value, or null if absent.
  nlohmann::json Raw(const std::string& key) const;
  const std::string& where() const { return where_; }

 private:
  const nlohmann::json* Find(const std::string& key) const;
  template <class T>
  void ReadAs(const std::string& key, bool fits, const std::string& wanted, T& value) const;

  const nlohmann::json& config_;
  std::string where_;
};

}  // namespace torus
