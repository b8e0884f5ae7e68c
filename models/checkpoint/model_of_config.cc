#include "models/checkpoint/model_of_config.h"

#include "models/checkpoint/config_reader.h"
#include "models/gpt2/config.h"
#include "models/roberta/config.h"
#include "runtime/error.h"
#include "runtime/io/json.h"

namespace torus {

std::shared_ptr<nn::Sequential> ModelOfConfig(const nlohmann::json& config,
                                              const std::string& where) {
  std::string type;
  ConfigReader(config, where).Read("model_type", type);
  if (type == "roberta") return Roberta(RobertaFromConfig(config, where));
  Require(type == "gpt2", where, "model_type must be roberta or gpt2, got \"{}\"",
          io::Printable(type));
  return Gpt2(Gpt2FromConfig(config, where));
}

}  // namespace torus
