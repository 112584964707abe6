import { EventEmitter, once } from 'node:events';
import { g as getDatastore } from './store7.mjs';
import { v as viewDatastore } from './view4.mjs';
import { A as AppError } from '../nitro/nitro.mjs';
import { g as getService } from './store5.mjs';
import { c as viewService } from './view.mjs';

const APPLY_MS = 1e4;
const REMOVE_MS = 6e4;
const passes = new EventEmitter().setMaxListeners(0);
function passEnded(id) {
  passes.emit(id);
}
async function applied(service) {
  await settled(service, () => getService(service.id));
  return viewService(getService(service.id) ?? service);
}
async function appliedDatastore(datastore) {
  if (datastore.status === "creating" || datastore.status === "failed") return providedDatastore(datastore);
  await settled(datastore, () => getDatastore(datastore.id));
  return viewDatastore(getDatastore(datastore.id) ?? datastore);
}
async function providedDatastore(datastore) {
  await passOver(datastore, () => getDatastore(datastore.id));
  return viewDatastore(getDatastore(datastore.id) ?? datastore);
}
async function removed(serviceId) {
  await gone("service", serviceId, () => getService(serviceId));
}
async function removedDatastore(id) {
  await gone("datastore", id, () => getDatastore(id));
}
async function settled(record, read) {
  const seen = await passOver(record, read);
  if (seen?.apply_error) throw new AppError("runtime_error", `saved; not applied yet: ${seen.apply_error}`);
}
async function passOver({ id, generation }, read) {
  const deadline = AbortSignal.timeout(APPLY_MS);
  for (; ; ) {
    const record = read();
    if (!record || record.observed_generation >= generation) return record;
    if (!await nextPass(id, deadline)) return void 0;
  }
}
async function gone(kind, id, read) {
  const deadline = AbortSignal.timeout(REMOVE_MS);
  for (let record = read(); record; record = read()) {
    const failed = record.observed_generation >= record.generation ? record.apply_error : null;
    if (failed === null && await nextPass(id, deadline)) continue;
    const why = failed ?? "its containers are still stopping";
    throw new AppError("runtime_error", `${kind} ${record.name} is being deleted, which goes on: ${why}`);
  }
}
async function nextPass(id, deadline) {
  try {
    await once(passes, id, { signal: deadline });
    return true;
  } catch {
    return false;
  }
}

export { appliedDatastore as a, providedDatastore as b, removed as c, applied as d, passEnded as p, removedDatastore as r };
