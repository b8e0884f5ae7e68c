// Continues a text with a GPT-2.
//   generate_text FOLDER PROMPT
// FOLDER has config.json, model.safetensors and the tokenizer, like Hugging Face's "gpt2".
#include <torus/recipes.h>

#include <cstdio>

using namespace torus;  // NOLINT

int main(int argc, char** argv) try {
  if (argc != 3) throw BadInput("usage: generate_text FOLDER PROMPT");
  recipes::Generate({.model = argv[1],
                     .prompt = argv[2],
                     .tokens = 50,
                     .sampling = {.temperature = 0.8, .top_k = 40}},
                    [](const std::string& piece) {
                      std::fputs(piece.c_str(), stdout);
                      std::fflush(stdout);
                    });
  std::puts("");
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
