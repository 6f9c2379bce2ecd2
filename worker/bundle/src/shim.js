// The module that workerd starts: hands its events to the wasm handlers, and starts the wasm
// anew after a panic. A panic leaves the instance unusable, but not the isolate, and without a
// restart every later request of this isolate would fail.
import { WorkerEntrypoint } from "cloudflare:workers";
import * as wasm from "./index.js";

const health = wasm.__worker_init_state();

function noticeTrap(error) {
  if (error instanceof WebAssembly.RuntimeError) health.criticalError = true;
}

// A trap outside a request's own call stack (in a spawned future) surfaces only here.
addEventListener("error", (event) => noticeTrap(event.error));

function restartIfBroken() {
  if (!health.criticalError) return;
  console.warn("restarting the wasm instance after a panic");
  health.criticalError = false;
  wasm.__wbg_reset_state();
}

function guarded(handler) {
  return async function (event) {
    restartIfBroken();
    try {
      return await handler(event, this.env, this.ctx);
    } catch (error) {
      noticeTrap(error);
      throw error;
    }
  };
}

class Entrypoint extends WorkerEntrypoint {}
for (const event of ["fetch", "scheduled"]) {
  // A Worker without a schedule exports no handler for it.
  const handler = wasm[event];
  if (handler) Entrypoint.prototype[event] = guarded(handler);
}

export default Entrypoint;
