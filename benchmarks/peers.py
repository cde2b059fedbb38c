"""CPU seconds and answers of other libraries, each in an environment of its own."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.harness import environment, left_out, peer, run

PYCANON = """
import json, sys, time
import pandas as pd
from pycanon import anonymity

frame, known, secret = pd.read_csv(sys.argv[1], dtype=str), json.loads(sys.argv[2]), sys.argv[3]
tasks = {
    "k": lambda: anonymity.k_anonymity(frame, known),
    "l": lambda: anonymity.l_diversity(frame, known, [secret]),
    "entropy l": lambda: anonymity.entropy_l_diversity(frame, known, [secret]),
    "t": lambda: anonymity.t_closeness(frame, known, [secret]),
}
found = {}
for name, task in tasks.items():
    start = time.process_time()
    answer = task()
    found[name] = [time.process_time() - start, float(answer)]
print(json.dumps(found))
"""

ANONYPY = """
import json, sys, time
import anonypy
import pandas as pd

frame, known, secret = pd.read_csv(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
for name in frame.columns:
    if not pd.api.types.is_numeric_dtype(frame[name]):
        frame[name] = frame[name].astype("category")
start = time.process_time()
rows = anonypy.Preserver(frame, known, secret).anonymize_k_anonymity(k=5)
spent = time.process_time() - start
classes = len({tuple(str(row[name]) for name in known) for row in rows})
print(json.dumps({"Mondrian": [spent, classes]}))
"""

PURE_LDP = """
import json, sys, time
import numpy as np
import pandas as pd
from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

codes, k, eps = pd.read_csv(sys.argv[1])["code"].tolist(), int(sys.argv[2]), float(sys.argv[3])
hadamard = HadamardResponseServer(eps, k)
pairs = {
    "randomized response": (DEClient(eps, k), DEServer(eps, k)),
    "symmetric unary": (UEClient(eps, k), UEServer(eps, k)),
    "optimized unary": (UEClient(eps, k, use_oue=True), UEServer(eps, k, use_oue=True)),
    "local hashing": (LHClient(eps, k, use_olh=True), LHServer(eps, k, use_olh=True)),
    "Hadamard response": (HadamardResponseClient(eps, k, hadamard.get_hash_funcs()), hadamard),
}
found = {}
for name, (client, server) in pairs.items():
    start = time.process_time()
    server.aggregate_all([client.privatise(code + 1) for code in codes])
    shares = np.asarray(server.estimate_all(range(1, k + 1), suppress_warnings=True)) / len(codes)
    found[name] = [time.process_time() - start, shares.tolist()]
print(json.dumps(found))
"""

MULTI_FREQ = """
import json, sys, time
import numpy as np
import pandas as pd
from multi_freq_ldpy.pure_frequency_oracles import GRR, LH, SS, UE

codes, k, eps = pd.read_csv(sys.argv[1])["code"].to_numpy(), int(sys.argv[2]), float(sys.argv[3])
tasks = {
    "randomized response": (lambda c: GRR.GRR_Client(c, k, eps), lambda r: GRR.GRR_Aggregator_MI(r, k, eps)),
    "symmetric unary": (
        lambda c: UE.UE_Client(c, k, eps, False), lambda r: UE.UE_Aggregator_MI(r, eps, False)
    ),
    "optimized unary": (lambda c: UE.UE_Client(c, k, eps, True), lambda r: UE.UE_Aggregator_MI(r, eps, True)),
    "local hashing": (lambda c: LH.LH_Client(c, k, eps), lambda r: LH.LH_Aggregator_MI(r, k, eps)),
    "subset selection": (lambda c: SS.SS_Client(c, k, eps), lambda r: SS.SS_Aggregator_MI(r, k, eps)),
}
found = {}
for name, (client, server) in tasks.items():
    client(codes[0])  # compiled at the first call
    start = time.process_time()
    shares = server([client(code) for code in codes])
    found[name] = [time.process_time() - start, np.asarray(shares).tolist()]
print(json.dumps(found))
"""


ANONYMETER = """
import json, sys, time, warnings
import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

warnings.simplefilter("ignore")
rows, secret, attempts = pd.read_csv(sys.argv[1]), sys.argv[2], int(sys.argv[3])
original, release, control = (
    rows[rows["_of"] == of].drop(columns="_of").reset_index(drop=True)
    for of in ("original", "release", "control")
)
names = list(original.columns)
tables = {"ori": original, "syn": release, "control": control, "n_attacks": attempts}
evaluators = {
    "singling out by one column": (SinglingOutEvaluator(**tables), {"mode": "univariate"}),
    "linkability": (LinkabilityEvaluator(**tables, aux_cols=(names[::2], names[1::2]), n_neighbors=5), {}),
    "inference": (
        InferenceEvaluator(
            **tables, aux_cols=[each for each in names if each != secret], secret=secret, regression=False
        ),
        {},
    ),
}
found = {}
for name, (evaluator, how) in evaluators.items():
    start = time.process_time()
    evaluator.evaluate(**how)
    result = evaluator.results(confidence_level=0.95)
    rates = [result.attack_rate.value, result.control_rate.value, result.baseline_rate.value]
    found[name] = [time.process_time() - start, rates]
print(json.dumps(found))
"""

DPSYNTH_START = """
import functools, itertools, json, os, resource, sys, time, warnings
folder, data, domain, name, rho, seconds, out = sys.argv[1:]
resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
warnings.simplefilter("ignore")
sys.path.insert(0, folder)
import jax, mbi
import numpy as np, pandas as pd
from dpsynth.discrete_mechanisms import AIMConfig, DiscreteConfig, MSTConfig, SWIFTConfig

jax.config.update("jax_enable_compilation_cache", False)
jax.config.update("jax_disable_most_optimizations", True)  # most of the time is compiling
mbi.callbacks.default = lambda *_: lambda _: None  # a log of losses, which takes long to compile
descent = mbi.estimation.MirrorDescent
descent.estimate = functools.partialmethod(descent.estimate, tol=1e-6)
"""
DPSYNTH = (
    DPSYNTH_START
    + """
sizes = json.load(open(domain))
frame, pairs = pd.read_csv(data), list(itertools.combinations(sizes, 2))
domain = mbi.Domain(list(sizes), list(sizes.values()))
table = mbi.Dataset({each: frame[each].to_numpy() for each in sizes}, domain)
start = time.process_time()
kind = {
    "MST": MSTConfig,
    "AIM": lambda: AIMConfig(workload=pairs),
    "SWIFT": lambda: SWIFTConfig(workload=pairs, max_clique_size=1e5),
}[name]()
mechanism = DiscreteConfig(mechanism=kind, compress_columns=True).configure(zcdp_rho=float(rho))
drawn = mechanism(np.random.default_rng(), table).synthetic_data.to_dict()
drawn = pd.DataFrame({each: np.asarray(drawn[each]) for each in sizes})
print(time.process_time() - start)
drawn.to_csv(out, index=False)
"""
)
DPSYNTH_LINKED = (
    DPSYNTH_START
    + """
from dpsynth import domain as columns
from dpsynth.relational import domain as keys, synthesizer

tables, key, most = json.load(open(domain))

def attribute(high, is_number):
    if is_number:
        return columns.NumericalAttribute(min_value=0.0, max_value=float(high), clip_to_range=True, dtype="int")
    return columns.CategoricalAttribute(possible_values=list(range(high + 1)))

frames = {each: pd.read_csv(os.path.join(data, each + ".csv")) for each in tables}
parent, child = tables
start = time.process_time()
mechanism = synthesizer.MultiTableConfig(
    domains={each: {column: attribute(*how) for column, how in tables[each].items()} for each in tables},
    foreign_keys=[keys.ForeignKeyRelation(parent, key, child, key, most)],
    discrete_mechanism={"MST": MSTConfig, "AIM": AIMConfig}[name](pgm_iters=100),
    num_permutation_slots=3,
    exploration_strategy="size_sliced",
).configure(zcdp_rho=float(rho))
drawn = mechanism(rng=np.random.default_rng(), data=frames).synthetic_tables
spent = time.process_time() - start
for each in tables:
    drawn[each].to_csv(os.path.join(out, each + ".csv"), index=False)
print(spent)
"""
)
SYNTHESIZERS = ("MST", "AIM", "SWIFT")


@dataclass(frozen=True, kw_only=True)
class Dpsynth:
    """Google's dpsynth, by the author of mbi (Private-PGM), on which it stands.

    Neighbors differ by one record that is there or not, and the budget is given as rho of zCDP, as ours is.
    Columns get a tenth, their rare values are merged, and all pairs are the workload. Otherwise its own
    defaults, but cliques of SWIFT have at most 100,000 cells, and steps end where the loss stays the same.

    Attributes:
        python: the interpreter of its environment.
        folder: a checkout of google/dpsynth.
        seconds: of CPU that a synthesis may take, with imports.
    """

    python: str
    folder: Path
    seconds: int

    def draw(
        self,
        name: str,
        frame: pd.DataFrame,
        sizes: dict[str, int],
        rho: float,
    ) -> tuple[pd.DataFrame, float] | None:
        """A table and the CPU seconds it took, imports and reading excluded; None where it does not end."""
        with tempfile.TemporaryDirectory() as folder:
            data, domain, out = (
                Path(folder) / each for each in ("data.csv", "domain.json", "out.csv")
            )
            frame.to_csv(data, index=False)
            domain.write_text(json.dumps(sizes))
            words = map(str, (self.folder, data, domain, name, rho, self.seconds, out))
            ended = run([self.python, "-c", DPSYNTH, *words])
            if ended.returncode > 0:
                left_out(name, ended.stderr)
            if ended.returncode:
                return None
            return pd.read_csv(out), float(ended.stdout.splitlines()[-1])

    def draw_linked(
        self,
        frames: dict[str, pd.DataFrame],
        columns: dict[str, dict[str, tuple[int, bool]]],
        key: str,
        most: int,
        rho: float,
    ) -> tuple[dict[str, pd.DataFrame], float] | None:
        """A table of parents and one of children, with MST and the settings of its example of a census.

        Args:
            frames: by name, parents first; values are whole numbers from 0.
            columns: by table and name, the highest value, and whether it is a number.
            key: the column that links both.
            most: children of a parent.
        """
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            for name, frame in frames.items():
                frame.to_csv(place / f"{name}.csv", index=False)
            (place / "domain.json").write_text(json.dumps([columns, key, most]))
            (place / "out").mkdir()
            words = (
                self.folder,
                place,
                place / "domain.json",
                "MST",
                rho,
                self.seconds,
            )
            code = [self.python, "-c", DPSYNTH_LINKED]
            ended = run([*code, *map(str, (*words, place / "out"))])
            if ended.returncode > 0:
                left_out("dpsynth.relational", ended.stderr)
            if ended.returncode:
                return None
            drawn = {
                name: pd.read_csv(place / "out" / f"{name}.csv") for name in frames
            }
            return drawn, float(ended.stdout.splitlines()[-1])


@contextmanager
def dpsynth(folder: Path, seconds: int) -> Iterator[Dpsynth | None]:
    """MST, AIM and SWIFT from a checkout, in an environment for a while; None if they cannot run."""
    if not (folder / "dpsynth" / "discrete_mechanisms").is_dir():
        left_out(
            "dpsynth",
            f"{folder} is no checkout of google/dpsynth, which no package index has",
        )
        yield None
        return
    fits = "import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 14))"
    found = filter(
        None, map(shutil.which, (sys.executable, "python3.12", "python3.13"))
    )
    interpreter = next(
        (each for each in found if run([each, "-c", fits]).returncode == 0), None
    )
    if interpreter is None:
        left_out("dpsynth", "it needs Python 3.12 or 3.13, and neither is on the path")
        yield None
        return
    needed = (
        "jax==0.11.0",
        "dp-accounting==0.6.0",
        "etils[epath]",
        "more-itertools",
        "networkx",
        "pydantic",
        "pyyaml",
        "tqdm",
    )
    with tempfile.TemporaryDirectory() as own:
        python = environment(
            own, ["mbi==2.0.0", *needed, "pandas", "scipy"], interpreter
        )
        yield python and Dpsynth(
            python=python, folder=folder.resolve(), seconds=seconds
        )


def pycanon(
    frame: pd.DataFrame, known: list[str], secret: str
) -> dict[str, tuple[float, float]] | None:
    """(CPU seconds, answer) of k, l, entropy l and t; None where it does not install."""
    return _run(["pycanon"], PYCANON, frame, known, secret)


def anonypy(
    frame: pd.DataFrame, known: list[str], secret: str
) -> dict[str, tuple[float, float]] | None:
    """(CPU seconds, classes) of Mondrian at k = 5; None where it does not install."""
    return _run(["anonypy", "pandas"], ANONYPY, frame, known, secret)


def pure_ldp(
    codes: pd.DataFrame, k: int, epsilon: float
) -> dict[str, tuple[float, list[float]]] | None:
    """(CPU seconds, shares) of each protocol; None where it does not install."""
    return _run(
        ["pure-ldp", "pandas", "scikit-learn", "statsmodels", "xxhash<4"],
        PURE_LDP,
        codes,
        k,
        epsilon,
    )


def multi_freq(
    codes: pd.DataFrame, k: int, epsilon: float
) -> dict[str, tuple[float, list[float]]] | None:
    """(CPU seconds, shares) of each protocol; None where it does not install."""
    return _run(
        ["multi-freq-ldpy", "pandas", "scipy", "xxhash<4"],
        MULTI_FREQ,
        codes,
        k,
        epsilon,
    )


def anonymeter(
    frame: pd.DataFrame,
    secret: str,
    attempts: int,
) -> dict[str, tuple[float, list[float]]] | None:
    """(CPU seconds, rates on the original, on the control, of the baseline) of each attack.

    Args:
        frame: three tables below each other, named by the column "_of". None where it
            does not install.
    """
    return _run(["anonymeter==1.1.0"], ANONYMETER, frame, secret, attempts)


def _run(
    packages: list[str], script: str, frame: pd.DataFrame, *given: Any
) -> dict[str, Any] | None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "table.csv"
        frame.to_csv(table, index=False)
        words = [each if isinstance(each, str) else json.dumps(each) for each in given]
        printed = peer(packages, script, str(table), *words)
    found: dict[str, Any] | None = printed and json.loads(printed)
    return found
