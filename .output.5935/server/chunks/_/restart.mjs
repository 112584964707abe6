import { a as queueRestart } from './operations4.mjs';
import { H as sha256 } from '../nitro/nitro.mjs';
import { R as Reading } from './operations2.mjs';
import { R as ReferenceFault } from './references.mjs';
import { l as listServices } from './store5.mjs';

function restartChanged(restart, environmentIds, change) {
  if (!restart) return change();
  const changed = watchEnvironments(environmentIds);
  const result = change();
  restartAll(changed());
  return result;
}
function watchEnvironments(environmentIds) {
  const before = digests(runningIn(environmentIds));
  return () => {
    const services = runningIn(environmentIds);
    const after = digests(services);
    return services.filter(({ id }) => before.get(id) !== after.get(id));
  };
}
function runningIn(environmentIds) {
  return environmentIds.flatMap((id) => listServices(id)).filter(({ live_deploy_id, suspended, deleting }) => live_deploy_id !== null && !suspended && !deleting);
}
function digests(services) {
  const reading = new Reading();
  return new Map(services.map((service) => [service.id, digest(reading, service)]));
}
function digest(reading, service) {
  try {
    const values = [...reading.resolve(service)];
    return sha256(JSON.stringify(values.sort(([left], [right]) => left < right ? -1 : 1)));
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error;
    return error.message;
  }
}
function restartAll(services) {
  const faults = [];
  for (const service of services) {
    try {
      queueRestart(service);
    } catch (error) {
      faults.push(error);
    }
  }
  if (faults.length > 0) throw faults[0];
}

export { restartChanged as r, watchEnvironments as w };
