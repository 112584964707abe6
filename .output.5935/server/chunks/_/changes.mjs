import { Q as BoundedQueue } from '../nitro/nitro.mjs';

const MAX_BEHIND = 1024;
const RESYNC = { kind: "all", id: "*", service_id: null, action: "resync" };
const listeners = /* @__PURE__ */ new Set();
let held = null;
function tell(change) {
  if (held) held.push(change);
  else for (const listener of listeners) listener(change);
}
function tellingAtEnd(work) {
  held = [];
  let told = [];
  try {
    const result = work();
    told = held;
    return result;
  } finally {
    held = null;
    const distinct = new Map(told.map((change) => [JSON.stringify(change), change]));
    for (const change of distinct.values()) tell(change);
  }
}
function tellService(id, action = "updated") {
  tell({ kind: "service", id, service_id: id, action });
}
function tellDeploy(id, serviceId, action = "updated") {
  tell({ kind: "deploy", id, service_id: serviceId, action });
}
function tellDatastore(id, action = "updated") {
  tell({ kind: "datastore", id, service_id: null, action });
}
function tellEverything() {
  tell(RESYNC);
}
function onChange(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
function followChanges(signal) {
  const queue = new BoundedQueue(MAX_BEHIND, signal);
  signal.addEventListener(
    "abort",
    onChange((change) => queue.push(change)),
    { once: true }
  );
  return withResync(queue);
}
async function* withResync(queue) {
  for await (const change of queue) {
    if (queue.takeDropped() > 0) {
      queue.clear();
      yield RESYNC;
    } else yield change;
  }
}

export { tellingAtEnd as a, tellDatastore as b, tellService as c, tellDeploy as d, tellEverything as e, followChanges as f, onChange as o, tell as t };
