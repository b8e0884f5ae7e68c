"""Makes tokenizers.tsv: what Hugging Face's tokenizers make of texts, by a small byte-level BPE in many variants.

Needs tokenizers==0.23.3. Each line begins with its kind:

base      the tokenizer.json, trained here, of which all cases are variants
case      a name, and a list of [JSON pointer, value]: what the case puts in its place ("-" appends)
text      of the last case: a text, its numbers, those where special tokens are plain text (encode_special_tokens), and the
          text of the first numbers

The second base is a BPE over characters, as Llama 2's.

All fields behind the kind are JSON.
"""
import copy
import json
import os

import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

assert tokenizers.__version__ == "0.23.3", tokenizers.__version__
HERE = os.path.dirname(os.path.abspath(__file__))

CORPUS = """The quick brown fox jumps over the lazy dog, and the dog does not jump over the fox. In 1984 there
were 12 foxes and 7 dogs; in 2019 there were 1200 foxes. They're quick, we'd say, and it's the word of words: a
sword, a keyword, words. The end of the text is the end. The tools of the toolbox are tools; the user uses them.
abc abcd abcde bcd bcde cde.\n""" * 4


def train():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator([CORPUS], trainers.BpeTrainer(
        vocab_size=360, special_tokens=["<|endoftext|>"], initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False))
    return json.loads(tokenizer.to_str())


def put(document, pointer, value):
    *path, last = pointer.strip("/").split("/")
    for key in path:
        document = document[int(key)] if isinstance(document, list) else document[key]
    if last == "-":
        document.append(value)
    else:
        document[last] = value


BASE = train()
VOCAB = BASE["model"]["vocab"]
SPACE = "\u2581"


def train_characters():
    tokenizer = Tokenizer(models.BPE(byte_fallback=True, fuse_unk=True, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)])
    tokenizer.decoder = decoders.Sequence([decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse(),
                                           decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>"]
    # A line at a time: without words, a merge may be of any length.
    tokenizer.train_from_iterator(CORPUS.split(" "), trainers.BpeTrainer(
        vocab_size=420, special_tokens=special + [f"<0x{byte:02X}>" for byte in range(256)], show_progress=False))
    document = json.loads(tokenizer.to_str())
    document["added_tokens"] = [token for token in document["added_tokens"] if token["content"] in special]
    return document


CHARACTERS = train_characters()


def metaspace(scheme, split):
    part = {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": split}
    return [["/normalizer", None], ["/pre_tokenizer", part], ["/decoder", part]]


def character_cases():
    numbers = CHARACTERS["model"]["vocab"]
    new = {"id": numbers["fox"], "content": "fox", "single_word": False, "lstrip": False, "rstrip": False,
           "normalized": True, "special": False}
    verbatim = {**new, "id": len(numbers), "content": "<L>", "normalized": False, "lstrip": True}
    crossing = {**numbers, "e" + SPACE: len(numbers), "e" + SPACE + "t": len(numbers) + 1}
    merges = [["e", SPACE], ["e" + SPACE, "t"]] + CHARACTERS["model"]["merges"]
    return {
        "characters": [],
        "added words": [["/added_tokens/-", new], ["/added_tokens/-", verbatim]],
        "merges across words": [["/model/vocab", crossing], ["/model/merges", merges]],
        "no prefix": [["/normalizer", {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}]],
        "unknown characters fused": [["/model/byte_fallback", False]],
        "unknown characters apart": [["/model/byte_fallback", False], ["/model/fuse_unk", False]],
        "whole pieces": [["/model/ignore_merges", True], *metaspace("always", True)],
        **{f"Metaspace {scheme} {split}": metaspace(scheme, split)
           for scheme in ("always", "first", "never") for split in (False, True)},
    }


def added(*tokens):
    """Patches that add tokens of (content, what differs from a plain verbatim word)."""
    numbers = dict(VOCAB)
    for content, more in tokens:
        number = numbers.setdefault(content, len(numbers))
        token = {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
                 "normalized": False, "special": False}
        yield ["/added_tokens/-", {**token, **more}]


def sequence(*parts):
    return {"type": "Sequence", "pretokenizers": list(parts)}


LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")


def digits(singly):
    return sequence({"type": "Digits", "individual_digits": singly}, BASE["pre_tokenizer"])


def all_cuts():
    """Merges as they are made of a vocabulary without any: for each token all ways to cut it in two."""
    merges = []
    for token in sorted(VOCAB, key=VOCAB.get):
        cuts = [(token[:at], token[at:]) for at in range(1, len(token))]
        cuts = [cut for cut in cuts if cut[0] in VOCAB and cut[1] in VOCAB]
        merges += [list(cut) for cut in sorted(cuts, key=lambda cut: (VOCAB[cut[0]], VOCAB[cut[1]]))]
    return merges


WHOLE = {**VOCAB, "Ġswordfish": len(VOCAB), "hello": len(VOCAB) + 1, "Ã¯": len(VOCAB) + 2}
CASES = {
    "as it is": [],
    "verbatim tokens before others": [
        *added(("abc", {}), ("bcd", {"normalized": True}), ("abcde", {"normalized": True}))],
    "what a special token covers is plain": [*added(("<tool>", {"special": True}), ("tool", {}))],
    "space on both sides": [
        *added(("<L>", {"lstrip": True}), ("<R>", {"rstrip": True}), ("<B>", {"lstrip": True, "rstrip": True}),
               (" <S>", {}))],
    "whole words": [
        *added(("word", {"single_word": True}), ("<end>", {"single_word": True, "special": True}),
               ("dog", {"single_word": True, "normalized": True, "lstrip": True, "rstrip": True}))],
    "a sequence of one": [["/pre_tokenizer", sequence(BASE["pre_tokenizer"])]],
    "digits singly": [["/pre_tokenizer", digits(True)]],
    "digits in runs": [["/pre_tokenizer", digits(False)], *added(("12", {}))],
    "Llama 3's expression": [["/pre_tokenizer", sequence(
        {"type": "Split", "pattern": {"Regex": LLAMA3}, "behavior": "Isolated", "invert": False},
        {**BASE["pre_tokenizer"], "use_regex": False})]],
    "a space before each part": [
        ["/pre_tokenizer/add_prefix_space", True], *added(("<R>", {"rstrip": True}), ("dog", {}))],
    "all cuts": [["/model/merges", all_cuts()]],
    "whole pieces": [["/model/vocab", WHOLE], ["/model/ignore_merges", True]],
    "whole pieces of all cuts": [
        ["/model/vocab", WHOLE], ["/model/ignore_merges", True], ["/model/merges", all_cuts()]],
}
TEXTS = [
    "The quick brown fox", "abcde abcd xabcdex abc", "bcde bcd", "<tool>tool<tool> tools <tool",
    "a <L> b <R>  c  <B>\n\td", "<R> <L> <R>\u3000\u00a0<B><B> x", "x<R> <S>y",
    "word sword words word-word word_ _word (word) word", "\u00e9word word\u0301 1word word2",
    "<end> a<end> <end>b <end>", "dog dogs  dog  dog\ndog", "in 1984 there were 12  foxes, 7 dogs",
    "a1b22c333 \u00bd\u00b2 \u0663\u0664 x 9 ", "  12  \n 3\t4", "hello swordfish a swordfish",
    "\u00ef na\u00efve", "they're it's 's we'd DON'T", "tabs\t\t and \r\n ends  ",
    "<|endoftext|>hello<|endoftext|> world", "\u65e5\u672c\u8a9e \U0001f389\U0001f3fd e\u0301",
    "toolbox of the toolboxes", "", "<s>The fox</s> <s> fox  foxes\u2581dog<unk>", "1984120 12345678", "x\r\n\r\n  \n y'LL", " lead", "the end of the end", "abcdeabcde" * 12, "word" * 9 + " word",
]


def main():
    lines = []
    for base, cases in ((BASE, CASES), (CHARACTERS, character_cases())):
        lines.append(["base", base])
        for name, patches in cases.items():
            document = copy.deepcopy(base)
            for pointer, value in patches:
                put(document, pointer, value)
            tokenizer = Tokenizer.from_str(json.dumps(document))
            lines.append(["case", name, patches])
            for text in TEXTS:
                tokenizer.encode_special_tokens = False
                numbers = tokenizer.encode(text).ids
                tokenizer.encode_special_tokens = True
                lines.append(["text", text, numbers, tokenizer.encode(text).ids,
                              tokenizer.decode(numbers, skip_special_tokens=False)])
    with open(os.path.join(HERE, "tokenizers.tsv"), "w", encoding="utf-8", newline="\n") as file:
        for kind, *fields in lines:
            file.write("\t".join([kind, *(json.dumps(field, separators=(",", ":")) for field in fields)]) + "\n")


if __name__ == "__main__":
    main()
