"""Models of the real architectures with two small random layers each, saved as any model is."""

from pathlib import Path
from typing import Any

_CORPUS = [
    "Question: what is the observatory founded in 1923 by Margaret Ellison?",
    "Describe the image. The quick brown fox jumps over the lazy dog 0123456789.,:;!?\n",
    "Rain fell on the old harbour wall. When did the lease of the ferry berth begin?",
] * 20
_QWEN = ("endoftext", "im_start", "im_end", "vision_start", "vision_end", "vision_pad", "image_pad", "video_pad")

_QWEN_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{% for c in m['content'] %}"
    "{{ '<|vision_start|><|image_pad|><|vision_end|>' if c['type'] == 'image' else c['text'] }}{% endfor %}<|im_end|>\n"
    "{% endfor %}<|im_start|>assistant\n"
)


def byte_pairs(special: list[str], texts: list[str], size: int) -> Any:
    """Train a tokenizer that knows every byte."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator(texts, trainer)
    return made


def _unigrams(special: list[str]) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from tokenizers.processors import TemplateProcessing

    made = Tokenizer(models.Unigram())
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=400, special_tokens=special, unk_token="<unk>", show_progress=False)
    made.train_from_iterator(_CORPUS, trainer)
    ends = [("<s>", 0), ("</s>", 2)]
    made.post_processor = TemplateProcessing(single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=ends)
    return made


def _xlm_roberta(folder: Path) -> Any:
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, set_seed

    ends = {"bos_token": "<s>", "eos_token": "</s>", "cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>"}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=_unigrams(["<s>", "<pad>", "</s>", "<unk>", "<mask>"]),
        unk_token="<unk>",
        mask_token="<mask>",
        model_max_length=512,
        **ends,
    )
    tokenizer.save_pretrained(folder)
    set_seed(0)
    return XLMRobertaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=514,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        type_vocab_size=1,
    )


def bge_m3(folder: Path) -> Path:
    import torch
    from transformers import XLMRobertaModel

    XLMRobertaModel(_xlm_roberta(folder)).save_pretrained(folder)
    torch.save(torch.nn.Linear(32, 32).state_dict(), folder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(32, 1).state_dict(), folder / "sparse_linear.pt")
    return folder


def reranker(folder: Path) -> Path:
    from transformers import XLMRobertaForSequenceClassification

    config = _xlm_roberta(folder)
    config.num_labels = 1
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def _qwen_tokenizer() -> Any:
    from transformers import PreTrainedTokenizerFast

    special = [f"<|{name}|>" for name in _QWEN]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=byte_pairs(special, _CORPUS, 600),
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=special[1:],
        model_max_length=2048,
        padding_side="left",
    )
    tokens = {
        "image_token": "<|image_pad|>",
        "video_token": "<|video_pad|>",
        "vision_start_token": "<|vision_start|>",
        "vision_end_token": "<|vision_end|>",
    }
    for name, token in tokens.items():
        setattr(tokenizer, name, token)
    tokenizer.init_kwargs.update(tokens)
    return tokenizer


def _qwen_images() -> Any:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    return Qwen2VLImageProcessorPil(min_pixels=4 * 28 * 28, max_pixels=64 * 28 * 28)


def _qwen_sizes(tokenizer: Any, **vision: Any) -> dict[str, Any]:
    """Return the arguments of a Qwen-VL's configuration."""
    text = {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3], "rope_theta": 1e6},
        "bos_token_id": 0,
        "eos_token_id": 2,
        "pad_token_id": 0,
        "tie_word_embeddings": True,
    }
    numbers = {
        f"{name}_id": tokenizer.convert_tokens_to_ids(f"<|{token}|>")
        for name, token in (
            ("image_token", "image_pad"),
            ("video_token", "video_pad"),
            ("vision_start_token", "vision_start"),
            ("vision_end_token", "vision_end"),
            ("vision_token", "vision_pad"),
        )
    }
    patches = {"depth": 2, "num_heads": 2, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}
    return {"text_config": text, "vision_config": {**patches, **vision}, "tie_word_embeddings": True, **numbers}


def _qwen2_vl(tokenizer: Any) -> Any:
    from transformers import Qwen2VLConfig

    return Qwen2VLConfig(**_qwen_sizes(tokenizer, embed_dim=32, hidden_size=64, mlp_ratio=2))


def colqwen(folder: Path) -> Path:
    from transformers import ColQwen2Config, ColQwen2ForRetrieval, ColQwen2Processor, set_seed

    tokenizer = _qwen_tokenizer()
    template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
    ColQwen2Processor(image_processor=_qwen_images(), tokenizer=tokenizer, chat_template=template).save_pretrained(
        folder
    )
    set_seed(0)
    ColQwen2ForRetrieval(ColQwen2Config(vlm_config=_qwen2_vl(tokenizer), embedding_dim=16)).save_pretrained(folder)
    return folder


def _with_videos(processor: Any) -> Any:
    """Make a Qwen-VL processor, whose part for videos needs torchvision."""
    from transformers import Qwen2VLVideoProcessor

    return processor(
        image_processor=_qwen_images(),
        tokenizer=_qwen_tokenizer(),
        chat_template=_QWEN_TEMPLATE,
        video_processor=Qwen2VLVideoProcessor(),
    )


def qwen2_vl(folder: Path) -> Path:
    from transformers import Qwen2VLForConditionalGeneration, Qwen2VLProcessor, set_seed

    _with_videos(Qwen2VLProcessor).save_pretrained(folder)
    set_seed(0)
    Qwen2VLForConditionalGeneration(_qwen2_vl(_qwen_tokenizer())).save_pretrained(folder)
    return folder


def qwen2_vl_without_videos(folder: Path) -> Path:
    """Save a Qwen2-VL's configuration where there is no torchvision, as its folder is found by who has none."""
    tokenizer = _qwen_tokenizer()
    tokenizer.save_pretrained(folder)
    _qwen2_vl(tokenizer).save_pretrained(folder)
    _qwen_images().save_pretrained(folder)
    (folder / "processor_config.json").write_text('{"processor_class": "Qwen2VLProcessor"}')
    return folder


def engine_colqwen(folder: Path, version: str) -> Path:
    """Save a ColQwen2 or ColQwen2.5 as colpali-engine does."""
    from colpali_engine import models
    from transformers import Qwen2_5_VLConfig, set_seed

    tokenizer = _qwen_tokenizer()
    if version == "2":
        kind, processor, config = models.ColQwen2, models.ColQwen2Processor, _qwen2_vl(tokenizer)
    else:
        kind, processor = models.ColQwen2_5, models.ColQwen2_5_Processor
        sizes = {"hidden_size": 32, "intermediate_size": 64, "out_hidden_size": 64, "window_size": 112}
        config = Qwen2_5_VLConfig(**_qwen_sizes(tokenizer, **sizes, fullatt_block_indexes=[1]))
    _with_videos(processor).save_pretrained(folder)
    set_seed(0)
    kind(config).save_pretrained(folder)
    return folder


def engine_adapter(folder: Path, base: Path) -> Path:
    """Save an adapter of a ColQwen2.5 with weights that change what it gives."""
    import torch
    from colpali_engine import models
    from peft import LoraConfig, get_peft_model

    model = models.ColQwen2_5.from_pretrained(base)
    how = LoraConfig(
        r=4, target_modules=r"(.*(language_model).*(q_proj|v_proj)$|.*(custom_text_proj).*$)", init_lora_weights=False
    )
    torch.manual_seed(1)
    adapted = get_peft_model(model, how)
    adapted.peft_config["default"].base_model_name_or_path = str(base)
    adapted.peft_config["default"].task_type = "FEATURE_EXTRACTION"
    adapted.save_pretrained(folder)
    for file in base.iterdir():
        if file.name not in ("config.json", "model.safetensors", "generation_config.json"):
            (folder / file.name).write_bytes(file.read_bytes())
    return folder


def colpali(folder: Path) -> Path:
    import transformers
    from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

    images = SiglipImageProcessorPil(size={"height": 56, "width": 56})
    images.image_seq_length = 16
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<image>"]
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_pairs(special, _CORPUS, 600),
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        unk_token="<unk>",
        additional_special_tokens=["<image>"],
    )
    transformers.ColPaliProcessor(image_processor=images, tokenizer=tokenizer).save_pretrained(folder)
    number = tokenizer.convert_tokens_to_ids("<image>")
    vision = {
        "model_type": "siglip_vision_model",
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "image_size": 56,
        "patch_size": 14,
        "vision_use_head": False,
        "projection_dim": 64,
    }
    text = {
        "model_type": "gemma",
        "vocab_size": 1700,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "pad_token_id": 0,
        "bos_token_id": 2,
        "eos_token_id": 1,
    }
    transformers.set_seed(0)
    whole = transformers.PaliGemmaConfig(
        vision_config=vision, text_config=text, projection_dim=64, image_token_index=number, image_token_id=number
    )
    transformers.ColPaliForRetrieval(transformers.ColPaliConfig(vlm_config=whole, embedding_dim=16)).save_pretrained(
        folder
    )
    return folder


def _chat_tokenizer(specials: list[str], template: str) -> Any:
    """A tokenizer trained on one sentence."""
    from transformers import PreTrainedTokenizerFast

    tokenizer = byte_pairs(specials, ["When did the lease of the ferry berth begin? It began in 1964."] * 20, 400)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", bos_token="<s>", eos_token="</s>", chat_template=template
    )


def llama(folder: Path) -> Path:
    from transformers import LlamaConfig, LlamaForCausalLM, set_seed

    template = "{% for m in messages %}<s>{{ m['role'] }}: {{ m['content'] }}</s>{% endfor %}<s>assistant: "
    fast = _chat_tokenizer(["<pad>", "<s>", "</s>"], template)
    fast.save_pretrained(folder)
    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(fast),
        hidden_size=64,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,  # of 32 dimensions each: vLLM's attention on CPUs has no narrower ones
        max_position_embeddings=8192,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def llava(folder: Path) -> Path:
    import transformers

    template = (
        "{% for m in messages %}<s>{{ m['role'] }}: {% for c in m['content'] %}"
        "{{ '<image>' if c['type'] == 'image' else c['text'] }}{% endfor %}</s>{% endfor %}<s>assistant: "
    )
    tokenizer = _chat_tokenizer(["<pad>", "<s>", "</s>", "<image>"], template)
    sides = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}}
    transformers.LlavaProcessor(
        transformers.CLIPImageProcessorPil(**sides),
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=template,
        num_additional_image_tokens=1,
    ).save_pretrained(folder)
    transformers.set_seed(0)
    layers = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(**layers, image_size=56, patch_size=14),
        text_config=transformers.LlamaConfig(**layers, **ends, vocab_size=len(tokenizer), max_position_embeddings=512),
        vision_feature_layer=-1,
        image_token_id=3,
        **ends,
    )
    transformers.LlavaForConditionalGeneration(config).save_pretrained(folder)
    return folder


def clip(folder: Path) -> Path:
    from transformers import CLIPConfig, CLIPImageProcessorPil, CLIPModel, CLIPProcessor, set_seed

    tokenizer = _chat_tokenizer(["<pad>", "<s>", "</s>"], "")
    tokenizer.model_max_length = 77
    sides = {"size": {"shortest_edge": 56}, "crop_size": {"height": 56, "width": 56}}
    CLIPProcessor(CLIPImageProcessorPil(**sides), tokenizer).save_pretrained(folder)
    set_seed(0)
    layers = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    text = {**layers, "vocab_size": len(tokenizer), "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
    vision = {**layers, "image_size": 56, "patch_size": 14}
    CLIPModel(CLIPConfig(text_config=text, vision_config=vision, projection_dim=16)).save_pretrained(folder)
    return folder
