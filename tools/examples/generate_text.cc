// Continues a text with a GPT-2.
//   generate_text FOLDER PROMPT
// FOLDER has config.json, model.safetensors and the tokenizer, like Hugging Face's "gpt2".
#include <fmt/format.h>

#include <cstdio>

#include "recipes/generate/generator.h"
#include "runtime/error.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) try {
  if (argc != 3) throw BadInput("usage: generate_text FOLDER PROMPT");
  recipes::Generate({.model = argv[1],
                     .prompt = argv[2],
                     .tokens = 50,
                     .sampling = {.temperature = 0.8, .top_k = 40}},
                    [](const std::string& piece) {
                      fmt::print("{}", piece);
                      std::fflush(stdout);
                    });
  fmt::print("\n");
} catch (const std::exception& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
