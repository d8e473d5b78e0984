# Two commands on a fresh machine do everything: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: demo test lint cases bench-facts fault-report calibration clean

demo: $(VENV)/.installed
	$(BIN)/analyze demo

test: $(VENV)/.installed lint
	$(BIN)/pytest -n auto

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# make cases VLLM=PATH [CASES=DIR] [DEVICE=auto|cpu|cuda|none]
cases: $(VENV)/.installed
	$(BIN)/python tests/cases/run.py --repo "$(VLLM)" $(if $(CASES),--conversations "$(CASES)") --device $(or $(DEVICE),auto)

# make bench-facts REPO=PATH [COMMITS=N] [WHOLE=1]: seconds and ratios, beside PyDriller
bench-facts: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python tests/benchmarks/facts.py --repo "$(REPO)" $(if $(COMMITS),--commits $(COMMITS)) $(if $(WHOLE),--whole)

# make fault-report [DEVICE=cpu|cuda] [MUTANTS=1] [SEEDS=20] [JOBS=2] [OUT=FILE]: which check finds which fault
fault-report: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python -m faults.report $(if $(MUTANTS),--mutants) --device $(or $(DEVICE),cpu) --seeds $(or $(SEEDS),20) --jobs $(or $(JOBS),2) $(if $(OUT),--out "$(OUT)")

# make calibration: how often the sampling check is wrong on right samplers
calibration: $(VENV)/.installed
	PYTHONPATH=tests $(BIN)/python -m faults.calibration

$(VENV)/.installed: pyproject.toml setup.py constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[checks,test]'
	touch $@

clean:
	rm -rf $(VENV) build *.egg-info
