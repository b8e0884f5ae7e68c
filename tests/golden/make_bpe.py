"""Makes bpe.tsv, bpe_cases.tsv and unicode14.tsv: what the reference tokenizers make of texts.

Needs tokenizers==0.23.3, tiktoken==0.14.0 and Python 3.11 (its unicodedata is Unicode 14). TORUS_DATA holds the
vocabularies (bpe_gpt2_roberta) and texts (text).

unicode14.tsv   the code points that Unicode 14 assigns, surrogates left out: first and last of each range, in hex.
bpe.tsv         what, GPT-2's count and CRC-32, RoBERTa's count and CRC-32, CRC-32 of the text. The CRC is of the numbers
                as little-endian 32 bits. "what" is a file below text/, "random" (10,000 strings, one behind the other;
                a string's numbers are followed by -1), or "points" (every code point of Unicode 14 below U+F0000, where
                only private ones follow, each as "a", it, it, "1 ", it, " b", a string of its own, counted as above).
bpe_cases.tsv   JSON strings and numbers: kind, text, pair (or null), max_length (or null), then the numbers.

For plain text OpenAI's tiktoken must agree with Hugging Face's tokenizers, or the script fails.
"""
import json
import os
import struct
import sys
import unicodedata
import zlib

import tiktoken
import tokenizers
from importlib.metadata import version
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
assert version("tiktoken") == "0.14.0", version("tiktoken")
assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version

DATA = os.environ["TORUS_DATA"]
HERE = os.path.dirname(os.path.abspath(__file__))
BPE = os.path.join(DATA, "bpe_gpt2_roberta")
PATTERN = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""


def read_json(name):
    with open(os.path.join(BPE, name), encoding="utf-8") as file:
        return json.load(file)


with open(os.path.join(BPE, "vocab.bpe"), encoding="utf-8") as file:
    MERGES = [tuple(line.split(" ")) for line in file.read().split("\n")[1:] if line]
GPT2, ROBERTA = read_json("encoder.json"), read_json("roberta_vocab.json")


def hugging_face(vocab):
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=MERGES))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


gpt2, roberta = hugging_face(GPT2), hugging_face(ROBERTA)
gpt2_special, roberta_special = hugging_face(GPT2), hugging_face(ROBERTA)
gpt2_special.add_special_tokens([AddedToken("<|endoftext|>", normalized=False)])
# As the tokenizer that Hugging Face publishes with roberta-base.
roberta_special.add_special_tokens([AddedToken(t, normalized=False) for t in ("<s>", "<pad>", "</s>", "<unk>")])
roberta_special.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
roberta_special.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)


def byte_of_symbol():
    own = [*range(33, 127), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(b): b for b in own}
    for n, b in enumerate(b for b in range(256) if b not in own):
        table[chr(256 + n)] = b
    return table


BYTES = byte_of_symbol()
openai = tiktoken.Encoding(
    "gpt2", pat_str=PATTERN, special_tokens={"<|endoftext|>": 50256},
    mergeable_ranks={bytes(BYTES[c] for c in token): n for token, n in GPT2.items() if n < 50256})


def numbers(text):
    """GPT-2's and RoBERTa's, without special tokens."""
    a = gpt2.encode(text, add_special_tokens=False).ids
    assert a == openai.encode_ordinary(text), repr(text)
    return a, roberta.encode(text, add_special_tokens=False).ids


class Sums:
    """Counts and check sums of several texts."""

    def __init__(self):
        self.counts, self.crcs, self.text_crc = [0, 0], [0, 0], 0

    def add(self, text, end=()):
        self.text_crc = zlib.crc32(text.encode(), self.text_crc)
        for k, ids in enumerate(numbers(text)):
            self.counts[k] += len(ids)
            ids = [*ids, *end]
            self.crcs[k] = zlib.crc32(struct.pack(f"<{len(ids)}i", *ids), self.crcs[k])

    def line(self, what):
        pairs = "\t".join(f"{n}\t{crc:08x}" for n, crc in zip(self.counts, self.crcs))
        return f"{what}\t{pairs}\t{self.text_crc:08x}\n"


def assigned():
    """Ranges of the code points that Unicode 14 assigns."""
    ranges = []
    for point in range(0x110000):
        if unicodedata.category(chr(point)) in ("Cn", "Cs"):
            continue
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return ranges


class Random:
    """SplitMix64 (Steele, Lea, Flood, 2014); the test draws the same numbers."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        return (z ^ z >> 31) % bound


# Awkward ones: white space of all kinds and what is taken for it, apostrophes, digits, marks, joiners.
AWKWARD = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'", "'S", "\u2019s", " ", "  ", "\t", "\n", "\r\n", "\x0b", "\x0c",
           "\x1c", "\x1f", "\x85", "\xa0", "\u1680", "\u180e", "\u2000", "\u200a", "\u200b", "\u200d", "\u2028", "\u2029",
           "\u202f", "\u205f", "\u3000", "\ufeff", "\x00", "1", "\u0661", "\u00bd", "\u2167", "e\u0301", "\u0345", "\u00df",
           "\U0001f469\u200d\U0001f4bb", "\U0001f1e6", "\ud7a3", "<mask>", "<|endoftext|>"]


def random_string(random, ranges):
    total = sum(last - first + 1 for first, last in ranges)
    out = []
    for _ in range(random.below(48)):
        kind = random.below(8)
        if kind < 3:
            out.append(chr(32 + random.below(95)))
        elif kind < 5:
            out.append(AWKWARD[random.below(len(AWKWARD))])
        elif kind < 6:
            out.append(chr(97 + random.below(26)) * (1 + random.below(4)))
        else:
            index = random.below(total)
            for first, last in ranges:
                if index <= last - first:
                    out.append(chr(first + index))
                    break
                index -= last - first + 1
    return "".join(out)


def write(name, text):
    with open(os.path.join(HERE, name), "w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def cases():
    """Special tokens, pairs and truncation."""
    texts = ["Hello world!", "a  <mask> b", "<mask>", " \t\n<mask><mask> \u3000<mask>", "\u180e<mask>", "x<s>y</s> <pad>z <unk>",
             "<mas<mask>k>", "</s></s>", "", " ", "\u00e9\u00e9 <mask>.", "<|endoftext|> x", "\x85<mask>"]
    for text in texts:
        yield ["roberta", text, None, None, roberta_special.encode(text).ids]
        yield ["gpt2", text, None, None, gpt2_special.encode(text).ids]
    long, short = "one two three four five six seven eight nine ten", "A b c d"
    pairs = [("c d", "a <mask>"), ("", "x"), ("x", ""), (long, short), (short, long), (long, long), (short, short)]
    for first, second in pairs:
        yield ["roberta", first, second, None, roberta_special.encode(first, second).ids]
        for length in (6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 18, 19, 24):
            roberta_special.enable_truncation(length, strategy="longest_first")
            yield ["roberta", first, second, length, roberta_special.encode(first, second).ids]
            yield ["roberta", first, None, length, roberta_special.encode(first).ids]
            roberta_special.no_truncation()


def main():
    ranges = assigned()
    write("unicode14.tsv", "".join(f"{first:x}\t{last:x}\n" for first, last in ranges))
    lines = []
    for name in sorted(os.listdir(os.path.join(DATA, "text"))):
        sums = Sums()
        with open(os.path.join(DATA, "text", name), encoding="utf-8", newline="") as file:
            sums.add(file.read())
        lines.append(sums.line(name))
    random, sums = Random(14), Sums()
    for _ in range(10000):
        sums.add(random_string(random, ranges), end=(-1,))
    lines.append(sums.line("random"))
    sums = Sums()
    for first, last in ranges:
        for point in map(chr, range(first, min(last + 1, 0xF0000))):
            sums.add(f"a{point}{point}1 {point} b", end=(-1,))
    lines.append(sums.line("points"))
    write("bpe.tsv", "".join(lines))
    write("bpe_cases.tsv", "".join("\t".join(json.dumps(part) for part in case) + "\n" for case in cases()))


sys.exit(main())
