#!/usr/bin/env python3
"""gpt.py [--text FILE]: a small GPT that learns to write like a text, byte by byte.

    orrery submit --gpus 1 -- python3 examples/pytorch/gpt.py --iterations 2000

The text is that of this repository's documents unless --text names another.
"""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "clients" / "python"))
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

import orrery  # noqa: E402


class Windows(torch.utils.data.Dataset):
    """Each sample is a piece of the text, and the same one byte later."""

    def __init__(self, text, length):
        self.text = torch.frombuffer(bytearray(text), dtype=torch.uint8).long()
        self.length = length

    def __len__(self):
        return len(self.text) - self.length

    def __getitem__(self, index):
        piece = self.text[index:index + self.length + 1]
        return piece[:-1], piece[1:]


class Gpt(nn.Module):
    def __init__(self, length, width, layers):
        super().__init__()
        self.bytes = nn.Embedding(256, width)
        self.places = nn.Parameter(0.02 * torch.randn(length, width))
        block = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.1, "gelu", batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(block, layers, nn.LayerNorm(width), False)
        self.head = nn.Linear(width, 256)
        self.register_buffer("mask", torch.full((length, length), float("-inf")).triu(1), persistent=False)

    def forward(self, text):
        length = text.shape[1]
        return self.head(self.blocks(self.bytes(text) + self.places[:length], self.mask[:length, :length]))


def sample(model, start, count, length, device):
    text = list(start)
    model.eval()
    with torch.no_grad():
        for _ in range(count):
            seen = torch.tensor([text[-length:]], device=device)
            text.append(int(model(seen)[0, -1].softmax(0).multinomial(1)))
    return bytes(text).decode("utf-8", "replace")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--text", type=pathlib.Path)
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--batch", type=int, default=16, help="of all processes together")
    parser.add_argument("--length", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    arguments = parser.parse_args()
    files = [arguments.text] if arguments.text else sorted((ROOT / "docs").rglob("*.md"))
    text = b"".join(file.read_bytes() for file in files)

    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    gpt = Gpt(arguments.length, arguments.width, arguments.layers).to(device)
    model = gpt
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch is built without
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        torch.manual_seed(dist.get_rank())
        model = nn.parallel.DistributedDataParallel(gpt)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    loader = orrery.Loader(Windows(text, arguments.length), arguments.batch, random_samples=False)

    with orrery.training(model, optimizer, loader, iterations=arguments.iterations) as run:
        for before, after in run:
            logits = model(before.to(device))
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), after.to(device).flatten())
            optimizer.zero_grad()
            run.loss(loss).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if run.rank == 0 and run.finished:
            print(f"done at iteration {run.iteration} on {run.ranks} processes, loss {run.last['loss']!r}")
            print(sample(gpt, b"Orrery ", 200, arguments.length, device), flush=True)


if __name__ == "__main__":
    main()
