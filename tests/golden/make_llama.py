#!/usr/bin/env python3
"""Writes llama2/ and llama3/: folders as transformers saves them, of random weights, each with a tokenizer trained here, and
greedy.json: what transformers generates of some prompts, always the likeliest token.

    pip install torch==2.15.0 transformers==5.23.0 tokenizers==0.23.3 safetensors numpy
    ./make_llama.py
"""
import json
import os
import shutil

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from make_tokenizers import CORPUS, LLAMA3, SPACE

HERE = os.path.dirname(os.path.abspath(__file__))
PROMPTS = ["The quick brown", " fox", "In 1984, naïve 日本", "x\n\n  y"]
TOKENS = 24


def beginning(token, number):
    return processors.TemplateProcessing(single=f"{token} $A", special_tokens=[(token, number)])


def characters():
    """As Llama 2's."""
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>"]
    tokenizer.train_from_iterator(CORPUS.split(" "), trainers.BpeTrainer(
        vocab_size=340, special_tokens=special + [f"<0x{byte:02X}>" for byte in range(256)], show_progress=False))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] in special]
    tokenizer = Tokenizer.from_str(json.dumps(document))
    tokenizer.post_processor = beginning("<s>", 1)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>")


def of_bytes():
    """As Llama 3's."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([CORPUS], trainers.BpeTrainer(
        vocab_size=340, special_tokens=["<|begin_of_text|>", "<|end_of_text|>"],
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()), show_progress=False))
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), beginning("<|begin_of_text|>", 0)])
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<|begin_of_text|>",
                                                eos_token="<|end_of_text|>")


def greedy(model, tokenizer, prompt):
    """The text behind the prompt. Every choice is by far the best: rounding makes no other."""
    ids = tokenizer(prompt, return_tensors="pt").input_ids
    first = ids.shape[1]
    for _ in range(TOKENS):
        with torch.no_grad():
            best = model(ids).logits[0, -1].topk(2)
        assert best.values[0] - best.values[1] > 1e-3, (prompt, best)
        if best.indices[0] == tokenizer.eos_token_id:
            break
        ids = torch.cat([ids, best.indices[:1].reshape(1, 1)], 1)
    return {"prompt": prompt, "prompt_ids": ids[0, :first].tolist(), "ids": ids[0, first:].tolist()}


def write(name, tokenizer, **options):
    torch.manual_seed(len(name) + options["seed"])
    del options["seed"]
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, initializer_range=0.4, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id, **options)
    model = transformers.LlamaForCausalLM(config).eval()
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size="60KB")
    tokenizer.save_pretrained(folder)
    texts = [greedy(model, tokenizer, prompt) for prompt in PROMPTS]
    with open(os.path.join(folder, "greedy.json"), "w", encoding="utf-8") as file:
        json.dump(texts, file, indent=1)
        file.write("\n")


def main():
    torch.set_num_threads(2)
    write("llama2", characters(), seed=1, num_key_value_heads=2)
    scaling = {"rope_type": "llama3", "rope_theta": 500.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 16}
    write("llama3", of_bytes(), seed=2, num_key_value_heads=1, tie_word_embeddings=True, rope_parameters=scaling)


main()
