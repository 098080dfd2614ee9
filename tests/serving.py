"""What converters make of a booster: predictions by onnxruntime and by treelite. Skips where they are not installed."""

import numpy as np
import pytest

__all__ = ["by_onnx", "by_treelite", "framework_of"]


def framework_of(booster):
    return type(booster).__module__.partition(".")[0]


def by_onnx(booster, X):
    """Return the predictions of the model in ONNX, which reads X in single precision."""
    onnxmltools = pytest.importorskip("onnxmltools")
    onnxruntime = pytest.importorskip("onnxruntime")
    from onnxmltools.convert.common.data_types import FloatTensorType

    convert = getattr(onnxmltools, f"convert_{framework_of(booster)}")
    model = convert(booster, initial_types=[("X", FloatTensorType([None, X.shape[1]]))])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"X": X.astype(np.float32)})
    return scores.ravel()


def by_treelite(booster, X):
    """Return the predictions of the model in treelite, which reads X as the framework does."""
    treelite = pytest.importorskip("treelite")
    framework = framework_of(booster)
    model = getattr(treelite.frontend, f"from_{framework}")(booster)
    X = np.asarray(X, np.float32 if framework == "xgboost" else np.float64)
    return treelite.gtil.predict(model, np.ascontiguousarray(X), nthread=1).ravel()
