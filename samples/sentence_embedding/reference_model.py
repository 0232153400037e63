"""The same model in plain PyTorch: what the sample is compared with."""

import json
import mmap
import pathlib

import torch
import torch.nn.functional as F

DTYPES = {"F32": torch.float32, "I64": torch.int64}


def read_safetensors(path):
    with open(path, "rb") as file:
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    length = int.from_bytes(data[:8], "little")
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        dtype = DTYPES[entry["dtype"]]
        flat = torch.frombuffer(
            data, dtype=dtype, offset=8 + length + begin, count=(end - begin) // dtype.itemsize
        )
        tensors[name] = flat.reshape(entry["shape"]).clone()
    return tensors


class ReferenceModel:
    """BERT, mean over the tokens, length 1. Batches and padding are the sample's own."""

    def __init__(self, folder, dtype=torch.float32, device="cpu", compiled=False):
        folder = pathlib.Path(folder)
        self.config = json.loads((folder / "config.json").read_text())
        weights = read_safetensors(folder / "model.safetensors")
        self.weights = {
            k: v.to(device, dtype if v.is_floating_point() else None) for k, v in weights.items()
        }
        self.dtype = dtype
        self.device = device
        if compiled:
            self.embed = torch.compile(self.embed, dynamic=False)
        # One product instead of three, as in the sample; it is the faster way in PyTorch, too.
        for layer in range(self.config["num_hidden_layers"]):
            prefix = f"encoder.layer.{layer}.attention.self."
            for kind in ("weight", "bias"):
                parts = [self.weights[f"{prefix}{p}.{kind}"] for p in ("query", "key", "value")]
                self.weights[f"{prefix}all.{kind}"] = torch.cat(parts)

    def linear(self, x, name):
        return F.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def norm(self, x, name):
        weight, bias = self.weights[name + ".weight"], self.weights[name + ".bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.config["layer_norm_eps"])

    def attention(self, x, bias, prefix):
        sentences, tokens, hidden = x.shape
        heads = self.config["num_attention_heads"]
        split = self.linear(x, prefix + "self.all").view(sentences, tokens, 3, heads, -1)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, attn_mask=bias)
        return self.linear(mixed.transpose(1, 2).reshape(x.shape), prefix + "output.dense")

    def embed(self, ids, mask):
        w = self.weights
        x = F.embedding(ids, w["embeddings.word_embeddings.weight"])
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = x + w["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = self.norm(x, "embeddings.LayerNorm")
        bias = ((mask - 1) * torch.finfo(self.dtype).max)[:, None, None, :]
        for layer in range(self.config["num_hidden_layers"]):
            prefix = f"encoder.layer.{layer}."
            attention = self.attention(x, bias, prefix + "attention.")
            x = self.norm(x + attention, prefix + "attention.output.LayerNorm")
            wide = F.gelu(self.linear(x, prefix + "intermediate.dense"))
            narrow = self.linear(wide, prefix + "output.dense")
            x = self.norm(x + narrow, prefix + "output.LayerNorm")
        mean = (x * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        return F.normalize(mean, dim=1)

    def embed_all(self, sentences, batch):
        """Lists of token numbers to [sentences, hidden], the longest sentences first."""
        order = sorted(range(len(sentences)), key=lambda i: -len(sentences[i]))
        rows = torch.empty(len(sentences), self.config["hidden_size"], dtype=self.dtype)
        with torch.inference_mode():
            for start in range(0, len(order), batch):
                members = order[start : start + batch]
                width = len(sentences[members[0]])
                pad = self.config["pad_token_id"]
                rows_of_ids = [sentences[i] + [pad] * (width - len(sentences[i])) for i in members]
                ids = torch.tensor(rows_of_ids)
                lengths = torch.tensor([len(sentences[i]) for i in members])
                mask = (torch.arange(width) < lengths[:, None]).to(self.dtype)
                rows[members] = self.embed(ids.to(self.device), mask.to(self.device)).cpu()
        return rows
