"""A tiny encoder with random weights, as a folder that transformers loads, and a release in which it can learn."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

# Tests run side by side, and the work on so small a model is less than that of sharing it.
torch.set_num_threads(1)

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789.,!?'[]"


def tiny_encoder(folder: Path, width: int = 32, longest: int = 128) -> Path:
    """Write the encoder: 2 layers, a vocabulary of single characters and their continuations."""
    vocabulary = [*SPECIAL, *SIGNS, *(f"##{sign}" for sign in SIGNS)]
    vocabulary += ["glad", "gloomy", "the", "day", "was", "number", "and", "very", "##day"]
    tokenizer = Tokenizer(models.WordPiece({word: at for at, word in enumerate(vocabulary)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=longest,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
    )
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=2 * width,
        max_position_embeddings=longest,
    )
    BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder
