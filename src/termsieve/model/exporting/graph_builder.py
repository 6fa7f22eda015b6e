"""The nodes and constants of a graph of ONNX, as they are added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from termsieve._version import __version__

_OPSET, _OPSET_ML, _IR_VERSION = 20, 3, 9  # of onnxruntime 1.17
_MICROSOFT = "com.microsoft"  # where onnxruntime's Tokenizer is
NOTHING = ""  # in the place of a token: padding, and words that no term has


class GraphBuilder:
    """A graph to which nodes and constants are added."""

    def __init__(self, onnx: Any) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self._n = 0

    def name(self, hint: str) -> str:
        """Return a name that no other output or constant has."""
        self._n += 1
        return f"{hint}_{self._n}"

    def add(self, kind: str, *inputs: str, n: int = 1, domain: str = "", **attributes: Any) -> Any:
        """Add a node; return the name of its output, or of its n outputs."""
        outputs = [self.name(kind.lower()) for _ in range(n)]
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, outputs, domain=domain, **attributes))
        return outputs[0] if n == 1 else outputs

    def constant(self, values: Any) -> str:
        """Add an array, or strings."""
        name = self.name("constant")
        array = np.array(values, dtype=object) if _is_text(values) else np.asarray(values)
        if array.dtype == object:
            flat = [one.encode() for one in array.ravel()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, flat)
        else:
            tensor = self.onnx.numpy_helper.from_array(array, name)
        self.constants.append(tensor)
        return name

    def column(self, vector: str) -> str:
        """Return a vector as a column."""
        return str(self.add("Unsqueeze", vector, self.constant(np.array([1]))))

    def tokenize(self, texts: str, **attributes: Any) -> str:
        """Cut texts into tokens, in rows that are filled up with nothing."""
        options = {"mark": 0, "mincharnum": 1, "pad_value": NOTHING, **attributes}
        return str(self.add("Tokenizer", texts, domain=_MICROSOFT, **options))

    def finish(self, outputs: Sequence[tuple[str, str]], data: dict[str, Any]) -> bytes:
        """Return the bytes of the model. An output is its name, and the name of the node output that it is."""
        helper, types = self.onnx.helper, self.onnx.TensorProto
        kinds = {"label": types.STRING, "labels": types.BOOL, "known": types.BOOL, "exact": types.BOOL}
        for name, inner in outputs:
            self.nodes.append(helper.make_node("Identity", [inner], [name]))
        graph = helper.make_graph(
            self.nodes, "termsieve", [helper.make_tensor_value_info("text", types.STRING, ["texts"])],
            [helper.make_tensor_value_info(name, kinds.get(name, types.DOUBLE), None) for name, _ in outputs],
            self.constants,
        )  # fmt: skip
        versions = [("", _OPSET), ("ai.onnx.ml", _OPSET_ML), (_MICROSOFT, 1)]
        model = helper.make_model(
            graph, producer_name="termsieve", producer_version=__version__, ir_version=_IR_VERSION,
            opset_imports=[helper.make_opsetid(*one) for one in versions],
        )  # fmt: skip
        helper.set_model_props(model, {"classes": json.dumps(data["classes"], ensure_ascii=True)})
        return bytes(model.SerializeToString())


def _is_text(values: Any) -> bool:
    return isinstance(values, str) or (isinstance(values, list) and isinstance(values[0], str))
