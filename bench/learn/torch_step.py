#!/usr/bin/env python3
"""torch_step.py [--device cpu|cuda] [--batch N] [--steps N] [MODEL...]

The time of one training step in PyTorch, of the models of src/training/libtorch: same shapes, batches gathered
from a set that lies on the device, same optimiser (SGD with momentum), and the loss is looked at
after each step, as a trainer does. learn_bench beside it prints the same table for ours.
"""
import argparse
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional

CLASSES, CHARACTERS, LENGTH = 10, 23, 32
WARM_UP = 10


def mlp():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, CLASSES))


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, CLASSES),
    )


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 8, 5, stride=2, padding=2), nn.ReLU(),
        nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.ReLU(), nn.Flatten(),
        nn.Linear(16 * 49, 64), nn.ReLU(), nn.Linear(64, CLASSES),
    )


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.stride, self.more = stride, outputs - inputs
        self.first = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.second = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        self.norm, self.closing = nn.GroupNorm(8, outputs), nn.GroupNorm(8, outputs)

    def forward(self, x):
        past = x[:, :, :: self.stride, :: self.stride] if self.stride > 1 else x
        if self.more:
            past = functional.pad(past, (0, 0, 0, 0, self.more // 2, self.more - self.more // 2))
        inside = torch.relu(self.norm(self.first(x)))
        return torch.relu(self.closing(self.second(inside)) + past)


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        blocks, inputs = [], 16
        for outputs in (16, 32, 64):
            for block in range(3):
                blocks.append(Residual(inputs, outputs, 2 if block == 0 and outputs > 16 else 1))
                inputs = outputs
        self.stem = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.GroupNorm(8, 16), nn.ReLU())
        self.blocks, self.scores = nn.Sequential(*blocks), nn.Linear(64, CLASSES)

    def forward(self, x):
        return self.scores(self.blocks(self.stem(x)).mean((2, 3)))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.scores = nn.Embedding(CHARACTERS, 32), nn.Linear(64, CHARACTERS)
        self.lstm = nn.LSTM(32, 64, batch_first=True)

    def forward(self, x):
        return self.scores(self.lstm(self.embedding(x))[0])


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention, self.mixing = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.hidden, self.back = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def attend(self, x, mask):
        batch, length, width = x.shape
        part = width // self.heads
        q, k, v = self.attention(x).view(batch, length, 3, self.heads, part).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(part) + mask, -1)
        return (weights @ v).transpose(1, 2).reshape(batch, length, width)

    def forward(self, x, mask):
        x = x + self.mixing(self.attend(self.norm1(x), mask))
        return x + self.back(torch.relu(self.hidden(self.norm2(x))))


class Transformer(nn.Module):
    def __init__(self, width=64, heads=4):
        super().__init__()
        self.embedding, self.places = nn.Embedding(CHARACTERS, width), nn.Embedding(LENGTH, width)
        self.layers = nn.ModuleList([Layer(width, heads), Layer(width, heads)])
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, CHARACTERS)
        self.register_buffer("mask", torch.full((LENGTH, LENGTH), -1e9).triu(1))
        self.register_buffer("numbers", torch.arange(LENGTH))

    def forward(self, x):
        x = self.embedding(x) + self.places(self.numbers)
        for layer in self.layers:
            x = layer(x, self.mask)
        return self.scores(self.norm(x))


MODELS = {"mlp": mlp, "lenet": lenet, "cnn": cnn, "resnet20": ResNet20, "lstm": Lstm, "transformer": Transformer}


class Samples:
    """A set on the device, of the form the model reads; what it holds does not matter here."""

    def __init__(self, model, device):
        self.kind, self.count, self.device = model, 20000, device
        if model in ("lstm", "transformer"):
            self.rows = torch.randint(CHARACTERS, (self.count, LENGTH + 1), dtype=torch.uint8, device=device)
        elif model == "mlp":
            self.rows = torch.randn(self.count, 64, device=device)
        else:
            self.rows = torch.randint(256, (self.count, 1, 28, 28), dtype=torch.uint8, device=device)
        self.labels = torch.randint(CLASSES, (self.count,), dtype=torch.uint8, device=device)

    def batch(self, size):
        index = torch.randint(self.count, (size,)).to(self.device, non_blocking=True)
        rows = self.rows.index_select(0, index)
        if self.kind in ("lstm", "transformer"):
            rows = rows.long()
            return rows[:, :-1], rows[:, 1:]
        if self.kind != "mlp":
            rows = rows.float().sub_(128).div_(42)
        return rows, self.labels.index_select(0, index).long()


def step_times(name, arguments):
    device = torch.device(arguments.device)
    model = MODELS[name]().to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    samples = Samples(name, device)
    times = []
    for step in range(WARM_UP + arguments.steps):
        if step == WARM_UP:
            cpu = time.process_time()
        before = time.perf_counter()
        inputs, labels = samples.batch(arguments.batch)
        optimizer.zero_grad(set_to_none=True)
        loss = functional.cross_entropy(model(inputs).flatten(0, -2), labels.flatten())
        loss.backward()
        optimizer.step()
        loss.item()
        if step >= WARM_UP:
            times.append(time.perf_counter() - before)
    cpu = (time.process_time() - cpu) / arguments.steps
    return sum(p.numel() for p in model.parameters()), statistics.median(times), cpu


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[2])
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    arguments = parser.parse_args()
    if wrong := [name for name in arguments.models if name not in MODELS]:
        parser.error(f"no model {wrong[0]}; there are: {', '.join(MODELS)}")
    torch.set_num_threads(1)
    print(f"{'model':12} {'parameters':>10} {'batch':>6} {'median ms':>10} {'CPU ms':>10}")
    for name in arguments.models or MODELS:
        parameters, median, cpu = step_times(name, arguments)
        print(f"{name:12} {parameters:10} {arguments.batch:6} {1e3 * median:10.3f} {1e3 * cpu:10.3f}")


if __name__ == "__main__":
    main()
