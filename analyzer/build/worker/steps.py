"""The steps that a parent can ask for."""

from __future__ import annotations

import inspect
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from analyzer_worker import inputs, launches, load, memory, tensors, variants

_Event = torch.cuda.Event
_synchronize = torch.cuda.synchronize
_sleep = torch.cuda._sleep
#: About a millisecond: longer than the host takes to launch what a sampler launches.
SLEEP_CYCLES = 2_000_000


class Session:
    """One revision in one process. `beat` tells the parent that a kernel's compilation starts or ended."""

    def __init__(self, job: dict[str, Any], beat: Callable[[str], None]) -> None:
        self.job, self.tree, self.out = job, str(job["tree"]), Path(job["out"])
        self._bridges: list[tuple[str, str]] | None = None
        self._called = False
        self._fake: launches.FakeCuda | None = None
        self._prepared: dict[str, Any] = {}
        if job["device"] == "cuda":
            torch.cuda.init()
        _report_compilation(beat)

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        if self._bridges is None:
            self._bridges = load.prepare(self.job)
        try:
            return getattr(self, "step_" + request["step"])(request)
        finally:
            memory.release()

    def step_load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Import the target; {"bridges"} names what had to be put in the environment's place."""
        load.target(request["probe"]["target"], self.tree)
        return {"bridges": self._bridges}

    def step_call(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call once: raw output, every tensor input as it is afterwards, the inputs that the output aliases.

        `keep`: the rows of the output to hand back, with no inputs. `poison`: memory that the call is given holds NaN.
        """
        self._called = True
        prepared = self._prepare(request)
        given = self._inputs(request)
        if request.get("poison"):
            tensors.poison(given)
        output = prepared.call(given)
        prefix = f"{request['id']}."
        if "keep" in request:
            return {"output": tensors.write(output[request["keep"]], self.out / f"{prefix}output")}
        sampled = prepared.sample(output, given) if request.get("sample") and prepared.sample else None
        written = {
            name: tensors.write(value, self.out / f"{prefix}after.{name}")
            for name, value in given.items()
            if isinstance(value, torch.Tensor)
        }
        return {
            "output": tensors.write(output, self.out / f"{prefix}output"),
            "after": written,
            "aliases": [
                name
                for name, value in given.items()
                if isinstance(value, torch.Tensor)
                and value.untyped_storage().data_ptr() == output.untyped_storage().data_ptr()
            ],
            "sampled": tensors.write(sampled, self.out / f"{prefix}sampled") if sampled is not None else None,
        }

    def step_twice(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call, then call on other inputs: whether the first call's output is another after it."""
        self._called = True
        prepared = self._prepare(request)
        given = self._inputs(request)
        output = prepared.call(given)
        before = tensors.hashed(output)
        prepared.call(self._inputs({**request, "seed": request["seed"] + variants.STRIDE}))
        return {"overwritten": bool(tensors.hashed(output) != before)}

    def step_repeat(self, request: dict[str, Any]) -> dict[str, Any]:
        """Call `repeats` times on the same inputs: how many times each output came, by a hash of its bytes."""
        self._called = True
        prepared = self._prepare(request)
        pristine = self._inputs(request)
        work = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in pristine.items()}
        hashes = []
        for _ in range(request["repeats"]):
            for name, value in pristine.items():
                if isinstance(value, torch.Tensor):
                    work[name].copy_(value)
            output = prepared.call(work)
            if prepared.sample:
                output = prepared.sample(output, work)
            hashes.append(tensors.hashed(output))
        counts: dict[str, int] = {}
        for one in torch.stack(hashes).tolist():
            counts[str(one)] = counts.get(str(one), 0) + 1
        return {"counts": counts}

    def step_draw(self, request: dict[str, Any]) -> dict[str, Any]:
        """Tokens of `draws` calls, int64 [draws, rows], noise inputs made anew for each (`first` is the first's)."""
        self._called = True
        prepared = self._prepare(request)
        pristine = self._inputs(request)
        drawn = []
        for number in range(request["first"], request["first"] + request["draws"]):
            given = {name: v.clone() if isinstance(v, torch.Tensor) else v for name, v in pristine.items()}
            given |= variants.noise(request, self.job["device"], number)
            output = prepared.call(given)
            tokens = prepared.sample(output, given) if prepared.sample else output
            drawn.append(tokens.reshape(len(tokens), -1)[:, 0].long().clone())
        return {"tokens": tensors.write(torch.stack(drawn), self.out / f"{request['id']}.tokens")}

    def step_memory(self, request: dict[str, Any]) -> dict[str, Any]:
        """Peak above the inputs of the first call, of the second, and where the peak's largest block was allocated."""
        prepared = self._prepare(request)

        def call() -> Any:
            return prepared.call(given)

        figures: dict[str, Any] = {}
        for which in ("cold", "steady"):
            given = self._inputs(request)
            figures[which] = memory.measure(call)
        if self._called:  # buffers that modules keep may be there already
            figures["cold"] = None
        self._called = True
        given = self._inputs(request)
        figures["source"] = memory.peak_source(call, self.tree)
        return figures

    def step_time(self, request: dict[str, Any]) -> dict[str, Any]:
        """Milliseconds of `repeats` calls on fresh copies of the inputs (the copies are not timed)."""
        prepared, pristine = self._prepare(request), self._inputs(request)
        work = {name: value.clone() if isinstance(value, torch.Tensor) else value for name, value in pristine.items()}
        samples = []
        for _ in range(request["repeats"]):
            for name, value in pristine.items():
                if isinstance(value, torch.Tensor):
                    work[name].copy_(value)
            samples.append(_milliseconds(lambda: prepared.call(work), self.job["device"]))
        return {"milliseconds": samples, "median": statistics.median(samples)}

    def step_launches(self, request: dict[str, Any]) -> dict[str, Any]:
        """The launches that a call makes, and its predicted peak, on fake tensors: nothing is launched."""
        # One for the process: modules keep tensors from call to call, and fakes of two modes do not mix.
        fake = self._fake = self._fake or launches.FakeCuda()
        prepared = self._prepare(request, fake)
        peaks: dict[str, Any] = {}
        for which in ("cold", "steady"):
            capture: list[dict[str, Any]] = []
            with fake:
                given = inputs.make_all(
                    request["probe"], request["numbers"], request["dtype"], "cuda", request["seed"], random=False
                )
                held = tuple(value for value in given.values() if isinstance(value, torch.Tensor))
                with launches.intercepted(capture), memory.Prediction(self.tree, held) as prediction:
                    prepared.call(given)
                found = [launches.portable(launch) for launch in capture]
            peaks[which] = {"bytes": prediction.peak, "source": prediction.source}
        if self._called:
            peaks["cold"] = None
        self._called = True
        return {"launches": found, "peak": peaks}

    def step_compile(self, request: dict[str, Any]) -> dict[str, Any]:
        """Compile the kernel of one portable launch, whichever revision made it."""
        load.target(request["probe"]["target"], self.tree)
        launch = request["launch"]
        function = self._kernel(launch["kernel"])
        started = time.perf_counter()
        built = launches.compile_launch(function, launch, request["architecture"], self.out, str(request["id"]))
        return {**built, "seconds": time.perf_counter() - started}

    def _kernel(self, name: str) -> Any:
        for module in list(sys.modules.values()):
            if (getattr(module, "__file__", None) or "").startswith(self.tree):
                found = vars(module).get(name)
                while found is not None and not hasattr(found, "device_caches"):
                    found = getattr(found, "fn", None)  # through autotuners and heuristics
                if found is not None:
                    return found
        raise TypeError(f"{name} is no kernel of this revision")

    def _inputs(self, request: dict[str, Any]) -> dict[str, torch.Tensor | None]:
        return variants.make(request, self.job["device"])

    def _prepare(self, request: dict[str, Any], fake: launches.FakeCuda | None = None) -> SimpleNamespace:
        """What to call: `call(inputs) -> output`, and `sample(output, inputs) -> ids` where the probe has a sampler."""
        probe = request["probe"]
        key = repr((probe["name"], request["numbers"], request["dtype"]))
        if fake is not None or key not in self._prepared:
            self._prepared.clear()  # the state of one case at a time
            target = load.target(probe["target"], self.tree)
            sample = None
            if probe["python"]:
                case = SimpleNamespace(
                    **request["numbers"],
                    **probe["parameters"],
                    numbers=request["numbers"],
                    dtype=inputs.DTYPES[request["dtype"]],
                    device=torch.device("cuda" if fake else self.job["device"]),
                    seed=request["seed"],
                    fake=fake,
                )
                target, sample = getattr(load.profile(), probe["python"])(target, case)
            numbers = request["numbers"]
            arguments = {
                name: numbers.get(value, value) if isinstance(value, str) else value
                for name, value in probe["arguments"].items()
            }
            names = None if probe["python"] else _names(target, probe)

            def call(given: dict[str, Any]) -> Any:
                everything = {**given, **arguments}
                if names is not None:
                    everything = {names[name]: value for name, value in everything.items() if name in names}
                return _result(target(**everything), given, probe["result"])

            self._prepared[key] = SimpleNamespace(call=call, sample=sample)
        return self._prepared[key]


def _names(target: Any, probe: dict[str, Any]) -> dict[str, str]:
    """What the target calls each input and argument: revisions name them differently, and some lack the optional ones.

    What the signature has under no name is passed under its own, so that the call says what is wrong.
    """
    try:
        parameters = inspect.signature(target).parameters
    except (TypeError, ValueError):
        parameters = {}
    optional, found = set(probe.get("optional", ())), {}
    inputs_of = {spec["name"]: spec.get("also", ()) for spec in probe["inputs"]}
    for name in (*inputs_of, *probe["arguments"]):
        known = next((one for one in (name, *inputs_of.get(name, ())) if one in parameters), None)
        if known or name not in optional:
            found[name] = known or name
    return found


def _result(returned: Any, given: dict[str, Any], result: str) -> Any:
    """What the probe calls the result: all that is returned (its first part), a part of it, or an input."""
    where, _, part = result.partition(".")
    if where != "return":
        return given[result]
    if part:
        return returned[int(part)] if part.isdigit() else getattr(returned, part)
    return returned[0] if isinstance(returned, tuple) else returned


def _milliseconds(call: Callable[[], Any], device: str) -> float:
    if device != "cuda":
        started = time.perf_counter()
        call()
        return (time.perf_counter() - started) * 1000
    begin, end = _Event(enable_timing=True), _Event(enable_timing=True)
    _sleep(SLEEP_CYCLES)  # the host gets ahead, so that its own time is not in the figure
    begin.record()
    call()
    end.record()
    _synchronize()
    return begin.elapsed_time(end)


def _report_compilation(beat: Callable[[str], None]) -> None:
    """Have Triton say when it compiles. Versions without these hooks are compiled within the call's own limit."""
    try:
        import triton
    except ImportError:
        return
    runtime = getattr(getattr(triton, "knobs", None), "runtime", None)
    if hasattr(runtime, "jit_cache_hook"):
        runtime.jit_cache_hook = lambda **_: beat("compiling")
        runtime.jit_post_compile_hook = lambda **_: beat("compiled")
