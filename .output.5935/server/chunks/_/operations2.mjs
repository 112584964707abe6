import { t as tell } from './changes.mjs';
import { A as AppError, J as useContext, F as newId, N as isId, E as useDatabase } from '../nitro/nitro.mjs';
import { g as getDeploy, o as openSnapshot } from './store2.mjs';
import { r as removeLog } from './log-files.mjs';
import { t as tryMove } from './machine.mjs';
import { c as getServiceByName, g as getService } from './store5.mjs';
import { b as groupIdsOf } from './store3.mjs';
import { f as findEnvironment } from './store.mjs';
import { i as internalPort, p as portOf, a as jobsInProgress, b as jobsBeyond, d as deleteJob, c as insertJob, g as getJob, j as jobStatus, l as listJobs, s as sealJobSnapshot } from './internal-port.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { R as ReferenceFault, p as parseValue, w as writeReference, E as ESCAPE_HINT } from './references.mjs';
import { s as sizeFault, M as MAX_VALUE_BYTES } from './rules.mjs';
import { k as keepVariablePort, r as readSealed } from './store6.mjs';
import { K as KINDS } from './kinds.mjs';
import { c as getDatastoreByName } from './store7.mjs';
import { i as internalPlace } from './view4.mjs';
import { b as publicUrl } from './public-address.mjs';
import { h as hostsOf } from './hosts.mjs';
import { T as TYPES } from './types.mjs';
import { j as jobMachine } from './states2.mjs';

const FINDERS = {
  service: findService,
  datastore: findDatastore
};
function findTarget(kind, environment, name) {
  return FINDERS[kind](environment, name);
}
function findService(environment, name) {
  const service = getServiceByName(environment.id, name);
  if (!service || service.deleting) return null;
  return {
    label: TYPES[service.type].label,
    property: (property) => serviceProperty(service, environment, property),
    service
  };
}
function findDatastore(environment, name) {
  const datastore = getDatastoreByName(environment.id, name);
  if (!datastore || datastore.status === "deleting") return null;
  return {
    label: KINDS[datastore.kind].label,
    property: (property) => datastoreProperty(datastore, property),
    service: null
  };
}
function datastoreProperty(datastore, property) {
  const place = internalPlace(datastore);
  if (property === "url") return KINDS[datastore.kind].url(place);
  const value = place[property];
  return value === null ? null : String(value);
}
function serviceProperty(service, environment, property) {
  if (property === "url") {
    const host = hostsOf(service, environment)[0];
    return host === void 0 ? null : publicUrl(host);
  }
  if (!TYPES[service.type].listens) return null;
  if (property === "host") return service.name;
  const live = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  const port = String(internalPort(service, live?.port));
  return property === "port" ? port : `${service.name}:${port}`;
}

const MAX_HOPS = 32;
const MOST_TOLD = 1e3;
class Reading {
  #environments = /* @__PURE__ */ new Map();
  #targets = /* @__PURE__ */ new Map();
  #groups = /* @__PURE__ */ new Map();
  #sealed = /* @__PURE__ */ new Map();
  #opened = /* @__PURE__ */ new Map();
  #resolved = /* @__PURE__ */ new Map();
  /**
   * The whole environment of a service with its references resolved: its groups' variables in the order of the links,
   * its own over them. What cannot be resolved is left out, and `onFault` told which variable it is and what is wrong;
   * without it the first ReferenceFault is thrown.
   */
  resolve(service, onFault = refuse) {
    const values = /* @__PURE__ */ new Map();
    for (const [key, sealed] of this.#effective(service)) {
      const way = [{ key, service }];
      const isOwn = this.isOwn(service, key);
      try {
        values.set(key, (isOwn ? this.#resolveOwn(sealed, way) : this.#expand(sealed, way)).text);
      } catch (error) {
        if (!(error instanceof ReferenceFault)) throw error;
        onFault(error);
      }
    }
    const fault = sizeFault(values);
    if (fault) onFault(new ReferenceFault(`the whole environment of service ${this.#name(service)} ${fault}`));
    return values;
  }
  /** The value of one variable of a service's environment as it was written; undefined when there is none. */
  written(service, key) {
    const sealed = this.#effective(service).get(key);
    return sealed && this.#open(sealed);
  }
  /** Whether a variable is the service's own and not one of a group. */
  isOwn(service, key) {
    return this.#held(service.id).has(key);
  }
  #effective(service) {
    const groups = remember(this.#groups, service.id, () => groupIdsOf(service.id));
    return new Map([...groups, service.id].flatMap((holder) => [...this.#held(holder)]));
  }
  #held(holder) {
    return remember(
      this.#sealed,
      holder,
      () => new Map(readSealed(holder).map(({ key, value }) => [key, value]))
    );
  }
  #open(sealed) {
    return remember(this.#opened, sealed, () => useContext().vault.open(sealed));
  }
  /** A service's own variable, which may be wanted by many. */
  #resolveOwn(sealed, way) {
    return remember(this.#resolved, sealed, () => this.#expand(sealed, way));
  }
  #expand(sealed, way) {
    const texts = [];
    let bytes = 0;
    let hops = 0;
    for (const part of parseValue(this.#open(sealed))) {
      const resolved = typeof part === "string" ? { text: part, hops: 0 } : this.#follow(part, way);
      bytes += Buffer.byteLength(resolved.text);
      if (bytes > MAX_VALUE_BYTES) this.#refuse(way, `becomes longer than ${MAX_VALUE_BYTES / 1024} KiB`);
      texts.push(resolved.text);
      hops = Math.max(hops, resolved.hops);
    }
    return { text: texts.join(""), hops };
  }
  #follow(reference, way) {
    const { service: holder } = way.at(-1);
    const environment = this.#environment(holder);
    const written = writeReference(reference);
    const target = this.#target(reference, environment);
    if (!target) {
      this.#refuse(
        way,
        `${written} is missing: ${environment.name} has no ${reference.kind} ${reference.name}`,
        reference.name
      );
    }
    if (target.service?.id === holder.id)
      this.#refuse(way, `${written} is the service itself, which may not refer to itself`);
    if (reference.key !== null) return this.#followVariable(reference.key, target.service, written, way);
    const text = target.property(reference.property);
    if (text === null) {
      this.#refuse(way, `${written} is missing: ${target.label} has no ${reference.property}`);
    }
    return { text, hops: 0 };
  }
  #followVariable(key, service, written, way) {
    const sealed = this.#held(service.id).get(key);
    if (!sealed) {
      this.#refuse(
        way,
        `${written} is missing: service ${this.#name(service)} has no variable ${key} of its own`,
        service.name
      );
    }
    const next = [...way, { key, service }];
    if (way.some((passed) => passed.key === key && passed.service.id === service.id))
      this.#refuse(next, "goes round in a circle");
    const known = this.#resolved.get(sealed)?.hops ?? 0;
    if (way.length + known > MAX_HOPS) this.#refuse(way, `leads through more than ${MAX_HOPS} references`);
    const { text, hops } = this.#resolveOwn(sealed, next);
    return { text, hops: hops + 1 };
  }
  #target({ kind, name }, environment) {
    return remember(
      this.#targets,
      `${environment.id} ${kind} ${name}`,
      () => findTarget(kind, environment, name)
    );
  }
  #environment({ environment_id }) {
    return remember(this.#environments, environment_id, () => findEnvironment(environment_id));
  }
  #name(service) {
    return qualifiedName(service.name, this.#environment(service));
  }
  #refuse(way, fault, missing = null) {
    const passed = way.map(({ key, service }) => `${key} of ${this.#name(service)}`);
    throw new ReferenceFault(`${passed.join(" -> ")}: ${fault}`, way[0].key, missing);
  }
}
function refuse(fault) {
  throw fault;
}
function resolveEnvironment(service) {
  try {
    return new Reading().resolve(service);
  } catch (cause) {
    if (!(cause instanceof ReferenceFault)) throw cause;
    throw new AppError("conflict", `the variables cannot be resolved: ${cause.message}`, { cause });
  }
}
let held = null;
function settleEnvironment(serviceId, fields, reading = new Reading()) {
  if (held) {
    held.set(serviceId, { ...held.get(serviceId), ...fields });
    return;
  }
  const service = getService(serviceId);
  settlePort(service, reading);
  const [fault] = faultsOf(service, fields, reading);
  if (fault) throw fault;
}
function settlingAtEnd(work, onFault) {
  const written = held = /* @__PURE__ */ new Map();
  let result;
  try {
    result = work();
  } finally {
    held = null;
  }
  const services = [...written.keys()].map((id) => getService(id));
  const ports = new Reading();
  const changed = services.filter((service) => settlePort(service, ports));
  const reading = changed.length > 0 ? new Reading() : ports;
  let told = 0;
  for (const service of services) {
    if (told >= MOST_TOLD) break;
    const faults = faultsOf(service, written.get(service.id), reading);
    for (const fault of faults) onFault(service, fault);
    told += faults.length;
  }
  return result;
}
function faultsOf(service, fields, reading) {
  const { own = fields.groups, groups } = fields;
  const faults = [];
  reading.resolve(service, (cause) => {
    const isOwn = cause.key !== "" && reading.isOwn(service, cause.key);
    if (isOwn && fields.own === void 0) return;
    const field = isOwn || cause.key === "" ? own : groups;
    const hint = cause.key === "" ? "" : `; ${ESCAPE_HINT}`;
    faults.push(new AppError("invalid_request", `${field}: ${cause.message}${hint}`, { cause }));
  });
  return faults;
}
function settlePort(service, reading = new Reading()) {
  const port = portOf(reading.written(service, "PORT"));
  if (port === service.variable_port) return false;
  keepVariablePort(service.id, port);
  return true;
}
function remember(known, key, make) {
  const found = known.get(key);
  if (found !== void 0) return found;
  const made = make();
  known.set(key, made);
  return made;
}

const KEPT_JOBS = 500;
const MAX_IN_PROGRESS = 500;
function findJob(id) {
  const found = isId("job", id) ? getJob(id) : void 0;
  if (!found) throw new AppError("not_found", `there is no job ${id}`);
  return found;
}
function jobsOf(service, limit) {
  return listJobs(service.id, limit);
}
function jobMaterial(service) {
  const deploy = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  if (deploy && deploy.site_id !== null)
    throw new AppError("conflict", `service ${service.name} is served from its files: there is no program`);
  const live = deploy && openSnapshot(deploy);
  if (!deploy || !live)
    throw new AppError("conflict", `service ${service.name} has no live image: deploy it first`);
  const variables = Object.fromEntries(resolveEnvironment(service));
  const env = live.port === null ? variables : { ...variables, PORT: String(live.port) };
  return { deploy, snapshot: { ...live, env } };
}
function requestJob(service, { command }) {
  if (command === void 0 && service.type !== "cron_job") {
    throw new AppError(
      "invalid_request",
      `command: service ${service.name} is no cron job, so it has none of its own: say what to run`
    );
  }
  assertTakesJobs(service);
  const material = jobMaterial(service);
  const job = useDatabase().transaction(() => {
    const others = jobsInProgress(service.id);
    if (command === void 0 && others.some(isWaitingOwnRun))
      throw new AppError("conflict", `a run of ${service.name} already waits: cancel it, or wait for it`);
    if (command !== void 0 && others.length >= MAX_IN_PROGRESS)
      throw new AppError("conflict", `${MAX_IN_PROGRESS} jobs of ${service.name} wait or run already`);
    return insert(service, "manual", material, command);
  });
  tellJob(job.id, service.id, "created");
  return job;
}
function insertScheduledJob(service) {
  const deploy = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  if (!deploy || jobsInProgress(service.id).some(isWaitingOwnRun)) return null;
  return insert(service, "schedule", { deploy, snapshot: openSnapshot(deploy) }, void 0);
}
function cancelJob(job) {
  if (job.status === "canceled") return job;
  if (!cancel(job.id, null)) {
    throw new AppError(
      "conflict",
      `${job.id} is ${jobStatus(job.id) ?? "gone"}: only a pending or running job can be canceled`
    );
  }
  tellJob(job.id, job.service_id);
  return findJob(job.id);
}
function cancelJobsOf(serviceId, reason) {
  return jobsInProgress(serviceId).map(({ id }) => id).filter((id) => cancel(id, reason));
}
function tellJob(id, serviceId, action = "updated") {
  tell({ kind: "job", id, service_id: serviceId, action });
  const isCron = action === "updated" && getService(serviceId)?.type === "cron_job";
  if (isCron) tell({ kind: "service", id: serviceId, service_id: serviceId, action });
}
async function forgetOldJobs() {
  for (const id of jobsBeyond(KEPT_JOBS)) {
    deleteJob(id);
    await removeLog(id);
  }
}
function assertTakesJobs(service) {
  if (service.deleting) throw new AppError("conflict", `service ${service.name} is being deleted`);
  if (service.suspended)
    throw new AppError("conflict", `service ${service.name} is suspended: resume it first`);
}
function isWaitingOwnRun({ own_command, status }) {
  return own_command === 1 && status === "pending";
}
function insert(service, trigger, { deploy, snapshot }, command) {
  const id = newId("job");
  insertJob({
    id,
    service_id: service.id,
    trigger,
    command: command ?? snapshot.start_command,
    own_command: command === void 0 ? 1 : 0,
    deploy_id: deploy.id,
    image: deploy.image,
    snapshot: command === void 0 ? null : sealJobSnapshot(snapshot)
  });
  return getJob(id);
}
function cancel(id, reason) {
  return tryMove(jobMachine, id, "canceled", { finished_at: Date.now(), error: reason, snapshot: null });
}

export { Reading as R, settleEnvironment as a, settlePort as b, cancelJobsOf as c, cancelJob as d, findJob as e, forgetOldJobs as f, jobsOf as g, requestJob as h, insertScheduledJob as i, jobMaterial as j, resolveEnvironment as r, settlingAtEnd as s, tellJob as t };
