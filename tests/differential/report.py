"""What a person reads when model and store disagree, and the file that replays it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tenure_model.conform.journal_view import tables_of
from tenure_model.conform.systems import state_to_wire
from tenure_model.conform.traces import CONTROLS
from tenure_model.conform.wire import result_to_wire
from tests.differential.actions import Action
from tests.differential.journal_pair import JournalPair
from tests.differential.pair import AnyPair, Divergence, MakePair, close_pair


def _brief(value: Any) -> str:
    if isinstance(value, Mapping) and value.keys() == {"hostId", "pid", "nonce"}:
        return f"{value['hostId']}:{value['pid']}:{value['nonce']}"
    if isinstance(value, Mapping) and "_tag" in value:
        rest = ", ".join(f"{key}={_brief(member)}" for key, member in value.items() if key != "_tag")
        return f"{value['_tag']}({rest})" if rest else str(value["_tag"])
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}={_brief(member)}" for key, member in value.items()) + "}"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def _line(index: int, step: Mapping[str, Any]) -> str:
    call = ", ".join(f"{name}={_brief(value)}" for name, value in step["args"].items())
    answer = _brief(step["error"]) if "error" in step else _brief(step.get("ok"))
    return f"{index:>4}  {step['session']} at {step['clock']}  {step['op']}({call})\n        -> {answer}"


def trace_document(divergence: Divergence, make_pair: MakePair, about: Mapping[str, Any]) -> dict[str, Any]:
    """The history as a trace whose answers and end state are the model's."""
    pair = make_pair()
    session = divergence.actions[-1].session
    try:
        steps = [_step(pair, action) for action in divergence.actions]
        if isinstance(pair, JournalPair):
            end = {"stepped": True, "tables": tables_of(pair.model.journal(session))}
        else:
            end = state_to_wire(pair.model.state(session))
    finally:
        close_pair(pair)
    return {"kind": "journal" if isinstance(pair, JournalPair) else "runs", **about, "steps": steps, **end}


def _step(pair: AnyPair, action: Action) -> dict[str, Any]:
    """The action as a step of a trace, with the model's answer."""
    if isinstance(pair, JournalPair):
        action, result = pair.take_in_model(action)
        answer = {"ok": result} if action.operation in CONTROLS else result_to_wire(result, action.operation)
        return action.to_wire() | answer
    return action.to_wire() | _model_answer(pair, action)


def _model_answer(pair: AnyPair, action: Action) -> dict[str, Any]:
    if action.operation in CONTROLS:
        return {"ok": pair.model.control(action.session, action.operation, action.clock_ms)}
    result = pair.model.call(action.session, action.operation, action.arguments, action.clock_ms)
    return result_to_wire(result, action.operation)


def describe(divergence: Divergence, document: Mapping[str, Any]) -> str:
    """The history step by step with the model's answers, and what differs at its end."""
    lines = [_line(index, step) for index, step in enumerate(document["steps"])]
    lines += ["", f"Differs in {divergence.where}:", f"  model: {divergence.model}", f"  store: {divergence.store}"]
    return "\n".join(lines)


def write_failure(document: Mapping[str, Any], folder: Path, name: str) -> Path:
    """Write the trace where ``tenure replay`` can find it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path
