#!/usr/bin/env python3
"""elastic.py [--iterations N]: a training that grows and shrinks, with the same global batch.

    orrery submit --elastic 1..4 --per gpu -- python3 examples/pytorch/elastic.py

Each start has as many processes as GPUs. The samples of an iteration are the same on any number of
them, so the loss follows the same line; metrics.csv in the checkpoint folder has it.
"""
import argparse
import os
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

import orrery  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=500)
    parser.add_argument("--sample", type=float, default=0.0, metavar="SECONDS", help="that each takes, besides")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    inputs = torch.randn(4096, 32)
    data = torch.utils.data.TensorDataset(inputs, inputs.sin().sum(1, keepdim=True))
    device = torch.device("cpu")
    if torch.cuda.is_available():
        device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(device)
    model = nn.Sequential(nn.Linear(32, 128), nn.Tanh(), nn.Linear(128, 1)).to(device)
    if int(os.environ.get("WORLD_SIZE", 1)) > 1:
        os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch is built without
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
        model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    loader = orrery.Loader(data, 24, random_samples=False)

    with orrery.training(model, optimizer, loader, iterations=arguments.iterations) as run:
        if run.rank == 0:
            print(f"from iteration {run.iteration} on {run.ranks} processes", flush=True)
        for x, y in run:
            loss = nn.functional.mse_loss(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            run.loss(loss).backward()
            optimizer.step()
            time.sleep(arguments.sample * len(x))
        if run.rank == 0 and run.finished:
            print(f"done at iteration {run.iteration} on {run.ranks} processes, loss {run.last['loss']!r}")


if __name__ == "__main__":
    main()
