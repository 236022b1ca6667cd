"""A training of test_torch.py: prints its end and a hash of the parameters."""
import argparse
import os
import pathlib
import resource
import signal
import sys
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402

import orrery  # noqa: E402


def main(arguments):
    parser = argparse.ArgumentParser()
    parser.add_argument("--stop-at", type=int, default=0)
    parser.add_argument("--sigterm-at", type=int, default=0)
    parser.add_argument("--hidden-from", type=int, default=-1)
    parser.add_argument("--file-limit", type=int, default=0)
    parser.add_argument("--pieces", type=int, default=100)
    parser.add_argument("--no-dropout", action="store_true")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    if options.file_limit:  # as a disk that is full
        resource.setrlimit(resource.RLIMIT_FSIZE, (options.file_limit, options.file_limit))
    os.environ.setdefault("USE_LIBUV", "0")  # which Debian 13's torch is built without
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    inputs = torch.randn(100, 8)
    data = torch.utils.data.TensorDataset(inputs, inputs.sum(1, keepdim=True) ** 2)
    torch.manual_seed(50 + rank)  # each rank drops other units
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Dropout(0.0 if options.no_dropout else 0.3), nn.Linear(16, 1))
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    rate = torch.optim.lr_scheduler.StepLR(optimizer, 5, 0.9)
    loader = orrery.Loader(data, 13, seed=2)
    folder = os.environ["ORRERY_CHECKPOINT_DIR"] + ("-elsewhere" if options.hidden_from == rank else "")
    iterations = options.stop_at or 20
    try:
        run = orrery.training(model, optimizer, loader, iterations=iterations, scheduler=rate, folder=folder,
                              checkpoint_every=4, metrics_every=1)
        with run:
            for batch in run:
                optimizer.zero_grad()
                for x, y in run.pieces(batch, options.pieces):
                    run.loss(nn.functional.mse_loss(model(x), y)).backward()
                optimizer.step()
                rate.step()
                if run.iteration + 1 == options.sigterm_at and rank == 1:
                    os.kill(os.getpid(), signal.SIGTERM)
            stopped = bool(options.stop_at) or run.stopping
            weights = [value for value in model.state_dict().values()]
            total = sum(float(value.double().sum()) for value in weights)
            if rank == 0 and options.pieces < 100:
                print(run.last["loss"].hex(), end=" ")
            if rank == 0:
                print("stopped" if stopped else "done", run.iteration, "" if stopped else total.hex(), flush=True)
    except (orrery.DataLoss, orrery.ResourceExhausted) as fault:
        print(fault, file=sys.stderr, flush=True)
        os._exit(3)


def in_child(arguments, output):
    """Runs main() in a process that was forked, and ends it."""
    for number, path in ((1, output), (2, output + ".errors")):
        with open(path, "a") as file:
            os.dup2(file.fileno(), number)
    signal.alarm(120)  # whatever goes wrong, it does not stay
    code = 1
    try:
        main(arguments)
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    os._exit(code)
