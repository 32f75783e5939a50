"""Document models of the real architectures with one or two small random layers each, saved as any model is."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .tiny_models import byte_pairs, qwen2_vl

_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
}
_MROPE = {"rope_type": "default", "mrope_section": [2, 1, 1], "rope_theta": 1e4}
_TEMPLATE = (
    "{{% for m in messages %}}<|im_start|>{{{{ m['role'] }}}}\n{{% for c in m['content'] %}}"
    "{{{{ '{image}' if c['type'] == 'image' else c['text'] }}}}{{% endfor %}}<|im_end|>\n{{% endfor %}}"
    "<|im_start|>assistant\n"
)


def _tokenizer(*special: str, **named: str) -> Any:
    """A tokenizer that knows every byte, and the special tokens of a processor."""
    from transformers import PreTrainedTokenizerFast

    tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *special]
    made = byte_pairs(tokens, ["the page of a document"], len(tokens) + 280)
    return PreTrainedTokenizerFast(
        tokenizer_object=made, eos_token="<|im_end|>", pad_token="<|endoftext|>", model_max_length=4096, **named
    )


def _ends(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        "eos_token_id": tokenizer.eos_token_id,
        "bos_token_id": None,
        "pad_token_id": tokenizer.pad_token_id,
    }


def _number(tokenizer: Any, token: str) -> int:
    return int(tokenizer.convert_tokens_to_ids(token))


def _save(folder: Path, kind: Any, config: Any, processor: Any) -> None:
    """Save a model whose weights are so large that its replies differ from page to page."""
    import torch
    from transformers import set_seed

    set_seed(0)
    for part in (config, config.get_text_config(decoder=True)):
        part.tie_word_embeddings = False  # a tied random model repeats its last token
    model = kind(config)
    with torch.no_grad():
        for weights in model.parameters():
            if weights.dim() > 1:
                weights.mul_(6)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def _qwen_tokens() -> Any:
    return _tokenizer("<|vision_start|>", "<|vision_end|>", "<|image_pad|>", "<|video_pad|>")


def _qwen_numbers(tokenizer: Any) -> dict[str, int]:
    names = {"image_token": "image_pad", "video_token": "video_pad"}
    names |= {"vision_start_token": "vision_start", "vision_end_token": "vision_end"}
    return {f"{name}_id": _number(tokenizer, f"<|{token}|>") for name, token in names.items()}


_QWEN_IMAGE = "<|vision_start|><|image_pad|><|vision_end|>"


def qwen2_5_vl(folder: Path) -> None:
    import transformers

    tokens = _qwen_tokens()
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 32}
    config = transformers.Qwen2_5_VLConfig(
        text_config={"rope_parameters": _MROPE, **_ends(tokens), **_TEXT},
        vision_config={**vision, "fullatt_block_indexes": [1]},
        **_qwen_numbers(tokens),
    )
    images = transformers.Qwen2VLImageProcessor(min_pixels=56 * 56, max_pixels=112 * 112)
    template = _TEMPLATE.format(image=_QWEN_IMAGE)
    processor = transformers.Qwen2_5_VLProcessor(
        images, tokens, transformers.Qwen2VLVideoProcessor(), chat_template=template
    )
    _save(folder, transformers.Qwen2_5_VLForConditionalGeneration, config, processor)


def qwen3_vl(folder: Path) -> None:
    import transformers

    tokens = _qwen_tokens()
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 32}
    rope = {**_MROPE, "mrope_interleaved": True}
    config = transformers.Qwen3VLConfig(
        text_config={"rope_parameters": rope, "head_dim": 8, **_ends(tokens), **_TEXT},
        vision_config={**vision, "num_position_embeddings": 16, "deepstack_visual_indexes": [0]},
        **_qwen_numbers(tokens),
    )
    images = transformers.Qwen2VLImageProcessor(patch_size=16, min_pixels=64 * 64, max_pixels=128 * 128)
    template = _TEMPLATE.format(image=_QWEN_IMAGE)
    processor = transformers.Qwen3VLProcessor(
        images, tokens, transformers.Qwen3VLVideoProcessor(), chat_template=template
    )
    _save(folder, transformers.Qwen3VLForConditionalGeneration, config, processor)


def internvl(folder: Path) -> None:
    import transformers

    named = {"start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<IMG_CONTEXT>"}
    named["video_token"] = "<video>"
    tokens = _tokenizer(*named.values(), extra_special_tokens=named)
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.InternVLConfig(
        vision_config={**vision, "image_size": [56, 56], "patch_size": [14, 14]},
        text_config={"model_type": "qwen2", **_ends(tokens), **_TEXT},
        image_token_id=_number(tokens, "<IMG_CONTEXT>"),
        image_seq_length=4,
    )
    images = transformers.GotOcr2ImageProcessor(size={"height": 56, "width": 56}, crop_to_patches=True, max_patches=2)
    template = _TEMPLATE.format(image="<IMG_CONTEXT>")
    processor = transformers.InternVLProcessor(
        images, tokens, transformers.InternVLVideoProcessor(), image_seq_length=4, chat_template=template
    )
    _save(folder, transformers.InternVLForConditionalGeneration, config, processor)


def glm_ocr(folder: Path) -> None:
    import transformers

    special = [f"<|{name}|>" for name in ("image", "video", "begin_of_image", "end_of_image")]
    special += ["<|begin_of_video|>", "<|end_of_video|>"]
    named = {"image_token": "<|image|>", "video_token": "<|video|>"}
    tokens = _tokenizer(*special, extra_special_tokens=named)
    names = {"image_token_id": "image", "video_token_id": "video", "image_start_token_id": "begin_of_image"}
    names |= {"image_end_token_id": "end_of_image", "video_start_token_id": "begin_of_video"}
    names |= {"video_end_token_id": "end_of_video"}
    rope = {**_MROPE, "partial_rotary_factor": 1.0}
    vision = {"depth": 2, "hidden_size": 32, "intermediate_size": 64, "num_heads": 2, "out_hidden_size": 32}
    config = transformers.GlmOcrConfig(
        text_config={"rope_parameters": rope, "head_dim": 8, **_ends(tokens), **_TEXT},
        vision_config=vision,
        **{name: _number(tokens, f"<|{token}|>") for name, token in names.items()},
    )
    images = transformers.Glm46VImageProcessor(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112})
    template = _TEMPLATE.format(image="<|begin_of_image|><|image|><|end_of_image|>")
    processor = transformers.Glm46VProcessor(
        images, tokens, transformers.Glm46VVideoProcessor(), chat_template=template
    )
    _save(folder, transformers.GlmOcrForConditionalGeneration, config, processor)


def got_ocr2(folder: Path) -> None:
    import transformers
    from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil

    tokens = _tokenizer("<img>", "</img>", "<imgpad>")
    vision = {"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision |= {"image_size": 128, "patch_size": 2, "global_attn_indexes": [1], "mlp_dim": 64, "window_size": 8}
    config = transformers.GotOcr2Config(
        vision_config=vision,
        text_config={"model_type": "qwen2", **_ends(tokens), **_TEXT},
        image_token_index=_number(tokens, "<imgpad>"),
    )
    images = GotOcr2ImageProcessorPil(size={"height": 128, "width": 128})
    _save(folder, transformers.GotOcr2ForConditionalGeneration, config, transformers.GotOcr2Processor(images, tokens))


def nougat(folder: Path) -> None:
    import transformers
    from transformers.models.nougat.image_processing_pil_nougat import NougatImageProcessorPil

    plain = _tokenizer("<s>", "<pad>", "</s>", "<unk>")
    state = json.loads(plain.backend_tokenizer.to_str())["model"]
    merges = [tuple(pair) for pair in state["merges"]]
    tokens = transformers.NougatTokenizer(vocab=state["vocab"], merges=merges)
    swin = transformers.DonutSwinConfig(
        image_size=[112, 84], embed_dim=16, depths=[1, 1], num_heads=[2, 2], window_size=7
    )
    layer = {"d_model": 32, "decoder_layers": 1, "decoder_attention_heads": 2, "decoder_ffn_dim": 64}
    decoder = transformers.MBartConfig(
        **layer,
        vocab_size=len(tokens),
        max_position_embeddings=512,
        bos_token_id=tokens.bos_token_id,
        pad_token_id=tokens.pad_token_id,
        eos_token_id=tokens.eos_token_id,
        decoder_start_token_id=tokens.bos_token_id,
        scale_embedding=True,
    )
    config = transformers.VisionEncoderDecoderConfig.from_encoder_decoder_configs(swin, decoder)
    config.decoder_start_token_id, config.pad_token_id = tokens.bos_token_id, tokens.pad_token_id
    config.eos_token_id = tokens.eos_token_id
    images = NougatImageProcessorPil(size={"height": 112, "width": 84}, do_crop_margin=False)
    _save(folder, transformers.VisionEncoderDecoderModel, config, transformers.NougatProcessor(images, tokens))


def _idefics_tokens() -> Any:
    grid = [f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7)]
    return _tokenizer("<image>", "<fake_token_around_image>", "<end_of_utterance>", "<global-img>", *grid)


def idefics3(folder: Path) -> None:
    from transformers import Idefics3Config, Idefics3ForConditionalGeneration, Idefics3Processor
    from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil

    tokens = _idefics_tokens()
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = Idefics3Config(
        vision_config={**vision, "image_size": 56, "patch_size": 14},
        text_config={"model_type": "llama", **_ends(tokens), **_TEXT},
        scale_factor=2,
        image_token_id=_number(tokens, "<image>"),
        pad_token_id=tokens.pad_token_id,
    )
    images = Idefics3ImageProcessorPil(size={"longest_edge": 112}, max_image_size={"longest_edge": 56})
    template = _TEMPLATE.format(image="<image>")
    processor = Idefics3Processor(images, tokens, image_seq_len=4, chat_template=template)
    _save(folder, Idefics3ForConditionalGeneration, config, processor)


def granite_docling(folder: Path) -> None:
    import transformers
    from transformers.models.granite_docling.image_processing_pil_granite_docling import (
        GraniteDoclingImageProcessorPil,
    )

    tokens = _idefics_tokens()
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = transformers.GraniteDoclingConfig(
        vision_config={**vision, "image_size": 64, "patch_size": 16, "out_hidden_size": 32},
        text_config={**_ends(tokens), **_TEXT},
        scale_factor=2,
        image_token_id=_number(tokens, "<image>"),
    )
    images = GraniteDoclingImageProcessorPil(size={"height": 64, "width": 64}, max_patches=3)
    template = _TEMPLATE.format(image="<image>")
    processor = transformers.GraniteDoclingProcessor(images, tokens, image_seq_len=1, chat_template=template)
    _save(folder, transformers.GraniteDoclingForConditionalGeneration, config, processor)


def paddleocr_vl(folder: Path) -> None:
    from transformers import PaddleOCRVLConfig, PaddleOCRVLForConditionalGeneration, PaddleOCRVLProcessor
    from transformers.models.paddleocr_vl.image_processing_pil_paddleocr_vl import PaddleOCRVLImageProcessorPil

    special = ["<|IMAGE_PLACEHOLDER|>", "<|IMAGE_START|>", "<|IMAGE_END|>", "<|video_pad|>"]
    tokens = _tokenizer(*special, extra_special_tokens={"image_token": special[0]})
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = PaddleOCRVLConfig(
        text_config={"rope_parameters": _MROPE, "head_dim": 8, **_ends(tokens), **_TEXT},
        vision_config=vision,
        image_token_id=_number(tokens, special[0]),
        vision_start_token_id=_number(tokens, special[1]),
        vision_end_token_id=_number(tokens, special[2]),
        video_token_id=_number(tokens, special[3]),
    )
    images = PaddleOCRVLImageProcessorPil(size={"shortest_edge": 56 * 56, "longest_edge": 112 * 112})
    template = _TEMPLATE.format(image="<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>")
    _save(folder, PaddleOCRVLForConditionalGeneration, config, PaddleOCRVLProcessor(images, tokens, template))


def lighton_ocr(folder: Path) -> None:
    from transformers import LightOnOcrConfig, LightOnOcrForConditionalGeneration, LightOnOcrProcessor
    from transformers.models.pixtral.image_processing_pil_pixtral import PixtralImageProcessorPil

    named = {"image_token": "<|image_pad|>", "image_break_token": "<|vision_pad|>"}
    named["image_end_token"] = "<|vision_end|>"
    tokens = _tokenizer(*named.values(), extra_special_tokens=named)
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    vision |= {"model_type": "pixtral", "head_dim": 16, "image_size": 112, "patch_size": 14}
    config = LightOnOcrConfig(
        vision_config=vision,
        text_config={"model_type": "qwen3", "head_dim": 8, **_ends(tokens), **_TEXT},
        image_token_id=_number(tokens, "<|image_pad|>"),
    )
    images = PixtralImageProcessorPil(size={"longest_edge": 112}, patch_size=14)
    template = _TEMPLATE.format(image="<|image_pad|>")
    processor = LightOnOcrProcessor(images, tokens, patch_size=14, chat_template=template)
    _save(folder, LightOnOcrForConditionalGeneration, config, processor)


def deepseek_ocr2(folder: Path) -> None:
    from transformers import DeepseekOcr2Config, DeepseekOcr2ForConditionalGeneration, DeepseekOcr2Processor
    from transformers.models.deepseek_ocr2.image_processing_pil_deepseek_ocr2 import DeepseekOcr2ImageProcessorPil

    tokens = _tokenizer("<image>", extra_special_tokens={"image_token": "<image>"})
    sam = {"hidden_size": 32, "output_channels": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    sam |= {"image_size": 1024, "downsample_channels": [32, 32], "global_attn_indexes": [0], "mlp_dim": 64}
    encoder = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 4}
    experts = {"n_routed_experts": 4, "mlp_layer_types": ["dense", "sparse"], "moe_intermediate_size": 32}
    experts |= {"num_experts_per_tok": 2, "n_shared_experts": 1}
    config = DeepseekOcr2Config(
        vision_config={"sam_config": sam, "encoder_config": {**encoder, "num_key_value_heads": 2}},
        text_config={**_ends(tokens), **_TEXT, **experts},
        image_token_id=_number(tokens, "<image>"),
    )
    _save(
        folder,
        DeepseekOcr2ForConditionalGeneration,
        config,
        DeepseekOcr2Processor(DeepseekOcr2ImageProcessorPil(), tokens),
    )


def florence2(folder: Path) -> None:
    import transformers
    from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

    tokens = _tokenizer("<s>", "</s>", "<image>", extra_special_tokens={"image_token": "<image>"})
    tokens.bos_token, tokens.eos_token = "<s>", "</s>"
    images = CLIPImageProcessorPil(size={"height": 128, "width": 128}, do_center_crop=False)
    images.image_seq_length = 17
    stages = {"embed_dim": [8, 8, 16, 16], "num_heads": [2, 2, 2, 2], "num_groups": [2, 2, 2, 2], "depths": [1] * 4}
    layers = {"d_model": 32, "encoder_layers": 1, "decoder_layers": 1, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64}
    layers |= {"encoder_attention_heads": 2, "decoder_attention_heads": 2, "max_position_embeddings": 512}
    ends = {"bos_token_id": tokens.bos_token_id, "eos_token_id": tokens.eos_token_id}
    ends |= {"pad_token_id": tokens.pad_token_id, "decoder_start_token_id": tokens.eos_token_id}
    config = transformers.Florence2Config(
        vision_config={**stages, "projection_dim": 32, "window_size": 4},
        text_config={"model_type": "bart", **layers, **ends, "vocab_size": len(tokens), "forced_eos_token_id": None},
        image_token_id=_number(tokens, "<image>"),
        is_encoder_decoder=True,
        **ends,
    )
    _save(
        folder, transformers.Florence2ForConditionalGeneration, config, transformers.Florence2Processor(images, tokens)
    )


def kosmos2_5(folder: Path) -> None:
    from transformers import Kosmos2_5Config, Kosmos2_5ForConditionalGeneration, Kosmos2_5Processor
    from transformers.models.kosmos2_5.image_processing_pil_kosmos2_5 import Kosmos2_5ImageProcessorPil

    named = {"boi_token": "<image>", "eoi_token": "</image>", "image_token": "<s>"}
    tokens = _tokenizer("<s>", "</s>", "<image>", "</image>", "<md>", "<ocr>", extra_special_tokens=named)
    tokens.bos_token, tokens.eos_token = "<s>", "</s>"
    text = {"embed_dim": 32, "layers": 1, "ffn_dim": 64, "attention_heads": 2, "max_position_embeddings": 512}
    ends = {"bos_token_id": tokens.bos_token_id, "eos_token_id": tokens.eos_token_id}
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 2}
    vision |= {"patch_embed_hidden_size": 768, "head_dim": 16, "max_num_patches": 128}
    config = Kosmos2_5Config(
        text_config={**text, **ends, "vocab_size": len(tokens), "pad_token_id": tokens.pad_token_id},
        vision_config=vision,
        latent_query_num=16,
    )
    processor = Kosmos2_5Processor(Kosmos2_5ImageProcessorPil(max_patches=64), tokens, num_image_tokens=16)
    _save(folder, Kosmos2_5ForConditionalGeneration, config, processor)


VIDEOS: tuple[Callable[[Path], object], ...] = (qwen2_vl, qwen2_5_vl, qwen3_vl, internvl, glm_ocr)
"""Models whose processors read videos too, for which they need torchvision."""
PLAIN: tuple[Callable[[Path], object], ...] = (
    got_ocr2,
    nougat,
    idefics3,
    granite_docling,
    paddleocr_vl,
    lighton_ocr,
    deepseek_ocr2,
    florence2,
    kosmos2_5,
)
"""Models that need no torchvision."""
