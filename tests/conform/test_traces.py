"""Reading trace files: what they hold, and what is wrong with those that hold none."""

import gzip
import json

import pytest

from tenure_model.conform.traces import TraceError, read_traces

STEP = {"clock": 1, "op": "run.get", "args": {"runId": "r"}, "ok": None}


@pytest.mark.parametrize("name", ["t.json", "t.jsonl", "t.jsonl.gz", "t.json.gz"])
def test_reads_every_form(tmp_path, name):
    """Plain and gzipped, one document or one a line."""
    text = json.dumps({"kind": "runs", "steps": [STEP], "rows": {}, "seed": 7})
    data = text.encode()
    path = tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)

    (trace,) = read_traces(path)

    assert trace.kind == "runs"
    assert trace.about == {"kind": "runs", "seed": 7}
    assert trace.final == {"rows": {}}
    assert trace.steps[0].result == {"ok": None}
    assert trace.sessions == ("s0",)


def test_lines_split_at_newlines_only(tmp_path):
    """A JSON string may hold other line separators as they are."""
    document = {"kind": "runs", "steps": [STEP | {"args": {"runId": "a\u2028b\x85c"}}]}
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")

    (trace,) = read_traces(path)

    assert trace.steps[0].arguments == {"runId": "a\u2028b\x85c"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "holds no trace"),
        (b"{", "line 1 is not JSON"),
        (b"[" * 100_000, "line 1 is not JSON"),
        (b"\xff", "cannot be read"),
        (b"[]", "a trace must be an object"),
        (b'{"kind": 1, "steps": []}', "kind must be a string"),
        (b'{"kind": "runs"}', "steps must be an array"),
        (b'{"kind": "runs", "steps": [1]}', "step 0: step must be an object"),
        (b'{"kind": "runs", "steps": [{"op": "run.get"}]}', "step 0: clock must be a finite number of milliseconds"),
        (
            b'{"kind": "runs", "steps": [{"clock": true, "op": "run.get"}]}',
            "step 0: clock must be a finite number of milliseconds",
        ),
        (b'{"kind": "runs", "steps": [{"clock": NaN, "op": "x"}]}', "clock must be a finite number of milliseconds"),
        (b'{"kind": "runs", "steps": [{"clock": 1e400, "op": "x"}]}', "clock must be a finite number"),
        (b'{"kind": "runs", "steps": [{"clock": 1' + b"0" * 400 + b', "op": "x"}]}', "clock must be a finite number"),
        (b'{"kind": "runs", "steps": [], "leases": {}}', "leases must be an array of objects with run_id"),
        (b'{"kind": "runs", "steps": [], "leases": [{}]}', "leases must be an array of objects with run_id"),
        (b'{"kind": "runs", "steps": [], "changes": [["a"]]}', "changes must be an array of objects with run_id"),
        (b'{"kind": "runs", "steps": [], "changes": null}', "changes must be an array of objects with run_id"),
        (b'{"kind": "runs", "steps": [], "facts": "x"}', "facts must be an object"),
        (b'{"kind": "runs", "steps": [], "facts": {"r": 1}}', "facts must hold arrays"),
        (b'{"kind": "runs", "steps": [], "rows": []}', "rows must be an object"),
        (b'{"kind": "runs", "steps": [{"clock": 1}]}', "step 0: op must be a string"),
        (b'{"kind": "runs", "steps": [{"clock": 1, "op": "x", "args": []}]}', "step 0: args must be an object"),
        (b'{"kind": "runs", "steps": [{"clock": 1, "op": "x", "ok": 1, "error": {}}]}', "exclude each other"),
    ],
)
def test_says_what_is_wrong(tmp_path, content, complaint):
    """The file, the line or step, and the field, but never a value."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(content)

    with pytest.raises(TraceError, match=complaint):
        read_traces(path)


def test_missing_and_truncated_files(tmp_path):
    """A file that is not there, and one that ends in the middle of its gzip stream."""
    truncated = tmp_path / "t.jsonl.gz"
    truncated.write_bytes(gzip.compress(b'{"kind": "runs", "steps": []}')[:-9])

    with pytest.raises(TraceError, match="cannot be read"):
        read_traces(truncated)
    with pytest.raises(TraceError, match="cannot be read: No such file"):
        read_traces(tmp_path / "missing.jsonl")
