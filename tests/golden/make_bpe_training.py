#!/usr/bin/env python3
"""Writes bpe_training.json: a text, and the merges that Hugging Face's tokenizers train for it.

    python3 make_bpe_training.py

With tokenizers 0.23.3, by ByteLevel(add_prefix_space=False) and BpeTrainer(min_frequency=2).
"""
import json
import pathlib
import random

from tokenizers import Tokenizer, models, pre_tokenizers, trainers

WORDS = ("the of and a to in is that it was for on with as be at by this had not are but from or have an they "
         "which one you were all her she there would their we him been has when who will no more if out so what "
         "aaa aaaa banana bananas mississippi naïve façade 東京 東京都 😀 😀😀 don't we'll 1984 19 2001 ... --").split()


def text():
    draw = random.Random(7)
    return "".join(draw.choice(WORDS) + draw.choice([" ", " ", " ", "  ", "\n", ", ", "\t"]) for _ in range(900))


def merges(sample, size):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator([sample], trainer)
    return [" ".join(pair) for pair in json.loads(tokenizer.to_str())["model"]["merges"]]


def main():
    sample = text()
    path = pathlib.Path(__file__).parent / "bpe_training.json"
    path.write_text(json.dumps({"text": sample, "merges": merges(sample, 10000)}, ensure_ascii=False, indent=0) + "\n")


if __name__ == "__main__":
    main()
