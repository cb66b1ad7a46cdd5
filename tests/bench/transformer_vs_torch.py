"""The proxy transformer's training step beside PyTorch's: same model, same parameters, same batches.

Run by tests/bench/against_torch. For each size: bench_optim exports its first parameters, eight batches
and the loss before each of its steps; PyTorch starts from those parameters, takes the same steps, and
its losses must agree to 1e-4 (a second check of the whole step, AdamW and clipping included). Then both
are timed in turns, one thread each, in processor time of the process, and the shortest step of each
counts: what other programs take of the machine only lengthens steps. PyTorch may choose the fastest of
its forms (AdamW one tensor at a time or `foreach`; `fused` where it has one for the CPU).
"""

import argparse
import csv
import io
import math
import struct
import subprocess
import sys
import tempfile
import time

import numpy
import torch

TARGETS = {"8k_64": 15.0, "90k_128": 4.0, "90k_512": 1.5, "1M_512": 1.3}
TENSORS_PER_BLOCK = 12


class Case:
    """What `bench_optim --export` wrote."""

    def __init__(self, program, name):
        with tempfile.NamedTemporaryFile() as file:
            subprocess.run([program, "--export", name, file.name], check=True)
            data = open(file.name, "rb").read()
        sizes = struct.unpack_from("7i", data)
        self.vocabulary, self.context, self.width, self.heads, self.layers, self.examples, steps = sizes
        self.at, self.data = 28, data
        d, v, t = self.width, self.vocabulary, self.context
        shapes = [(v, d), (t, d)]
        block = [(d,), (d,), (d, 3 * d), (3 * d,), (d, d), (d,), (d,), (d,), (d, 4 * d), (4 * d,), (4 * d, d), (d,)]
        shapes += block * self.layers + [(d,), (d,)]
        self.parameters = [torch.from_numpy(self.take("f4", shape)) for shape in shapes]
        self.batches, self.losses = [], []
        for _ in range(steps):
            tokens = self.take("i4", (self.examples, t)).astype("i8")
            targets = self.take("i4", (self.examples, t)).astype("i8")
            self.batches.append((torch.from_numpy(tokens), torch.from_numpy(targets)))
            self.losses.append(float(self.take("f8", ())))
        assert self.at == len(data)

    def take(self, kind, shape):
        count = math.prod(shape)
        values = numpy.frombuffer(self.data, kind, count, self.at).reshape(shape).copy()
        self.at += values.nbytes
        return values


class Block(torch.nn.Module):
    def __init__(self, case):
        super().__init__()
        d = case.width
        self.heads = case.heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(d), torch.nn.LayerNorm(d)
        self.qkv, self.attention = torch.nn.Linear(d, 3 * d), torch.nn.Linear(d, d)
        self.wide, self.narrow = torch.nn.Linear(d, 4 * d), torch.nn.Linear(4 * d, d)
        self.gelu = torch.nn.GELU(approximate="tanh")

    def attend(self, x, mask):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        if hasattr(torch.nn.functional, "scaled_dot_product_attention"):
            mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            scores = (q * (d // self.heads) ** -0.5) @ k.transpose(-2, -1)
            mixed = (scores + mask).softmax(-1) @ v
        return self.attention(mixed.transpose(1, 2).reshape(b, t, d))

    def forward(self, x, mask):
        x = x + self.attend(self.norm1(x), mask)
        return x + self.narrow(self.gelu(self.wide(self.norm2(x))))


class Transformer(torch.nn.Module):
    def __init__(self, case):
        super().__init__()
        self.embedding = torch.nn.Embedding(case.vocabulary, case.width)
        self.position = torch.nn.Parameter(torch.zeros(case.context, case.width))
        self.blocks = torch.nn.ModuleList(Block(case) for _ in range(case.layers))
        self.final = torch.nn.LayerNorm(case.width)
        mask = torch.full((case.context, case.context), -math.inf).triu(1)
        self.register_buffer("mask", mask)
        self.load(case)

    def load(self, case):
        values = iter(case.parameters)
        with torch.no_grad():
            self.embedding.weight.copy_(next(values))
            self.position.copy_(next(values))
            for block in self.blocks:
                for layer in (block.norm1, block.qkv, block.attention, block.norm2, block.wide, block.narrow):
                    layer.weight.copy_(next(values).T if layer.weight.dim() == 2 else next(values))
                    layer.bias.copy_(next(values))
            self.final.weight.copy_(next(values))
            self.final.bias.copy_(next(values))

    def loss(self, tokens, targets):
        x = self.embedding(tokens) + self.position
        for block in self.blocks:
            x = block(x, self.mask)
        logits = self.final(x) @ self.embedding.weight.T
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten())


class Trainer:
    """The step that bench_optim takes: clip to norm 1, AdamW, decay on matrices only."""

    def __init__(self, case, **form):
        self.model = Transformer(case)
        matrices = [p for p in self.model.parameters() if p.dim() == 2]
        others = [p for p in self.model.parameters() if p.dim() != 2]
        groups = [{"params": matrices, "weight_decay": 0.01}, {"params": others, "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=3e-3, betas=(0.9, 0.99), eps=1e-8, **form)
        self.parameters = matrices + others

    def step(self, batch):
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.model.loss(*batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        self.optimizer.step()
        return loss


def forms():
    """The forms of AdamW that this PyTorch has for the CPU."""
    for form in ({"foreach": False}, {"foreach": True}, {"fused": True}):
        try:
            parameter = torch.nn.Parameter(torch.zeros(2))
            parameter.grad = torch.zeros(2)
            torch.optim.AdamW([parameter], **form).step()
            yield form
        except (RuntimeError, TypeError):
            continue


def check_losses(case, name):
    trainer = Trainer(case)
    worst = 0.0
    for batch, ours in zip(case.batches, case.losses):
        worst = max(worst, abs(trainer.step(batch).item() - ours))
    if not worst < 1e-4:
        sys.exit(f"{name}: losses differ by {worst:.2e} over {len(case.losses)} steps; the bound is 1e-4")
    return worst


def torch_seconds(trainer, batch, budget_s):
    best, start = math.inf, time.process_time_ns()
    while time.process_time_ns() - start < budget_s * 1e9:
        before = time.process_time_ns()
        trainer.step(batch)
        best = min(best, time.process_time_ns() - before)
    return best * 1e-9


def our_row(program, index, budget_s):
    command = [program, f"--benchmark_filter=transformer_step/{index}$", "--benchmark_format=csv",
               f"--benchmark_min_time={budget_s}"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = list(csv.DictReader(io.StringIO(output[output.index("name,"):])))
    return rows[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="bench_optim")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=1.0, help="processor time per program and round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"PyTorch {torch.__version__}, one thread, {torch.backends.cpu.get_cpu_capability() if hasattr(torch.backends, 'cpu') else 'CPU'}")
    print("size      ours_us  torch_us  ratio  target  products  losses_differ_by  torch_form")
    missed = 0
    for index, (name, target) in enumerate(TARGETS.items()):
        case = Case(options.program, name)
        difference = check_losses(case, name)
        trainers = [(form, Trainer(case, **form)) for form in forms()]
        ours, theirs, share, form_used = math.inf, math.inf, 0.0, None
        for _ in range(options.rounds):
            row = our_row(options.program, index, options.seconds)
            if float(row["step_us"]) < ours:
                ours, share = float(row["step_us"]), float(row["products_share"])
            for form, trainer in trainers:
                seconds = torch_seconds(trainer, case.batches[0], options.seconds / len(trainers))
                if seconds * 1e6 < theirs:
                    theirs, form_used = seconds * 1e6, form
        ratio = theirs / ours
        missed += ratio < target
        print(f"{name:8} {ours:8.0f}  {theirs:8.0f}  {ratio:5.2f}  {target:6.1f}  {share:8.0%}"
              f"  {difference:16.1e}  {form_used}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
