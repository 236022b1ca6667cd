#!/usr/bin/env python3
"""images.py [--epochs N]: a small convolutional network on generated images, one process a GPU.

    orrery submit --gpus 4 --per gpu -- python3 examples/pytorch/images.py

With orrery.training it reports its progress, stops when it is asked to, and continues where it was,
on any number of GPUs. Without Orrery it trains all the same, also under torchrun.
"""
import argparse
import os
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

import orrery  # noqa: E402

CLASSES, SIDE = 10, 16


class Images(torch.utils.data.Dataset):
    """Ten shapes, each moved and blurred by chance when it is read."""

    def __init__(self, count):
        generator = torch.Generator().manual_seed(1)
        self.shapes = (torch.rand(CLASSES, SIDE, SIDE, generator=generator) > 0.6).float()
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        shift = (random.randrange(-2, 3), random.randrange(-2, 3))
        image = self.shapes[index % CLASSES].roll(shift, (0, 1)) + 0.8 * torch.randn(SIDE, SIDE)
        return image[None], index % CLASSES


def network():
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Dropout(0.1), nn.Linear(32 * SIDE // 4 * SIDE // 4, CLASSES))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--images", type=int, default=2000)
    parser.add_argument("--batch", type=int, default=64, help="of all processes together")
    parser.add_argument("--checkpoint-every", type=int, metavar="ITERATIONS", help="usually about ten minutes")
    arguments = parser.parse_args()

    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    torch.manual_seed(0)
    model = network().to(device)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch is built without
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        torch.manual_seed(dist.get_rank())  # each process drops other units
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, arguments.epochs)
    loader = orrery.Loader(Images(arguments.images), arguments.batch)

    with orrery.training(model, optimizer, loader, epochs=arguments.epochs, scheduler=schedule,
                         checkpoint_every=arguments.checkpoint_every) as run:
        for images, labels in run:
            loss = nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            optimizer.zero_grad()
            run.loss(loss).backward()
            optimizer.step()
            if run.last_of_epoch:
                schedule.step()
        if run.rank == 0 and run.finished:
            print(f"done at iteration {run.iteration} on {run.ranks} processes, loss {run.last['loss']!r}")


if __name__ == "__main__":
    main()
