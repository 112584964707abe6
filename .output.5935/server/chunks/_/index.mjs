import { r as readBlueprintAside, p as provideBlueprintProgram } from './reading-thread.mjs';
import { A as AppError, E as useDatabase, F as newId, G as isUniqueViolation, q as randomHex, l as logger, m as messageOf, H as sha256, I as timestamp, w as writePrivateFile, J as useContext, K as ofetch, k as PRIVATE_DIRECTORY_MODE, M as Timestamp, n as PRIVATE_FILE_MODE, N as isId, j as makePrivateDirectory } from '../nitro/nitro.mjs';
import { i as isSubnetTaken, r as runEach, a as isEngineAway, c as createEngine, b as ledger } from './run-each.mjs';
import { l as listBlueprints, f as findBlueprint, s as settlePush, a as addressOf$1, b as lastSyncOf, r as recordSync, w as whenBlueprintPushed } from './synced.mjs';
import { t as tell$1, a as tellingAtEnd, o as onChange, b as tellDatastore, c as tellService, d as tellDeploy, e as tellEverything } from './changes.mjs';
import { g as getDeploy, u as updateDeploy, k as keptArchives, s as sealSnapshot, o as openSnapshot, c as cacheScope, U as UNPLANNED, d as deploysInProgress, a as servicesStoppedFirst, l as latestDeploys, b as servicesServedAsSites } from './store2.mjs';
import { v as viewDeploy } from './view2.mjs';
import { s as settlingAtEnd, r as resolveEnvironment, R as Reading, a as settleEnvironment, f as forgetOldJobs, j as jobMaterial, t as tellJob, i as insertScheduledJob } from './operations2.mjs';
import { r as readSealed, a as readVariables, w as writeVariables } from './store6.mjs';
import { K as KINDS } from './kinds.mjs';
import { d as deployableUrlFault } from './input.mjs';
import { s as settingFaults, f as findService, p as patchService, c as createService } from './operations3.mjs';
import { T as TYPES, w as wantedInstances } from './types.mjs';
import { v as valueFault, k as keyFault } from './rules.mjs';
import { l as listEnvGroups, g as groupNamesByService, a as linkedServices, b as groupIdsOf, f as findEnvGroup } from './store3.mjs';
import { p as parseValue, R as ReferenceFault, w as writeReference, E as ESCAPE_HINT } from './references.mjs';
import { l as listDatastores, d as datastoreNames, a as allDatastores, r as recordDatastore, g as getDatastore, b as deleteDatastoreRow, o as observeDatastore } from './store7.mjs';
import { l as listEnvironments, P as PRODUCTION, f as findEnvironment, d as deleteEnvironmentRow, r as restSubnet, i as insertEnvironment, s as serviceNames, a as setSubnet, b as restingSubnets } from './store.mjs';
import { l as listServices, A as AT_ONCE, g as getService, a as aptPackagesOf, b as allServices, d as deleteServiceRow, o as observeService } from './store5.mjs';
import { v as viewSettings, n as newInstanceId, i as insertInstance, d as deleteInstance, g as getInstance, u as updateInstance, a as instancesOf, b as allInstances, c as viewService } from './view.mjs';
import { w as wantedColumns, a as writtenOf, i as isAsWritten, b as withDefaults, F as FIXED_DATASTORE_FIELDS, c as wantedPatch, r as recordWritten, d as changeBetween, D as DATASTORE_FIELDS, S as SERVICE_FIELDS } from './written.mjs';
import { q as queueSourceDeploy, m as makeLive } from './operations4.mjs';
import { c as createDatastore, p as patchDatastore, l as listBackups, r as runningBackups, g as getBackup, u as uncopiedBackups, s as spareObjects, f as forgetSpareObject, i as isSpareObject, a as insertSpareObject, b as runningBackup } from './operations5.mjs';
import { D as DatastoreInput, a as DatastorePatch } from './schema.mjs';
import { e as environmentsOf, r as replaceGroupVariables, c as createEnvGroup } from './operations6.mjs';
import { a as assertEnvironmentHostsFree } from './claims.mjs';
import { v as validate } from './validate.mjs';
import { w as watchEnvironments } from './restart.mjs';
import { S as ServicePatch, a as ServiceInput } from './input2.mjs';
import { setTimeout as setTimeout$1, setImmediate } from 'node:timers/promises';
import { once } from 'node:events';
import { createServer, connect, Socket } from 'node:net';
import { networkInterfaces, arch, availableParallelism, totalmem } from 'node:os';
import { readFile, readdir, rm, stat, statfs, mkdir, rename, access } from 'node:fs/promises';
import { REFUSED } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { r as readRepositoryFile } from './repository-file.mjs';
import { i as instanceDeploys, r as recordLogInstance, t as tidyLogInstances, p as provideSearchProgram } from './instances.mjs';
import { randomBytes, X509Certificate, createPrivateKey, randomInt, createHmac, timingSafeEqual, createHash } from 'node:crypto';
import { existsSync, rmSync, renameSync, readdirSync, statSync, readFileSync, createReadStream, chmodSync } from 'node:fs';
import { join, basename, dirname, posix } from 'node:path';
import { l as listUploaded, U as UploadedBook, C as CertificateNames, r as routedHosts, d as deleteCertificate, g as getCertificate, s as setOrder, a as setAdvice, c as certificatesByName, i as insertCertificate, t as tellCertified, b as servingVersions } from './hosts2.mjs';
import { d as defineMachine, t as tryMove } from './machine.mjs';
import { r as reachesServer, k as keepChecks } from './operations.mjs';
import { c as createResolver, f as forEachLimited, a as checkHost, b as checkDomain, v as verificationKey } from './limits.mjs';
import { Agent } from 'node:https';
import { rootCertificates } from 'node:tls';
import { V as VERSION$1 } from './version.mjs';
import { i as isLocalName } from './names.mjs';
import { p as publicHttpPort, b as publicUrl, s as setListenerPorts } from './public-address.mjs';
import { z } from 'zod';
import { execFile } from 'node:child_process';
import { I as IN_PROGRESS_SQL, d as deployMachine, a as IN_PROGRESS } from './states.mjs';
import { r as removeLog, c as cleanLine, a as readLog, p as parseLines, o as openLog, n as nudgeLog, i as isOpen, b as noteInLog, B as Bell$1 } from './log-files.mjs';
import { r as removeTree, m as mirrorsFolder, c as clearTree, a as checkoutAccess, p as provideGitRunner } from './branches.mjs';
import { t as trimMirrors, P as PACK_CONTEXT, C as CHOOSE_RECIPE, c as checkout, w as withSourceTree } from './source-tree.mjs';
import { s as serviceLog, r as removeServiceLog, a as readTail, l as lineMatcher, b as linesIn, A as Allowance, t as tidyServiceLogs, c as closeServiceLogs } from './filter.mjs';
import { p as passEnded } from './settled.mjs';
import { u as useBucket, s as settleBackup, c as copyUrlOf, r as recordCopyFault, a as recordCopy, b as beginBackup, m as missBackup, f as failBackup, d as removeSurplusBackups, e as recordBackupFile, g as removeBackupsOf, o as openCopy } from './operations7.mjs';
import { h as hasBackupFile, b as backupPath, w as writeBackupPart, k as keepBackupPart, r as removeBackupFiles, a as removeStrayBackupFiles, c as removeBackupPart } from './states4.mjs';
import { n as nextDue } from './cron.mjs';
import { i as internalPlace, g as getReplacement, e as externalPlace, d as diskBytesOf, r as recordDiskBytes, a as dueSpareVolumes, f as forgetSpareVolume, s as spareVolumesOf, b as forgetDiskBytes, c as allReplacements, u as updateReplacement } from './view4.mjs';
import { Readable, pipeline } from 'node:stream';
import { pack, extract } from 'tar-stream';
import { d as datastoreMachine } from './states3.mjs';
import { g as giveUpReplacement, b as beginTry, f as finishReplacement, a as forbidWrites } from './operations8.mjs';
import { text } from 'node:stream/consumers';
import { h as hostsOf, a as allHostsOf, c as customDomainsOf } from './hosts.mjs';
import { request } from 'node:http';
import { a as answerOf } from './answer-of.mjs';
import { D as DEFAULT_PORT, p as portOf, j as jobStatus, g as getJob, o as openJobSnapshot, s as sealJobSnapshot, a as jobsInProgress } from './internal-port.mjs';
import { B as BuildFailure, w as withReader, U as UNPACK_ARCHIVE, p as provideReaderProgram } from './jobs.mjs';
import { q as qualifiedName } from './qualified-name.mjs';
import { a as archivePath } from './archives.mjs';
import { s as servingConnection, a as apiOf } from './serving.mjs';
import { S as Slots } from './slots.mjs';
import { g as getDomain, l as listDomains, s as servedDomains } from './store4.mjs';
import { J as JOB_IN_PROGRESS, j as jobMachine } from './states2.mjs';
import { i as isOnInternet } from './authorize.mjs';
import { i as isFullCommit } from './refs.mjs';
import { h as happened, l as lastTold, s as setTold, N as Notifier } from './delivery.mjs';
import { p as publishLatest, f as freshLatest } from './latest.mjs';
import { DatabaseSync } from 'node:sqlite';
import { L as LATENCY_BUCKETS_SECONDS } from './latency-buckets.mjs';
import { o as onDrainsChanged, d as drains } from './operations11.mjs';
import { D as Drain } from './drain.mjs';
import { a as ProxyListenError, P as ProxyClient } from './client.mjs';
import { f as findProxy } from './find.mjs';
import { D as DASHBOARD_TARGET } from './protocol.mjs';
import { e as ensureSshKey } from './ssh-key2.mjs';

function nodeAt(node, path) {
  let at = node;
  for (const [index, step] of path.entries()) {
    const next = childOf(at, step);
    if (next === void 0) return { node: at, rest: path.slice(index) };
    at = next;
  }
  return { node: at, rest: [] };
}
function placeIn(root, path) {
  const { node, rest } = nodeAt(root, path);
  const written = rest.map((step) => typeof step === "number" ? `[${step}]` : `.${String(step)}`).join("");
  return { ...node.place, path: `${node.place.path}${written}`.replace(/^\./, "") };
}
function childOf(node, step) {
  if (node.kind === "list") return node.items[Number(step)];
  return node.kind === "mapping" ? node.entries.get(String(step)) : void 0;
}

const UNNAMED = "";

class Standing {
  environments;
  groups;
  #services = /* @__PURE__ */ new Map();
  #datastores = /* @__PURE__ */ new Map();
  constructor() {
    this.environments = byName(listEnvironments());
    this.groups = byName(listEnvGroups());
  }
  service(environment, name) {
    return this.#of(this.#services, environment, ({ id }) => listServices(id)).get(name);
  }
  datastore(environment, name) {
    return this.#of(this.#datastores, environment, ({ id }) => listDatastores(id)).get(name);
  }
  #of(known, name, list) {
    const environment = this.environments.get(name);
    const found = known.get(name) ?? byName(environment ? list(environment) : []);
    known.set(name, found);
    return found;
  }
}
function settingsOf({ services }, standing) {
  const groups = /* @__PURE__ */ new Map();
  const groupsOf = ({ id, environment_id }) => {
    const known = groups.get(environment_id) ?? groupNamesByService(environment_id);
    groups.set(environment_id, known);
    return known.get(id) ?? [];
  };
  return new Map(
    services.flatMap((wanted) => {
      const row = standing.service(wanted.environment, wanted.name);
      return row ? [[wanted, { ...viewSettings(row), env_groups: groupsOf(row) }]] : [];
    })
  );
}
function keyOf$1(environment, name) {
  return `${environment}/${name}`;
}
function byName(rows) {
  return new Map(rows.map((row) => [row.name, row]));
}

function referencesOf({ from }) {
  if (typeof from === "string") return [];
  try {
    return parseValue(from.value).filter((part) => typeof part !== "string");
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error;
    return [];
  }
}
function followVariables({ services }, isSet, faults) {
  const known = new Map(
    services.map((service) => [
      keyOf$1(service.environment, service.name),
      { service, variables: new Map(service.variables.map((variable) => [variable.key, variable])) }
    ])
  );
  const waiting = /* @__PURE__ */ new Map();
  const followed = /* @__PURE__ */ new Set();
  const way = [];
  const follow = (variable, service) => {
    if (followed.has(variable)) return;
    const told = `${variable.key} of ${service.name}`;
    const at = way.findIndex((step) => step.variable === variable);
    if (at >= 0) {
      const circle = [...way.slice(at).map((step) => step.told), told].join(" -> ");
      faults.add(variable.place, `goes round in a circle: ${circle}`);
      return;
    }
    way.push({ variable, told });
    if (variable.from === "by hand" && !isSet(service, variable.key)) waiting.set(variable, told);
    for (const { kind, name, key } of referencesOf(variable)) {
      const target = kind === "service" ? known.get(keyOf$1(service.environment, name)) : void 0;
      const next = key === null ? void 0 : target?.variables.get(key);
      if (!target || !next) continue;
      follow(next, target.service);
      const reason = waiting.get(next);
      if (reason !== void 0) waiting.set(variable, reason);
    }
    way.pop();
    followed.add(variable);
  };
  for (const service of services) for (const variable of service.variables) follow(variable, service);
  return waiting;
}

function checkReferences(project, standing, faults) {
  const index = new Index(project, standing);
  for (const service of project.services) {
    checkLinks(service, index, faults);
    for (const variable of service.variables)
      for (const reference of referencesOf(variable)) {
        const fault = referenceFault(reference, service, index);
        if (fault !== null) faults.add(variable.place, fault);
      }
  }
  for (const { name, variables } of project.groups) {
    const referring = variables.filter((variable) => referencesOf(variable).length > 0);
    const holders = referring.length > 0 ? index.holdersOf(name) : [];
    for (const variable of referring) {
      const shown = holders.filter((holder) => !index.isHidden(holder, name, variable.key));
      for (const reference of referencesOf(variable)) {
        const fault = firstOf(shown, (holder) => referenceFault(reference, holder, index));
        if (fault !== null) faults.add(variable.place, fault);
      }
    }
  }
}
class Index {
  standing;
  services;
  /** Their kinds, where those can be read. */
  datastores;
  groups;
  unread;
  #project;
  #groupNames;
  #keys = /* @__PURE__ */ new Map();
  #groupKeys = /* @__PURE__ */ new Map();
  constructor(project, standing) {
    this.#project = project;
    this.standing = standing;
    this.services = new Map(
      project.services.map((wanted) => [keyOf$1(wanted.environment, wanted.name), wanted])
    );
    this.datastores = new Map(
      project.datastores.map(({ environment, name, kind }) => [keyOf$1(environment, name), kind])
    );
    this.groups = new Set(project.groups.map(({ name }) => name));
    this.unread = project.unread;
    this.#groupNames = new Map([...standing.groups.values()].map(({ id, name }) => [id, name]));
  }
  hasGroup(idOrName) {
    const { groups, unread, standing } = this;
    return [groups, unread, standing.groups].some((names) => names.has(idOrName)) || this.#groupNames.has(idOrName);
  }
  /** The variables that a service has of its own, or gets by the file. */
  keysOf(environment, name) {
    const target = keyOf$1(environment, name);
    const there = this.standing.service(environment, name);
    const wanted = this.services.get(target)?.variables ?? [];
    return keysOf(this.#keys, target, there?.id, wanted);
  }
  /** The services that get the variables of a group. */
  holdersOf(group) {
    const ofFile = this.#project.services.map(({ environment, name, groups }) => {
      const there2 = this.standing.service(environment, name);
      const linked = groups?.map((idOrName) => this.#groupNames.get(idOrName) ?? idOrName);
      return { environment, name, groups: linked ?? (there2 ? this.#linkedTo(there2.id) : []) };
    });
    const there = this.standing.groups.get(group);
    const others = (there ? linkedServices(there.id) : []).filter(({ environment, name, deleting }) => !deleting && !this.services.has(keyOf$1(environment, name))).map(({ environment, name, id }) => ({ environment, name, groups: this.#linkedTo(id) }));
    return [...ofFile.filter(({ groups }) => groups.includes(group)), ...others];
  }
  /** Whether a variable of a group is another one for a service: its own, or that of a group linked later. */
  isHidden({ environment, name, groups }, group, key) {
    const later = groups.slice(groups.lastIndexOf(group) + 1);
    return this.keysOf(environment, name).has(key) || later.some((other) => this.#keysOfGroup(other).has(key));
  }
  #keysOfGroup(name) {
    const wanted = this.#project.groups.filter((group) => group.name === name);
    const variables = wanted.flatMap((group) => group.variables);
    return keysOf(this.#groupKeys, name, this.standing.groups.get(name)?.id, variables);
  }
  #linkedTo(serviceId) {
    return groupIdsOf(serviceId).map((id) => this.#groupNames.get(id));
  }
}
function keysOf(known, name, id, wanted) {
  const found = known.get(name);
  if (found) return found;
  const keys = new Set([...id === void 0 ? [] : readSealed(id), ...wanted].map(({ key }) => key));
  known.set(name, keys);
  return keys;
}
function checkLinks({ groups = [], node }, index, faults) {
  for (const [at, group] of groups.entries())
    if (!index.hasGroup(group))
      faults.add(placeIn(node, ["env_groups", at]), `there is no env group ${group}`);
}
function referenceFault(reference, { environment, name: holder }, index) {
  const { standing, services, datastores, unread } = index;
  const { kind, name, key } = reference;
  if (unread.has(name) || environment === UNNAMED) return null;
  const target = keyOf$1(environment, name);
  const written = writeReference(reference);
  if (kind === "datastore") {
    const there2 = standing.datastore(environment, name);
    if (!there2 && !datastores.has(target))
      return `${written}: there is no datastore ${name} in ${environment}; ${ESCAPE_HINT}`;
    const { label, hasDatabases } = KINDS[there2?.kind ?? datastores.get(target) ?? "relational"];
    const has2 = hasDatabases || reference.property !== "database";
    return has2 ? null : `${written} is missing: a ${label} has no ${reference.property}`;
  }
  const wanted = services.get(target);
  const there = standing.service(environment, name);
  if (!wanted && !there) return `${written}: there is no service ${name} in ${environment}; ${ESCAPE_HINT}`;
  if (name === holder)
    return `${written} is the service itself, which may not refer to itself; ${ESCAPE_HINT}`;
  if (key !== null)
    return index.keysOf(environment, name).has(key) ? null : `${written}: service ${name} has no variable ${key} of its own`;
  if (wanted?.wrong.has("type")) return null;
  const type = TYPES[there?.type ?? wanted?.type ?? "web_service"];
  const has = reference.property === "url" ? type.hasHosts : type.listens;
  return has ? null : `${written} is missing: ${type.label} has no ${reference.property}`;
}
function firstOf(items, look) {
  for (const item of items) {
    const found = look(item);
    if (found !== null) return found;
  }
  return null;
}

function checkProject(project, standing, faults) {
  checkNames(project, faults);
  for (const group of project.groups) checkVariables(group.variables, faults);
  for (const datastore of project.datastores) checkDatastore(datastore, standing, faults);
  for (const service of project.services) {
    checkService(service, standing, faults);
    checkVariables(service.variables, faults);
  }
  checkReferences(project, standing, faults);
}
function checkNames({ groups, datastores, services }, faults) {
  const seen = /* @__PURE__ */ new Map();
  const all = [
    ...groups.map((group) => ({ wanted: group, key: group.name, kind: "an env group" })),
    ...[...datastores, ...services].map((wanted) => ({
      wanted,
      key: keyOf$1(wanted.environment, wanted.name),
      kind: "kind" in wanted ? "a datastore" : "a service"
    }))
  ];
  for (const { wanted, key, kind } of all) {
    if (wanted.name === UNNAMED) continue;
    const other = seen.get(key);
    if (other !== void 0)
      faults.add(
        placeIn(wanted.node, ["name"]),
        `${wanted.name} is the name of ${other} of this file already`
      );
    seen.set(key, kind);
  }
}
function checkDatastore(wanted, standing, faults) {
  const { name, environment, kind, node } = wanted;
  const service = standing.service(environment, name);
  if (service) faults.add(placeIn(node, ["name"]), `${name} is in use by service ${service.id}`);
  const there = standing.datastore(environment, name);
  if (there && kind && there.kind !== kind)
    faults.add(
      placeIn(node, ["kind"]),
      `cannot be changed: datastore ${name} is a ${KINDS[there.kind].label}`
    );
  if (there?.status === "deleting") faults.add(placeIn(node, ["name"]), `datastore ${name} is being deleted`);
  for (const field of ["database", "username"])
    if (kind && !KINDS[kind].hasDatabases && typeof wanted.fields[field] === "string")
      faults.add(placeIn(node, [field]), `a ${KINDS[kind].label} has none to choose`);
}
const HIDDEN_CREDENTIALS = "://***@";
function checkService(wanted, standing, faults) {
  const { name, environment, node, type, fields } = wanted;
  const datastore = standing.datastore(environment, name);
  if (datastore) faults.add(placeIn(node, ["name"]), `${name} is in use by datastore ${datastore.id}`);
  const there = standing.service(environment, name);
  if (there?.deleting) faults.add(placeIn(node, ["name"]), `service ${name} is being deleted`);
  if (there && type && type !== there.type)
    faults.add(placeIn(node, ["type"]), `cannot be changed: service ${name} is ${TYPES[there.type].label}`);
  if (!there && String(fields.repo_url).includes(HIDDEN_CREDENTIALS))
    faults.add(placeIn(node, ["repo_url"]), "has its credentials hidden as ***: write them out");
  const repository = typeof fields.repo_url === "string" ? deployableUrlFault(fields.repo_url) : null;
  if (repository !== null) faults.add(placeIn(node, ["repo_url"]), repository);
  if (wanted.wrong.has("type")) return;
  const columns = { ...there, ...wantedColumns(wanted, there) };
  for (const [field, fault] of settingFaults(columns, there?.type ?? type ?? "web_service", wanted.wrong))
    faults.add(placeIn(node, [field]), fault);
}
function checkVariables(variables, faults) {
  const seen = /* @__PURE__ */ new Set();
  for (const { key, place, from } of variables) {
    const wrong = typeof from === "string" ? null : valueFault(from.value);
    const fault = keyFault(key) ?? wrong ?? (seen.has(key) ? `${key} stands twice` : null);
    if (fault) faults.add(place, fault);
    seen.add(key);
  }
}

function queueDeploys({ services }, work, actions) {
  const ofServices = actions.filter(({ resource }) => resource === "service");
  const changed = services.filter((_, index) => needsDeploy(ofServices[index])).map((wanted) => work.serviceOf(wanted));
  const held = new Set(services.filter(({ deploys: deploys2 }) => !deploys2).map((wanted) => work.serviceOf(wanted).id));
  const all = new Map([...changed, ...work.renewed()].map((service) => [service.id, service]));
  const deploys = [];
  const notes = [];
  for (const service of all.values()) {
    if (held.has(service.id)) continue;
    try {
      deploys.push(queueSourceDeploy(service, "blueprint").id);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      notes.push(`service ${service.name} is not deployed: ${error.message}`);
    }
  }
  return { deploys, notes };
}
function needsDeploy({ action, changes }) {
  if (action === "create") return true;
  return changes.some((change) => !AT_ONCE.has(change.slice(0, change.search(/[:.]/))));
}

const MAX_FAULTS = 1e3;
class Faults {
  #found = [];
  #seen = /* @__PURE__ */ new Set();
  /** The paths of what is at fault, and of all that holds it. */
  #paths = /* @__PURE__ */ new Set();
  /** Begins with what was found before. */
  constructor(found = []) {
    for (const { message, ...place } of found) this.add(place, message);
  }
  get any() {
    return this.#found.length > 0;
  }
  get found() {
    return this.#found;
  }
  add({ line, column, path }, message) {
    this.#paths.add(path);
    for (const { index } of path.matchAll(/[.[]/g)) this.#paths.add(path.slice(0, index));
    const key = `${line}:${column}:${message}`;
    if (this.#seen.has(key) || this.#found.length >= MAX_FAULTS) return;
    this.#seen.add(key);
    this.#found.push({ line, column, path, message });
  }
  /** Says nothing where something was said of this place already. */
  addOnce(place, message) {
    const { line, column } = place;
    if (!this.#found.some((fault) => fault.line === line && fault.column === column)) this.add(place, message);
  }
  /** Whether something is wrong with what a path leads to, or with a part of it. */
  concern(path) {
    return this.#paths.has(path);
  }
  /** Throws `invalid_request` with every fault in the order of the file; returns when there is none. */
  refuse() {
    if (!this.any) return;
    const details = this.#found.toSorted(
      (left, right) => left.line - right.line || left.column - right.column
    );
    throw new AppError("invalid_request", details.map(wordsOf).join("\n"), { details });
  }
}
function wordsOf({ line, column, path, message }) {
  return `line ${line}, column ${column}: ${path === "" ? "" : `${path}: `}${message}`;
}

z.object({
  ts: z.string(),
  stream: z.enum(["stdout", "stderr", "system"]),
  line: z.string(),
  instance: z.string().optional()
}).meta({ id: "LogLine" });
function lineTime(engineTime) {
  return new Date(engineTime).toISOString();
}

const MAX_ENVIRONMENTS = 250;
function createEnvironment({ name }) {
  const row = { id: newId("environment"), name, subnet: null, created_at: Date.now() };
  useDatabase().transaction(() => {
    assertEnvironmentHostsFree(name);
    try {
      insertEnvironment(row);
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause;
      throw new AppError("conflict", `name: ${name} is in use by environment ${findEnvironment(name).id}`, {
        cause
      });
    }
    if (listEnvironments().length > MAX_ENVIRONMENTS)
      throw new AppError(
        "conflict",
        `there are ${MAX_ENVIRONMENTS} environments, and no network for one more: delete one that is not needed`
      );
  });
  tellEnvironments();
  return row;
}
function deleteEnvironment(environment) {
  if (environment.name === PRODUCTION)
    throw new AppError("conflict", `environment ${PRODUCTION} cannot be deleted`);
  useDatabase().transaction(() => {
    assertEmpty(environment);
    const { subnet } = findEnvironment(environment.id);
    deleteEnvironmentRow(environment.id);
    if (subnet !== null) restSubnet(subnet);
  });
  tellEnvironments();
}
function assertEmpty({ id, name }) {
  const held = [
    ["services", serviceNames(id)],
    ["datastores", datastoreNames(id)]
  ];
  const told = held.filter(([, names]) => names.length > 0).map(([kind, names]) => `${kind}: ${names.join(", ")}`);
  if (told.length > 0)
    throw new AppError("conflict", `environment ${name} holds ${told.join("; ")}. Delete them first.`);
}
function tellEnvironments() {
  tell$1({ kind: "all", id: "*", service_id: null, action: "resync" });
}

function layRefusal(faults, { node }, error, variables, without = []) {
  if (!(error instanceof AppError)) throw error;
  const { cause } = error;
  const variable = cause instanceof ReferenceFault ? variables.findLast(({ key }) => key === cause.key) : void 0;
  const [, field, item, message = error.message] = /^([a-z_]+)(?:[.[](\d+)\]?)?: ([^]*)$/.exec(error.message) ?? [];
  const refused = field === void 0 ? [] : item === void 0 ? [field] : [field, placeOf$1(Number(item), without)];
  if (variable) faults.addOnce(variable.place, message);
  else if (node.kind !== "mapping") faults.add(node.place, message);
  else {
    const isThere = field !== void 0 && node.entries.has(field);
    const place = placeIn(node, isThere ? refused : ["name"]);
    if (!faults.concern(place.path)) faults.add(place, message);
  }
  return refused;
}
function placeOf$1(item, without) {
  return without.toSorted((left, right) => left - right).reduce((place, left) => left <= place ? place + 1 : place, item);
}

function nextTrial(trial, [field, item]) {
  const { fields, written, without } = trial;
  if (field === "env" && written.length > 0) return { ...trial, written: [], variables: [] };
  if (field === void 0 || !Object.hasOwn(fields, field)) return null;
  const { [field]: value, ...rest } = fields;
  if (field !== "custom_domains" || !Array.isArray(value) || item === void 0)
    return { ...trial, fields: rest };
  const { canonical_domain: _, ...others } = rest;
  const at = item - without.filter((place) => place < item).length;
  const custom_domains = value.toSpliced(at, 1);
  return { ...trial, fields: { ...others, custom_domains }, without: [...without, item] };
}

const GENERATED_BYTES = 32;
function mergeVariables(holder, label, wanted, waiting, { keepsHandSet }) {
  const there = new Map(
    (holder === void 0 ? [] : readVariables(holder)).map(({ key, value }) => [key, value])
  );
  const record = holder === void 0 || !keepsHandSet ? /* @__PURE__ */ new Map() : writtenOf(holder);
  const merged = { variables: [], written: [], notes: [] };
  for (const variable of wanted) {
    const { key, from, place } = variable;
    const old = there.get(key);
    if (from === "by hand") {
      if (old === void 0)
        merged.notes.push(
          `line ${place.line}: ${key} of ${label} has no value yet (sync: false): set it by hand`
        );
      continue;
    }
    if (waiting.has(variable)) {
      merged.notes.push(
        `line ${place.line}: ${key} of ${label} leads to ${waiting.get(variable)}, which has no value yet: apply the file again when it has`
      );
      continue;
    }
    if (from === "generated" && old !== void 0) continue;
    const value = from === "generated" ? randomHex(GENERATED_BYTES) : from.value;
    if (value === old) continue;
    if (keepsHandSet && old !== void 0 && !isAsWritten(record.get(key), old)) {
      merged.notes.push(`line ${place.line}: ${key} of ${label} was set by hand and stays as it is`);
      continue;
    }
    merged.written.push({ wanted: variable, value, isNew: old === void 0 });
    there.set(key, value);
  }
  merged.variables = [...there].map(([key, value]) => ({ key, value }));
  return merged;
}

const MAX_RETRIALS = 200;
class Work {
  notes = [];
  madeEnvironments = [];
  /** What becomes of the variables of each service and env group. */
  variables = /* @__PURE__ */ new Map();
  /** Whether anything was written. */
  wrote = false;
  /** Names the live services whose whole environment has become another one. */
  renewed;
  #project;
  #standing;
  #faults;
  #dryRun;
  #retrials = 0;
  /** Names of what is left out: whatever refers to them is no fault of its own. */
  #leftOut;
  #unmade = /* @__PURE__ */ new Set([UNNAMED]);
  /** What was written, by id. */
  #groups = /* @__PURE__ */ new Map();
  #services = /* @__PURE__ */ new Map();
  constructor(project, standing, waiting, options, faults) {
    this.#project = project;
    this.#standing = standing;
    this.#faults = faults;
    this.#dryRun = options.dryRun;
    this.#leftOut = new Set(project.unread);
    for (const group of project.groups) {
      const id = standing.groups.get(group.name)?.id;
      this.#merge(group, mergeVariables(id, `env group ${group.name}`, group.variables, waiting, options));
    }
    for (const service of project.services) {
      const id = standing.service(service.environment, service.name)?.id;
      this.#merge(service, mergeVariables(id, `service ${service.name}`, service.variables, waiting, options));
    }
    this.renewed = options.dryRun ? () => [] : watchEnvironments(this.#touched(project));
  }
  /** Writes what is sound; what an operation refuses is laid to its place. */
  write() {
    const { environments, groups, datastores, services } = this.#project;
    for (const { name, node } of environments) {
      try {
        this.#makeEnvironment(name);
      } catch (error) {
        layRefusal(this.#faults, { node }, error, []);
        this.#unmade.add(name);
      }
    }
    for (const group of groups) this.#attempt(group, () => this.#writeGroup(group), group.variables);
    for (const datastore of datastores) this.#attempt(datastore, () => this.#writeDatastore(datastore));
    for (const service of services) this.#attemptService(service);
  }
  /** Lays what keeps a variable of a service from resolving to what the file says of it. */
  layUnresolved({ id }, error) {
    const { cause } = error;
    if (cause instanceof ReferenceFault && cause.missing !== null && this.#leftOut.has(cause.missing)) return;
    const groups = groupIdsOf(id).flatMap((group) => this.#groups.get(group) ?? []);
    const service = this.#services.get(id);
    const holders = service ? [...groups, service] : groups;
    const variables = holders.flatMap((holder) => holder.variables);
    layRefusal(this.#faults, holders.at(-1), error, variables);
  }
  /** The service that a file describes, which is there by now. */
  serviceOf({ name, environment }) {
    return findService(name, environment);
  }
  #merge(wanted, merged) {
    this.variables.set(wanted, merged);
    this.notes.push(...merged.notes);
  }
  /** The environments in which variables are written that running services may have. */
  #touched({ services, groups }) {
    const isWritten = (wanted) => this.variables.get(wanted).written.length > 0;
    const own = services.filter(isWritten).flatMap(({ environment, name }) => this.#standing.service(environment, name)?.environment_id ?? []);
    const linked = groups.filter(isWritten).flatMap(({ name }) => {
      const there = this.#standing.groups.get(name);
      return there ? environmentsOf(there) : [];
    });
    return [.../* @__PURE__ */ new Set([...own, ...linked])];
  }
  /** Whether something can be tried: no fault of it is known, and its environment is there. */
  #isSound({ node, environment }) {
    const isPlaced = environment === void 0 || !this.#unmade.has(environment);
    return isPlaced && !this.#faults.concern(node.place.path);
  }
  #attempt(wanted, work, variables = []) {
    if (!this.#isSound(wanted)) this.#leftOut.add(wanted.name);
    else {
      try {
        work();
      } catch (error) {
        this.#leftOut.add(wanted.name);
        layRefusal(this.#faults, wanted, error, variables);
      }
    }
  }
  #attemptService(wanted) {
    const isSound = this.#isSound(wanted);
    if (!isSound) this.#leftOut.add(wanted.name);
    const trial = isSound ? { ...wanted, ...this.variables.get(wanted), without: [] } : this.#ofHosts(wanted);
    if (trial) this.#tryService(wanted, trial);
  }
  /** One that is refused is tried again without what was refused, until all that is wrong with it is known. */
  #tryService(wanted, trial) {
    try {
      this.#writeService(wanted, trial);
    } catch (error) {
      this.#leftOut.add(wanted.name);
      const refused = layRefusal(this.#faults, wanted, error, wanted.variables, trial.without);
      const next = nextTrial(trial, refused);
      if (next && this.#retrials++ < MAX_RETRIALS) this.#tryService(wanted, next);
    }
  }
  /** Of one that is at fault the hosts are tried, which only the operations judge. */
  #ofHosts({ name, environment, type = "web_service", fields }) {
    if (name === UNNAMED || this.#unmade.has(environment) || !TYPES[type].hasHosts) return null;
    const { custom_domains = [] } = fields;
    return { fields: { custom_domains }, groups: void 0, written: [], variables: [], without: [] };
  }
  #makeEnvironment(name) {
    if (this.#standing.environments.has(name) || this.madeEnvironments.includes(name)) return;
    createEnvironment({ name });
    this.wrote = true;
    this.madeEnvironments.push(name);
  }
  #writeGroup(group) {
    const { name } = group;
    const { written, variables } = this.variables.get(group);
    const there = this.#standing.groups.get(name);
    if (there && written.length === 0) return;
    const { id } = there ? replaceGroupVariables(there, variables) : createEnvGroup({ name, vars: variables });
    this.wrote = true;
    this.#groups.set(id, group);
    this.#record(id, written);
  }
  #writeDatastore(wanted) {
    const { name, kind, environment, node } = wanted;
    const there = this.#standing.datastore(environment, name);
    const fields = withDefaults(wanted.fields);
    const fixed = FIXED_DATASTORE_FIELDS.filter((field) => typeof fields[field] === "string");
    if (!there) {
      for (const field of FIXED_DATASTORE_FIELDS) if (!fixed.includes(field)) delete fields[field];
      createDatastore(DatastoreInput.parse({ name, kind, environment, ...fields }));
      this.wrote = true;
      return;
    }
    for (const field of fixed)
      if (fields[field] !== there[field])
        this.notes.push(
          `line ${placeIn(node, [field]).line}: datastore ${name} keeps its ${field} ${there[field]}${field === "version" ? ": upgrade it by itself" : ", which cannot be changed"}`
        );
    const patch = Object.fromEntries(Object.keys(DatastorePatch.shape).map((field) => [field, fields[field]]));
    if (patchDatastore(there, DatastorePatch.parse(patch)) !== there) this.wrote = true;
  }
  #writeService(wanted, { fields, written, variables, ...trial }) {
    const { name, environment, type } = wanted;
    const there = this.#standing.service(environment, name);
    const groups = trial.groups?.filter((group) => !this.#leftOut.has(group));
    const settings = wantedPatch(fields, there);
    const env = written.length > 0 ? { env: variables } : {};
    const env_groups = groups && !(there && areLinked(there, groups)) ? { env_groups: groups } : {};
    const made = { name, environment, ...type ? { type } : {}, ...settings, deploy: false };
    const now = there ? patchService(there, { ...validate(ServicePatch, settings, 1), ...env, ...env_groups }) : createService({ ...validate(ServiceInput, made, 1), ...env, ...env_groups });
    if (now !== there) this.wrote = true;
    this.#services.set(now.id, wanted);
    this.#record(now.id, written);
  }
  #record(holder, written) {
    if (this.#dryRun) return;
    for (const { wanted, value } of written)
      recordWritten(holder, wanted.key, value, wanted.from === "generated");
  }
}
function areLinked({ id }, groups) {
  const wanted = new Set(groups.map((group) => findEnvGroup(group).id));
  return [...wanted].join() === groupIdsOf(id).join();
}

class Undone extends Error {
  applied;
  constructor(applied) {
    super("a dry run is undone");
    this.applied = applied;
  }
}
function applyFile(file, options) {
  const faults = new Faults(file.faults);
  const standing = new Standing();
  checkProject(file.project, standing, faults);
  const waiting = followVariables(file.project, isSetIn(standing), faults);
  try {
    return tellingAtEnd(
      () => useDatabase().transaction(() => {
        const applied = run(file, standing, waiting, options, faults);
        if (options.dryRun) throw new Undone(applied);
        return applied;
      })
    );
  } catch (error) {
    if (error instanceof Undone) return error.applied;
    throw error;
  }
}
function run({ project, warnings }, standing, waiting, options, faults) {
  const before = settingsOf(project, standing);
  const work = new Work(project, standing, waiting, options, faults);
  settlingAtEnd(
    () => work.write(),
    (service, error) => work.layUnresolved(service, error)
  );
  faults.refuse();
  const now = work.wrote ? new Standing() : standing;
  const after = work.wrote ? settingsOf(project, now) : before;
  const actions = actionsOf(project, work, { standing, settings: before }, { standing: now, settings: after });
  const { deploys, notes } = options.dryRun ? NO_DEPLOYS : queueDeploys(project, work, actions);
  return {
    actions,
    deploys: deploys.map((id) => viewDeploy(getDeploy(id))),
    dry_run: options.dryRun,
    warnings: [...warnings, ...work.notes, ...notes],
    madeEnvironments: work.madeEnvironments
  };
}
function isSetIn(standing) {
  return ({ environment, name }, key) => {
    const there = standing.service(environment, name);
    return there !== void 0 && readSealed(there.id).some((variable) => variable.key === key);
  };
}
const NO_DEPLOYS = { deploys: [], notes: [] };
function actionsOf(project, work, before, after) {
  const environments = [...new Set(project.environments.map(({ name }) => name))];
  return [
    ...environments.map((name) => ({
      resource: "environment",
      name,
      action: work.madeEnvironments.includes(name) ? "create" : "unchanged",
      changes: []
    })),
    ...project.groups.map((wanted) => {
      const { name } = wanted;
      const there = before.standing.groups.has(name) ? {} : void 0;
      return { resource: "env_group", name, ...changeBetween(there, {}, [], work.variables.get(wanted)) };
    }),
    ...project.datastores.map(({ name, environment }) => {
      const now = after.standing.datastore(environment, name);
      const there = before.standing.datastore(environment, name);
      const fields = there ? DATASTORE_FIELDS : ["kind", "version", ...DATASTORE_FIELDS];
      return { resource: "datastore", name, ...changeBetween(there, now, fields, void 0) };
    }),
    ...project.services.map((wanted) => {
      const [there, now] = [before, after].map(({ settings }) => settings.get(wanted));
      const change = changeBetween(there, now, SERVICE_FIELDS, work.variables.get(wanted));
      return { resource: "service", name: wanted.name, ...change };
    })
  ];
}

const INSTANCES = { name: "instance", first: 16, last: 3071, restMs: 60 * 6e4 };
const JOBS = { name: "job", first: 3072, last: 4094, restMs: 0 };
function allotAddress(environmentId, subnet, holder, taken = []) {
  return allot(INSTANCES, environmentId, subnet, holder, taken);
}
function allotJobAddress(environmentId, subnet, holder, taken = []) {
  return allot(JOBS, environmentId, subnet, holder, taken);
}
function releaseAddress(holder) {
  useDatabase().run(
    "UPDATE addresses SET holder = NULL, released_at = ? WHERE holder = ?",
    Date.now(),
    holder
  );
}
function moveAddresses(environmentId, from, to) {
  const database = useDatabase();
  const base = numberOf(from);
  database.transaction(() => {
    const rows = database.all("SELECT * FROM addresses WHERE environment_id = ?", environmentId);
    database.run("DELETE FROM addresses WHERE environment_id = ?", environmentId);
    for (const { address, part, holder, released_at } of rows) {
      const moved = addressAt(to, numberOf(address) - base);
      database.run(
        "INSERT INTO addresses (environment_id, address, part, holder, released_at) VALUES (?, ?, ?, ?, ?)",
        environmentId,
        moved,
        part,
        holder,
        released_at
      );
      if (holder === null) continue;
      database.run(
        "UPDATE instances SET address = ?1, upstream_host = iif(upstream_host = ?2, ?1, upstream_host) WHERE id = ?3",
        moved,
        address,
        holder
      );
      database.run("UPDATE datastores SET address = ? WHERE id = ? AND address IS NOT NULL", moved, holder);
    }
  });
}
function jobAddressHolders() {
  const rows = useDatabase().all(
    "SELECT holder FROM addresses WHERE part = 'job' AND holder IS NOT NULL ORDER BY holder"
  );
  return rows.map(({ holder }) => holder);
}
function allot(part, environmentId, subnet, holder, taken) {
  const database = useDatabase();
  return database.transaction(() => {
    const held = database.get("SELECT address FROM addresses WHERE holder = ?", holder);
    if (held && !taken.includes(held.address)) return held.address;
    for (; ; ) {
      releaseAddress(holder);
      const address = neverUsed(part, environmentId, subnet) ?? longestFree(part, environmentId, taken);
      if (address === null) throw new AppError("conflict", `the network ${subnet} has no free address left`);
      database.run(
        `INSERT INTO addresses (environment_id, address, part, holder) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (environment_id, address) DO UPDATE SET holder = ?4, released_at = NULL`,
        environmentId,
        address,
        part.name,
        holder
      );
      if (!taken.includes(address)) return address;
    }
  });
}
function neverUsed(part, environmentId, subnet) {
  const count = useDatabase().get(
    "SELECT count(*) AS used FROM addresses WHERE environment_id = ? AND part = ?",
    environmentId,
    part.name
  ).used;
  const offset = part.first + count;
  return offset > part.last ? null : addressAt(subnet, offset);
}
function longestFree(part, environmentId, taken) {
  const rows = useDatabase().all(
    `SELECT address FROM addresses WHERE environment_id = ? AND part = ? AND holder IS NULL AND released_at <= ?
     ORDER BY released_at LIMIT ?`,
    environmentId,
    part.name,
    Date.now() - part.restMs,
    taken.length + 1
  );
  return rows.find(({ address }) => !taken.includes(address))?.address ?? null;
}
function addressAt(subnet, offset) {
  const address = numberOf(subnet) + offset;
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join(".");
}
function numberOf(address) {
  return address.split("/")[0].split(".").reduce((value, octet) => value * 256 + Number(octet), 0);
}

const DESTINATION = 1;
const MASK = 7;
async function hostRoutes() {
  return subnetsOf(await readFile("/proc/net/route", "utf8").catch(() => ""));
}
function subnetsOf(table) {
  return table.split("\n").slice(1).flatMap((row) => {
    const columns = row.trim().split(/\s+/);
    const destination = addressOf(columns[DESTINATION]);
    const mask = columns[MASK];
    if (destination === null || mask === void 0) return [];
    const prefix = [...Number.parseInt(mask, 16).toString(2)].filter((bit) => bit === "1").length;
    return prefix === 0 ? [] : [`${destination}/${prefix}`];
  });
}
function addressOf(hex) {
  if (hex === void 0 || !/^[0-9A-F]{8}$/i.test(hex)) return null;
  return hex.match(/../g).reverse().map((octet) => Number.parseInt(octet, 16)).join(".");
}

const log$B = logger("environments");
const POOL_BASE = "10.208.0.0";
const POOL_SUBNETS = 256;
const SUBNET_ADDRESSES = 4096;
const PREFIX = 20;
const MAX_REFUSALS = 10;
const NETWORK_PREFIX = "deployer-";
function networkName(environment) {
  return `${NETWORK_PREFIX}${environment.id}`;
}
function environmentOf(name) {
  return name.slice(NETWORK_PREFIX.length);
}
let making = Promise.resolve();
async function ensureNetwork(engine, environment) {
  const name = networkName(environment);
  const existing = await engine.networks.inspect(name);
  if (existing?.subnet && existing.subnet === environment.subnet)
    return { id: existing.id, name, subnet: existing.subnet };
  const made = making.catch(() => {
  }).then(() => makeNetwork(engine, findEnvironment(environment.id)));
  making = made;
  return made;
}
async function makeNetwork(engine, environment) {
  const name = networkName(environment);
  const existing = await engine.networks.inspect(name);
  if (existing) {
    const subnet = existing.subnet ?? environment.subnet;
    if (subnet === null)
      throw new AppError(
        "runtime_error",
        `the network ${name} has no IPv4 subnet: remove it, it is made anew`
      );
    recordSubnet(environment, subnet);
    return { id: existing.id, name, subnet };
  }
  const refused = [];
  for (; ; ) {
    const subnet = chooseSubnet(environment, [...await takenSubnets(engine, environment), ...refused]);
    const gateway = addressAt(subnet, 1);
    const labels = { "deployer.environment": environment.id };
    try {
      const id = await engine.networks.create({ name, subnet, gateway, labels });
      recordSubnet(environment, subnet);
      return { id, name, subnet };
    } catch (error) {
      if (refused.length === MAX_REFUSALS || !isSubnetTaken(error)) throw error;
      refused.push(rangeOf(subnet));
    }
  }
}
function recordSubnet(environment, subnet) {
  const former = environment.subnet;
  if (subnet === former) return;
  useDatabase().transaction(() => {
    setSubnet(environment.id, subnet);
    if (former === null) return;
    moveAddresses(environment.id, former, subnet);
    restSubnet(former);
  });
  if (former !== null)
    log$B.warn("a private network has another subnet now", { environment: environment.name, former, subnet });
}
async function isGatewayLocal(subnet) {
  const server = createServer();
  try {
    server.listen({ host: addressAt(subnet, 1), port: 0 });
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
async function takenSubnets(engine, { id }) {
  const networks = await engine.networks.list();
  const ofEngine = networks.flatMap(({ subnet }) => subnet ? [subnet] : []);
  const ofInterfaces = Object.values(networkInterfaces()).flatMap(
    (addresses) => (addresses ?? []).flatMap(({ family, cidr }) => family === "IPv4" && cidr ? [cidr] : [])
  );
  const pool = rangeOf(`${POOL_BASE}/${PREFIX - Math.log2(POOL_SUBNETS)}`);
  const ofHost = [...ofInterfaces, ...await hostRoutes()].map(rangeOf).filter(({ first, last }) => first > pool.first || last < pool.last);
  const reserved = listEnvironments().flatMap(
    (other) => other.subnet && other.id !== id ? [other.subnet] : []
  );
  return [...ofHost, ...[...ofEngine, ...reserved, ...restingSubnets()].map(rangeOf)];
}
function chooseSubnet({ subnet: former }, taken) {
  const isFree = (subnet) => {
    const { first, last } = rangeOf(subnet);
    return !taken.some((range) => range.first <= last && first <= range.last);
  };
  if (former !== null && isFree(former)) return former;
  for (let index = 0; index < POOL_SUBNETS; index++) {
    const subnet = `${addressAt(`${POOL_BASE}/${PREFIX}`, index * SUBNET_ADDRESSES)}/${PREFIX}`;
    if (isFree(subnet)) return subnet;
  }
  throw new AppError(
    "runtime_error",
    `none of the ${POOL_SUBNETS} subnets /${PREFIX} from ${POOL_BASE} on is free for a private network: delete an environment that is not needed; its subnet is free an hour later`
  );
}
function rangeOf(cidr) {
  const size = 2 ** (32 - Number(cidr.split("/")[1]));
  const first = Math.floor(numberOf(cidr) / size) * size;
  return { first, last: first + size - 1 };
}

const PROBE_NAME = "0-resolver";
const PROBE_ADDRESS = "192.0.2.53";
const LOOPBACK = "127.0.0.1";
class ZoneBook {
  zones = {};
  constructor() {
    for (const { id, subnet } of listEnvironments()) {
      if (subnet === null) continue;
      this.zones[id] = { subnet, gateway: addressAt(subnet, 1), names: { [PROBE_NAME]: [PROBE_ADDRESS] } };
    }
  }
  /** Names a service with what its requests are routed to, so that a name and a route change together. */
  add(environmentId, name, upstreams) {
    const zone = this.zones[environmentId];
    if (!zone) return;
    zone.names[name] = upstreams.map(({ host }) => host).filter((host) => host !== LOOPBACK);
  }
}

async function addressFor(engine, allot, environmentId, network, holder) {
  const found = await engine.networks.inspect(network.id);
  const taken = found?.containers.filter(({ name }) => name !== holder).map(({ address }) => address);
  return allot(environmentId, network.subnet, holder, taken);
}

const log$A = logger("resolver");
const PROBE_MS = 5e3;
const ASK_MS = 1e3;
const PROBE_PREFIX = "deployer-probe-";
const PROBE_MEMORY_BYTES = 64 * 1024 ** 2;
const NO_TOOL = "no lookup program";
const LOOK_UP = `if command -v getent >/dev/null; then getent hosts ${PROBE_NAME}
elif command -v nslookup >/dev/null; then nslookup ${PROBE_NAME}
else echo '${NO_TOOL}'; fi`;
const verdicts = /* @__PURE__ */ new Map();
async function nameServerOf(world, environment, network, imageId) {
  if (world.reachByAddress !== true) return null;
  const gateway = addressAt(network.subnet, 1);
  let verdict = verdicts.get(environment.id);
  if (verdict?.gateway !== gateway) {
    verdict = { gateway, works: judge(world, findEnvironment(environment.id), network, gateway, imageId) };
    verdicts.set(environment.id, verdict);
  }
  let works = null;
  try {
    works = await verdict.works;
  } finally {
    if (works === null && verdicts.get(environment.id) === verdict) verdicts.delete(environment.id);
  }
  return works ?? await isAnswering(gateway) ? gateway : null;
}
async function removeLeftProbes(world) {
  for (const name of jobAddressHolders()) if (name.startsWith(PROBE_PREFIX)) await removeProbe(world, name);
}
async function forgetResolver(world, environmentId) {
  verdicts.delete(environmentId);
  await world.engine.containers.remove(probeName(environmentId));
}
async function judge(world, environment, network, gateway, imageId) {
  const fields = { environment: environment.name, gateway };
  await world.dataPlane.sync();
  if (!await isAnswering(gateway)) {
    log$A.warn(
      "the data plane cannot answer names here (port 53 taken?): engine aliases serve, and names may lead to instances that are stopping",
      fields
    );
    return false;
  }
  const works = await probe$1(world, environment.id, network, gateway, imageId);
  if (works === false) {
    log$A.warn(
      "containers get no answer from the resolver (a firewall on the host?): engine aliases serve, and names may lead to instances that are stopping",
      fields
    );
  } else if (works) log$A.info("containers are answered by the resolver", fields);
  else log$A.info("the image tells nothing about the resolver; the next one is tried", fields);
  return works;
}
async function isAnswering(gateway) {
  const resolver = new Resolver({ timeout: ASK_MS, tries: 2 });
  resolver.setServers([gateway]);
  try {
    return (await resolver.resolve4(PROBE_NAME)).includes(PROBE_ADDRESS);
  } catch (error) {
    return error.code === REFUSED;
  }
}
async function probe$1(world, environmentId, network, gateway, image) {
  const { containers } = world.engine;
  const name = probeName(environmentId);
  try {
    await containers.remove(name);
    await containers.create({
      name,
      image,
      labels: { "deployer.kind": "probe", "deployer.environment": environmentId },
      env: {},
      entrypoint: ["/bin/sh"],
      command: ["-c", LOOK_UP],
      network: network.name,
      address: await addressFor(world.engine, allotJobAddress, environmentId, network, name),
      dns: [gateway],
      memoryBytes: PROBE_MEMORY_BYTES,
      cpus: 1
    });
    await containers.start(name);
    const limit = AbortSignal.timeout(PROBE_MS);
    const end = await containers.wait(name, limit).catch((error) => {
      if (!limit.aborted) throw error;
      return null;
    });
    let output = "";
    for await (const { line } of world.engine.output.logs(name, { signal: AbortSignal.timeout(ASK_MS) }))
      output += `${line}
`;
    if (output.includes(PROBE_ADDRESS)) return true;
    return output.includes(NO_TOOL) || end !== null && end.exitCode > 2 ? null : false;
  } catch (error) {
    log$A.debug("the probe did not run", { error: messageOf(error) });
    return null;
  } finally {
    await removeProbe(world, name);
  }
}
async function removeProbe(world, name) {
  try {
    await world.engine.containers.remove(name);
    releaseAddress(name);
  } catch (error) {
    log$A.warn("a probe is left", { name, error: messageOf(error) });
  }
}
function probeName(environmentId) {
  return `${PROBE_PREFIX}${environmentId}`;
}

const log$z = logger("environments");
const MAKE_MS = 1e4;
const PERIOD_MS$j = 6e4;
async function provideNetwork(world, environment) {
  if (world.reachByAddress === null || world.engineFault !== null) return;
  const made = ensureNetwork(world.engine, environment).then(() => world.dataPlane.sync());
  try {
    await Promise.race([made, setTimeout$1(MAKE_MS, void 0, { ref: false })]);
  } catch (error) {
    throw new AppError("runtime_error", `saved; not applied yet: ${messageOf(error)}`, { cause: error });
  } finally {
    made.catch(() => {
    });
  }
}
async function removeNetwork(world, environment) {
  const removal = remove(world, environment.id).catch(
    (error) => log$z.warn("a private network could not be removed yet", {
      environment: environment.name,
      error: messageOf(error)
    })
  );
  await Promise.race([removal, setTimeout$1(MAKE_MS, void 0, { ref: false })]);
}
function environments(world) {
  return {
    name: "environments",
    everyMs: PERIOD_MS$j,
    async run(signal) {
      if (world.reachByAddress === null) return;
      const known = new Set(listEnvironments().map(({ id }) => id));
      for (const name of world.engine.networks.names()) {
        signal.throwIfAborted();
        const id = environmentOf(name);
        if (known.has(id)) continue;
        await remove(world, id).catch(
          (error) => log$z.warn("a private network cannot be removed yet", { network: name, error: messageOf(error) })
        );
      }
    }
  };
}
async function remove(world, environmentId) {
  await forgetResolver(world, environmentId);
  await world.dataPlane.sync();
  await world.engine.networks.remove(networkName({ id: environmentId }));
}

async function routed({ dataPlane }) {
  try {
    await dataPlane.sync();
  } catch (cause) {
    throw new AppError("runtime_error", `saved; not routed yet: ${messageOf(cause)}`, { cause });
  }
}

const log$y = logger("blueprints");
async function applyBlueprint(world, text, context, options) {
  const environment = findEnvironment(context.environment).name;
  const file = await readBlueprintAside(text, { ...context, environment });
  const { madeEnvironments, ...result } = applyFile(file, options);
  if (options.dryRun) return result;
  for (const name of madeEnvironments) {
    await provideNetwork(world, findEnvironment(name)).catch(
      (error) => log$y.warn("the network of a new environment is made later", {
        environment: name,
        error: messageOf(error)
      })
    );
  }
  if (changesRoutes(result)) await routed(world);
  return result;
}
function changesRoutes({ actions }) {
  return actions.some(
    ({ changes }) => changes.some((change) => /^(?:custom_domains|canonical_domain|compression):/.test(change))
  );
}

const log$x = logger("blueprints");
const PERIOD_MS$i = 6e4;
class BlueprintSync {
  #world;
  /** The syncs of one blueprint go one after another. */
  #turns = /* @__PURE__ */ new Map();
  constructor(world) {
    this.#world = world;
  }
  /** Applies what was pushed, as soon as a push is noted. */
  task(wake) {
    whenBlueprintPushed(wake);
    return {
      name: "blueprints",
      everyMs: PERIOD_MS$i,
      run: async () => {
        for (const { id, pending_commit } of listBlueprints().filter((row) => row.pending_commit !== null))
          await this.#inTurn(id, () => this.#applyPush(id, pending_commit));
      }
    };
  }
  /** Reads the file of the branch's head now and applies it. Throws what keeps it from that, which is recorded too. */
  sync({ id }) {
    return this.#inTurn(id, async () => {
      const row = findBlueprint(id);
      return await this.#run(row, { commit: null, confined: false }, false);
    });
  }
  async #inTurn(id, work) {
    const before = this.#turns.get(id) ?? Promise.resolve();
    const turn = before.catch(() => {
    }).then(work);
    this.#turns.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id);
    }
  }
  async #applyPush(id, commit) {
    const row = listBlueprints().find((other) => other.id === id);
    if (!row) return;
    try {
      await this.#run(row, { commit, confined: true }, true);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log$x.warn("a blueprint was not applied", { blueprint: row.name, error: error.message });
      if (error.code === "git_remote_unreachable" || error.code === "git_provider_unavailable") return;
    }
    settlePush(id, commit);
  }
  /** Null when `onlyChanged` is asked for, the file is the one that was applied last and no fault came after. */
  async #run(row, which, onlyChanged) {
    let commit = which.commit;
    const record = (sync, digest) => recordSync(row.id, { at: timestamp(Date.now()), commit, ...sync }, digest);
    try {
      const url = addressOf$1(row);
      const file = await readRepositoryFile({ url, branch: row.branch, path: row.path, ...which });
      commit = file.commit;
      const digest = sha256(file.yaml);
      const isSettled = digest === row.synced_digest && lastSyncOf(row)?.status !== "failed";
      if (onlyChanged && isSettled) return null;
      const context = { environment: row.environment ?? void 0, repository: { url, branch: row.branch } };
      const options = { dryRun: false, keepsHandSet: row.overwrite_variables === 0 };
      const result = await applyBlueprint(this.#world, file.yaml, context, options);
      const isChanged = result.actions.some(({ action }) => action !== "unchanged");
      record({ status: isChanged ? "succeeded" : "unchanged", error: null, actions: result.actions }, digest);
      return result;
    } catch (error) {
      record({ status: "failed", error: messageOf(error), actions: [] });
      throw error;
    }
  }
}

const CHAIN = "fullchain.pem";
const KEY$1 = "privkey.pem";
const NEXT_KEY = "next.privkey.pem";
const KEPT_VERSIONS = 2;
const VERSION_BYTES = 4;
function certificateFolder(name) {
  return join(useContext().options.dataDirectory, "certificates", name.replace("*", "_"));
}
function versionFiles(name, version) {
  const folder = certificateFolder(name);
  return { certificate: join(folder, `${version}.${CHAIN}`), key: join(folder, `${version}.${KEY$1}`) };
}
function writeVersion(name, chain, key) {
  const version = randomBytes(VERSION_BYTES).toString("hex");
  const files = versionFiles(name, version);
  writePrivateFile(files.key, key);
  writePrivateFile(files.certificate, chain);
  const folder = certificateFolder(name);
  writePrivateFile(join(folder, KEY$1), key);
  writePrivateFile(join(folder, CHAIN), chain);
  return version;
}
function removeOldVersions(name, current) {
  const folder = certificateFolder(name);
  const files = readdirSync(folder);
  const former = files.filter((file) => file.endsWith(`.${CHAIN}`) && !file.startsWith(`${current}.`)).map((file) => ({ file, written: statSync(join(folder, file)).mtimeMs })).toSorted((left, right) => right.written - left.written).map(({ file }) => file.slice(0, -CHAIN.length - 1));
  const kept = /* @__PURE__ */ new Set([CHAIN, KEY$1]);
  for (const version of [current, ...former].slice(0, KEPT_VERSIONS))
    for (const file of [CHAIN, KEY$1]) kept.add(`${version}.${file}`);
  for (const file of files) if (!kept.has(file)) rmSync(join(folder, file), { force: true });
}
async function nextKey(name, make) {
  const file = join(certificateFolder(name), NEXT_KEY);
  if (existsSync(file)) return readFileSync(file, "utf8");
  const key = await make();
  writePrivateFile(file, key);
  return key;
}
function hasNextKey(name) {
  return existsSync(join(certificateFolder(name), NEXT_KEY));
}
function removeCertificateFiles(name) {
  rmSync(certificateFolder(name), { recursive: true, force: true });
}
function uploadedFiles(id) {
  const folder = certificateFolder(join("_uploaded", id));
  return { certificate: join(folder, CHAIN), key: join(folder, KEY$1) };
}
function writeUploaded(id, chain, key) {
  const files = uploadedFiles(id);
  writePrivateFile(files.key, key);
  writePrivateFile(files.certificate, chain);
}
function removeUploaded(id) {
  removeCertificateFiles(join("_uploaded", id));
}
function writeChallenge(chain, key) {
  const folder = join(challengeFolder(), randomBytes(VERSION_BYTES).toString("hex"));
  const files = { certificate: join(folder, CHAIN), key: join(folder, KEY$1) };
  writePrivateFile(files.key, key);
  writePrivateFile(files.certificate, chain);
  return { ...files, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
function removeChallenges() {
  rmSync(challengeFolder(), { recursive: true, force: true });
}
function challengeFolder() {
  return certificateFolder("_challenges");
}
function accountKeyFile(directory) {
  const { host, pathname } = new URL(directory);
  const place = `${host}${pathname}`.replaceAll(/[^a-z0-9.-]+/gi, "_");
  return join(accountFolder(), place, KEY$1);
}
function moveAccountKeys() {
  const former = certificateFolder("_accounts");
  if (!existsSync(former)) return;
  if (existsSync(accountFolder())) rmSync(former, { recursive: true });
  else renameSync(former, accountFolder());
}
function accountFolder() {
  return join(useContext().options.dataDirectory, "acme-accounts");
}

const certificateMachine = defineMachine({
  table: "certificates",
  moves: {
    pending: ["pending", "issuing"],
    issuing: ["issuing", "issued", "failed"],
    issued: ["pending", "issuing"],
    failed: ["pending", "issuing"]
  }
});

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;
function readChain(pem) {
  return (pem.match(CERTIFICATE) ?? []).map((text) => new X509Certificate(text));
}
function readFacts(pem) {
  const [leaf] = readChain(pem);
  if (!leaf) throw new Error("there is no certificate in it");
  return factsOf(leaf);
}
function factsOf(leaf) {
  return {
    hosts: [...(leaf.subjectAltName ?? "").matchAll(/DNS:([^,\s"]+)/g)].map(
      ([, name]) => name.toLowerCase()
    ),
    issuer: /^(?:CN|O)=(.+)$/m.exec(leaf.issuer)?.[1] ?? leaf.issuer,
    notBefore: Date.parse(leaf.validFrom),
    notAfter: Date.parse(leaf.validTo)
  };
}
function assembleChain(certificatePem, keyPem) {
  let certificates;
  try {
    certificates = readChain(certificatePem);
  } catch {
    throw new Error("certificate: it holds what is no certificate");
  }
  if (certificates.length === 0) throw new Error("certificate: there is no PEM certificate in it");
  const key = readKey(keyPem);
  const leaf = certificates.find((certificate) => certificate.checkPrivateKey(key));
  if (!leaf) throw new Error("private_key: it belongs to none of the certificates");
  const facts = factsOf(leaf);
  if (facts.hosts.length === 0) throw new Error("certificate: it names no host (subjectAltName)");
  if (facts.notAfter <= Date.now())
    throw new Error(`certificate: it ended at ${new Date(facts.notAfter).toISOString()}`);
  const ordered = inOrder$1(leaf, certificates);
  return {
    chain: ordered.map((certificate) => certificate.toString()).join(""),
    key: key.export({ type: "pkcs8", format: "pem" }),
    facts
  };
}
function readKey(pem) {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error("private_key: it is no PEM private key without a passphrase");
  }
}
function inOrder$1(leaf, certificates) {
  const ordered = [leaf];
  let left = certificates.filter(({ fingerprint256 }) => fingerprint256 !== leaf.fingerprint256);
  for (let last = leaf; left.length > 0; ) {
    const issuer = left.find((candidate) => last.checkIssued(candidate) && last.verify(candidate.publicKey));
    if (!issuer)
      throw new Error(
        `certificate: the chain is broken: nothing in it issued ${last.subject.replaceAll("\n", ", ")}`
      );
    ordered.push(issuer);
    left = left.filter(({ fingerprint256 }) => fingerprint256 !== issuer.fingerprint256);
    last = issuer;
  }
  return ordered;
}

const MINUTE_MS = 6e4;
const STEPS$1 = [
  { untilMs: 10 * MINUTE_MS, everyMs: 5e3 },
  { untilMs: 70 * MINUTE_MS, everyMs: MINUTE_MS },
  { untilMs: Infinity, everyMs: 10 * MINUTE_MS }
];
class Looks {
  #settledMs;
  #now;
  #names = /* @__PURE__ */ new Map();
  /** `settledMs`: how often what leads here is looked at again. `now` is monotonic milliseconds. */
  constructor(settledMs, now = () => performance.now()) {
    this.#settledMs = settledMs;
    this.#now = now;
  }
  isDue(name) {
    return (this.#names.get(name)?.nextAt ?? -Infinity) <= this.#now();
  }
  /** Whether the last look, which still holds, found a name here. */
  isHere(name) {
    return this.#names.get(name)?.unsettledSince === Infinity && !this.isDue(name);
  }
  /** Those of some names that are due, the longest unseen first, else in their order. */
  dueOf(items) {
    const nextAt = ({ id }) => this.#names.get(id)?.nextAt ?? Number.MIN_SAFE_INTEGER;
    return items.filter(({ id }) => this.isDue(id)).toSorted((left, right) => nextAt(left) - nextAt(right));
  }
  /** How long until a name is looked at again; 0 when it is due. */
  waitMs(name) {
    return Math.max(0, (this.#names.get(name)?.nextAt ?? -Infinity) - this.#now());
  }
  /** A name was looked at. */
  done(name, leadsHere) {
    const now = this.#now();
    const before = this.#names.get(name)?.unsettledSince ?? Infinity;
    const unsettledSince = leadsHere ? Infinity : Math.min(before, now);
    const step = STEPS$1.find(({ untilMs }) => now - unsettledSince < untilMs);
    this.#names.set(name, { unsettledSince, nextAt: now + (leadsHere ? this.#settledMs : step.everyMs) });
  }
  /** Looks at a name soon and often again, as at the first time. */
  forget(name) {
    this.#names.delete(name);
  }
  /** Forgets every name but these. */
  keep(names) {
    for (const name of this.#names.keys()) if (!names.has(name)) this.#names.delete(name);
  }
}

const log$w = logger("clock");
const JUMP_MS = 10 * 6e4;
const HOLD_MS = 6e4;
const SLACK_MS$1 = 1e3;
const HOST$1 = { now: () => Date.now(), monotonic: () => performance.now() };
class ClockGuard {
  #clock;
  #lastNow;
  #lastMonotonic;
  #heldUntil = -Infinity;
  constructor(newestRow = newestMoment(), clock = HOST$1) {
    this.#clock = clock;
    this.#lastNow = clock.now();
    this.#lastMonotonic = clock.monotonic();
    if (this.#lastNow + SLACK_MS$1 < newestRow)
      this.#hold(
        `the clock is before ${new Date(newestRow).toISOString()}, when the newest record was written`
      );
  }
  /** How long what goes by the clock has to wait still; 0 when it may go on. */
  heldMs() {
    const now = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    const jump = now - this.#lastNow - (monotonic - this.#lastMonotonic);
    this.#lastNow = now;
    this.#lastMonotonic = monotonic;
    if (Math.abs(jump) > JUMP_MS)
      this.#hold(
        `the clock was set ${jump > 0 ? "forward" : "back"} by ${Math.round(Math.abs(jump) / 6e4)} minutes`
      );
    return Math.max(0, this.#heldUntil - monotonic);
  }
  #hold(why) {
    this.#heldUntil = this.#clock.monotonic() + HOLD_MS;
    log$w.warn(`${why}: what goes by the clock waits for a minute`);
  }
}
let shared;
function clockGuard() {
  return shared ??= new ClockGuard();
}
function newestMoment() {
  const row = useDatabase().get(
    `SELECT max(
       coalesce((SELECT created_at FROM deploys ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT created_at FROM jobs ORDER BY sequence DESC LIMIT 1), 0),
       coalesce((SELECT max(seen_at) FROM schedule_marks), 0)) AS newest`
  );
  return row.newest;
}

class AcmeProblem extends Error {
  name = "AcmeProblem";
  /** The last part of its type: `rateLimited`, `badCSR`. */
  kind;
  /** When to ask again, in milliseconds from now; null where it did not say. */
  retryAfterMs;
  constructor(kind, message, retryAfterMs) {
    super(message);
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
  }
}
class AuthorityAway extends Error {
  name = "AuthorityAway";
}
function readRetryAfter(value, now = Date.now()) {
  if (typeof value !== "string") return null;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1e3 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}

const ANSWER_MS$3 = 3e4;
const MAX_ANSWER_BYTES = 1024 * 1024;
const POLL_FIRST_MS = 250;
const POLL_LONGEST_MS = 5e3;
const POLLS = 22;
let loading;
function loadAcme() {
  loading ??= import('acme-client').then(({ default: acme }) => {
    prepare(acme);
    return acme;
  });
  return loading;
}
function prepare(acme) {
  const { trusted } = useContext().options.acme;
  const { defaults, interceptors } = acme.axios;
  defaults.timeout = ANSWER_MS$3;
  defaults.maxContentLength = MAX_ANSWER_BYTES;
  defaults.validateStatus = null;
  defaults.headers.common["User-Agent"] = `deployer/${VERSION$1}`;
  defaults.httpsAgent = new Agent({
    keepAlive: true,
    ...trusted === null ? {} : { ca: [...rootCertificates, trusted] }
  });
  interceptors.request.clear();
  interceptors.request.use((request) => ({ ...request, signal: AbortSignal.timeout(ANSWER_MS$3) }));
  interceptors.response.clear();
  interceptors.response.use(
    (response) => {
      const problem = response.data ?? {};
      const kind = problem.type?.split(":").at(-1) ?? "";
      if (response.status < 400 || kind === "badNonce") return response;
      if (kind === "" && response.status >= 500)
        throw new AuthorityAway(`the certificate authority answers with status ${response.status}`);
      throw new AcmeProblem(
        kind,
        problem.detail ?? `the certificate authority answered with status ${response.status}`,
        readRetryAfter(response.headers["retry-after"])
      );
    },
    (error) => {
      if (error instanceof AcmeProblem || error instanceof AuthorityAway) throw error;
      throw new AuthorityAway(`the certificate authority does not answer: ${error.code ?? error.message}`, {
        cause: error
      });
    }
  );
}
class Authority {
  #client = null;
  /** Undefined before it was asked. */
  #renewalInfo;
  /** Does something with the account. One that the authority does not know any more is made anew. */
  async withClient(work) {
    const acme = await loadAcme();
    const client = await this.#account(acme);
    try {
      return await work(client, acme);
    } catch (error) {
      if (!(error instanceof AcmeProblem) || error.kind !== "accountDoesNotExist") throw error;
      this.#client = null;
      return work(await this.#account(acme), acme);
    }
  }
  /** Where it advises when to renew (RFC 9773 section 4.1), without a slash at the end; null when it does not. */
  async renewalInfo() {
    if (this.#renewalInfo !== void 0) return this.#renewalInfo;
    const { axios } = await loadAcme();
    const { data } = await axios.get(useContext().options.acme.directory);
    const place = data.renewalInfo;
    this.#renewalInfo = typeof place === "string" ? place.replace(/\/$/, "") : null;
    return this.#renewalInfo;
  }
  #account(acme) {
    this.#client ??= openAccount(acme).catch((error) => {
      this.#client = null;
      throw error;
    });
    return this.#client;
  }
}
async function openAccount(acme) {
  const { directory, email, externalAccount } = useContext().options.acme;
  const client = new acme.Client({
    directoryUrl: directory,
    accountKey: await accountKey(acme, directory),
    ...externalAccount ? { externalAccountBinding: { kid: externalAccount.kid, hmacKey: externalAccount.key } } : {},
    backoffAttempts: POLLS,
    backoffMin: POLL_FIRST_MS,
    backoffMax: POLL_LONGEST_MS
  });
  const wanted = { termsOfServiceAgreed: true, ...email === null ? {} : { contact: [`mailto:${email}`] } };
  await client.createAccount(wanted).catch((error) => {
    if (!hasAccount(client)) throw error;
  });
  return client;
}
function hasAccount(client) {
  try {
    return client.getAccountUrl() !== "";
  } catch {
    return false;
  }
}
async function accountKey(acme, directory) {
  const file = accountKeyFile(directory);
  if (existsSync(file)) return readFileSync(file, "utf8");
  const key = (await acme.crypto.createPrivateEcdsaKey("P-256")).toString();
  writePrivateFile(file, key);
  return key;
}

const FIRST_MS = 6e4;
const LONGEST_MS$3 = 12 * 36e5;
const JITTER = 0.2;
function backoffMs(failures, random = Math.random()) {
  const ms = Math.min(FIRST_MS * 2 ** Math.min(failures - 1, 20), LONGEST_MS$3);
  return Math.round(ms * (1 + JITTER * (2 * random - 1)));
}
class MinuteGate {
  #limit;
  #passed = [];
  constructor(limit) {
    this.#limit = limit;
  }
  /** How many more may pass now. */
  left(now = performance.now()) {
    this.#passed = this.#passed.filter((at) => now - at < 6e4);
    return this.#limit - this.#passed.length;
  }
  /** Whether one more may pass now; then it has. */
  pass(now = performance.now()) {
    if (this.left(now) === 0) return false;
    this.#passed.push(now);
    return true;
  }
}
const AWAY_FIRST_MS = 3e4;
const AWAY_LONGEST_MS = 30 * 6e4;
class AwayTimes {
  #until = -Infinity;
  #times = 0;
  /** It did not answer, or refused more. Answers for how long it is left alone; of several that fail together the first counts. */
  failed(now = performance.now()) {
    if (now >= this.#until) {
      this.#until = now + Math.min(AWAY_FIRST_MS * 2 ** Math.min(this.#times, 20), AWAY_LONGEST_MS);
      this.#times++;
    }
    return this.#until - now;
  }
  answered() {
    this.#times = 0;
    this.#until = -Infinity;
  }
  isOver(now = performance.now()) {
    return now >= this.#until;
  }
}

const log$v = logger("certificates");
const DAY_MS$1 = 24 * 36e5;
const NEAR_MS$1 = 14 * DAY_MS$1;
const NEAR_PART = 1 / 6;
function isNearEnd(notBefore, notAfter, now = Date.now()) {
  return notAfter - now < Math.min(NEAR_MS$1, (notAfter - notBefore) * NEAR_PART);
}
class ExpiryWatch {
  #told = /* @__PURE__ */ new Map();
  look(rows, now = Date.now()) {
    for (const { id, not_before, not_after, error } of rows) {
      if (not_before !== null && not_after !== null) this.#judge(id, id, not_before, not_after, now, error);
    }
    for (const { id, hosts, not_before, not_after } of listUploaded()) {
      const names = JSON.parse(hosts).join(", ");
      this.#judge(id, `${names} (uploaded)`, not_before, not_after, now, null);
    }
  }
  #judge(id, label, notBefore, notAfter, now, error) {
    const day = Math.floor((notAfter - now) / DAY_MS$1);
    if (!isNearEnd(notBefore, notAfter, now)) return void this.#told.delete(id);
    if (this.#told.get(id) === day) return;
    this.#told.set(id, day);
    const end = new Date(notAfter).toISOString();
    const message = now < notAfter ? `the certificate of ${label} ends at ${end}` : `the certificate of ${label} ended at ${end}`;
    log$v.warn(message, error === null ? {} : { error });
  }
}

function wantedNames() {
  const uploaded = new UploadedBook();
  const names = new CertificateNames();
  const wanted = /* @__PURE__ */ new Map();
  for (const routed of routedHosts()) {
    const { host } = routed;
    if (isLocalName(host) || uploaded.find(host)) continue;
    const name = names.nameOf(routed);
    const known = wanted.get(name);
    if (known) known.hosts.push(routed);
    else wanted.set(name, { hosts: [routed], waitsFor: names.waitsFor(routed) });
  }
  return wanted;
}
const CLOCK_SLACK_MS$1 = 6e4;
function isDue(row, directory, now = Date.now()) {
  if (row.status === "failed") return (row.retry_at ?? 0) <= now || row.updated_at > now + CLOCK_SLACK_MS$1;
  if (row.status === "issued") return row.directory !== directory || (row.renew_at ?? 0) <= now;
  return true;
}
function byNeed(left, right) {
  return (left.not_after ?? 0) - (right.not_after ?? 0) || left.created_at - right.created_at;
}
function forgetEnded(unwanted, now = Date.now()) {
  for (const { id, not_after } of unwanted) {
    if ((not_after ?? 0) > now) continue;
    deleteCertificate(id);
    removeCertificateFiles(id);
  }
}

async function obtainCertificate(client, acme, name, prover, replaces) {
  let order = await formerOrder(client, name) ?? await newOrder(client, name, replaces);
  const makeKey = async () => (await acme.crypto.createPrivateEcdsaKey("P-256")).toString();
  const key = await nextKey(name, makeKey);
  if (order.status === "pending") {
    for (const authorization of await client.getAuthorizations(order))
      await prove(client, authorization, prover);
    order = await settledOrder(client, order);
  }
  if (order.status === "ready") {
    const [, request] = await acme.crypto.createCsr({ altNames: [name] }, key);
    order = await client.finalizeOrder(order, request);
  }
  if (order.status !== "valid") order = await settledOrder(client, order);
  return { chain: await client.getCertificate(order), key };
}
async function settledOrder(client, order) {
  return { ...await client.waitForValidStatus(order), url: order.url };
}
async function formerOrder(client, name) {
  const url = getCertificate(name)?.order_url ?? null;
  if (url === null || !hasNextKey(name)) return null;
  try {
    const order = await client.getOrder({ url });
    return order.status === "invalid" ? null : order;
  } catch (error) {
    if (error instanceof AcmeProblem) return null;
    throw error;
  }
}
async function newOrder(client, name, replaces) {
  const identifiers = [{ type: "dns", value: name }];
  const order = await client.createOrder({ identifiers, ...replaces === null ? {} : { replaces } }).catch((error) => {
    if (!(error instanceof AcmeProblem) || error.kind !== "alreadyReplaced") throw error;
    return client.createOrder({ identifiers });
  });
  setOrder(name, order.url);
  return order;
}
async function prove(client, authorization, prover) {
  if (authorization.status === "valid") return;
  const challenge = authorization.challenges.find(({ type }) => type === prover.type);
  if (!challenge)
    throw new Error(
      `the certificate authority offers no ${prover.type} for ${authorization.identifier.value}`
    );
  const proof = await client.getChallengeKeyAuthorization(challenge);
  const { value } = authorization.identifier;
  const takeAway = await prover.show(value, challenge.token, proof, authorization);
  try {
    await client.completeChallenge(challenge);
    await client.waitForValidStatus(authorization);
  } catch (error) {
    throw await refusalOf(client, authorization) ?? error;
  } finally {
    await takeAway();
  }
}
async function refusalOf(client, { url }) {
  const [now] = await client.getAuthorizations({ authorizations: [url] }).catch(() => []);
  const challenges = now?.challenges ?? [];
  const found = challenges.find(({ error }) => error?.detail)?.error;
  return found ? new AcmeProblem(found.type?.split(":").at(-1) ?? "", found.detail, null) : null;
}

const API = "https://api.cloudflare.com/client/v4";
const ANSWER_MS$2 = 3e4;
const TTL$1 = 60;
const Answer = z.object({
  success: z.boolean(),
  errors: z.array(z.object({ message: z.string() })).default([]),
  result: z.unknown()
});
const Records = z.array(z.object({ id: z.string() }));
class Cloudflare {
  #token;
  #api;
  constructor(token, api = API) {
    this.#token = token;
    this.#api = api;
  }
  async present(name, value) {
    const zone = await this.#zoneOf(name);
    if ((await this.#find(zone, name, value)).length > 0) return;
    await this.#ask(`/zones/${zone}/dns_records`, {
      method: "POST",
      body: { type: "TXT", name, content: quoted(value), ttl: TTL$1 }
    });
  }
  async cleanUp(name, value) {
    const zone = await this.#zoneOf(name);
    for (const { id } of await this.#find(zone, name, value))
      await this.#ask(`/zones/${zone}/dns_records/${id}`, { method: "DELETE" });
  }
  /** The zone that holds a name: the longest of its parents that the token may see. */
  async #zoneOf(name) {
    const labels = name.split(".");
    for (let at = 1; at < labels.length - 1; at++) {
      const parent = labels.slice(at).join(".");
      const [zone] = Records.parse(await this.#ask("/zones", { query: { name: parent } }));
      if (zone) return zone.id;
    }
    throw new Error(`Cloudflare has no zone for ${name} that the token may see`);
  }
  async #find(zone, name, value) {
    const query = { type: "TXT", name, content: quoted(value) };
    return Records.parse(await this.#ask(`/zones/${zone}/dns_records`, { query }));
  }
  async #ask(path, options) {
    const answer = Answer.parse(
      await ofetch(this.#api + path, {
        ...options,
        headers: { authorization: `Bearer ${this.#token}` },
        timeout: ANSWER_MS$2,
        retry: 0,
        // The reason is in the body.
        ignoreResponseError: true
      })
    );
    if (answer.success) return answer.result;
    throw new Error(`Cloudflare refused: ${answer.errors.map(({ message }) => message).join("; ")}`);
  }
}
function quoted(value) {
  return `"${value}"`;
}

const PROGRAM_MS = 5 * 6e4;
const MAX_OUTPUT_BYTES = 64 * 1024;
class ExecProvider {
  #program;
  constructor(program) {
    this.#program = program;
  }
  present(name, value) {
    return this.#call("present", name, value);
  }
  cleanUp(name, value) {
    return this.#call("cleanup", name, value);
  }
  #call(action, name, value) {
    return new Promise((resolve, reject) => {
      execFile(
        this.#program,
        [action, name, value],
        { timeout: PROGRAM_MS, maxBuffer: MAX_OUTPUT_BYTES, env: programEnvironment() },
        (error, _stdout, stderr) => {
          if (!error) return resolve();
          const said = stderr.trim() || error.message;
          reject(new Error(`${this.#program} ${action} failed: ${said}`, { cause: error }));
        }
      );
    });
  }
}
function programEnvironment() {
  const isServers = (name) => name.startsWith("DEPLOYER_") && !name.startsWith("DEPLOYER_ACME_DNS_");
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isServers(name)));
}

const TYPE = { SOA: 6, TXT: 16, TSIG: 250 };
const CLASS = { IN: 1, NONE: 254, ANY: 255 };
const OPCODE_UPDATE = 5;
const HEAD_BYTES = 12;
const FUDGE_SECONDS = 300;
const HASHES = {
  "hmac-sha1": "sha1",
  "hmac-sha256": "sha256",
  "hmac-sha384": "sha384",
  "hmac-sha512": "sha512"
};
function updateRequest(update, key) {
  const id = randomInt(65536);
  const zone = Buffer.concat([wireName(update.zone), uint16(TYPE.SOA), uint16(CLASS.IN)]);
  const text = Buffer.from(update.value);
  const data = Buffer.concat([Buffer.of(text.length), text]);
  const isAdded = update.action === "add";
  const record = Buffer.concat([
    ...[wireName(update.name), uint16(TYPE.TXT), uint16(isAdded ? CLASS.IN : CLASS.NONE)],
    ...[uint32(isAdded ? update.ttl : 0), uint16(data.length), data]
  ]);
  const head = (additional) => Buffer.concat([id, OPCODE_UPDATE << 11, 1, 0, 1, additional].map(uint16));
  const body = Buffer.concat([zone, record]);
  if (!key) return { id, bytes: Buffer.concat([head(0), body]), mac: null };
  const seconds = Math.floor(Date.now() / 1e3);
  const { variables, tail } = tsigParts(key, seconds);
  const mac = createHmac(HASHES[key.algorithm], Buffer.from(key.secret, "base64")).update(Buffer.concat([head(0), body, variables])).digest();
  return { id, bytes: Buffer.concat([head(1), body, tail(mac, id)]), mac };
}
function readAnswer(answer, request, key) {
  if (answer.length < HEAD_BYTES || answer.readUInt16BE(0) !== request.id)
    throw new Error("it is no answer to this request");
  const code = answer.readUInt16BE(2) & 15;
  if (key && code === 0) verifyAnswer(answer, request, key);
  return code;
}
const CODES = {
  1: "FORMERR",
  2: "SERVFAIL",
  4: "NOTIMP",
  5: "REFUSED",
  8: "NXRRSET",
  9: "NOTAUTH (the key or its secret is another)",
  10: "NOTZONE"
};
function verifyAnswer(answer, request, key) {
  const at = signatureAt(answer, key);
  const { mac, seconds } = readSignature(answer, at, key);
  const head = Buffer.from(answer.subarray(0, HEAD_BYTES));
  head.writeUInt16BE(head.readUInt16BE(10) - 1, 10);
  const expected = createHmac(HASHES[key.algorithm], Buffer.from(key.secret, "base64")).update(Buffer.concat([uint16(request.mac.length), request.mac, head])).update(answer.subarray(HEAD_BYTES, at)).update(tsigParts(key, seconds).variables).digest();
  if (expected.length !== mac.length || !timingSafeEqual(expected, mac))
    throw new Error("its signature is wrong");
}
function signatureAt(answer, key) {
  const at = answer.lastIndexOf(Buffer.concat([wireName(key.name), uint16(TYPE.TSIG), uint16(CLASS.ANY)]));
  if (at < 0) throw new Error("it is not signed");
  return at;
}
function readSignature(answer, at, key) {
  const data = at + wireName(key.name).length + 10 + wireName(key.algorithm).length;
  const seconds = answer.readUIntBE(data, 6);
  const length = answer.readUInt16BE(data + 8);
  return { mac: answer.subarray(data + 10, data + 10 + length), seconds };
}
function tsigParts({ name, algorithm }, seconds) {
  const time = Buffer.alloc(6);
  time.writeUIntBE(seconds, 0, 6);
  const owner = wireName(name);
  const hash = wireName(algorithm);
  const noError = Buffer.concat([uint16(0), uint16(0)]);
  return {
    variables: Buffer.concat([
      owner,
      uint16(CLASS.ANY),
      uint32(0),
      hash,
      time,
      uint16(FUDGE_SECONDS),
      noError
    ]),
    tail(mac, id) {
      const data = Buffer.concat([
        hash,
        time,
        uint16(FUDGE_SECONDS),
        uint16(mac.length),
        mac,
        uint16(id),
        noError
      ]);
      const head = [owner, uint16(TYPE.TSIG), uint16(CLASS.ANY), uint32(0), uint16(data.length)];
      return Buffer.concat([...head, data]);
    }
  };
}
function wireName(name) {
  const labels = name.toLowerCase().replace(/\.$/, "").split(".");
  return Buffer.concat([
    ...labels.flatMap((label) => [Buffer.of(Buffer.byteLength(label)), Buffer.from(label)]),
    Buffer.of(0)
  ]);
}
function uint16(value) {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}
function uint32(value) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

const ANSWER_MS$1 = 1e4;
const TTL = 60;
class UpdateProvider {
  #provider;
  constructor(provider) {
    this.#provider = provider;
  }
  present(name, value) {
    return this.#update(name, value, "add");
  }
  cleanUp(name, value) {
    return this.#update(name, value, "remove");
  }
  async #update(name, value, action) {
    const { server, tsig } = this.#provider;
    const request = updateRequest({ zone: await this.#zoneOf(name), name, value, action, ttl: TTL }, tsig);
    let code;
    try {
      code = readAnswer(await this.#exchange(request.bytes), request, tsig);
    } catch (error) {
      throw new Error(`the name server ${server} was not understood: ${error.message}`, {
        cause: error
      });
    }
    if (code !== 0)
      throw new Error(`the name server ${server} refused the update of ${name}: ${CODES[code] ?? code}`);
  }
  /** The zone that holds a name: the nearest of its parents that begins with authority, asked of the server itself. */
  async #zoneOf(name) {
    const resolver = createResolver([this.#provider.server]);
    const labels = name.split(".");
    for (let at = 1; at < labels.length; at++) {
      const parent = labels.slice(at).join(".");
      const isZone = await resolver.resolveSoa(parent).then(
        () => true,
        () => false
      );
      if (isZone) return parent;
    }
    throw new Error(`the name server ${this.#provider.server} has no zone for ${name}`);
  }
  /** One message there and one back, over TCP: RFC 1035 section 4.2.2 puts its length before each. */
  #exchange(message) {
    const [, host, port] = /^\[?([^\]]+?)\]?:(\d+)$/.exec(this.#provider.server);
    const length = Buffer.alloc(2);
    length.writeUInt16BE(message.length);
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port: Number(port), timeout: ANSWER_MS$1 });
      let received = Buffer.alloc(0);
      socket.on("connect", () => socket.write(Buffer.concat([length, message])));
      socket.on("data", (data) => {
        received = Buffer.concat([received, data]);
        if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
        resolve(received.subarray(2, 2 + received.readUInt16BE(0)));
        socket.destroy();
      });
      socket.on("timeout", () => socket.destroy(new Error("it does not answer")));
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("it closed the connection")));
    });
  }
}

function txtProvider() {
  const { dns } = useContext().options.acme;
  switch (dns?.kind) {
    case "exec":
      return new ExecProvider(dns.program);
    case "rfc2136":
      return new UpdateProvider(dns);
    case "cloudflare":
      return new Cloudflare(dns.token);
    default:
      throw new Error("--acme-dns names nobody who puts records into DNS");
  }
}

const log$u = logger("certificates");
const SPREAD_MS = 2 * 6e4;
const LOOK_EVERY_MS = 2e3;
function dnsProver() {
  return {
    type: "dns-01",
    async show(name, _token, value) {
      const provider = txtProvider();
      const record = `_acme-challenge.${name}`;
      await provider.present(record, value);
      await untilSpread(record, value);
      return () => provider.cleanUp(record, value).catch((error) => log$u.warn(`${record} could not be removed`, { error: messageOf(error) }));
    }
  };
}
async function untilSpread(record, value) {
  const deadline = performance.now() + SPREAD_MS;
  while (performance.now() < deadline) {
    const found = await createResolver().resolveTxt(record).catch(() => []);
    if (found.some((parts) => parts.join("") === value)) return;
    await setTimeout$1(LOOK_EVERY_MS, void 0, { ref: false });
  }
  log$u.warn(`${record} is not seen by the resolvers; the authority is asked all the same`);
}

const proofs = { tokens: /* @__PURE__ */ new Map(), handshakes: /* @__PURE__ */ new Map() };

function httpProver({ dataPlane }) {
  return {
    type: "http-01",
    async show(_name, token, keyAuthorization) {
      proofs.tokens.set(token, keyAuthorization);
      await dataPlane.sync();
      return async () => void proofs.tokens.delete(token);
    }
  };
}

function tlsProver({ dataPlane }) {
  return {
    type: "tls-alpn-01",
    async show(name, _token, keyAuthorization, authorization) {
      const { crypto } = await loadAcme();
      const key = await crypto.createPrivateEcdsaKey("P-256");
      const [, certificate] = await crypto.createAlpnCertificate(authorization, keyAuthorization, key);
      const { remove, ...files } = writeChallenge(certificate.toString(), key.toString());
      proofs.handshakes.set(name, files);
      await dataPlane.sync();
      return async () => {
        proofs.handshakes.delete(name);
        await dataPlane.sync();
        remove();
      };
    }
  };
}

const CHALLENGE_PORT = 80;
function chooseProver(world, name, failures) {
  if (name.startsWith("*.")) return dnsProver();
  const overHttp = publicHttpPort() === CHALLENGE_PORT === (failures % 2 === 0);
  return overHttp ? httpProver(world) : tlsProver(world);
}

const RENEWAL_PART = 2 / 3;
const ADVICE_MS = 6 * 36e5;
const REST_MS$1 = 36e5;
const LEAST_ADVICE_MS = 6e4;
const MOST_ADVICE_MS = 24 * 36e5;
const CLOCK_SLACK_MS = 6e4;
const QUESTIONS_AT_A_TIME = 2;
const QUESTIONS_A_PASS = 20;
function renewAt({ notBefore, notAfter }) {
  return Math.round(notBefore + (notAfter - notBefore) * RENEWAL_PART);
}
function certificateId(certificate) {
  const issuerKey = authorityKeyId(certificate.raw);
  if (!issuerKey) return null;
  const serial = Buffer.from(
    certificate.serialNumber.padStart(
      certificate.serialNumber.length + certificate.serialNumber.length % 2,
      "0"
    ),
    "hex"
  );
  const signed = serial[0] >= 128 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${issuerKey.toString("base64url")}.${signed.toString("base64url")}`;
}
function calledByAuthority({ id, version }) {
  if (version === null) return null;
  try {
    return certificateId(new X509Certificate(readFileSync(versionFiles(id, version).certificate)));
  } catch {
    return null;
  }
}
class RenewalAdvice {
  #authority;
  #retryAt = -Infinity;
  constructor(authority) {
    this.#authority = authority;
  }
  /** Asks about the certificates whose advice is out of date. */
  async look(rows, now = Date.now()) {
    if (performance.now() < this.#retryAt) return;
    const { directory } = useContext().options.acme;
    const due = rows.filter(
      (row) => row.status === "issued" && row.directory === directory && isAdviceOld(row.advised_until, now)
    ).slice(0, QUESTIONS_A_PASS);
    if (due.length === 0) return;
    try {
      const place = await this.#authority.renewalInfo();
      if (place === null) this.#retryAt = Infinity;
      else await forEachLimited(due, QUESTIONS_AT_A_TIME, (row) => ask$1(place, row));
    } catch (error) {
      if (!(error instanceof AuthorityAway) && !(error instanceof AcmeProblem)) throw error;
      this.#retryAt = performance.now() + REST_MS$1;
    }
  }
}
async function ask$1(place, row) {
  const { id, renew_at } = row;
  const name = calledByAuthority(row);
  if (name === null) return setAdvice(id, renew_at, Date.now() + MOST_ADVICE_MS);
  const { axios } = await loadAcme();
  try {
    const { data, headers } = await axios.get(`${place}/${name}`);
    const again = readRetryAfter(headers["retry-after"]) ?? ADVICE_MS;
    const until = Date.now() + Math.min(Math.max(again, LEAST_ADVICE_MS), MOST_ADVICE_MS);
    setAdvice(id, adviceOf(data.suggestedWindow, renew_at), until);
  } catch (error) {
    if (!(error instanceof AcmeProblem)) throw error;
    setAdvice(id, renew_at, Date.now() + REST_MS$1);
  }
}
function isAdviceOld(until, now = Date.now()) {
  return until === null || until <= now || until > now + MOST_ADVICE_MS + CLOCK_SLACK_MS;
}
function adviceOf(window, chosen, random = Math.random()) {
  const start = Date.parse(window?.start ?? "");
  const end = Date.parse(window?.end ?? "");
  if (!(start <= end) || chosen >= start && chosen <= end) return chosen;
  return Math.round(start + (end - start) * random);
}
const AUTHORITY_KEY = Buffer.from("0603551d23", "hex");
const SEQUENCE = 48;
const KEY_IDENTIFIER = 128;
function authorityKeyId(der) {
  const found = der.indexOf(AUTHORITY_KEY);
  if (found < 0) return null;
  const at = found + AUTHORITY_KEY.length + 2;
  if (der[at] !== SEQUENCE || der[at + 2] !== KEY_IDENTIFIER) return null;
  return der.subarray(at + 4, at + 4 + der[at + 3]);
}

const log$t = logger("certificates");
const PERIOD_MS$h = 5e3;
const LOOKS_AT_A_TIME = 8;
const LOOKS_A_PASS = 40;
const LOOK_HOLDS_MS = 6e4;
const ORDERS_AT_A_TIME = 4;
const NEW_ORDERS_A_MINUTE = 20;
const MAX_ERROR_CHARACTERS$4 = 1e3;
class Certification {
  #world;
  #authority = new Authority();
  #advice = new RenewalAdvice(this.#authority);
  #looks = new Looks(LOOK_HOLDS_MS);
  #gate = new MinuteGate(NEW_ORDERS_A_MINUTE);
  #away = new AwayTimes();
  #clock = clockGuard();
  #expiry = new ExpiryWatch();
  #running = /* @__PURE__ */ new Set();
  #stopListening;
  /** What it tells itself is no reason to look again. */
  #isTelling = false;
  #wake = () => {
  };
  constructor(world) {
    this.#world = world;
    moveAccountKeys();
    removeChallenges();
    this.#stopListening = onChange(({ kind }) => {
      if (!this.#isTelling && (kind === "all" || kind === "domain" || kind === "service")) this.#wake();
    });
  }
  task(wake) {
    this.#wake = wake;
    return { name: "certificates", everyMs: PERIOD_MS$h, run: () => this.#run() };
  }
  /** Ends the work; an order under way is taken up by the next start. */
  stop() {
    this.#stopListening();
  }
  async #run() {
    const { tls, acme } = useContext().options;
    if (tls === "off" || this.#clock.heldMs() > 0) return;
    const wanted = wantedNames();
    const known = certificatesByName();
    const rows = [...wanted.keys()].map((name) => known.get(name) ?? insertCertificate(name, acme.directory));
    forgetEnded([...known.values()].filter(({ id }) => !wanted.has(id) && !this.#running.has(id)));
    this.#expiry.look(rows);
    this.#looks.keep(new Set(wanted.keys()));
    if (!this.#away.isOver()) return;
    await this.#order(rows.filter((row) => this.#isNext(row, wanted)).toSorted(byNeed), wanted);
    await this.#advice.look(rows);
  }
  /** Whether a certificate is to be ordered now. */
  #isNext(row, wanted) {
    const isFree = !this.#running.has(row.id) && wanted.get(row.id).waitsFor === null;
    return isFree && isDue(row, useContext().options.acme.directory);
  }
  /** Looks up what is due and begins orders for as many as may be under way. */
  async #order(due, wanted) {
    await forEachLimited(this.#toLook(due), LOOKS_AT_A_TIME, (row) => this.#look(row, wanted.get(row.id)));
    for (const { id } of due) {
      if (!isWildcard(id) && !this.#looks.isHere(id)) continue;
      const row = getCertificate(id);
      if (!row || !this.#isNext(row, wanted)) continue;
      if (this.#running.size >= ORDERS_AT_A_TIME || !this.#gate.pass()) return;
      this.#running.add(row.id);
      void this.#certify(row, wanted.get(row.id)).catch((error) => log$t.error(`${row.id}: its certificate`, { error: messageOf(error) })).finally(() => {
        this.#running.delete(row.id);
        this.#looks.forget(row.id);
        this.#wake();
      });
    }
  }
  /**
   * Whose hosts are looked up now. People wait for those that have no certificate, also to be told why; one that is to be
   * renewed is looked up when it can be ordered.
   */
  #toLook(due) {
    const unseen = this.#looks.dueOf(due.filter(({ id }) => !isWildcard(id)));
    const first = unseen.filter(({ version }) => version === null);
    const renewals = unseen.filter(({ version }) => version !== null);
    const room = Math.min(ORDERS_AT_A_TIME - this.#running.size, this.#gate.left());
    return [...first.slice(0, LOOKS_A_PASS), ...renewals.slice(0, room)];
  }
  /** Finds out whether a host leads here: asking an authority to look in vain costs one of the few attempts. */
  async #look({ id, error }, { hosts }) {
    const checks = await checkHost(id);
    const isHere = reachesServer(checks);
    this.#looks.done(id, isHere);
    if (isHere) return;
    const why = checks.find(({ outcome }) => outcome === "failed")?.message ?? "it does not lead to this server";
    moved(id, "pending", { error: why, retry_at: Date.now() + Math.round(this.#looks.waitMs(id)) });
    if (why !== error) this.#tell(hosts);
  }
  async #certify(row, { hosts }) {
    const { id, failures } = row;
    const { directory } = useContext().options.acme;
    const isElsewhere = row.directory !== directory;
    moved(id, "issuing", {
      error: null,
      retry_at: null,
      directory,
      ...isElsewhere ? { order_url: null } : {}
    });
    this.#tell(hosts);
    try {
      const prover = chooseProver(this.#world, id, failures);
      const isNamed = !isElsewhere && await this.#authority.renewalInfo() !== null;
      const replaces = isNamed ? calledByAuthority(row) : null;
      const issued = await this.#authority.withClient(
        (client, acme) => obtainCertificate(client, acme, id, prover, replaces)
      );
      this.#away.answered();
      await this.#install(id, issued);
    } catch (error) {
      this.#fail(id, failures, error);
    }
    this.#tell(hosts);
  }
  /** Writes what was issued and has the data plane show it; connections under way keep what they have. */
  async #install(id, { chain, key }) {
    const facts = readFacts(chain);
    const version = writeVersion(id, chain, key);
    moved(id, "issuing", {
      version,
      issuer: facts.issuer,
      not_before: facts.notBefore,
      not_after: facts.notAfter
    });
    await this.#world.dataPlane.sync().catch(
      (error) => log$t.warn("the data plane has not taken a certificate yet", { error: messageOf(error) })
    );
    moved(id, "issued", { renew_at: renewAt(facts), failures: 0, order_url: null, advised_until: null });
    removeOldVersions(id, version);
    log$t.info(`${id} is certified until ${new Date(facts.notAfter).toISOString()}`, { issuer: facts.issuer });
  }
  #tell(hosts) {
    this.#isTelling = true;
    tellCertified(hosts);
    this.#isTelling = false;
  }
  #fail(id, failures, error) {
    const isAway = error instanceof AuthorityAway;
    const problem = error instanceof AcmeProblem ? error : null;
    const waitMs = isAway ? this.#away.failed() : problem?.retryAfterMs ?? backoffMs(failures + 1);
    if (problem?.kind === "rateLimited") this.#away.failed();
    const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS$4);
    moved(id, "failed", {
      error: reason,
      retry_at: Date.now() + Math.round(waitMs),
      // An authority that is away says nothing of the host.
      failures: failures + (isAway ? 0 : 1)
    });
    log$t.warn(`${id} could not be certified; tried again in ${Math.ceil(waitMs / 1e3)} s`, { error: reason });
  }
}
function moved(id, to, columns) {
  tryMove(certificateMachine, id, to, { ...columns, updated_at: Date.now() });
}
function isWildcard(name) {
  return name.startsWith("*.");
}

function imagePrefix() {
  return `deployer-${useContext().serverId}/`;
}
function imageTag(serviceId, deployId) {
  return `${imagePrefix()}${serviceId}:${deployId}`;
}
function readImageTag(tag) {
  const [serviceId = "", deployId = ""] = tag.slice(imagePrefix().length).split(":");
  return { serviceId, deployId };
}

function sitesFolder() {
  return join(useContext().options.dataDirectory, "sites");
}
function siteFolder(id) {
  return join(sitesFolder(), id);
}

const ASSETS_KEPT_MS = 24 * 60 * 6e4;
const MAX_EARLIER = 50;
function publishedSites(switching) {
  const rows = useDatabase().all(
    `SELECT service_id, id, site_id, status = 'live' AS live, replaced_at FROM deploys
     WHERE site_id IS NOT NULL AND (status IN ('live', 'deploying') OR replaced_at > ?)
     ORDER BY replaced_at DESC`,
    Date.now() - ASSETS_KEPT_MS
  );
  const sites = /* @__PURE__ */ new Map();
  for (const [serviceId, deploys] of Map.groupBy(rows, ({ service_id }) => service_id)) {
    const switchingTo = switching.get(serviceId);
    const current = deploys.find(({ id, live }) => switchingTo === void 0 ? live : id === switchingTo);
    if (current)
      sites.set(serviceId, { folder: siteFolder(current.site_id), earlier: earlier(current, deploys) });
  }
  return sites;
}
function earlier(current, deploys) {
  const until = /* @__PURE__ */ new Map();
  for (const { site_id, live, replaced_at } of deploys) {
    const since = replaced_at ?? (live ? Date.now() : null);
    if (site_id !== current.site_id && since !== null && !until.has(site_id))
      until.set(site_id, since + ASSETS_KEPT_MS);
  }
  return [...until].toSorted(([, left], [, right]) => right - left).slice(0, MAX_EARLIER).map(([id, until2]) => ({ folder: siteFolder(id), until: until2 }));
}

function forgetOldSites(kept) {
  const old = useDatabase().all(
    `SELECT id FROM (
       SELECT id, status, was_live, replaced_at,
         row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place
       FROM deploys WHERE site_id IS NOT NULL)
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND coalesce(replaced_at, 0) < ? AND (was_live = 0 OR place > ?)`,
    Date.now() - ASSETS_KEPT_MS,
    kept
  );
  for (const { id } of old) updateDeploy(id, { site_id: null });
}
async function removeStraySites() {
  const names = await readdir(sitesFolder());
  const rows = useDatabase().all(
    "SELECT DISTINCT site_id FROM deploys WHERE site_id IS NOT NULL"
  );
  const wanted = new Set(rows.map(({ site_id }) => site_id));
  for (const name of names) {
    const id = name.replace(/\.partial$/, "");
    if (!wanted.has(name) && !isUnderWay(id)) await removeTree(siteFolder(name));
  }
}
async function removeStrayLifts(world) {
  for (const { name, labels } of await world.engine.containers.list({ "deployer.kind": "lift" })) {
    if (!isUnderWay(labels["deployer.deploy"] ?? "")) await world.engine.containers.remove(name);
  }
}
function isUnderWay(deployId) {
  const status = getDeploy(deployId)?.status;
  return status === "building" || status === "deploying";
}

const log$s = logger("cleanup");
const PERIOD_MS$g = 6e4;
const KEPT_LIVE = 5;
const KEPT_DEPLOYS = 500;
const BUILD_CACHE_BYTES = 20 * 1024 ** 3;
const BUILD_CACHE_SHARE = 0.1;
function cleanup(world) {
  const clock = clockGuard();
  return {
    name: "cleanup",
    everyMs: PERIOD_MS$g,
    async run() {
      if (clock.heldMs() > 0) return;
      await runEach([
        forgetOldDeploys,
        async () => forgetOldSites(KEPT_LIVE),
        removeStrayFiles,
        removeStraySites,
        () => trimMirrors(mirrorsFolder(useContext().options.dataDirectory)),
        ...world.reachByAddress === null ? [] : inEngine(world)
      ]);
    }
  };
}
function inEngine(world) {
  return [
    () => removeOldImages(world),
    () => removeStrayImages(world),
    () => removePulledImages(world),
    () => removeStrayLifts(world),
    async () => world.engine.shrinkBuildCache(await buildCacheLimit(world))
  ];
}
async function buildCacheLimit({ engine }) {
  const { dataRoot } = await engine.info();
  const { blocks, bsize } = await statfs(dataRoot).catch(() => statfs(useContext().options.dataDirectory));
  return Math.min(BUILD_CACHE_BYTES, Math.floor(blocks * bsize * BUILD_CACHE_SHARE));
}
async function forgetOldDeploys() {
  const full = useDatabase().all(
    "SELECT service_id FROM deploys GROUP BY service_id HAVING count(*) > ?",
    KEPT_DEPLOYS
  );
  for (const { service_id } of full) {
    const old = useDatabase().all(
      `SELECT id FROM deploys WHERE service_id = ? AND status NOT IN ('live', ${IN_PROGRESS_SQL})
         AND image_id IS NULL AND site_id IS NULL
       ORDER BY sequence DESC LIMIT -1 OFFSET ?`,
      service_id,
      KEPT_DEPLOYS
    );
    for (const { id } of old) {
      log$s.debug("a deploy is forgotten: newer ones fill its place", { id, service: service_id });
      useDatabase().run("DELETE FROM deploys WHERE id = ?", id);
      await removeLog(id);
    }
  }
}
async function removeOldImages(world) {
  const old = useDatabase().all(
    `SELECT id, service_id FROM (
       SELECT id, service_id, status, was_live,
         row_number() OVER (PARTITION BY service_id, was_live ORDER BY finished_at DESC) AS place
       FROM deploys WHERE image_id IS NOT NULL)
     WHERE status NOT IN ('live', ${IN_PROGRESS_SQL}) AND (was_live = 0 OR place > ?)`,
    KEPT_LIVE
  );
  for (const { id, service_id } of old) {
    updateDeploy(id, { image_id: null, snapshot: null });
    await removeImage(world, imageTag(service_id, id));
  }
}
async function removeStrayImages(world) {
  for (const tag of world.engine.images.names()) {
    const { serviceId, deployId } = readImageTag(tag);
    if (getService(serviceId) && hasImage(deployId)) continue;
    await removeImage(world, tag);
  }
}
async function removePulledImages(world) {
  const rows = useDatabase().all(
    `SELECT image FROM services WHERE image IS NOT NULL
     UNION SELECT image FROM deploys WHERE image IS NOT NULL AND status IN (${IN_PROGRESS_SQL})`
  );
  const except = rows.map(({ image }) => image);
  for (const name of world.engine.images.pulled({ except })) await removeImage(world, name);
}
async function removeImage(world, tag) {
  try {
    await world.engine.images.remove(tag);
    log$s.debug("an image is removed: no deploy needs it", { tag });
  } catch (error) {
    log$s.debug("an image cannot be removed yet", { tag, error: messageOf(error) });
  }
}
async function removeStrayFiles() {
  const { dataDirectory } = useContext().options;
  const building = useDatabase().all(
    `SELECT archive_id FROM deploys WHERE archive_id IS NOT NULL AND status IN (${IN_PROGRESS_SQL})`
  );
  const wanted = new Set(building.map(({ archive_id }) => archive_id));
  for (const name of await readdir(join(dataDirectory, "archives"))) {
    const id = /^(dep-[0-9a-f]{20})\.tar\.gz$/.exec(name)?.[1];
    const serviceId = id ? getDeploy(id)?.service_id : void 0;
    if (id && serviceId !== void 0 && keptArchives(serviceId).has(id)) continue;
    if (id && !wanted.has(id) && (serviceId !== void 0 || await isOld(join(dataDirectory, "archives", name)))) {
      await rm(join(dataDirectory, "archives", name), { force: true });
    }
  }
  await removeStrayLogs$1(join(dataDirectory, "logs"));
}
async function removeStrayLogs$1(folder) {
  const names = await readdir(folder);
  const rows = useDatabase().all("SELECT id FROM deploys UNION ALL SELECT id FROM jobs");
  const known = new Set(rows.map(({ id }) => id));
  for (const name of names) {
    const id = /^((?:dep|job)-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1];
    if (id && !known.has(id)) await removeLog(id);
  }
}
const UNRECORDED_MS = 10 * 6e4;
async function isOld(path) {
  return Date.now() - (await stat(path)).mtimeMs > UNRECORDED_MS;
}
function hasImage(id) {
  const row = useDatabase().get(
    `SELECT 1 FROM deploys WHERE id = ? AND (image_id IS NOT NULL OR status IN (${IN_PROGRESS_SQL}))`,
    id
  );
  return row !== void 0;
}

const log$r = logger("background");
class Background {
  #running = /* @__PURE__ */ new Map();
  #stopped = false;
  /** Whether work under this key is under way. */
  has(key) {
    return this.#running.has(key);
  }
  /** Begins work unless some is under way under its key. */
  start({ key, pauseMs, run, onFailure, onEnd }) {
    if (this.#stopped || this.#running.has(key)) return;
    const abort = new AbortController();
    const { signal } = abort;
    const work = async () => {
      try {
        if (pauseMs > 0) await setTimeout$1(pauseMs, void 0, { signal });
        await run(signal);
      } catch (error) {
        if (!signal.aborted) tell(key, () => onFailure(error));
      } finally {
        this.#running.delete(key);
        if (!this.#stopped) tell(key, onEnd);
      }
    };
    this.#running.set(key, { abort, done: work() });
  }
  /** Calls off what is under way under this key and waits for its end. */
  async cancel(key) {
    const work = this.#running.get(key);
    work?.abort.abort();
    await work?.done;
  }
  /** Calls off everything, for the end of the server. */
  stop() {
    this.#stopped = true;
    for (const { abort } of this.#running.values()) abort.abort();
  }
}
function tell(key, listener) {
  try {
    listener();
  } catch (error) {
    log$r.error("the end of some work cannot be recorded", { work: key, error: messageOf(error) });
  }
}

const FIRST_BACK_OFF_MS = 1e3;
const LONGEST_BACK_OFF_MS = 6e4;
const LOOP_EXITS = 5;
const LOOP_WINDOW_MS = 10 * 6e4;
class CrashHistory {
  #exits = /* @__PURE__ */ new Map();
  record(id) {
    this.#exits.set(id, [...this.#recent(id), performance.now()].slice(-16));
  }
  /** How often it ended or failed lately. */
  count(id) {
    return this.#recent(id).length;
  }
  /** How long to wait before the next try; 0 when nothing failed. */
  backOffMs(id) {
    const exits = this.count(id);
    return exits === 0 ? 0 : Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** (exits - 1));
  }
  /** Whether it ended so often lately that it counts as down although it is started again. */
  isLooping(id) {
    return this.count(id) >= LOOP_EXITS;
  }
  forget(id) {
    this.#exits.delete(id);
  }
  #recent(id) {
    const since = performance.now() - LOOP_WINDOW_MS;
    return (this.#exits.get(id) ?? []).filter((at) => at > since);
  }
}

function noteInService(serviceId, instance, text) {
  serviceLog(serviceId).append([{ ts: timestamp(Date.now()), stream: "system", line: text, instance }]);
}

const log$q = logger("backups");
const PERIOD_MS$f = 6e4;
const PARALLEL$6 = 2;
const LONGEST_MS$2 = 12 * 36e5;
const REST_MS = 15 * 6e4;
const FILE_GONE = "its file is gone from the data directory";
const REMOVALS = "removals";
class BackupCopies {
  #work = new Background();
  #stopListening;
  /** The address that each copy under way is written to. */
  #targets = /* @__PURE__ */ new Map();
  /** When work that failed is begun again, on the monotonic clock. */
  #restUntil = /* @__PURE__ */ new Map();
  #wake = () => {
  };
  constructor() {
    this.#stopListening = onChange(({ kind }) => {
      if (kind === "datastore") this.#wake();
    });
  }
  /** The task to hand to a driver; `wake` is how it asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return { name: "copies of backups", everyMs: PERIOD_MS$f, run: () => this.#look() };
  }
  /** Calls off the copies of a datastore that goes, and waits for their end. */
  async cancel(datastoreId) {
    await Promise.all(listBackups(datastoreId).map(({ id }) => this.#work.cancel(id)));
  }
  stop() {
    this.#stopListening();
    this.#work.stop();
  }
  async #look() {
    const bucket = useBucket();
    if (bucket === null) {
      for (const backup of runningBackups()) if (backup.sha256 !== null) settleBackup(backup);
      return;
    }
    for (const id of this.#targets.keys()) if (!getBackup(id)) await this.#work.cancel(id);
    const waiting = uncopiedBackups();
    for (const backup of waiting) this.#beginCopy(bucket, backup);
    const kept = new Set(waiting.map((backup) => copyUrlOf(bucket, backup)));
    const spares = spareObjects().filter((url) => bucket.holds(url) && !kept.has(url));
    if (spares.length > 0) this.#beginRemovals(bucket, spares);
  }
  #beginCopy(bucket, backup) {
    const { id } = backup;
    if (this.#targets.has(id) || this.#targets.size >= PARALLEL$6 || this.#rests(id)) return;
    if (!hasBackupFile(id)) {
      if (backup.error !== FILE_GONE) recordCopyFault(backup, FILE_GONE);
      return;
    }
    const url = copyUrlOf(bucket, backup);
    this.#targets.set(id, url);
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => copy(bucket, backup, url, signal),
      onFailure: (error) => {
        this.#rest(id);
        const reason = messageOf(error);
        recordCopyFault(backup, `it was not copied, which is tried again in 15 minutes: ${reason}`);
        log$q.warn("a backup was not copied", { backup: id, datastore: backup.datastore_id, error: reason });
      },
      onEnd: () => {
        this.#targets.delete(id);
        this.#wake();
      }
    });
  }
  #beginRemovals(bucket, urls) {
    if (this.#rests(REMOVALS)) return;
    this.#work.start({
      key: REMOVALS,
      pauseMs: 0,
      run: async (signal) => {
        for (const url of urls) {
          await bucket.remove(url, signal);
          forgetSpareObject(url);
        }
      },
      onFailure: (error) => {
        this.#rest(REMOVALS);
        const fields = { objects: urls.length, error: messageOf(error) };
        log$q.warn("copies of backups cannot be removed from the bucket yet", fields);
      },
      onEnd: () => this.#wake()
    });
  }
  #rests(key) {
    return performance.now() < (this.#restUntil.get(key) ?? -Infinity);
  }
  #rest(key) {
    this.#restUntil.set(key, performance.now() + REST_MS);
  }
}
async function copy(bucket, backup, url, stop) {
  const { id, size_bytes: size, sha256 } = backup;
  const late = AbortSignal.timeout(LONGEST_MS$2);
  const signal = AbortSignal.any([stop, late]);
  if (isSpareObject(url)) await bucket.remove(url, signal);
  insertSpareObject(url);
  await bucket.put(url, { path: backupPath(id), size, sha256 }, signal);
  recordCopy(backup, url);
  log$q.info("a backup was copied to the bucket", { backup: id, datastore: backup.datastore_id, url });
}

const log$p = logger("backups");
const PERIOD_MS$e = 3e4;
const MAKE_UP_MS$1 = 36e5;
class BackupSchedule {
  #guard = clockGuard();
  #stopListening;
  #timer;
  #wake = () => {
  };
  constructor() {
    this.#stopListening = onChange(({ kind }) => {
      if (kind === "datastore") this.#wake();
    });
  }
  /** The task to hand to a driver; `wake` is how it asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return { name: "backup schedule", everyMs: PERIOD_MS$e, run: () => Promise.resolve(this.#look()) };
  }
  stop() {
    this.#stopListening();
    clearTimeout(this.#timer);
  }
  #look() {
    clearTimeout(this.#timer);
    const heldMs = this.#guard.heldMs();
    let nextMs = PERIOD_MS$e;
    if (heldMs > 0) nextMs = heldMs;
    else for (const row of allDatastores()) nextMs = Math.min(nextMs, lookAt(row));
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, nextMs));
  }
}
function lookAt(row) {
  const { backup_schedule: schedule, backup_seen_at: mark } = row;
  if (schedule === null || row.status === "deleting") return Infinity;
  const now = Date.now();
  const isKnown = mark !== null && mark <= now + JUMP_MS;
  const seenAt = isKnown ? Math.max(mark, now - MAKE_UP_MS$1) : now;
  if (!isKnown) recordDatastore(row.id, { backup_seen_at: now });
  const due = nextDue(schedule, new Date(seenAt))?.getTime() ?? Infinity;
  if (due > now) return due - now;
  recordDatastore(row.id, { backup_seen_at: now });
  ask(row);
  return (nextDue(schedule, new Date(now))?.getTime() ?? Infinity) - now;
}
function ask(row) {
  if (runningBackup(row.id)) log$p.info("a backup that is due is left out: one runs", { datastore: row.id });
  else if (row.status === "available") beginBackup(row, "schedule");
  else missBackup(row, `it was due while the datastore was ${row.status}`);
}

function postgresConnection(database) {
  const keepAlive = "keepalives_idle=10 keepalives_interval=5 keepalives_count=3";
  return ["--no-password", `--dbname=dbname=${database} ${keepAlive}`];
}
const DUMP_PROGRAMS = {
  relational: {
    dump: ({ database }) => ["pg_dump", "--format=custom", ...postgresConnection(database)],
    env: ({ host, port, username, password }) => ({
      PGHOST: host,
      PGPORT: String(port),
      PGUSER: username,
      PGPASSWORD: password
    }),
    magic: /^PGDMP/
  },
  keyvalue: {
    // Valkey's image has its programs under Redis's names too.
    dump: ({ host, port }) => ["redis-cli", "-h", host, "-p", String(port), "--rdb", "-"],
    env: ({ password }) => ({ REDISCLI_AUTH: password }),
    magic: /^(REDIS|VALKEY)\d{3}/
  }
};

async function imageOf(engine, row, signal) {
  if (row.image_id !== null && await engine.images.inspect(row.image_id) !== null) return row.image_id;
  const reference = `${row.repository}:${row.version}`;
  const id = await pullImage$1(engine, reference, signal);
  recordDatastore(row.id, { image_id: id });
  return id;
}
async function pullImage$1(engine, reference, signal) {
  return (await engine.images.inspect(reference) ?? await pull(engine, reference, signal)).id;
}
async function pull(engine, reference, signal) {
  try {
    return await engine.images.pull(reference, { signal, onLine: () => {
    } });
  } catch (cause) {
    signal.throwIfAborted();
    throw new AppError("runtime_error", `the image ${reference} cannot be pulled: ${messageOf(cause)}`, {
      cause
    });
  }
}

const log$o = logger("datastores");
const MEMORY_BYTES = 1024 ** 3;
const CPUS = 1;
const WORK_NAME = /^(bak-[0-9a-f]{20}|dbs-[0-9a-f]{20}-[0-9a-f]{8}(-load)?)$/;
const WORK_LABELS = { "deployer.kind": "datastore-work" };
async function runTool(world, row, { imageId, ...tool }, use, signal) {
  const { containers, output } = world.engine;
  await inNetwork(world, row, tool.name, async (place) => {
    const limits = { memoryBytes: MEMORY_BYTES, cpus: CPUS };
    await containers.create({ ...tool, ...place, ...limits, image: imageId, streams: true });
    const streams = await output.streams(tool.name, signal);
    try {
      await containers.start(tool.name);
      const end = containers.wait(tool.name, signal);
      const used = use(streams).catch(async (error) => {
        await containers.kill(tool.name);
        throw error;
      });
      const [ended, work] = await Promise.allSettled([end, used]);
      signal.throwIfAborted();
      if (work.status === "rejected") throw work.reason;
      if (ended.status === "rejected") throw ended.reason;
      const { exitCode, oomKilled } = ended.value;
      if (exitCode === 0) return;
      const how = oomKilled ? "ran out of memory" : `ended with exit code ${exitCode}`;
      throw new AppError(
        "runtime_error",
        [`${tool.entrypoint?.[0]} ${how}`, streams.errors].filter(Boolean).join(": ")
      );
    } finally {
      streams.close();
    }
  });
}
async function inNetwork(world, row, name, work) {
  const network = await ensureNetwork(world.engine, findEnvironment(row.environment_id));
  const address = await addressFor(world.engine, allotJobAddress, row.environment_id, network, name);
  try {
    return await work({ network: network.name, address, labels: WORK_LABELS });
  } finally {
    try {
      await world.engine.containers.remove(name);
      releaseAddress(name);
    } catch (error) {
      log$o.warn("a container cannot be removed yet", { name, error: messageOf(error) });
    }
  }
}
async function removeStrayWork(world, isKept) {
  for (const name of jobAddressHolders()) {
    if (!WORK_NAME.test(name) || isKept(name)) continue;
    await world.engine.containers.remove(name);
    releaseAddress(name);
  }
}

async function makeBackup(world, row, { id }, signal) {
  const imageId = await imageOf(world.engine, row, signal);
  const place = placeInNetwork(row);
  const { dump, env } = DUMP_PROGRAMS[row.kind];
  try {
    let file;
    const tool = { name: id, imageId, entrypoint: dump(place), env: env(place) };
    await runTool(
      world,
      row,
      tool,
      async (streams) => {
        file = await writeBackupPart(id, streams.output());
      },
      signal
    );
    await keepBackupPart(id);
    return file;
  } catch (error) {
    await removeBackupFiles(id);
    throw error;
  }
}
function placeInNetwork(row) {
  if (row.address === null)
    throw new AppError("runtime_error", `the ${KINDS[row.kind].label} ${row.name} has no address yet`);
  return { ...internalPlace(row), host: row.address };
}

const log$n = logger("backups");
const PERIOD_MS$d = 6e4;
const PARALLEL$5 = 2;
const LONGEST_MS$1 = 12 * 36e5;
const MAX_ERROR_CHARACTERS$3 = 4 * 1024;
class Backups {
  #world;
  #work = new Background();
  #stopListening;
  #wake = () => {
  };
  #count = 0;
  constructor(world) {
    this.#world = world;
    this.#stopListening = onChange(({ kind }) => {
      if (kind === "datastore") this.look();
    });
  }
  /** Ends in the database what the last run of the server left under way; what it left elsewhere goes with the first look. */
  recover() {
    for (const backup of runningBackups())
      if (backup.sha256 === null)
        failBackup(backup, "the server was stopped while it was made: make another one");
  }
  /** The task to hand to a driver; `wake` is how it asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return {
      name: "backups",
      everyMs: PERIOD_MS$d,
      run: async () => {
        for (const backup of runningBackups()) if (backup.sha256 === null) this.#begin(backup);
        await removeSurplusBackups();
        await removeStrayBackupFiles();
      }
    };
  }
  /** Asks for a look soon, as after the engine came back. */
  look() {
    this.#wake();
  }
  /** Whether a container of this name is that of a backup under way. */
  isUnderWay(name) {
    return this.#work.has(name);
  }
  /** Calls off the backup of a datastore that goes, and waits for its end. */
  async cancel(datastoreId) {
    const backup = runningBackup(datastoreId);
    if (!backup) return;
    failBackup(backup, "the datastore was deleted");
    await this.#work.cancel(backup.id);
  }
  stop() {
    this.#stopListening();
    this.#work.stop();
  }
  #begin(backup) {
    const { id } = backup;
    if (this.#work.has(id) || this.#count >= PARALLEL$5 || this.#world.reachByAddress === null) return;
    this.#count++;
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#make(backup, signal),
      onFailure: (error) => {
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS$3);
        failBackup(backup, reason);
        log$n.warn("a backup failed", { backup: id, datastore: backup.datastore_id, error: reason });
      },
      onEnd: () => {
        this.#count--;
        this.#wake();
      }
    });
  }
  async #make(backup, signal) {
    const datastore = getDatastore(backup.datastore_id);
    const now = getBackup(backup.id);
    if (!datastore || now?.status !== "running" || now.sha256 !== null) return;
    const late = AbortSignal.timeout(LONGEST_MS$1);
    const file = await makeBackup(this.#world, datastore, backup, AbortSignal.any([signal, late])).catch(
      (error) => {
        throw late.aborted ? new Error(`it was not done within ${LONGEST_MS$1 / 36e5} hours`) : error;
      }
    );
    recordBackupFile(backup, file);
    log$n.info("a backup was made", {
      backup: backup.id,
      datastore: datastore.id,
      bytes: file.size_bytes
    });
  }
}

const MB_A_CONNECTION = 5;
const LEAST_CONNECTIONS = 20;
const MOST_CONNECTIONS = 400;
const LEAST_BUFFERS_MB = 8;
const SETTINGS = {
  // The shares are those of the manual (Resource Consumption) and the project's wiki (Tuning Your PostgreSQL Server).
  relational: (memoryMb) => {
    const connections = clamp(Math.floor(memoryMb / MB_A_CONNECTION), LEAST_CONNECTIONS, MOST_CONNECTIONS);
    return {
      max_connections: String(connections),
      shared_buffers: `${Math.max(LEAST_BUFFERS_MB, Math.floor(memoryMb / 4))}MB`,
      effective_cache_size: `${Math.max(LEAST_BUFFERS_MB, Math.floor(memoryMb * 3 / 4))}MB`,
      maintenance_work_mem: `${clamp(Math.floor(memoryMb / 16), 4, 2048)}MB`,
      work_mem: `${Math.max(1, Math.floor(memoryMb / 2 / connections))}MB`
    };
  },
  // The rest is for the copy of changed pages while a snapshot or a new log is written (valkey.io, "Memory optimization").
  keyvalue: (memoryMb) => ({
    maxmemory: `${Math.max(1, Math.floor(memoryMb * 3 / 4))}mb`,
    // A store that people trust with data refuses to grow rather than forget.
    "maxmemory-policy": "noeviction"
  })
};
function memorySettings(kind, memoryMb) {
  return SETTINGS[kind](memoryMb);
}
function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}

const CHECKPOINT_SECONDS = 120;
async function stopDatastore({ engine }, id) {
  if (await engine.containers.inspect(id) === null) return;
  await engine.containers.stop(id, CHECKPOINT_SECONDS);
  await engine.containers.remove(id);
}

const MIB$3 = 1024 * 1024;
const SHARED_MEMORY_SHARE = 4;
const RELATIONAL_VOLUME = "/var/lib/deployer";
const KEYVALUE_VOLUME = "/data";
const CONFIG_FOLDER = "/usr/local/etc";
const CONFIG_NAME = "deployer.conf";
function containerLimits(row) {
  const { options } = useContext();
  return { memoryBytes: memoryMb(row) * MIB$3, cpus: row.cpu_limit || options.defaultCpus };
}
function datastoreContainer(row, location) {
  const mode = modeOf(row);
  return {
    name: row.id,
    image: location.imageId,
    labels: { "deployer.kind": "datastore", "deployer.datastore": row.id, [MODE_LABEL]: mode },
    ...programOf(row, mode),
    network: location.network,
    address: location.address,
    // For containers that the resolver of names does not answer.
    aliases: [row.name],
    hostPort: location.hostPort
  };
}
function fillingContainer(row, volume, imageId) {
  return { name: volume, image: imageId, ...programOf({ ...row, volume }, "filling") };
}
function isInMode(row, { labels }) {
  return (labels[MODE_LABEL] ?? "serving") === modeOf(row);
}
function modeOf(row) {
  return getReplacement(row.id)?.reads_only === 1 ? "read-only" : "serving";
}
const MODE_LABEL = "deployer.datastore.mode";
const MODE_SETTINGS = {
  relational: {
    serving: {},
    "read-only": { default_transaction_read_only: "on" },
    filling: {}
  },
  keyvalue: {
    serving: { appendonly: "yes" },
    // It has no replica, so that it takes no write.
    "read-only": { appendonly: "yes", "min-replicas-to-write": "1" },
    // With an append-only file it would not load a snapshot.
    filling: { appendonly: "no" }
  }
};
function datastoreFiles(row, mode = modeOf(row)) {
  if (row.kind !== "keyvalue") return null;
  const archive = pack();
  archive.entry({ name: CONFIG_NAME, mode: 420 }, keyvalueConfig(row, mode));
  archive.finalize();
  return {
    folder: CONFIG_FOLDER,
    tar: Readable.from(archive, { objectMode: false })
  };
}
function programOf(row, mode) {
  const limits = containerLimits(row);
  const shared = {
    ...limits,
    shmBytes: Math.floor(limits.memoryBytes / SHARED_MEMORY_SHARE),
    publishPort: KINDS[row.kind].port,
    stopSeconds: CHECKPOINT_SECONDS
  };
  if (row.kind === "keyvalue") {
    return {
      ...shared,
      env: {},
      command: [`${CONFIG_FOLDER}/${CONFIG_NAME}`],
      volume: { name: row.volume, path: KEYVALUE_VOLUME }
    };
  }
  const { username, password, database } = internalPlace(row);
  const settings = { ...memorySettings(row.kind, memoryMb(row)), ...MODE_SETTINGS.relational[mode] };
  return {
    ...shared,
    env: {
      POSTGRES_USER: username,
      POSTGRES_PASSWORD: password,
      POSTGRES_DB: database,
      PGDATA: `${RELATIONAL_VOLUME}/data`
    },
    command: ["postgres", ...Object.entries(settings).flatMap(asArgument)],
    volume: { name: row.volume, path: RELATIONAL_VOLUME }
  };
}
function keyvalueConfig(row, mode) {
  const settings = {
    dir: KEYVALUE_VOLUME,
    requirepass: internalPlace(row).password,
    // Nobody but a backup is a replica, and it waits for no other.
    "repl-diskless-sync-delay": "0",
    ...memorySettings(row.kind, memoryMb(row)),
    ...MODE_SETTINGS.keyvalue[mode]
  };
  return Object.entries(settings).map(([key, value]) => `${key} ${value}
`).join("");
}
function asArgument([key, value]) {
  return ["-c", `${key}=${value}`];
}
function memoryMb(row) {
  return row.memory_limit_mb || useContext().options.defaultMemoryMb;
}

const KILLED = 137;
function describeExit(state) {
  if (state.oomKilled) return "it ran out of memory (raise memory_limit_mb)";
  if (state.exitCode === KILLED) return `exit code ${KILLED} (it was killed)`;
  return `exit code ${state.exitCode ?? "unknown"}`;
}

const LAST_LINES = 5;
const LAST_LINES_MS$1 = 5e3;
async function reasonOfEnd(engine, container) {
  const lines = [`the program ended: ${describeExit(container)}`];
  const options = { tail: LAST_LINES, signal: AbortSignal.timeout(LAST_LINES_MS$1) };
  for await (const { line } of engine.output.logs(container.name, options)) lines.push(line);
  return lines.join("\n");
}

const MIB$2 = 1024 * 1024;
const MAX_HEARD_BYTES = MIB$2;
function saysTooMuch() {
  return new Error(`it answers with more than ${MAX_HEARD_BYTES / MIB$2} MiB`);
}
function boundedSocket() {
  const socket = new Socket();
  return socket.on("data", () => {
    if (socket.bytesRead > MAX_HEARD_BYTES) socket.destroy(saysTooMuch());
  });
}

const CR_LF = "\r\n";
class KeyvalueClient {
  #socket = new Socket();
  #answerMs;
  #heard = Buffer.alloc(0);
  #asked = null;
  #fault = null;
  constructor(host, port, answerMs) {
    this.#answerMs = answerMs;
    this.#socket.on("data", (piece) => {
      if (this.#heard.length + piece.length > MAX_HEARD_BYTES) return this.#fail(saysTooMuch());
      this.#heard = Buffer.concat([this.#heard, piece]);
      this.#look();
    }).on("error", (error) => this.#fail(error)).on("close", () => this.#fail(new Error("it closed the connection"))).connect(port, host);
  }
  /** Signs in to a store. Throws what it says, or that it takes longer for an answer than `answerMs`. */
  static async open({ host, port, username, password }, answerMs) {
    const client = new KeyvalueClient(host, port, answerMs);
    try {
      await client.ask("AUTH", username, password);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }
  /** The answer to a command, as text. Throws what the store says. */
  async ask(...words) {
    if (this.#fault) throw this.#fault;
    const { promise, resolve, reject } = Promise.withResolvers();
    this.#asked = { resolve, reject };
    const timer = setTimeout(
      () => this.#fail(new Error(`it does not answer within ${this.#answerMs / 1e3} s`)),
      this.#answerMs
    );
    this.#socket.write(written(words));
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#asked = null;
    }
  }
  close() {
    this.#socket.destroy();
  }
  #look() {
    const reply = readReply(this.#heard);
    if (reply === null) return;
    this.#heard = this.#heard.subarray(reply.end);
    if (reply.isError) this.#asked?.reject(new Error(reply.text));
    else this.#asked?.resolve(reply.text);
  }
  #fail(error) {
    this.#fault ??= error;
    this.#asked?.reject(this.#fault);
    this.#socket.destroy();
  }
}
function written(words) {
  const bulks = words.map((word) => `$${Buffer.byteLength(word)}${CR_LF}${word}${CR_LF}`);
  return `*${words.length}${CR_LF}${bulks.join("")}`;
}
function readReply(bytes) {
  const lineEnd = bytes.indexOf(CR_LF);
  if (lineEnd === -1) return null;
  const start = lineEnd + CR_LF.length;
  const line = bytes.toString("utf8", 1, lineEnd);
  if (bytes[0] !== "$".charCodeAt(0))
    return { text: line, isError: bytes[0] === "-".charCodeAt(0), end: start };
  const end = start + Math.max(0, Number(line) || 0);
  if (bytes.length < end + CR_LF.length) return null;
  return { text: bytes.toString("utf8", start, end), isError: false, end: end + CR_LF.length };
}

const ANSWER_MS = 5e3;
const REWRITE_PERIOD_MS = 100;
const ASK = { relational: askRelational, keyvalue: askKeyvalue };
async function probeDatastore(row) {
  const place = externalPlace(row);
  if (!place) throw new Error(`the ${KINDS[row.kind].label} has no port yet`);
  await probePlace(row.kind, place);
}
async function probePlace(kind, place) {
  await ASK[kind](place);
}
async function askRelational(place) {
  await queryRelational(place, "SELECT 1");
}
async function queryRelational({ host, port, username, password, database }, sql) {
  const { Client } = await import('pg');
  const socket = boundedSocket();
  const client = new Client({
    host,
    port,
    user: username,
    password,
    database,
    connectionTimeoutMillis: ANSWER_MS,
    query_timeout: ANSWER_MS,
    application_name: "deployer",
    stream: () => socket
  });
  client.on("error", () => {
  });
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    client.end().catch(() => {
    });
    socket.destroySoon();
  }
}
async function outsideOfDump(row) {
  const rows = await queryRelational(
    externalPlace(row),
    `SELECT 'database ' || datname AS name FROM pg_database
       WHERE NOT datistemplate AND datname NOT IN ('postgres', current_database())
     UNION ALL
     SELECT 'role ' || rolname FROM pg_roles WHERE rolname !~ '^pg_' AND rolname <> current_user
     ORDER BY name LIMIT 20`
  );
  return rows.map(({ name }) => String(name));
}
const MEASURE = { relational: measureRelational, keyvalue: measureKeyvalue };
function measureDisk(row) {
  return MEASURE[row.kind](externalPlace(row));
}
async function measureRelational(place) {
  const [row] = await queryRelational(
    place,
    `SELECT (SELECT sum(pg_database_size(oid)) FROM pg_database) + (SELECT sum(size) FROM pg_ls_waldir()) AS bytes`
  );
  return sizeFrom(row?.bytes);
}
async function measureKeyvalue(place) {
  const client = await KeyvalueClient.open(place, ANSWER_MS);
  try {
    const info = await client.ask("INFO", "persistence");
    return sizeFrom(/^aof_current_size:(\d+)/m.exec(info)?.[1]);
  } finally {
    client.close();
  }
}
function sizeFrom(answer) {
  const bytes = Number(answer ?? Number.NaN);
  if (!Number.isSafeInteger(bytes)) throw new Error(`it says ${String(answer)} of its size`);
  return bytes;
}
async function askKeyvalue(place) {
  const client = await KeyvalueClient.open(place, ANSWER_MS);
  try {
    await client.ask("PING");
  } finally {
    client.close();
  }
}
async function configureKeyvalue(row, settings) {
  const client = await KeyvalueClient.open(externalPlace(row), ANSWER_MS);
  try {
    await client.ask("CONFIG", "SET", ...Object.entries(settings).flat());
  } finally {
    client.close();
  }
}
async function beginAppendOnly(place, signal) {
  const client = await KeyvalueClient.open(place, ANSWER_MS);
  try {
    await client.ask("CONFIG", "SET", "appendonly", "yes");
    for (; ; ) {
      signal.throwIfAborted();
      const info = await client.ask("INFO", "persistence");
      if (/^aof_last_bgrewrite_status:err/m.test(info))
        throw new Error("it could not write its append-only file");
      if (/^aof_rewrite_in_progress:0/m.test(info) && /^aof_rewrite_scheduled:0/m.test(info)) return;
      await setTimeout$1(REWRITE_PERIOD_MS, void 0, { signal });
    }
  } finally {
    client.close();
  }
}

const log$m = logger("datastores");
const PERIOD_MS$c = 6e4;
const TOLD_BYTES = 1024 * 1024;
class DiskWatch {
  #askedAt = /* @__PURE__ */ new Map();
  /** Asks, unless it was asked lately or does not serve. Never throws: whether it answers is found out by others. */
  async look(id) {
    const row = getDatastore(id);
    const isDue = performance.now() - (this.#askedAt.get(id) ?? -Infinity) >= PERIOD_MS$c;
    if (row?.status !== "available" || !isDue) return;
    this.#askedAt.set(id, performance.now());
    try {
      const before = diskBytesOf(id);
      const now = await measureDisk(row);
      recordDiskBytes(id, now);
      if (before === null || Math.abs(now - before) >= TOLD_BYTES) tellDatastore(id);
    } catch (error) {
      log$m.debug("a datastore does not say what it takes of the disk", {
        datastore: id,
        error: messageOf(error)
      });
    }
  }
  /** Asks again at once when it serves next. */
  forget(id) {
    this.#askedAt.delete(id);
  }
}

function isEmpty({ id }) {
  return getReplacement(id)?.kind === "first";
}
function isAwaited(row) {
  if (row.status === "available" || row.status === "deleting") return false;
  return getReplacement(row.id) === void 0;
}
function endWait(row, reason) {
  if (!isAwaited(row)) return false;
  if (row.status === "creating") return tryMove(datastoreMachine, row.id, "failed", { error: reason });
  const wasReplaced = row.status === "restoring" || row.status === "upgrading";
  return wasReplaced && tryMove(datastoreMachine, row.id, "unavailable", { error: reason });
}

const log$l = logger("datastores");
const PERIOD_MS$b = 1e4;
const PARALLEL$4 = 8;
const MISSES = 2;
const START_PERIOD_MS = 100;
const START_LIMIT_MS = 5 * 6e4;
class DatastoreHealth {
  #misses = /* @__PURE__ */ new Map();
  #starting = new Background();
  #disks = new DiskWatch();
  task() {
    return {
      name: "datastore health",
      everyMs: PERIOD_MS$b,
      run: (signal) => forEachLimited(
        allDatastores().filter(({ status }) => status === "available" || status === "unavailable"),
        PARALLEL$4,
        async ({ id }) => {
          if (signal.aborted) return;
          await this.#look(id);
          await this.#disks.look(id);
        }
      )
    };
  }
  /** Asks a program that was just started often, until it answers; tells when it did not in five minutes. */
  expect(id, onLate) {
    this.#starting.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#awaitAnswer(id, signal),
      onFailure: (error) => onLate(messageOf(error)),
      onEnd: () => {
      }
    });
  }
  /** Ends the asking for a program that ended or goes. */
  async forget(id) {
    this.#misses.delete(id);
    this.#disks.forget(id);
    await this.#starting.cancel(id);
  }
  stop() {
    this.#starting.stop();
  }
  async #awaitAnswer(id, signal) {
    const deadline = performance.now() + START_LIMIT_MS;
    for (let row = getDatastore(id); row; row = getDatastore(id)) {
      signal.throwIfAborted();
      try {
        await probeDatastore(row);
        this.#answered(id);
        return await this.#disks.look(id);
      } catch (error) {
        if (performance.now() > deadline)
          throw new Error(`it did not answer within 5 minutes: ${messageOf(error)}`, { cause: error });
      }
      await setTimeout$1(START_PERIOD_MS, void 0, { signal });
    }
  }
  async #look(id) {
    const row = getDatastore(id);
    if (!row) return;
    try {
      await probeDatastore(row);
      this.#answered(id);
    } catch (error) {
      const misses = (this.#misses.get(id) ?? 0) + 1;
      this.#misses.set(id, misses);
      if (misses >= MISSES) becomeUnavailable(id, `it does not answer: ${messageOf(error)}`);
    }
  }
  #answered(id) {
    this.#misses.delete(id);
    const moved = useDatabase().transaction(() => {
      const row = getDatastore(id);
      if (!row || !isAwaited(row)) return false;
      if (row.status === "failed") tryMove(datastoreMachine, id, "creating");
      const wasReplaced = row.status === "restoring" || row.status === "upgrading";
      return tryMove(datastoreMachine, id, "available", { error: wasReplaced ? row.error : null });
    });
    if (!moved) return;
    log$l.info("a datastore is available", { datastore: id });
    tellDatastore(id);
  }
}
function becomeUnavailable(id, reason) {
  if (getDatastore(id)?.status !== "available") return;
  if (!tryMove(datastoreMachine, id, "unavailable", { error: reason })) return;
  log$l.warn("a datastore is unavailable", { datastore: id, reason });
  tellDatastore(id);
}

const log$k = logger("datastores");
const PERIOD_MS$a = 6e4;
function leftovers(world, isUnderWay) {
  return {
    name: "leftovers of datastores",
    everyMs: PERIOD_MS$a,
    async run() {
      if (world.reachByAddress === null) return;
      await removeStrayWork(world, isUnderWay);
      for (const spare of dueSpareVolumes())
        await removeSpareVolumes(world.engine, [spare]).catch(
          (error) => log$k.warn("a volume cannot be removed yet", { volume: spare.volume, error: messageOf(error) })
        );
    }
  };
}
async function removeSpareVolumes(engine, spares) {
  for (const { volume, datastore_id } of spares) {
    await engine.volumes.remove(volume);
    forgetSpareVolume(volume);
    if (getDatastore(datastore_id)) tellDatastore(datastore_id);
  }
}

const MIB$1 = 1024 * 1024;
async function applyLimits(engine, row) {
  const limits = containerLimits(row);
  await engine.containers.update(row.id, limits);
  if (row.kind === "keyvalue" && row.status === "available")
    await configureKeyvalue(row, memorySettings(row.kind, limits.memoryBytes / MIB$1));
}

const STOP_GRACE_SECONDS$1 = 10;
async function removeDatastore(world, row) {
  const { containers, volumes } = world.engine;
  await containers.stop(row.id, STOP_GRACE_SECONDS$1);
  await containers.remove(row.id);
  await removeStrayWork(world, (name) => !name.startsWith(row.id));
  await volumes.remove(row.volume);
  const filling = getReplacement(row.id);
  if (filling) await volumes.remove(filling.volume);
  await removeSpareVolumes(world.engine, spareVolumesOf(row.id));
  await removeBackupsOf(row.id);
  releaseAddress(row.id);
  deleteDatastoreRow(row.id);
  forgetDiskBytes(row.id);
  await removeServiceLog(row.id);
  await world.dataPlane.sync();
}

const log$j = logger("backups");
const MAGIC_BYTES = 16;
async function provideBackup(kind, backup, signal) {
  try {
    await checkFile(kind, backup, signal);
  } catch (fault) {
    signal.throwIfAborted();
    if (backup.object_url === null) throw fault;
    log$j.info("a backup is fetched from its bucket", { backup: backup.id, reason: messageOf(fault) });
    await fetchCopy(backup, signal);
    await checkFile(kind, backup, signal);
  }
}
async function fetchCopy(backup, signal) {
  const { stream } = await openCopy(backup, signal);
  try {
    const { sha256 } = await writeBackupPart(backup.id, stream);
    if (sha256 !== backup.sha256)
      throw new AppError("io_error", `the copy at ${backup.object_url} has another checksum`);
    await keepBackupPart(backup.id);
  } finally {
    await removeBackupPart(backup.id);
  }
}
async function checkFile(kind, backup, signal) {
  const hash = createHash("sha256");
  let size = 0;
  let head = Buffer.alloc(0);
  try {
    for await (const chunk of createReadStream(backupPath(backup.id), { signal })) {
      if (head.length < MAGIC_BYTES) head = Buffer.concat([head, chunk.subarray(0, MAGIC_BYTES)]);
      hash.update(chunk);
      size += chunk.length;
    }
  } catch (cause) {
    signal.throwIfAborted();
    throw damaged(backup, "cannot be read", cause);
  }
  if (!DUMP_PROGRAMS[kind].magic.test(head.toString("latin1")))
    throw damaged(backup, `is not of a ${KINDS[kind].label}`);
  if (size !== backup.size_bytes)
    throw damaged(backup, `has ${size} bytes where ${backup.size_bytes} were written`);
  if (hash.digest("hex") !== backup.sha256)
    throw damaged(backup, "has another checksum than when it was written");
}
function damaged({ id }, how, cause) {
  return new AppError("io_error", `the file of the backup ${id} ${how}: restore another backup`, { cause });
}

const ANSWER_WITHIN_MS$1 = 36e5;
const ANSWER_PERIOD_MS$1 = 100;
const FILL = { relational: fillRelational, keyvalue: fillKeyvalue };
async function fillVolume(world, row, filling, signal) {
  await world.engine.volumes.create(filling.volume, { "deployer.datastore": row.id });
  await FILL[row.kind](world, row, filling, signal);
}
async function fillRelational(world, row, filling, signal) {
  const { volume, imageId, backupId } = filling;
  await withProgram(world, row, filling, signal, async (_, inside) => {
    const env = DUMP_PROGRAMS[row.kind].env(inside);
    const connection = postgresConnection(inside.database);
    const restore = ["pg_restore", "--exit-on-error", ...connection];
    const tool = { name: `${volume}-load`, imageId, env, entrypoint: restore };
    await runTool(world, row, tool, (streams) => feed(streams, backupId), signal);
    const analyze = ["psql", ...connection, "--no-psqlrc", "--quiet", "--command=ANALYZE"];
    await runTool(world, row, { ...tool, entrypoint: analyze }, drain, signal);
  });
}
async function fillKeyvalue(world, row, filling, signal) {
  const { volume, imageId, backupId } = filling;
  const copy = ["dd", `of=${KEYVALUE_VOLUME}/dump.rdb`, "bs=1M", "status=none"];
  const mount = { name: volume, path: KEYVALUE_VOLUME };
  const tool = { name: `${volume}-load`, imageId, env: {}, entrypoint: copy, volume: mount };
  await runTool(world, row, tool, (streams) => feed(streams, backupId), signal);
  await withProgram(world, row, filling, signal, (outside) => beginAppendOnly(outside, signal));
}
async function withProgram(world, row, { volume, imageId }, signal, work) {
  const { containers } = world.engine;
  await inNetwork(world, row, volume, async (place) => {
    await containers.create({ ...fillingContainer(row, volume, imageId), ...place });
    const files = datastoreFiles(row, "filling");
    if (files) await containers.putArchive(volume, files.folder, files.tar);
    await containers.start(volume);
    const port = (await containers.inspect(volume))?.publishedPort ?? 0;
    const outside = { ...internalPlace(row), host: "127.0.0.1", port };
    await untilAnswer(world, row.kind, volume, outside, signal);
    await work(outside, { ...internalPlace(row), host: place.address });
    await probePlace(row.kind, outside);
    await containers.stop(volume, CHECKPOINT_SECONDS);
  });
}
async function untilAnswer(world, kind, name, place, signal) {
  const deadline = performance.now() + ANSWER_WITHIN_MS$1;
  for (; ; ) {
    signal.throwIfAborted();
    try {
      return await probePlace(kind, place);
    } catch (error) {
      const found = await world.engine.containers.inspect(name);
      if (!found) throw new AppError("runtime_error", `its container ${name} was removed from outside`);
      if (!found.running) throw new AppError("runtime_error", await reasonOfEnd(world.engine, found));
      if (performance.now() > deadline)
        throw new AppError("runtime_error", `it did not answer within an hour: ${messageOf(error)}`);
    }
    await setTimeout$1(ANSWER_PERIOD_MS$1, void 0, { signal });
  }
}
async function feed(streams, backupId) {
  const file = createReadStream(backupPath(backupId));
  await Promise.all([streams.input(file), drain(streams)]).catch((error) => {
    if (error.code !== "ENOENT") throw error;
    throw new AppError("runtime_error", "the backup was deleted", { cause: error });
  });
}
async function drain(streams) {
  for await (const _ of streams.output()) ;
}

const log$i = logger("datastores");
const PERIOD_MS$9 = 6e4;
const LONGEST_MS = 12 * 36e5;
const MAX_TRIES = 3;
const MAX_ERROR_CHARACTERS$2 = 4 * 1024;
const ANSWER_PERIOD_MS = 100;
const ANSWER_WITHIN_MS = 5 * 6e4;
class Replacements {
  #world;
  #keeping;
  #work = new Background();
  #stopListening;
  #wake = () => {
  };
  constructor(world, keeping) {
    this.#world = world;
    this.#keeping = keeping;
    this.#stopListening = onChange(({ kind }) => {
      if (kind === "datastore") this.look();
    });
  }
  /** The task to hand to a driver; `wake` is how it asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return {
      name: "replacements",
      everyMs: PERIOD_MS$9,
      run: async () => {
        if (this.#world.reachByAddress === null) return;
        for (const { datastore_id } of allReplacements()) this.#begin(datastore_id);
        await Promise.resolve();
      }
    };
  }
  /** Asks for a look soon, as after the engine came back. */
  look() {
    this.#wake();
  }
  /** Whether a container of this name belongs to a replacement under way. */
  isUnderWay(name) {
    return allReplacements().some(
      ({ datastore_id, volume }) => this.#work.has(datastore_id) && name.startsWith(volume)
    );
  }
  /** Calls off what is under way for a datastore that goes, and waits for its end. */
  async cancel(id) {
    await this.#work.cancel(id);
  }
  stop() {
    this.#stopListening();
    this.#work.stop();
  }
  #begin(id) {
    const row = getDatastore(id);
    if (this.#work.has(id) || row?.status !== "restoring" && row?.status !== "upgrading") return;
    this.#work.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#run(id, signal),
      onFailure: (error) => {
        const replacement = getReplacement(id);
        const reason = messageOf(error).slice(0, MAX_ERROR_CHARACTERS$2);
        if (replacement)
          giveUpReplacement(
            replacement,
            `it was not ${row.status === "upgrading" ? "upgraded" : "restored"}: ${reason}`
          );
        log$i.warn("the data of a datastore was not replaced", { datastore: id, error: reason });
      },
      onEnd: () => this.#wake()
    });
  }
  async #run(id, stop) {
    const replacement = beginTry(getReplacement(id));
    if (replacement.tries > MAX_TRIES)
      throw new Error(`the server was stopped in the middle of it ${MAX_TRIES} times: begin again`);
    const late = AbortSignal.timeout(LONGEST_MS);
    const signal = AbortSignal.any([stop, late]);
    try {
      await this.#replace(getDatastore(id), replacement, signal);
    } catch (error) {
      throw late.aborted ? new Error(`it was not done within ${LONGEST_MS / 36e5} hours`) : error;
    }
  }
  async #replace(row, replacement, signal) {
    const { engine } = this.#world;
    const { id } = row;
    const { kind, volume, version } = replacement;
    const imageId = kind === "upgrade" ? await pullImage$1(engine, `${row.repository}:${version}`, signal) : await imageOf(engine, row, signal);
    if (kind !== "first") await assertWholeInDump(row);
    const backup = kind === "upgrade" ? await this.#backUp(row, signal) : getBackup(replacement.backup_id ?? "");
    if (!backup) throw new AppError("runtime_error", "the backup was deleted");
    await provideBackup(row.kind, backup, signal);
    await fillVolume(this.#world, row, { volume, imageId, backupId: backup.id }, signal);
    await this.#keeping.hold(id);
    try {
      signal.throwIfAborted();
      await stopDatastore(this.#world, id);
      signal.throwIfAborted();
      finishReplacement(getDatastore(id), replacement, imageId);
      if (kind !== "first")
        log$i.info("the data of a datastore was replaced; the volume of before is kept for a day", {
          datastore: id,
          kept: row.volume,
          used: volume
        });
    } finally {
      this.#keeping.release(id);
    }
  }
  /** A backup of what a datastore holds now, made while it takes no writes. */
  async #backUp(row, signal) {
    forbidWrites(row.id);
    await this.#untilReadOnly(row.id, signal);
    const { id } = beginBackup(row, "upgrade");
    updateReplacement(row.id, { backup_id: id });
    const backup = await ended(id, signal);
    if (backup.status !== "failed") return backup;
    throw new AppError("runtime_error", `its backup failed: ${backup.error}`);
  }
  /** The keeper starts its container anew in the mode that an upgrade asks for. */
  async #untilReadOnly(id, signal) {
    const deadline = performance.now() + ANSWER_WITHIN_MS;
    for (; ; ) {
      signal.throwIfAborted();
      const row = getDatastore(id);
      try {
        const found = await this.#world.engine.containers.inspect(id);
        if (found?.running && isInMode(row, found)) return await probeDatastore(row);
      } catch (error) {
        if (performance.now() > deadline) throw error;
      }
      if (performance.now() > deadline)
        throw new AppError("runtime_error", "it did not stop taking writes within 5 minutes");
      await setTimeout$1(ANSWER_PERIOD_MS, void 0, { signal });
    }
  }
}
async function assertWholeInDump(row) {
  if (row.kind !== "relational") return;
  const outside = await outsideOfDump(row).catch(() => []);
  if (outside.length === 0) return;
  throw new AppError(
    "runtime_error",
    `it holds ${outside.join(", ")} besides its own database and role, which would be lost: move them to a datastore of their own, or restore into a new one`
  );
}
async function ended(id, signal) {
  const changed = new EventTarget();
  const stopListening = onChange(({ kind }) => {
    if (kind === "datastore") changed.dispatchEvent(new Event("change"));
  });
  try {
    for (; ; ) {
      const backup = getBackup(id);
      if (!backup) throw new AppError("runtime_error", "its backup was deleted");
      if (backup.status !== "running" || backup.sha256 !== null) return backup;
      await once(changed, "change", { signal });
    }
  } finally {
    stopListening();
  }
}

const PORT_TAKEN = /port is already allocated|address already in use/;
async function startDatastore(world, row, signal) {
  const { containers, volumes } = world.engine;
  const network = await ensureNetwork(world.engine, findEnvironment(row.environment_id));
  const imageId = await imageOf(world.engine, row, signal);
  const address = await addressFor(world.engine, allotAddress, row.environment_id, network, row.id);
  const hostPort = row.host_port ?? await freePort();
  recordDatastore(row.id, { address: address === row.address ? address : null, host_port: hostPort });
  await assertKept(world, row);
  await volumes.create(row.volume, { "deployer.datastore": row.id });
  await containers.remove(row.id);
  signal.throwIfAborted();
  await containers.create(datastoreContainer(row, { network: network.name, address, hostPort, imageId }));
  const files = datastoreFiles(row);
  if (files) await containers.putArchive(row.id, files.folder, files.tar);
  recordDatastore(row.id, { address });
  if (getDatastore(row.id)?.status === "deleting") return;
  await start$1(world, row.id);
  await world.dataPlane.sync();
}
async function assertKept({ engine }, { status, volume }) {
  if (status === "creating" || status === "failed") return;
  if (await engine.volumes.inspect(volume) !== null) return;
  throw new AppError(
    "runtime_error",
    `its volume ${volume} is gone from the container engine, with all that it held: restore a backup`
  );
}
async function start$1(world, id) {
  try {
    await world.engine.containers.start(id);
  } catch (error) {
    if (error instanceof AppError && PORT_TAKEN.test(messageOf(error)))
      recordDatastore(id, { host_port: null });
    throw error;
  }
}
async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

const log$h = logger("datastores");
const PERIOD_MS$8 = 15e3;
const MAX_EXITS = 3;
class DatastoreKeeper {
  #world;
  #health = new DatastoreHealth();
  #backups;
  #copies = new BackupCopies();
  #schedule = new BackupSchedule();
  #replacements;
  /** Those whose container another hand changes now. */
  #held = /* @__PURE__ */ new Set();
  #passes = new Background();
  #removals = new Background();
  #failures = new CrashHistory();
  #pauses = /* @__PURE__ */ new Map();
  #dirty = /* @__PURE__ */ new Set();
  #stopListening;
  #lastSweep = -Infinity;
  #wake = () => {
  };
  #sweep = () => {
  };
  constructor(world) {
    this.#world = world;
    this.#backups = new Backups(world);
    this.#replacements = new Replacements(world, {
      hold: (id) => this.#hold(id),
      release: (id) => this.#release(id)
    });
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind === "datastore") this.look(id);
    });
  }
  /** Takes up what the last run of the server left. */
  recover() {
    this.#backups.recover();
  }
  /** The tasks that keep datastores; `wake` runs one of them by its name. */
  tasks(wake) {
    const sweep = leftovers(
      this.#world,
      (name) => this.#backups.isUnderWay(name) || this.#replacements.isUnderWay(name)
    );
    this.#wake = () => wake("datastores");
    this.#sweep = () => wake(sweep.name);
    return [
      { name: "datastores", everyMs: PERIOD_MS$8, run: () => Promise.resolve(this.#run()) },
      this.#health.task(),
      this.#backups.task(() => wake("backups")),
      this.#copies.task(() => wake("copies of backups")),
      this.#schedule.task(() => wake("backup schedule")),
      this.#replacements.task(() => wake("replacements")),
      sweep
    ];
  }
  /** Asks for a datastore to be looked at soon. */
  look(id) {
    this.#dirty.add(id);
    this.#wake();
  }
  /** Asks for a look at everything, after the engine came back. */
  lookAtAll() {
    this.#lastSweep = -Infinity;
    for (const [id, pause] of this.#pauses) this.#cutShort(id, pause);
    this.#wake();
    this.#backups.look();
    this.#replacements.look();
    this.#sweep();
  }
  /** Ends the work; what is half done is found and finished by the next start. */
  stop() {
    this.#stopListening();
    this.#passes.stop();
    this.#removals.stop();
    this.#health.stop();
    this.#backups.stop();
    this.#copies.stop();
    this.#replacements.stop();
    this.#schedule.stop();
  }
  async #hold(id) {
    this.#held.add(id);
    await Promise.all([this.#passes.cancel(id), this.#health.forget(id)]);
  }
  #release(id) {
    this.#held.delete(id);
    this.look(id);
  }
  #run() {
    if (this.#world.reachByAddress === null) return this.#blame(this.#world.engineFault);
    if (performance.now() - this.#lastSweep >= PERIOD_MS$8) {
      this.#lastSweep = performance.now();
      for (const { id } of allDatastores()) this.#dirty.add(id);
    }
    for (const id of this.#dirty) {
      const row = getDatastore(id);
      if (row) this.#endPause(row);
      if (row?.status === "deleting") this.#beginRemoval(id);
      else if (this.#passes.has(id) || this.#held.has(id)) continue;
      else if (row) this.#beginPass(id);
      this.#dirty.delete(id);
    }
  }
  /** Tells who waits that the engine does not answer; nothing while it has not been asked. */
  #blame(reason) {
    if (reason === null) return;
    for (const { id } of allDatastores()) this.#fail(id, reason);
  }
  #beginPass(id) {
    this.#passes.start({
      key: id,
      pauseMs: 0,
      run: (signal) => this.#pass(id, signal),
      onFailure: (error) => {
        this.#failures.record(id);
        this.#fail(id, messageOf(error));
      },
      onEnd: () => {
        const row = getDatastore(id);
        const isSettled = row?.apply_error === null && row.observed_generation === row.generation;
        if (row && !isSettled || this.#dirty.has(id)) this.look(id);
      }
    });
  }
  async #pass(id, signal) {
    const found = await this.#world.engine.containers.inspect(id);
    const isRunning = found?.running === true;
    if (!found) becomeUnavailable(id, "its container was removed from outside");
    else if (!isRunning && found.status !== "created") await this.#recordEnd(id, found);
    await this.#pause(id, signal);
    const row = getDatastore(id);
    if (!row || row.status === "deleting") return;
    if (isEmpty(row)) return observe$1(row, null);
    const isAtHome = found?.networks.some(({ address }) => address === row.address) === true;
    const isUp = isRunning && isAtHome && isInMode(row, found);
    if (isRunning && !isAtHome) noteInService(id, id, "its container lost its address; it is started again");
    if (isRunning && !isUp) await stopDatastore(this.#world, id);
    if (!isUp) await startDatastore(this.#world, row, signal);
    else if (row.observed_generation !== row.generation || row.apply_error !== null) {
      await applyLimits(this.#world.engine, row);
    }
    observe$1(row, null);
    if (!isUp) tellDatastore(id);
    if (isAwaited(row)) this.#health.expect(id, (reason) => this.#fail(id, reason));
  }
  /** Waits before what failed is tried again, until somebody wants it otherwise than when the wait began. */
  async #pause(id, signal) {
    const wait = new AbortController();
    this.#pauses.set(id, { generation: getDatastore(id)?.generation ?? 0, end: () => wait.abort() });
    try {
      const either = AbortSignal.any([signal, wait.signal]);
      await setTimeout$1(this.#failures.backOffMs(id), void 0, { signal: either });
    } catch (error) {
      if (!wait.signal.aborted) throw error;
    } finally {
      this.#pauses.delete(id);
    }
  }
  #endPause({ id, generation }) {
    const pause = this.#pauses.get(id);
    if (pause && pause.generation !== generation) this.#cutShort(id, pause);
  }
  #cutShort(id, pause) {
    this.#failures.forget(id);
    pause.end();
  }
  async #recordEnd(id, container) {
    await this.#health.forget(id);
    this.#failures.record(id);
    const reason = await reasonOfEnd(this.#world.engine, container);
    becomeUnavailable(id, reason);
    noteInService(id, id, `${reason.split("\n", 1)[0]}; it is started again`);
    if (this.#failures.count(id) >= MAX_EXITS) this.#fail(id, reason);
  }
  /**
   * Records what kept a pass from its end. One that was never there has failed; whether one that was there still answers
   * is found out by asking it.
   */
  #fail(id, reason) {
    const row = getDatastore(id);
    if (!row) return;
    const isNew = row.apply_error !== reason;
    const failed = endWait(row, reason);
    const isDown = row.status === "failed" || row.status === "unavailable";
    const isNews = isDown && !isEmpty(row) && row.error !== reason;
    if (isNews) recordDatastore(id, { error: reason });
    observe$1(row, reason);
    if (isNew) log$h.warn("a datastore is not as it should be", { datastore: id, error: reason });
    if (failed || isNews) tellDatastore(id);
  }
  #beginRemoval(id) {
    this.#removals.start({
      key: id,
      pauseMs: this.#failures.backOffMs(id),
      run: async () => {
        await Promise.all([this.#passes.cancel(id), this.#replacements.cancel(id)]);
        await Promise.all([this.#health.forget(id), this.#backups.cancel(id), this.#copies.cancel(id)]);
        await removeDatastore(this.#world, getDatastore(id));
        this.#failures.forget(id);
        tellDatastore(id, "deleted");
        passEnded(id);
      },
      onFailure: (error) => {
        this.#failures.record(id);
        this.#fail(id, messageOf(error));
      },
      onEnd: () => {
        if (getDatastore(id)) this.look(id);
      }
    });
  }
}
function observe$1(row, error) {
  observeDatastore(row.id, row.generation, error);
  passEnded(row.id);
}

async function prepareLaunch(world, service, deploy, snapshot) {
  const environment = findEnvironment(service.environment_id);
  const network = await ensureNetwork(world.engine, environment);
  const nameServer = await nameServerOf(world, environment, network, snapshot.image_id);
  const image = await world.engine.images.inspect(snapshot.image_id);
  return { service, deploy, snapshot, network, nameServer, user: image?.user ?? "" };
}

const instanceMachine = defineMachine({
  table: "instances",
  moves: {
    starting: ["ready", "failing", "down", "draining"],
    ready: ["failing", "down", "draining"],
    failing: ["ready", "down", "draining"],
    down: ["ready", "failing", "draining"],
    draining: []
  }
});

function* linesOf(text) {
  for (let start = 0; start <= text.length; ) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    yield text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end);
    start = end + 1;
  }
}

const MAX_LIST_BYTES = 1024 ** 2;
const MAX_FIELDS = 7;
function diskName(serviceId) {
  return `deployer-${serviceId}`;
}
async function diskOf(engine, serviceId, snapshot) {
  if (snapshot.disk_mount_path === null) return {};
  const name = diskName(serviceId);
  await engine.volumes.create(name, { "deployer.service": serviceId });
  return { volume: { name, path: snapshot.disk_mount_path } };
}
async function giveDisk(engine, container, { snapshot, user }) {
  const path = snapshot.disk_mount_path;
  if (path === null) return;
  if (user === "" || user === "root" || user === "0") return;
  const owner = await idsOf(engine, container, user);
  if (!owner || !await isNew(engine, container, path)) return;
  const archive = pack();
  archive.entry({ name: basename(path), type: "directory", mode: 493, ...owner });
  archive.finalize();
  await engine.containers.putArchive(
    container,
    dirname(path),
    Readable.from(archive, { objectMode: false })
  );
}
async function isNew(engine, container, path) {
  const tar = await engine.containers.getArchive(container, path);
  if (!tar) return false;
  let root;
  try {
    for await (const entry of entriesOf(tar)) {
      entry.resume();
      if (root) return false;
      root = entry.header;
    }
  } finally {
    tar.destroy();
  }
  return root?.uid === 0 && root.gid === 0;
}
async function idsOf(engine, container, user) {
  const [userPart = "", groupPart] = user.split(":");
  const isNumber = (part) => part !== void 0 && /^\d+$/.test(part);
  if (isNumber(userPart) && isNumber(groupPart)) return { uid: Number(userPart), gid: Number(groupPart) };
  const row = findRow(await readText(engine, container, "/etc/passwd"), userPart, 2);
  const uid = isNumber(userPart) ? Number(userPart) : Number(row?.[2] ?? NaN);
  if (Number.isNaN(uid)) return null;
  if (groupPart === void 0) return { uid, gid: Number(row?.[3] ?? 0) };
  if (isNumber(groupPart)) return { uid, gid: Number(groupPart) };
  const group = findRow(await readText(engine, container, "/etc/group"), groupPart, 2);
  return group ? { uid, gid: Number(group[2]) } : null;
}
function findRow(file, wanted, numberField) {
  for (const line of linesOf(file)) {
    const fields = line.split(":", MAX_FIELDS);
    if (fields[0] === wanted || fields[numberField] === wanted) return fields;
  }
  return void 0;
}
async function readText(engine, container, path) {
  const tar = await engine.containers.getArchive(container, path);
  if (!tar) return "";
  try {
    for await (const entry of entriesOf(tar)) return await textOf(entry, path);
  } finally {
    tar.destroy();
  }
  return "";
}
async function textOf(entry, path) {
  if ((entry.header.size ?? 0) > MAX_LIST_BYTES) {
    throw new AppError(
      "runtime_error",
      `the image's ${path} is larger than ${MAX_LIST_BYTES / 1024 ** 2} MiB, so that its user cannot be looked up: set USER to two numbers, such as 1000:1000`
    );
  }
  return text(entry);
}
function entriesOf(tar) {
  return pipeline(tar, extract(), () => {
  });
}

const SHELL_WORDS = new Set(
  "! . : [ alias bg break case cd command continue do done elif else esac eval exec exit export false fg fi for getopts hash if in jobs kill local printf pwd read readonly return set shift source test then time times trap true type ulimit umask unalias unset until wait while { }".split(" ")
);
const SHELL_COMMANDS = new Set(
  ". : [ cd export printf pwd set source test true ulimit umask unset".split(" ")
);
const DIRECT = /^exec +((?![\w-]+=|-)[\w./:@%+,=-]+(?: +[\w./:@%+,=-]+)*) *$/;
function shellArguments(command) {
  const direct = DIRECT.exec(command)?.[1];
  if (direct !== void 0) return direct.split(/ +/);
  return ["/bin/sh", "-c", withExec(command)];
}
function withExec(command) {
  const starts = listStarts(command);
  if (starts === null) return command;
  const last = starts.at(-1);
  const parts = starts.map((start, index) => command.slice(start, starts[index + 1]).trim());
  const isPlainList = parts.every(
    (part) => !SHELL_WORDS.has(firstWord(part)) || SHELL_COMMANDS.has(firstWord(part))
  );
  const word = firstWord(parts.at(-1));
  if (!isPlainList || word === "" || SHELL_WORDS.has(word)) return command;
  const program = command.slice(last).trimStart();
  const exec = /^[A-Za-z_]\w*=/.test(word) ? "exec env" : "exec";
  return `${command.slice(0, last)}${last === 0 ? "" : " "}${exec} ${program}`.trimEnd();
}
function firstWord(text) {
  return /^\S*/.exec(text)[0];
}
function listStarts(command) {
  if (/\$\(|`|<<|[\n\r]|(^|\s)#/.test(command)) return null;
  const starts = [0];
  for (let at = 0; at < command.length; at += 1) {
    const character = command[at];
    if (character === "\\") at += 1;
    else if (character === "'" || character === '"') {
      at = quoteEnd(command, at);
      if (at === -1) return null;
    } else if (character === "&" && command[at + 1] === "&") {
      starts.push(at + 2);
      at += 1;
    } else if (character === ";") starts.push(at + 1);
    else if ("|()".includes(character) || character === "&" && !/[<>]$/.test(command.slice(0, at)))
      return null;
  }
  return starts;
}
function quoteEnd(command, start) {
  const quote = command[start];
  for (let at = start + 1; at < command.length; at += 1) {
    if (command[at] === "\\" && quote === '"') at += 1;
    else if (command[at] === quote) return at;
  }
  return -1;
}

const MIB = 1024 * 1024;
function serviceContainer(launch, role) {
  const { options } = useContext();
  const { service, deploy, snapshot, network, nameServer } = launch;
  const [entrypoint, ...command] = role.command === null ? [] : shellArguments(role.command);
  return {
    name: role.name,
    image: snapshot.image_id,
    labels: { "deployer.kind": role.kind, "deployer.service": service.id, "deployer.deploy": deploy.id },
    env: { ...snapshot.env, ...serverVariables(service, deploy, role.name) },
    ...entrypoint === void 0 ? {} : { entrypoint: [entrypoint], command },
    network: network.name,
    address: role.address,
    ...nameServer === null ? {} : { dns: [nameServer] },
    memoryBytes: (snapshot.memory_limit_mb || options.defaultMemoryMb) * MIB,
    cpus: snapshot.cpu_limit || options.defaultCpus
  };
}
function serverVariables(service, deploy, instanceId) {
  const environment = findEnvironment(service.environment_id);
  const host = hostsOf(service, environment)[0];
  return {
    DEPLOYER: "true",
    DEPLOYER_SERVICE_ID: service.id,
    DEPLOYER_SERVICE_NAME: service.name,
    DEPLOYER_SERVICE_TYPE: service.type,
    DEPLOYER_ENVIRONMENT: environment.name,
    DEPLOYER_DEPLOY_ID: deploy.id,
    DEPLOYER_INSTANCE_ID: instanceId,
    ...deploy.commit_sha === null ? {} : { DEPLOYER_GIT_COMMIT: deploy.commit_sha },
    ...branchOf(deploy) === null ? {} : { DEPLOYER_GIT_BRANCH: branchOf(deploy) },
    ...host === void 0 ? {} : { DEPLOYER_EXTERNAL_URL: publicUrl(host), DEPLOYER_EXTERNAL_HOSTNAME: host }
  };
}
function branchOf(deploy) {
  return JSON.parse(deploy.source).branch;
}

const STOP_GRACE_SECONDS = 30;
function addInstance(service, deployId, network) {
  const id = newInstanceId(service.id);
  useDatabase().transaction(
    () => insertInstance(id, service.id, deployId, allotAddress(service.environment_id, network.subnet, id))
  );
  return id;
}
async function startInstance(world, launch, instance) {
  const { containers } = world.engine;
  instance = await withOwnAddress(world.engine, launch, instance);
  let found = await containers.inspect(instance.id);
  if (found && lossOf(found, instance, launch.network) !== null) {
    await containers.stop(instance.id, STOP_GRACE_SECONDS);
    await containers.remove(instance.id);
    found = null;
  }
  if (found === null) await createContainer(world, launch, instance);
  if (found === null || found.status === "created") await giveDisk(world.engine, instance.id, launch);
  if (!getInstance(instance.id)) {
    await containers.remove(instance.id);
    throw new AppError("conflict", `${instance.id} was removed while it was started`);
  }
  if (launch.snapshot.disk_mount_path !== null) await assertAlone(world.engine, launch.service);
  await containers.start(instance.id);
  const started = await containers.inspect(instance.id);
  updateInstance(instance.id, {
    started_at: Date.now(),
    settings: started?.settings ?? null,
    ...upstreamOf(world, instance, launch.snapshot, started)
  });
}
async function assertAlone(engine, service) {
  const [other] = await engine.containers.unrecordedUsers(diskName(service.id));
  if (other === void 0) return;
  throw new AppError(
    "runtime_error",
    `the disk is in use by the container ${other}, which is newer than this server's data: docker rm -f ${other}`
  );
}
async function withOwnAddress(engine, { service, network }, instance) {
  const address = await addressFor(engine, allotAddress, service.environment_id, network, instance.id);
  if (address === instance.address) return instance;
  updateInstance(instance.id, { address });
  return { ...instance, address };
}
function lossOf(container, instance, network) {
  if (container.status === "removing" || container.status === "dead")
    return "its container was removed from outside";
  const endpoint = container.networks.find(({ id }) => id === network.id || id === network.name);
  if (!endpoint) return "its container lost its network";
  if (endpoint.address !== null && endpoint.address !== instance.address)
    return "its container lost its address";
  if (instance.settings !== null && container.settings !== instance.settings)
    return "its container's settings were changed from outside";
  return null;
}
async function createContainer(world, launch, instance) {
  const { service, snapshot, nameServer } = launch;
  updateInstance(instance.id, { settings: null });
  const command = snapshot.start_command;
  await world.engine.containers.create({
    ...serviceContainer(launch, { name: instance.id, kind: "instance", address: instance.address, command }),
    ...await diskOf(world.engine, service.id, snapshot),
    // The engine would answer an alias before it asks the resolver, also for an instance out of rotation.
    aliases: TYPES[service.type].listens && nameServer === null ? [service.name] : [],
    ...world.reachByAddress || snapshot.port === null ? {} : { publishPort: snapshot.port }
  });
}
async function removeInstance(world, instance, graceSeconds) {
  if (graceSeconds > 0) await world.engine.containers.stop(instance.id, graceSeconds);
  await world.engine.containers.remove(instance.id);
  releaseAddress(instance.id);
  deleteInstance(instance.id);
}
function upstreamOf(world, instance, { port }, container) {
  if (port === null) return { upstream_host: null, upstream_port: null };
  if (world.reachByAddress) return { upstream_host: instance.address, upstream_port: port };
  return { upstream_host: "127.0.0.1", upstream_port: container?.publishedPort ?? null };
}

const CHUNKS_AHEAD = 32;
const MOST_TAKEN = 4e3;
class Ahead {
  #live;
  #next = null;
  constructor(live) {
    const chunks = Readable.from(live, { highWaterMark: CHUNKS_AHEAD });
    chunks.on("error", () => {
    }).read(0);
    this.#live = chunks[Symbol.asyncIterator]();
  }
  /** What comes until it is enough, or until the time is up. */
  async take(timeoutMs, isEnough = () => false) {
    const late = setTimeout$1(timeoutMs, null, { ref: false });
    let lines = [];
    while (!isEnough(lines) && lines.length < MOST_TAKEN) {
      this.#next ??= this.#live.next();
      const step = await Promise.race([this.#next.catch(() => null), late]);
      if (!step || step.done) break;
      this.#next = null;
      lines = lines.concat(step.value);
    }
    return lines;
  }
  /** The first lines that come, whenever that is; none at the end. */
  async next() {
    for await (const lines of this.rest()) return lines;
    return [];
  }
  /** All that comes after what was taken. */
  async *rest() {
    for (; ; ) {
      const step = await (this.#next ?? this.#live.next());
      this.#next = null;
      if (step.done) return;
      if (step.value.length > 0) yield step.value;
    }
  }
}

const BATCH_LINES = 500;
const OVERLAP_MS = 5e3;
const SLACK_LINES = 500;
class EngineLog {
  /** When it was attached to: each later line comes live too. */
  since;
  #engine;
  #id;
  #known;
  #signal;
  /** The last line that was read. */
  #last = null;
  constructor(engine, id, known, since, signal) {
    this.since = since;
    this.#engine = engine;
    this.#id = id;
    this.#known = known;
    this.#signal = signal;
  }
  /** What is not known yet, oldest first. Throws when the signal aborts: what was read may be cut then. */
  async *unknown() {
    const newest = this.#known.since(OVERLAP_MS);
    if (newest !== null) return yield* batches(await this.#after(newest));
    let lines = [];
    for await (const line of this.#read({})) {
      lines.push(line);
      if (lines.length < BATCH_LINES) continue;
      yield lines;
      lines = [];
    }
    if (lines.length > 0) yield lines;
  }
  /** What the log got since it was last read; `expected` says about how much that may be. Throws as `unknown` does. */
  async more(expected) {
    const last = this.#last;
    if (!last) return this.#all({ since: this.since });
    const isLast = ({ ts, stream }) => ts === last.ts && stream === last.stream;
    const end = await this.#all({ tail: expected + SLACK_LINES });
    const place = end.findLastIndex(isLast);
    if (place !== -1) return end.slice(place + 1);
    const all = await this.#all({ since: last.ts < this.since ? last.ts : this.since });
    return all.slice(all.findLastIndex(isLast) + 1);
  }
  /** What is known already is looked for in the whole of what is read. */
  async #after(newest) {
    if (newest > this.since) return this.#known.after(await this.#all({}), true);
    const fresh = this.#known.after(await this.#all({ since: newest }), false);
    return fresh ?? this.#known.after(await this.#all({}), true);
  }
  async #all(options) {
    const lines = [];
    for await (const line of this.#read(options)) lines.push(line);
    return lines;
  }
  async *#read(options) {
    for await (const line of this.#engine.output.logs(this.#id, { ...options, signal: this.#signal })) {
      this.#last = line;
      yield line;
    }
    this.#signal.throwIfAborted();
  }
}
function* batches(lines) {
  for (let at = 0; at < lines.length; at += BATCH_LINES) yield lines.slice(at, at + BATCH_LINES);
}

const STREAMS = ["stdout", "stderr"];
const NEAR_MS = 5e3;
const EARLY_WEIGHT = 2;
const MOST_ALIKE = 2e3;
const MOST_COMPARED = 512;
const MOST_PLACES = 4e3;
const FEWER = 4;
function joinLive(logged, live, due) {
  const seam = { before: [...logged], live: [...live], isOpen: false, isDoubtful: false };
  for (const stream of STREAMS) {
    const isOfStream = (line) => line.stream === stream;
    const old = logged.filter(isOfStream);
    const fresh = live.filter(isOfStream);
    if (fresh.length === 0) continue;
    const owed = live.slice(0, due).filter(isOfStream).length;
    const [printed, arrived] = [timesOf(old), timesOf(fresh)];
    const { starts, isCut } = overlapStarts(old, fresh, (start2) => Math.abs(printed[start2] - arrived[0]));
    const whole = starts.filter((start2) => start2 + owed <= old.length);
    seam.isOpen ||= whole.length === 0 || isCut || owed === 0 && old.length > 0;
    seam.isDoubtful ||= whole.length > 1;
    const start = likeliest(
      whole.length > 0 ? whole : starts,
      (place) => unlikeness(printed, place, arrived, 0)
    );
    if (start === -1) continue;
    const repeated = new Set(old.slice(start));
    seam.before = seam.before.filter((line) => !repeated.has(line));
    const first = fresh[0];
    seam.live[seam.live.indexOf(first)] = { ...first, line: old[start].line };
  }
  return seam;
}
function overlapStarts(old, fresh, farness) {
  const [texts, wanted] = [textsOf(old), textsOf(fresh)];
  const startsWhere = (isFirst) => nearest(indexesWhere(texts, isFirst), farness).filter((start) => goesOn(texts, start, wanted));
  const starts = startsWhere((text) => text === wanted[0]);
  if (starts.length > 0 || wanted[0] === "") return { starts, isCut: false };
  return { starts: startsWhere((text) => text.endsWith(wanted[0])), isCut: true };
}
function goesOn(texts, start, wanted) {
  const length = Math.min(texts.length - start, wanted.length, MOST_ALIKE);
  for (let index = 1; index < length; index++) {
    if (texts[start + index] !== wanted[index]) return false;
  }
  return true;
}
function endOfKnown(logged, known) {
  if (known.length === 0) return 0;
  const [texts, wanted] = [textsOf(logged), textsOf(known)];
  const [printed, arrived] = [timesOf(logged), timesOf(known)];
  const last = wanted.length - 1;
  const farness = (index) => Math.abs(printed[index] - arrived[last]);
  const all = indexesWhere(texts, (text) => text === wanted[last]);
  const near = nearest(
    all.filter((index) => farness(index) <= NEAR_MS),
    farness
  );
  for (let count = known.length; count > 0; count = Math.floor(count / FEWER)) {
    const fits = (index) => endsWith(texts, index, wanted, count);
    let places = near.filter(fits);
    if (places.length === 0 && count === known.length)
      places = nearest(
        all.filter((index) => index >= count - 1 && fits(index)),
        farness
      );
    const found = likeliest(places, (index) => {
      const length = Math.min(index + 1, count);
      return unlikeness(printed, index + 1 - length, arrived, known.length - length);
    });
    if (found !== -1) return found + 1;
  }
  return -1;
}
function endsWith(texts, end, wanted, count) {
  const length = Math.min(end + 1, count);
  for (let back = 0; back < length; back++) {
    if (texts[end - back] !== wanted[wanted.length - 1 - back]) return false;
  }
  return true;
}
function textsOf(lines) {
  return lines.map(({ line }) => line.includes("\uFFFD") ? line.replace(/\ufffd+/g, "\uFFFD") : line);
}
function timesOf(lines) {
  return lines.map(({ ts }) => Date.parse(ts));
}
function indexesWhere(texts, isWanted) {
  const indexes = [];
  for (const [index, text] of texts.entries()) if (isWanted(text)) indexes.push(index);
  return indexes;
}
function nearest(places, farness) {
  if (places.length <= MOST_PLACES) return places;
  return places.toSorted((one, other) => farness(one) - farness(other)).slice(0, MOST_PLACES);
}
function likeliest(places, unlikenessAt) {
  if (places.length < 2) return places[0] ?? -1;
  const unlike = places.map(unlikenessAt);
  let best = 0;
  for (const [index, value] of unlike.entries()) if (value < unlike[best]) best = index;
  return places[best];
}
function unlikeness(printed, from, arrived, arrivedFrom) {
  const length = Math.min(printed.length - from, arrived.length - arrivedFrom, MOST_COMPARED);
  let sum = 0;
  for (let index = 0; index < length; index++) {
    const late = arrived[arrivedFrom + index] - printed[from + index];
    sum += Math.log1p(Math.abs(late)) * (late < -1 ? EARLY_WEIGHT : 1);
  }
  return sum / length;
}

const KNOWN_LINES = 512;
const KNOWN_LENGTH = 256 * 1024;
class KnownLines {
  #lines = { stdout: [], stderr: [] };
  #since;
  /** Without any line, everything before `since` is known too. */
  constructor(since = null) {
    this.#since = since;
  }
  add(lines) {
    for (const stream of STREAMS) {
      const added = lines.filter((line) => line.stream === stream).slice(-KNOWN_LINES);
      if (added.length > 0) this.#lines[stream] = newestOf([...this.#lines[stream], ...added.map(shown)]);
    }
  }
  /** The moment of the newest, as the engine takes it, or so much before; null when nothing is known. */
  since(earlierMs) {
    const newest = this.#newest();
    return newest ? engineMoment(Date.parse(newest.ts) - earlierMs) : this.#since;
  }
  /**
   * Of what the log has, what was not handed on yet: null where the newest known line is not found in it. That may be as
   * clocks were set or lines came very late; of the whole log, the times tell what is new then.
   */
  after(logged, isWhole) {
    const newest = this.#newest();
    const fresh = /* @__PURE__ */ new Set();
    for (const stream of STREAMS) {
      const ofStream = logged.filter((line) => line.stream === stream);
      const place = endOfKnown(ofStream.map(shown), this.#lines[stream]);
      const last = this.#lines[stream].at(-1);
      if (place === -1 && !isWhole && last === newest) return null;
      const isNew = (line, index) => place === -1 ? line.ts > last.ts : index >= place;
      for (const [index, line] of ofStream.entries()) if (isNew(line, index)) fresh.add(line);
    }
    return logged.filter((line) => fresh.has(line));
  }
  #newest() {
    const [one, other] = STREAMS.map((stream) => this.#lines[stream].at(-1));
    return one && other ? one.ts < other.ts ? other : one : one ?? other;
  }
}
function newestOf(lines) {
  let first = lines.length - 1;
  let length = lines[first].line.length;
  const last = Math.max(0, lines.length - KNOWN_LINES);
  while (first > last && (length += lines[first - 1].line.length) <= KNOWN_LENGTH) first--;
  return lines.slice(first);
}
function shown(line) {
  return { ...line, line: cleanLine(line.line) };
}
function engineMoment(milliseconds) {
  return timestamp(milliseconds).replace("Z", "000000Z");
}

const RETRY_MS$3 = 300;
const MOST_RETRY_MS = 5e3;
const LOOK_MS$1 = 2e3;
const LIVE_MS = 200;
const LOG_TRIES = 10;
const LOG_RETRY_MS = 20;
const DOUBT_MS = 60;
const DOUBT_LINES = 2e3;
async function* readOutput(engine, id, { untilEnd = false, signal, onLive, known = new KnownLines(), isTold = false }) {
  let retryMs = RETRY_MS$3;
  while (!signal.aborted) {
    const session = new AbortController();
    const stop = AbortSignal.any([signal, session.signal]);
    const look = () => isOver$1(engine, id, untilEnd).then((over) => over && session.abort());
    let watch;
    let isCalm = true;
    try {
      const found = await engine.containers.inspect(id);
      if (!found) return;
      const isLast = untilEnd && !found.running;
      if (!isTold && !isLast) watch = setInterval(() => void look(), LOOK_MS$1);
      const log = new EngineLog(engine, id, known, engineMoment(Date.now()), stop);
      const live = isLast ? null : await engine.output.attach(id, stop).catch(() => null);
      const isGone = () => isOver$1(engine, id, false);
      for await (const lines of live ? joined(log, new Ahead(live), isGone) : log.unknown()) {
        known.add(lines);
        if (lines.length === 0) onLive?.();
        else yield lines;
        isCalm &&= lines.length === 0;
      }
      if (!live) onLive?.();
      if (isLast) return;
      retryMs = live || !isCalm ? RETRY_MS$3 : Math.min(2 * retryMs, MOST_RETRY_MS);
    } catch {
    } finally {
      clearInterval(watch);
      session.abort();
    }
    if (isCalm) await setTimeout$1(retryMs, void 0, { signal }).catch(() => {
    });
  }
}
async function* joined(log, live, isGone) {
  const unlessGone = async (error) => {
    if (!await isGone()) throw error;
    return [];
  };
  const more = (expected) => log.more(expected).catch(unlessGone);
  let recent = [];
  try {
    for await (const lines of log.unknown()) {
      const first = lines.findIndex(({ ts }) => ts >= log.since);
      recent = recent.concat(first === -1 ? [] : lines.slice(first));
      const older = first === -1 ? lines : lines.slice(0, first);
      if (older.length > 0) yield older;
    }
  } catch (error) {
    await unlessGone(error);
  }
  let early = await live.take(LIVE_MS, (lines) => lines.length > 0);
  const isSilent = early.length === 0;
  let shown = [];
  if (isSilent) {
    recent = shown = recent.concat(await more(0));
    if (shown.length > 0) yield shown;
    yield [];
    if (shown.length > 0) early = await live.next();
  }
  const unshown = leavingOut(shown);
  if (early.length > 0) {
    const seam = await meet(recent, early, more, live);
    const met = unshown([...seam.before, ...seam.live]);
    if (met.length > 0) yield met;
  }
  if (!isSilent) yield [];
  for await (const lines of live.rest()) {
    const fresh = unshown(lines);
    if (fresh.length > 0) yield fresh;
  }
}
async function meet(recent, first, more, live) {
  let logged = recent;
  let early = first;
  for (let tries = 1; ; tries++) {
    const due = early.length;
    logged = logged.concat(await more(due));
    const wanted = streamsOf(logged);
    const isShown = (lines) => wanted.every((each) => streamsOf([...early, ...lines]).includes(each));
    early = early.concat(await live.take(LIVE_MS, isShown));
    const seam = joinLive(logged, early, due);
    const isDoubtful = seam.isDoubtful && early.length < DOUBT_LINES;
    if (tries === LOG_TRIES || !(seam.isOpen || isDoubtful)) return seam;
    const waiting = live.take(isDoubtful ? DOUBT_MS : LOG_RETRY_MS);
    const [came] = await Promise.all([waiting, setTimeout$1(LOG_RETRY_MS)]);
    early = early.concat(came);
  }
}
function leavingOut(shown) {
  const left = { stdout: 0, stderr: 0 };
  for (const { stream } of shown) left[stream]++;
  const isShown = ({ stream }) => left[stream] > 0 && left[stream]-- > 0;
  return (lines) => left.stdout + left.stderr === 0 ? lines : lines.filter((line) => !isShown(line));
}
function streamsOf(lines) {
  return STREAMS.filter((each) => lines.some(({ stream }) => stream === each));
}
async function isOver$1(engine, id, untilEnd) {
  const found = await engine.containers.inspect(id).catch(() => void 0);
  return found === null || untilEnd && found?.running === false;
}

const WIRE_TIME_LENGTH = "2000-01-01T00:00:00.000Z".length;
function toLogLine(instance, { ts, stream, line }) {
  const moment = ts.length === WIRE_TIME_LENGTH ? ts : lineTime(ts);
  return { ts: moment, stream, line: cleanLine(line), instance };
}
async function* followContainer(engine, id, signal) {
  for await (const lines of readOutput(engine, id, { signal }))
    for (const line of lines) yield toLogLine(id, line);
}

const SETTLED_MS = 1e4;
class PortWatch {
  #engine;
  #name;
  #expected;
  /** What was seen when the last look differed from the one before it, and since when. */
  #seen = "";
  #since = 0;
  #fault = null;
  #isFinal = false;
  constructor(engine, name, expected) {
    this.#engine = engine;
    this.#name = name;
    this.#expected = expected;
  }
  /** Where the program listens instead, and what to do; null when nothing is wrong with that. */
  get fault() {
    return this.#fault;
  }
  /** Whether waiting is in vain: it has taken the port, for itself alone. */
  get isFinal() {
    return this.#isFinal;
  }
  /** Looks at what the program listens on now. */
  async look() {
    const listeners = await this.#engine.containers.listeners(this.#name);
    if (listeners === null) return;
    const seen = listeners.map(({ host, port }) => `${host}:${port}`).join(" ");
    if (seen !== this.#seen) this.#since = performance.now();
    this.#seen = seen;
    const isSettled = performance.now() - this.#since >= SETTLED_MS;
    const expected = this.#expected.port();
    const own = listeners.find(({ port }) => port === expected);
    const open = listeners.filter(({ isLoopback }) => !isLoopback);
    const [only] = open;
    if (!own && only && open.length === 1 && isSettled && this.#expected.take) {
      this.#expected.say(`the program listens on port ${only.port} alone: its requests go there`);
      this.#fault = null;
      return this.#expected.take(only.port);
    }
    this.#isFinal = own?.isLoopback === true && isSettled;
    this.#tell(faultOf(listeners, open, own, expected));
  }
  #tell(fault) {
    if (fault !== null && fault !== this.#fault) this.#expected.say(fault);
    this.#fault = fault;
  }
}
function faultOf(listeners, open, own, expected) {
  if (own)
    return own.isLoopback ? `the program listens on ${own.host}:${own.port} only: listen on 0.0.0.0` : null;
  if (open.length > 0) {
    const heard2 = open.length === 1 ? `port ${open[0].port}` : `ports ${open.map(({ port }) => port).join(", ")}`;
    return `the program listens on ${heard2}, not on port ${expected}: set port, or listen on $PORT`;
  }
  if (listeners.length === 0) return null;
  const heard = listeners.map(({ host, port }) => `${host}:${port}`).join(", ");
  return `the program listens on ${heard} only: listen on 0.0.0.0, and on $PORT (${expected})`;
}

const PROBE_TIMEOUT_MS = 5e3;
const PUBLISHED_SETTLE_MS = 1e3;
async function probe(target) {
  return target.path === null ? probeTcp(target) : probeHttp(target, target.path);
}
function probeTcp({ host, port, published }) {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const finish = (reason) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(reason);
    };
    const timer = setTimeout(() => finish(`port ${port} does not answer`), PROBE_TIMEOUT_MS);
    socket.once("error", (error) => finish(describe(error, port)));
    socket.once("close", () => finish(`port ${port} closes connections at once`));
    socket.once("connect", () => {
      if (!published) return finish(null);
      void setTimeout$1(PUBLISHED_SETTLE_MS).then(() => finish(null));
    });
  });
}
function probeHttp({ host, port, hostHeader }, path) {
  return new Promise((resolve) => {
    const outgoing = request({
      host,
      port,
      path,
      agent: false,
      headers: { host: hostHeader, "user-agent": "deployer-probe", connection: "close" }
    });
    const finish = (reason) => {
      clearTimeout(timer);
      outgoing.destroy();
      resolve(reason);
    };
    const timer = setTimeout(
      () => finish(`GET ${path} was not answered within ${PROBE_TIMEOUT_MS / 1e3} s`),
      PROBE_TIMEOUT_MS
    );
    answerOf(outgoing).then(
      (response) => {
        response.resume();
        const status = response.statusCode ?? 0;
        finish(status >= 200 && status < 400 ? null : `GET ${path} answers ${status}`);
      },
      (error) => finish(describe(error, port))
    );
    outgoing.end();
  });
}
function describe(error, port) {
  if (error.code === "ECONNREFUSED") return `nothing listens on port ${port}`;
  return `port ${port} cannot be reached (${error.code ?? error.message})`;
}

const QUIET_MS = 1e4;
const MAX_NOTES = 10;
class WaitNotes {
  #say;
  #withinMs;
  #began = performance.now();
  #last = "";
  #count = 0;
  constructor(say, withinMs) {
    this.#say = say;
    this.#withinMs = withinMs;
  }
  /** Takes what the last probe saw; `target` is null for what has no port. */
  look(reason, target) {
    if (reason === this.#last || this.#count >= MAX_NOTES) return;
    if (performance.now() - this.#began < QUIET_MS) return;
    this.#last = reason;
    this.#count++;
    const limit = `${Math.ceil(this.#withinMs / 6e4)} min at most`;
    this.#say(`waiting ${target === null ? `until it is up: ${reason}` : awaited(target, reason)}; ${limit}`);
  }
}
function awaited({ port, path }, reason) {
  const what = path === null ? `port ${port}` : `GET ${path}`;
  if (path === null && reason === `nothing listens on ${what}`) return `for ${what}: nothing listens yet`;
  return `for ${what}: ${reason.startsWith(`${what} `) ? `it${reason.slice(what.length)}` : reason}`;
}

const READY_WITHIN_MS = 5 * 6e4;
const MAX_ENDS = 3;
const WORKER_UP_MS = 3e3;
const FIRST_PAUSE_MS = 15;
const LONGEST_PAUSE_MS = 1e3;
const PAUSE_GROWTH = 1.25;
const PORTS_MATTER_AFTER_MS = 1e3;
class NotReady extends Error {
  name = "NotReady";
}
async function waitUntilReady(engine, name, waiting, signal) {
  const { withinMs = READY_WITHIN_MS } = waiting;
  const ports = new PortWatch(engine, name, waiting.expected);
  const notes = new WaitNotes(waiting.expected.say, withinMs);
  const began = performance.now();
  let ends = 0;
  let upSince = began;
  let pause = FIRST_PAUSE_MS;
  let reason = "it has not been probed yet";
  while (performance.now() - began < withinMs) {
    signal.throwIfAborted();
    const state = await engine.containers.inspect(name);
    const end = endOf(state, waiting.lossOf);
    if (end !== null) {
      ends++;
      waiting.onEnd(state?.exitCode ?? null, end);
      if (waiting.restart === null) throw new NotReady(end);
      if (ends >= MAX_ENDS) throw new NotReady(end.replace(/^[^:]+/, (what) => `${what} ${ends} times`));
      await waiting.restart();
      upSince = performance.now();
      pause = FIRST_PAUSE_MS;
    } else {
      const upMs = performance.now() - upSince;
      const seen = state?.paused ? "its container is paused" : await check(waiting, upMs);
      if (seen === null) return;
      reason = seen;
      if (waiting.target !== null && upMs > PORTS_MATTER_AFTER_MS) await ports.look();
      if (ports.isFinal) throw new NotReady(ports.fault ?? reason);
      if (ports.fault === null) notes.look(reason, waiting.target?.() ?? null);
    }
    await setTimeout$1(pause, void 0, { signal });
    pause = Math.min(LONGEST_PAUSE_MS, pause * PAUSE_GROWTH);
  }
  throw new NotReady(`not healthy within ${withinMs / 6e4} minutes: ${ports.fault ?? reason}`);
}
function endOf(state, lossOf) {
  if (state === null) return "its container was removed from outside";
  return lossOf(state) ?? (state.running ? null : `the program ended: ${describeExit(state)}`);
}
async function check({ target }, upMs) {
  if (target !== null) return probe(target());
  return upMs >= WORKER_UP_MS ? null : "it has not been up for 3 s";
}

async function bringUp(world, launch, id, { isNew, onStart, say }, signal) {
  const { service, snapshot } = launch;
  const start = () => startInstance(world, launch, instanceOf(id));
  await start();
  onStart?.();
  const hostHeader = hostsOf(service, findEnvironment(service.environment_id))[0] ?? service.name;
  const target = () => {
    const { upstream_host, upstream_port } = instanceOf(id);
    return {
      host: upstream_host ?? "",
      port: upstream_port ?? 0,
      path: snapshot.health_check_path,
      hostHeader,
      published: world.reachByAddress === false
    };
  };
  const mayTake = isNew && !snapshot.is_port_chosen && world.reachByAddress === true;
  await waitUntilReady(
    world.engine,
    id,
    {
      target: snapshot.port === null ? null : target,
      expected: {
        port: () => launch.snapshot.port ?? 0,
        take: mayTake ? (port) => takePort(launch, port) : null,
        say
      },
      lossOf: (container) => lossOf(container, instanceOf(id), launch.network),
      onEnd: (exitCode, how) => {
        const restarts = instanceOf(id).restarts + 1;
        updateInstance(id, { restarts, exit_code: exitCode, reason: how });
      },
      restart: isNew ? start : null
    },
    signal
  );
}
function takePort(launch, port) {
  const { deploy, service, snapshot } = launch;
  snapshot.port = port;
  if (!getDeploy(deploy.id)) return;
  updateDeploy(deploy.id, { snapshot: sealSnapshot(snapshot), port });
  for (const { id, deploy_id, upstream_host } of instancesOf(service.id)) {
    if (deploy_id === deploy.id && upstream_host !== null) updateInstance(id, { upstream_port: port });
  }
}
function instanceOf(id) {
  const instance = getInstance(id);
  if (!instance) throw new AppError("conflict", `${id} was removed while it was started`);
  return instance;
}

const PARALLEL$3 = 4;
const ERROR_LINES = 20;
const LAST_LINES_MS = 300;
async function rollOut(world, deploy, launch, log, signal) {
  const following = new AbortController();
  const lastLines = [];
  try {
    const service = getService(deploy.service_id);
    const instances = await prepareInstances(world, service, deploy, launch);
    if (instances.length > 0)
      log.system(`starting ${instances.length} instance${instances.length === 1 ? "" : "s"}`);
    const failed = new AbortController();
    const going = AbortSignal.any([signal, failed.signal]);
    await forEachLimited(instances, PARALLEL$3, async (id) => {
      try {
        going.throwIfAborted();
        const onStart = () => void copyOutput(world, id, log, lastLines, following.signal);
        const say = (hint) => {
          log.system(`${id}: ${hint}`);
          updateInstance(id, { reason: hint });
          tellService(service.id);
        };
        await bringUp(world, await launch(), id, { isNew: true, onStart, say }, going);
        log.system(`${id} is ready`);
        updateInstance(id, { reason: null });
      } catch (error) {
        failed.abort();
        throw error;
      }
    });
    signal.throwIfAborted();
    await world.dataPlane.switchOver(service.id, deploy.id, () => recordSwitch(deploy));
    log.system("live");
  } catch (error) {
    if (signal.reason === "stopping") throw error;
    if (error instanceof NotReady) await setTimeout$1(LAST_LINES_MS);
    await removeInstancesOf(world, deploy).catch(() => {
    });
    throw error instanceof NotReady ? new NotReady([error.message, ...saidOnce(lastLines)].join("\n")) : error;
  } finally {
    following.abort();
  }
}
async function removeInstancesOf(world, deploy) {
  const instances = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id === deploy.id);
  await forEachLimited(instances, PARALLEL$3, (instance) => removeInstance(world, instance, 0));
}
async function prepareInstances(world, service, deploy, launch) {
  const kept = instancesOf(service.id).filter(({ deploy_id }) => deploy_id === deploy.id);
  const wanted = wantedInstances({ ...service, suspended: 0 });
  for (const extra of kept.splice(wanted)) await removeInstance(world, extra, 0);
  const ids = kept.map(({ id }) => id);
  while (ids.length < wanted) ids.push(addInstance(service, deploy.id, (await launch()).network));
  return ids;
}
function recordSwitch(deploy) {
  makeLive(getDeploy(deploy.id), () => {
    for (const { id, deploy_id } of instancesOf(deploy.service_id)) {
      if (deploy_id === deploy.id) tryMove(instanceMachine, id, "ready", { reason: null });
      else tryMove(instanceMachine, id, "draining", { left_rotation_at: Date.now() });
    }
  });
}
function saidOnce(lines) {
  for (let length = 1; length < lines.length; length++)
    if (lines.every((line, index) => index < length || line === lines[index - length]))
      return lines.slice(-length);
  return lines;
}
async function copyOutput(world, id, log, lastLines, signal) {
  for await (const line of followContainer(world.engine, id, signal)) {
    log.write(line);
    lastLines.push(line.line);
    if (lastLines.length > ERROR_LINES) lastLines.shift();
  }
}

const AFTER_ROTATION_MS = 5e3;
async function outliveRotation({ left_rotation_at }, signal) {
  const rest = AFTER_ROTATION_MS - (Date.now() - (left_rotation_at ?? 0));
  if (rest > 0) await setTimeout$1(Math.min(rest, AFTER_ROTATION_MS), void 0, { signal });
}

const DRAIN_MS$1 = 3e4;
async function stopFirst(world, deploy, snapshot, log, signal) {
  if (snapshot.disk_mount_path === null) return;
  updateDeploy(deploy.id, { stops_first: 1 });
  const old = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id !== deploy.id);
  if (old.length === 0) return;
  log.system("stopping the old instance first, as the service has a disk");
  const now = Date.now();
  for (const { id } of old) tryMove(instanceMachine, id, "draining", { left_rotation_at: now });
  await world.dataPlane.sync();
  for (const instance of old) {
    await world.dataPlane.drain(instance.id, DRAIN_MS$1);
    await outliveRotation({ left_rotation_at: now }, signal);
    await removeInstance(world, instance, STOP_GRACE_SECONDS);
  }
}

async function switchToSite(world, deploy, log, signal) {
  await assertFolder(deploy.site_id);
  signal.throwIfAborted();
  await world.dataPlane.switchOver(deploy.service_id, deploy.id, () => makeLive(getDeploy(deploy.id)));
  log.system("live");
}
async function assertFolder(siteId) {
  if (siteId !== null && (await stat(siteFolder(siteId)).catch(() => null))?.isDirectory()) return;
  throw new AppError("conflict", "the published folder is no longer there: deploy the source again");
}

const OWN = /* @__PURE__ */ new Set(["NotReady", "BuildFailure", "PreDeployFailure", "SiteFailure"]);
function isOwnFailure(error) {
  return error instanceof Error && OWN.has(error.name);
}

const LOOK_MS = 2e3;
const MAX_ABSENCES = 5;
async function outlastAbsences(engine, limitMs, log, signal, work) {
  for (let absences = 1; ; absences++) {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (absences > MAX_ABSENCES || isOwnFailure(error)) throw error;
      if (!isEngineAway(error) && !await isAway(engine)) throw error;
      log.system("the container engine went away; waiting for it");
      await untilBack(engine, limitMs, signal);
      log.system("the container engine is back; going on");
    }
  }
}
async function untilBack(engine, limitMs, signal) {
  const until = performance.now() + limitMs;
  while (!await answers(engine)) {
    if (performance.now() > until) {
      throw new AppError(
        "runtime_error",
        `the container engine went away and did not come back within ${limitMs / 6e4} minutes: start it, and deploy again`
      );
    }
    await setTimeout$1(LOOK_MS, void 0, { signal });
  }
}
function isAway(engine) {
  return engine.info().then(() => false, isEngineAway);
}
function answers(engine) {
  return engine.info().then(
    () => true,
    () => false
  );
}

function advance(deploy, to, columns = {}) {
  if (!tryMove(deployMachine, deploy.id, to, columns)) return false;
  tellDeploy(deploy.id, deploy.service_id);
  tellService(deploy.service_id);
  return true;
}

function resolveVariables(service) {
  return Object.fromEntries(resolveEnvironment(service));
}
function takeSnapshot(service, image, planned) {
  const variables = resolveVariables(service);
  const { listens } = TYPES[service.type];
  const chosen = chosenPort(service, variables.PORT, image);
  const port = listens ? chosen ?? planned.port ?? foundPort(service) ?? DEFAULT_PORT : null;
  return {
    image_id: image.id,
    start_command: service.start_command ?? planned.start_command ?? null,
    env: port === null ? variables : { ...variables, PORT: String(port) },
    port,
    is_port_chosen: chosen !== null,
    health_check_path: service.health_check_path ?? (listens ? planned.health_check_path : null),
    pre_deploy_command: service.pre_deploy_command ?? planned.pre_deploy_command,
    planned,
    disk_mount_path: service.disk_mount_path,
    memory_limit_mb: service.memory_limit_mb,
    cpu_limit: service.cpu_limit
  };
}
function foundPort({ live_deploy_id }) {
  const live = live_deploy_id === null ? void 0 : getDeploy(live_deploy_id);
  const snapshot = live ? openSnapshot(live) : null;
  return snapshot === null || snapshot.is_port_chosen ? null : snapshot.port;
}
function restoreSnapshot(old, service) {
  return { ...old, memory_limit_mb: service.memory_limit_mb, cpu_limit: service.cpu_limit };
}
function chosenPort(service, variable, image) {
  const exposed = image.exposedPorts.length === 1 ? image.exposedPorts[0] : null;
  return service.port ?? portOf(variable) ?? exposed;
}

async function withinBuildTimeout(doing, signal, work, advice = "make it smaller") {
  const { buildTimeoutMs } = useContext().options;
  const timeout = AbortSignal.timeout(buildTimeoutMs);
  try {
    return await work(AbortSignal.any([signal, timeout]));
  } catch (error) {
    signal.throwIfAborted();
    if (!timeout.aborted) throw error;
    throw new BuildFailure(
      `${doing} took longer than ${buildTimeoutMs / 6e4} minutes: ${advice}, or raise --build-timeout`
    );
  }
}

const ARCHITECTURES = {
  x64: "amd64",
  arm64: "arm64",
  arm: "arm",
  ia32: "386",
  ppc64: "ppc64le",
  s390x: "s390x",
  riscv64: "riscv64"
};
async function pullImage(world, deploy, log, signal) {
  const reference = deploy.image;
  const { images } = world.engine;
  log.system(`pulling ${reference}`);
  try {
    const onLine = (line) => log.output("stdout", line);
    await withinBuildTimeout(
      "pulling it",
      signal,
      (limited) => images.pull(reference, { signal: limited, onLine })
    );
  } catch (error) {
    signal.throwIfAborted();
    if (isEngineAway(error)) throw error;
    if (!await images.inspect(reference)) {
      throw new AppError("runtime_error", `the image ${reference} cannot be pulled: ${messageOf(error)}`, {
        cause: error
      });
    }
    log.system(`${reference} cannot be pulled (${messageOf(error)}); using the one that the engine has`);
  }
  const image = await images.inspect(reference);
  if (!image) throw new AppError("runtime_error", `the image ${reference} is not there after it was pulled`);
  const wanted = ARCHITECTURES[arch()] ?? arch();
  if (image.os !== "linux" || image.architecture !== wanted) {
    throw new AppError(
      "runtime_error",
      `the image ${reference} is for ${image.os}/${image.architecture}, this host runs linux/${wanted}: publish it for this platform`
    );
  }
  return image;
}

const LIFT_CPU_SECONDS = 10 * 60;
const TAKE_SECONDS = 10 * 60;
const TAKE_FOLDER = {
  name: "take-folder",
  doing: "taking the files of the site",
  limits: { cpuSeconds: TAKE_SECONDS, seconds: TAKE_SECONDS }
};
const LIFT_FOLDER = {
  name: "lift-folder",
  doing: "copying the published folder out of the image",
  limits: { cpuSeconds: LIFT_CPU_SECONDS, seconds: null }
};

const NOT_STARTED = { memoryBytes: 64 * 1024 * 1024, cpus: 1 };
async function liftFolder(world, lift, folder, signal) {
  const path = posix.resolve(lift.workdir || "/", lift.publishDirectory);
  if (path === "/") {
    throw new BuildFailure("the whole image would be published: set publish_dir to the folder with the files");
  }
  const { containers } = world.engine;
  const name = `lift-${lift.deployId}`;
  await containers.remove(name);
  await containers.create({
    name,
    image: lift.imageId,
    labels: { "deployer.kind": "lift", "deployer.deploy": lift.deployId },
    env: {},
    // An image of files alone brings no command, which the engine asks for.
    entrypoint: ["/published"],
    network: "none",
    ...NOT_STARTED
  });
  try {
    const tar = await containers.getArchive(name, path, signal);
    if (!tar) throw new BuildFailure(`there is no folder ${path} in the built image: correct publish_dir`);
    try {
      return await withReader(
        signal,
        (reader) => reader.feed(LIFT_FOLDER, { top: basename(path), folder, singlePage: lift.singlePage }, tar)
      );
    } finally {
      tar.destroy();
    }
  } finally {
    await containers.remove(name);
  }
}

class SiteFailure extends Error {
  name = "SiteFailure";
}
function publishFolder(deploy, source, { publishDirectory, singlePage }, log) {
  return publish(
    deploy,
    log,
    (folder) => source.ask(TAKE_FOLDER, {
      root: source.root,
      publishDirectory: publishDirectory ?? ".",
      folder,
      singlePage
    })
  );
}
async function publishBuilt(world, deploy, image, recipe, log, signal) {
  try {
    return await publish(
      deploy,
      log,
      (folder) => withinBuildTimeout(
        "publishing what was built",
        signal,
        (limited) => lift(world, deploy, image.id, recipe, folder, limited)
      )
    );
  } finally {
    await world.engine.images.remove(image.reference);
  }
}
async function publishImage(world, service, deploy, log, signal) {
  const { id } = await pullImage(world, deploy, log, signal);
  const site = { publishDirectory: service.publish_dir, singlePage: false };
  return await publish(
    deploy,
    log,
    (folder) => withinBuildTimeout(
      "publishing the image",
      signal,
      (limited) => lift(world, deploy, id, site, folder, limited)
    )
  );
}
async function publish(deploy, log, fill) {
  const folder = siteFolder(deploy.id);
  const partial = `${folder}.partial`;
  try {
    await removeTree(partial);
    await mkdir(partial, { mode: PRIVATE_DIRECTORY_MODE, recursive: true });
    const { files, notes, fault } = await fill(partial);
    for (const note of notes) log.system(note);
    if (fault !== null) {
      if (!advance(deploy, "deploying")) return false;
      throw new SiteFailure(fault);
    }
    await removeTree(folder);
    await rename(partial, folder);
    updateDeploy(deploy.id, { site_id: deploy.id });
    log.system(`publishing ${files} file${files === 1 ? "" : "s"}`);
    return advance(deploy, "deploying");
  } finally {
    await clearTree(partial);
  }
}
async function lift(world, deploy, imageId, { publishDirectory, singlePage }, folder, signal) {
  if (publishDirectory === null) {
    throw new BuildFailure(
      "it is not known which folder to publish: set publish_dir to the folder that the build makes, such as dist"
    );
  }
  const image = await world.engine.images.inspect(imageId);
  const workdir = image?.workdir ?? "/";
  const wanted = { deployId: deploy.id, imageId, workdir, publishDirectory, singlePage };
  return liftFolder(world, wanted, folder, signal);
}

const HEX_BYTES = 64;
const LARAVEL_BYTES = 32;
function adoptVariables(service, wanted, say) {
  const reading = new Reading();
  const missing = wanted.filter(
    ({ key, generate }) => generate !== null && reading.written(service, key) === void 0
  );
  if (missing.length === 0) return;
  useDatabase().transaction(() => {
    const made = missing.map(({ key, generate }) => ({ key, value: valueOf(generate) }));
    writeVariables(service.id, [...readVariables(service.id), ...made]);
    settleEnvironment(service.id, { own: "env", groups: "env_groups" });
  });
  for (const { key, why } of missing) say(`${key} is made and kept as a variable of the service: ${why}`);
  tellService(service.id);
}
function valueOf(form) {
  return form === "laravel" ? `base64:${randomBytes(LARAVEL_BYTES).toString("base64")}` : randomBytes(HEX_BYTES).toString("hex");
}

function dockerfilePathOf(file) {
  return file.kind === "plan" ? "Dockerfile" : posix.normalize(file.path);
}

class SentContext {
  tar;
  /** Why the tar broke off; undefined when it did not. */
  fault;
  constructor(source, recipe) {
    this.tar = Readable.from(this.#pack(source, recipe), { objectMode: false });
  }
  async *#pack(source, { file, needsWhole }) {
    if (file === null) throw new Error("there is nothing to build");
    const packed = source.ask(PACK_CONTEXT, { root: needsWhole ? source.place.directory : source.root, file });
    packed.then(
      () => source.release(),
      (error) => {
        this.fault = error;
        source.reader.output.destroy(error instanceof Error ? error : new Error(messageOf(error)));
      }
    );
    yield* source.reader.output;
    await packed;
  }
}

const MEMORY_SHARE = 0.75;
const SPARED_CPUS = 0.25;
const MAX_PIDS = 8192;
function buildLimits() {
  return {
    memoryBytes: Math.floor(totalmem() * MEMORY_SHARE),
    cpus: Math.max(1, availableParallelism()) - SPARED_CPUS,
    pids: MAX_PIDS
  };
}
function buildTree(world, deploy, source, recipe, variables, log, signal) {
  const work = (limited) => build$1(world, deploy, source, recipe, variables, log, limited);
  return withinBuildTimeout("the build", signal, work, "make it faster");
}
async function build$1(world, deploy, source, recipe, variables, log, signal) {
  const reference = imageTag(deploy.service_id, deploy.id);
  const unlimited = world.engine.limitBuilds(buildLimits());
  if (unlimited.length > 0) {
    log.system(
      `builds cannot be limited here in ${unlimited.join(", ")}; the time limit and --build-concurrency hold`
    );
  }
  const context = new SentContext(source, recipe);
  const id = await world.engine.images.build(context.tar, {
    tag: reference,
    dockerfile: dockerfilePathOf(recipe.file),
    // A declared argument stays in the image's history; the secrets do not.
    buildArgs: Object.fromEntries(recipe.declaredArguments.map((name) => [name, variables[name]])),
    labels: { "deployer-image.service": deploy.service_id, "deployer-image.deploy": deploy.id },
    noCache: deploy.clear_cache === 1,
    secrets: variables,
    signal,
    onLine: (line, stream) => log.output(stream, line)
  }).catch((error) => {
    throw context.fault ?? error;
  });
  const image = await world.engine.images.inspect(id);
  return { id, reference, exposedPorts: image?.exposedPorts ?? [] };
}
async function recipeOf(service, source, variables, log) {
  const recipe = await source.ask(CHOOSE_RECIPE, {
    place: source.place,
    choice: choiceOf(service, variables)
  });
  for (const note of recipe.notes) log.system(note);
  if (recipe.obstacle !== null) throw new BuildFailure(recipe.obstacle);
  return recipe;
}
function choiceOf(service, variables) {
  const { options, vault } = useContext();
  return {
    type: service.type,
    runtime: service.runtime,
    dockerfilePath: service.dockerfile_path,
    publishDirectory: service.publish_dir,
    settings: {
      buildCommand: service.build_command,
      startCommand: service.start_command,
      preDeployCommand: service.pre_deploy_command,
      aptPackages: aptPackagesOf(service),
      baseImageRegistry: options.baseImageRegistry,
      cacheScope: cacheScope(service.id),
      secretNames: Object.keys(variables),
      secretsDigest: vault.fingerprint(JSON.stringify(variables))
    }
  };
}

const BY_HOOK = /* @__PURE__ */ new Set(["deploy_hook", "webhook"]);
const LAID_OUT_AT_ONCE = 4;
const slots = new Slots(LAID_OUT_AT_ONCE);
function sourceOfDeploy(service, deploy, log, signal) {
  if (slots.isFull) log.system(`waiting for the sources of ${LAID_OUT_AT_ONCE} other deploys to be fetched`);
  return {
    name: deploy.id,
    rootDir: service.root_dir,
    slots,
    layOut: (directory, reader) => withinBuildTimeout(
      "fetching the source",
      signal,
      (limited) => endingWith(limited, reader, () => layOut(deploy, directory, reader, log, limited))
    ),
    signal
  };
}
async function endingWith(signal, reader, work) {
  const end = () => void reader.end();
  signal.addEventListener("abort", end, { once: true });
  try {
    await work();
  } finally {
    signal.removeEventListener("abort", end);
  }
}
async function layOut(deploy, directory, reader, log, signal) {
  const { vault } = useContext();
  const source = JSON.parse(deploy.source);
  if (source.kind === "archive") {
    log.system("unpacking the uploaded archive");
    await reader.ask(UNPACK_ARCHIVE, { path: archivePath(deploy.archive_id), directory });
    return;
  }
  const serving = deploy.repo_credentials === null ? await servingOf(source.repo_url) : null;
  log.system(`cloning ${source.repo_url}${serving ? ` as ${serving.connection.account}` : ""}`);
  const head = await checkout({
    ...checkoutAccess(
      deploy.repo_credentials === null ? source.repo_url : vault.open(deploy.repo_credentials),
      serving
    ),
    branch: source.branch,
    commit: source.commit,
    confined: BY_HOOK.has(deploy.trigger),
    usesKeptTrees: deploy.clear_cache === 0,
    directory,
    reader,
    signal,
    onLine: (line) => log.system(line)
  });
  updateDeploy(deploy.id, {
    commit_sha: head.sha,
    commit_message: head.message,
    commit_author: head.author || null,
    source: JSON.stringify({ ...source, branch: head.branch })
  });
  tellDeploy(deploy.id, deploy.service_id);
  log.system(`commit ${head.sha} ${head.message.split("\n")[0]}`);
}
async function servingOf(url) {
  try {
    return await servingConnection(url);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new BuildFailure(`${url} cannot be cloned: ${error.message}`, { cause: error });
  }
}

class BuildSlots {
  #building = /* @__PURE__ */ new Set();
  #waiting = [];
  /** Whether the next build has to wait. */
  get isFull() {
    return this.#building.size >= useContext().options.buildConcurrency;
  }
  /**
   * Waits for a slot and answers what gives it back. `tell` gets what it waits for; nothing when it does not wait.
   * Throws the signal's reason.
   */
  async take(builder, tell, signal) {
    signal.throwIfAborted();
    if (this.isFull) await this.#wait(builder, tell, signal);
    else this.#building.add(builder);
    return () => {
      this.#building.delete(builder);
      this.#admit();
    };
  }
  async #wait(builder, tell, signal) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const waiter = { ...builder, told: "", tell, enter: resolve };
    waiter.enter = () => {
      this.#building.add(builder);
      resolve();
    };
    const leave = () => {
      if (this.#take(waiter)) reject(signal.reason);
    };
    this.#waiting.push(waiter);
    this.#waiting.sort((one, other) => one.sequence - other.sequence);
    this.#tellAll();
    signal.addEventListener("abort", leave, { once: true });
    try {
      await promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }
  /** Takes one out of the queue; false when it is no longer in it. */
  #take(waiter) {
    const at = this.#waiting.indexOf(waiter);
    if (at === -1) return false;
    this.#waiting.splice(at, 1);
    this.#tellAll();
    return true;
  }
  #admit() {
    while (!this.isFull && this.#waiting.length > 0) this.#waiting.shift().enter();
    this.#tellAll();
  }
  #tellAll() {
    for (const [place, waiter] of this.#waiting.entries()) {
      const builds = [...this.#building].map(({ name }) => name).join(", ");
      const waiting = `waiting for a build slot: place ${place + 1} in the queue, while ${builds} ${this.#building.size === 1 ? "builds" : "build"}`;
      if (waiting === waiter.told) continue;
      waiter.told = waiting;
      waiter.tell(waiting);
    }
  }
}
const buildSlots = new BuildSlots();

function columnsOf(snapshot) {
  return {
    snapshot: sealSnapshot(snapshot),
    port: snapshot.port,
    health_check_path: snapshot.health_check_path
  };
}

async function makeFromSource(world, service, deploy, log, signal) {
  if (!buildSlots.isFull && !beginBuild(deploy)) return null;
  try {
    return await withSourceTree(sourceOfDeploy(service, deploy, log, signal), async (source) => {
      const recipe = await recipeOf(service, source, resolveVariables(service), log);
      adoptVariables(getService(service.id) ?? service, recipe.env, (line) => log.system(line));
      return hasBuild(recipe) ? await build(world, deploy, source, recipe, log, signal) : await takeFiles(deploy, source, recipe, log);
    });
  } catch (error) {
    if (!signal.aborted) beginBuild(deploy);
    throw error;
  }
}
function hasBuild(recipe) {
  return recipe.file !== null;
}
async function build(world, deploy, source, recipe, log, signal) {
  const service = getService(deploy.service_id);
  const name = qualifiedName(service.name, findEnvironment(service.environment_id));
  const builder = { sequence: deploy.sequence, name };
  if (buildSlots.isFull) await source.rest();
  const release = await buildSlots.take(builder, (waiting) => wait(deploy, waiting, log), signal);
  try {
    if (!beginBuild(deploy)) return null;
    const variables = resolveVariables(getService(service.id) ?? service);
    const image = await buildTree(world, deploy, source, recipe, variables, log, signal);
    if (recipe.isSite) {
      return await publishBuilt(world, deploy, image, recipe, log, signal) ? "site" : null;
    }
    const planned = {
      port: recipe.port,
      health_check_path: recipe.healthCheckPath,
      pre_deploy_command: recipe.preDeployCommand,
      start_command: recipe.file.kind === "tree" ? recipe.startCommand : null
    };
    const snapshot = takeSnapshot(getService(service.id) ?? service, image, planned);
    return goOn(deploy, snapshot, image.reference);
  } finally {
    release();
  }
}
function goOn(deploy, snapshot, image) {
  const columns = { image, image_id: snapshot.image_id, ...columnsOf(snapshot) };
  return advance(deploy, "deploying", columns) ? snapshot : null;
}
async function takeFiles(deploy, source, recipe, log) {
  if (!beginBuild(deploy)) return null;
  return await publishFolder(deploy, source, recipe, log) ? "site" : null;
}
function wait(deploy, waiting, log) {
  log.system(waiting);
  if (tryMove(deployMachine, deploy.id, "queued", { started_at: null }))
    tellDeploy(deploy.id, deploy.service_id);
}
function beginBuild(deploy) {
  if (getDeploy(deploy.id)?.status === "building") return true;
  return advance(deploy, "building", { started_at: Date.now() });
}

function isFromSource(deploy) {
  return deploy.trigger !== "restart" && deploy.rollback_of === null && sourceOf(deploy).kind !== "image";
}
async function begin$1(world, deploy, log, signal) {
  const service = getService(deploy.service_id);
  if (isFromSource(deploy)) return await makeFromSource(world, service, deploy, log, signal);
  const isReused = deploy.trigger === "restart" || deploy.rollback_of !== null;
  const columns = { started_at: Date.now() };
  if (service.type === "static_site" && !isReused) {
    if (!advance(deploy, "building", columns)) return null;
    return await publishImage(world, service, deploy, log, signal) ? "site" : null;
  }
  if (!advance(deploy, "deploying", columns)) return null;
  return prepareExisting(world, service, deploy, log, signal);
}
async function resume$1(world, deploy, log, signal) {
  if (deploy.site_id !== null) return "site";
  const kept = deploy.rollback_of === null ? openSnapshot(deploy) : null;
  if (kept) return kept;
  if (isFromSource(deploy)) throw new AppError("runtime_error", "what was built is gone: deploy again");
  return prepareExisting(world, getService(deploy.service_id), deploy, log, signal);
}
async function prepareExisting(world, service, deploy, log, signal) {
  if (deploy.rollback_of !== null) return await rollBack(world, service, deploy, log);
  if (deploy.trigger !== "restart") {
    const image2 = await pullImage(world, deploy, log, signal);
    return await runImage(world, service, deploy, image2, UNPLANNED);
  }
  const live = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  if (live) takeOver(deploy, live);
  if (live && live.site_id !== null) return "site";
  const image = live?.image_id ? await world.engine.images.inspect(live.image_id) : null;
  if (!live || !image) throw new AppError("conflict", "the live image is no longer there: deploy again");
  return await runImage(world, service, deploy, image, openSnapshot(live)?.planned ?? UNPLANNED);
}
async function rollBack(world, service, deploy, log) {
  log.system(`rolling back to ${deploy.rollback_of}`);
  if (deploy.site_id !== null) return "site";
  const snapshot = openSnapshot(deploy);
  if (!snapshot || !await world.engine.images.inspect(snapshot.image_id)) {
    throw new AppError(
      "conflict",
      `what ${deploy.rollback_of} ran is no longer there: deploy its commit again`
    );
  }
  await world.engine.images.tag(snapshot.image_id, imageTag(service.id, deploy.id));
  const restored = restoreSnapshot(snapshot, service);
  updateDeploy(deploy.id, { ...columnsOf(restored), image_id: restored.image_id });
  return restored;
}
function takeOver(deploy, { site_id, commit_sha, commit_message, commit_author, image, source }) {
  updateDeploy(deploy.id, { site_id, commit_sha, commit_message, commit_author, image, source });
}
async function runImage(world, service, deploy, image, planned) {
  await world.engine.images.tag(image.id, imageTag(service.id, deploy.id));
  const snapshot = takeSnapshot(getService(service.id) ?? service, image, planned);
  updateDeploy(deploy.id, { image_id: image.id, ...columnsOf(snapshot) });
  return snapshot;
}
function sourceOf(deploy) {
  return JSON.parse(deploy.source);
}

const SHOWN_LINES = 20;
const STALL_MS = 1e4;
class OutputCopy {
  /** The newest few lines. */
  lastLines = [];
  #engine;
  #name;
  #logId;
  #log;
  #signal;
  #copied = Promise.resolve();
  #progress = 0;
  constructor(engine, name, logId, log, signal) {
    this.#engine = engine;
    this.#name = name;
    this.#logId = logId;
    this.#log = log;
    this.#signal = signal;
  }
  /**
   * Begins before the container's program is started, so that nothing of it passes by; without the engine's log and
   * its rotation. Throws `runtime_error`.
   */
  async attach() {
    const live = await this.#engine.output.attach(this.#name, this.#signal);
    this.#copied = this.#copyAttached(live);
  }
  /** Goes on where the log ends, with the engine's own. */
  resume() {
    this.#copied = this.#copyRest().catch(() => {
    });
  }
  /** Waits for the last line of a program that has ended. */
  async finish() {
    for (let before = -1; before !== this.#progress; ) {
      before = this.#progress;
      const over = this.#copied.then(() => true);
      if (await Promise.race([over, setTimeout$1(STALL_MS, false, { ref: false })])) return;
    }
  }
  async #copyAttached(live) {
    try {
      for await (const lines of live) await this.#write(lines);
      if (this.#signal.aborted) return;
      if ((await this.#engine.containers.inspect(this.#name))?.running !== true) return;
    } catch {
    }
    await this.#copyRest().catch(() => {
    });
  }
  async #copyRest() {
    await this.#log.flushed();
    const held = await this.#readHeld();
    const output = readOutput(this.#engine, this.#name, { untilEnd: true, signal: this.#signal });
    for await (const lines of output) await this.#write(lines.filter((line) => this.#isNew(line, held)));
  }
  async #write(lines) {
    this.#progress++;
    for (const output of lines) {
      const line = toLogLine(this.#name, output);
      this.#log.write(line);
      this.#remember(line);
    }
    await this.#log.ready();
  }
  /** Lines are counted off as long as the engine's log begins as this one; otherwise the time says what is held. */
  #isNew(output, held) {
    const known = held.get(output.stream);
    if (!known) return true;
    if (known.isWhole === null) {
      known.isWhole = known.first === toLogLine(this.#name, output).line;
      if (!known.isWhole)
        this.#log.system(
          `the engine has not kept all of the output on ${output.stream}: lines may be missing here`
        );
    }
    return known.isWhole ? known.lines-- <= 0 : output.ts > known.lastTs;
  }
  #remember({ line }) {
    this.lastLines.push(line);
    if (this.lastLines.length > SHOWN_LINES) this.lastLines.shift();
  }
  async #readHeld() {
    const held = /* @__PURE__ */ new Map();
    for await (const block of readLog(this.#logId, () => false, this.#signal)) {
      for (const line of parseLines(block)) {
        if (line.instance !== this.#name) continue;
        const known = held.get(line.stream) ?? { lines: 0, first: line.line, isWhole: null };
        held.set(line.stream, { ...known, lines: known.lines + 1, lastTs: line.ts });
        this.#remember(line);
      }
    }
    return held;
  }
}

const serverLog$2 = logger("jobs");
const RETRY_MS$2 = 1e3;
async function runToEnd(world, run, log, signal) {
  const { engine } = world;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), run.timeoutMs);
  const done = new AbortController();
  try {
    signal.throwIfAborted();
    const copy = new OutputCopy(engine, run.name, run.logId, log, AbortSignal.any([signal, done.signal]));
    await start(world, run, copy);
    const end = await untilEnd(engine, run.name, AbortSignal.any([signal, late.signal])).catch(
      async (error) => {
        signal.throwIfAborted();
        if (!late.signal.aborted) throw error;
        await engine.containers.kill(run.name);
        return null;
      }
    );
    await copy.finish();
    return {
      exitCode: end?.exitCode ?? null,
      oomKilled: end?.oomKilled ?? false,
      timedOut: end === null,
      lastLines: copy.lastLines
    };
  } finally {
    clearTimeout(timer);
    done.abort();
    if (signal.reason !== "stopping") await removeRun(world, run.name);
  }
}
async function removeRun(world, name) {
  try {
    await world.engine.containers.remove(name);
    releaseAddress(name);
  } catch (error) {
    serverLog$2.warn("a container cannot be removed yet", { name, error: messageOf(error) });
  }
}
async function start(world, run, copy) {
  const { name, kind, command } = run;
  const { containers } = world.engine;
  const found = await containers.inspect(name);
  if (found && found.status !== "created") return copy.resume();
  if (!found) {
    const launch = await run.launch();
    const { environment_id } = launch.service;
    const address = await addressFor(world.engine, allotJobAddress, environment_id, launch.network, name);
    await containers.create(serviceContainer(launch, { name, kind, address, command }));
  }
  await copy.attach();
  await containers.start(name);
}
async function untilEnd(engine, name, signal) {
  for (; ; ) {
    try {
      return await engine.containers.wait(name, signal);
    } catch {
      signal.throwIfAborted();
      if (await engine.containers.inspect(name).catch(() => void 0) === null)
        throw new AppError("runtime_error", `its container ${name} was removed from outside: run it again`);
      await setTimeout$1(RETRY_MS$2, void 0, { signal });
    }
  }
}

const TIMEOUT_MS = 30 * 6e4;
class PreDeployFailure extends Error {
  name = "PreDeployFailure";
}
async function preDeploy(world, deploy, command, launch, log, signal) {
  if (command === null || deploy.pre_deployed || deploy.trigger === "restart" || deploy.rollback_of !== null)
    return;
  log.system(`running the pre-deploy command: ${command.split("\n")[0]}`);
  const run = {
    logId: deploy.id,
    launch,
    name: `pre-${deploy.id}`,
    kind: "pre-deploy",
    command,
    timeoutMs: TIMEOUT_MS
  };
  const { exitCode, oomKilled, timedOut, lastLines } = await runToEnd(world, run, log, signal);
  const fail = (how) => new PreDeployFailure([`the pre-deploy command ${how}`, ...lastLines].join("\n"));
  if (timedOut) throw fail(`did not end within ${TIMEOUT_MS / 6e4} minutes`);
  if (oomKilled) throw fail("ran out of memory (raise memory_limit_mb)");
  if (exitCode !== 0) throw fail(`ended with exit code ${exitCode ?? "unknown"}`);
  updateDeploy(deploy.id, { pre_deployed: 1 });
}

const serverLog$1 = logger("deploys");
const MAX_ERROR_CHARACTERS$1 = 8 * 1024;
async function runDeploy(world, id, signal) {
  const log = openLog(id);
  try {
    if (getDeploy(id).status === "deploying") log.system("the server was restarted; going on");
    const { buildTimeoutMs } = useContext().options;
    await outlastAbsences(world.engine, buildTimeoutMs, log, signal, () => carryOn(world, id, log, signal));
  } catch (error) {
    await settleFailure$1(world, id, error, log, signal);
  } finally {
    await log.close().catch(
      (error) => serverLog$1.error("a deploy log could not be written", { id, error: messageOf(error) })
    );
    tellDeploy(id, getDeploy(id)?.service_id ?? "");
  }
}
async function carryOn(world, id, log, signal) {
  if (getDeploy(id).status === "building") tryMove(deployMachine, id, "queued");
  const deploy = getDeploy(id);
  const take = deploy.status === "deploying" ? resume$1 : begin$1;
  const made = await take(world, deploy, log, signal);
  if (made === null) return;
  if (made === "site") return await switchToSite(world, getDeploy(id), log, signal);
  const launch = launchOnce(world, deploy, made);
  await preDeploy(world, getDeploy(id), made.pre_deploy_command, launch, log, signal);
  await stopFirst(world, deploy, made, log, signal);
  await rollOut(world, getDeploy(id), launch, log, signal);
}
function launchOnce(world, deploy, snapshot) {
  let launch;
  return () => launch ??= prepareLaunch(world, getService(deploy.service_id), getDeploy(deploy.id), snapshot);
}
async function settleFailure$1(world, id, error, log, signal) {
  const deploy = getDeploy(id);
  if (!deploy) return;
  if (signal.aborted && signal.reason === "stopping") return;
  if (deploy.status === "canceled") {
    log.system(deploy.error === null ? "canceled" : `canceled: ${deploy.error}`);
    tellFormer(deploy, log);
    await removeInstancesOf(world, deploy).catch(() => {
    });
    return;
  }
  const message = messageOf(error).slice(0, MAX_ERROR_CHARACTERS$1);
  if (!(error instanceof AppError) && !isOwnFailure(error)) {
    serverLog$1.error("a deploy failed", { id, error: message, stack: error.stack ?? "" });
  }
  log.system(`failed: ${message.split("\n")[0]}`);
  tellFormer(deploy, log);
  const to = deploy.status === "building" ? "build_failed" : "deploy_failed";
  if (tryMove(deployMachine, id, to, { error: message, finished_at: Date.now() }))
    tellService(deploy.service_id);
}
function tellFormer(deploy, log) {
  const hasFormer = (getService(deploy.service_id)?.live_deploy_id ?? null) !== null;
  if (deploy.stops_first && hasFormer) log.system("the former version is started again");
}

const runs$1 = /* @__PURE__ */ new Map();
async function deployGone(serviceId) {
  const own = [...runs$1.values()].filter(({ deploy }) => deploy.service_id === serviceId);
  await Promise.all(own.map(({ done }) => done));
}

const log$g = logger("deploys");
const PERIOD_MS$7 = 1e4;
const STOP_WITHIN_MS$2 = 4e3;
class DeployQueue {
  #world;
  #waits = new Waits();
  #stopListening;
  #wake = () => {
  };
  constructor(world) {
    this.#world = world;
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== "deploy") return;
      nudgeLog(id);
      if (getDeploy(id)?.status === "canceled") runs$1.get(id)?.abort.abort("canceled");
      this.#wake();
    });
  }
  /** The task to hand to a driver; `wake` is how the queue asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return { name: "deploys", everyMs: PERIOD_MS$7, run: () => this.#startWhatCan() };
  }
  /** Ends what runs, leaving its record so that the next start takes it up. */
  async stop() {
    this.#stopListening();
    for (const { abort } of runs$1.values()) abort.abort("stopping");
    const ended = Promise.all([...runs$1.values()].map(({ done }) => done));
    await Promise.race([ended, setTimeout$1(STOP_WITHIN_MS$2, void 0, { ref: false })]);
  }
  async #startWhatCan() {
    const waiting = deploysInProgress().filter(({ id }) => !runs$1.has(id));
    this.#waits.forgetOthers(waiting);
    if (waiting.length === 0) return;
    const { engine, engineFault, reachByAddress } = this.#world;
    const isMet = reachByAddress !== null;
    if (!isMet || !await engine.answers()) {
      if (isMet || engineFault !== null)
        for (const deploy of waiting)
          this.#waits.say(deploy, "waiting for the container engine, which does not answer");
      return;
    }
    for (const deploy of waiting) {
      const other = underWay(deploy);
      if (other === void 0) this.#start(deploy);
      else this.#waits.say(deploy, `waiting for ${other.id} of this service to end`);
    }
  }
  #start(deploy) {
    const abort = new AbortController();
    log$g.info("deploy starts", { id: deploy.id, service: deploy.service_id, trigger: deploy.trigger });
    const run = async () => {
      try {
        await runDeploy(this.#world, deploy.id, abort.signal);
        log$g.info("deploy ended", { id: deploy.id, status: getDeploy(deploy.id)?.status ?? "removed" });
        runs$1.delete(deploy.id);
        this.#wake();
      } catch (error) {
        runs$1.delete(deploy.id);
        log$g.error("a deploy could not be recorded", { id: deploy.id, error: messageOf(error) });
      }
    };
    const done = run();
    runs$1.set(deploy.id, { deploy, abort, done });
    log$g.debug("deploys under way", { count: runs$1.size, waiting: deploysInProgress().length - runs$1.size });
  }
}
function underWay({ service_id }) {
  return [...runs$1.values()].map(({ deploy }) => deploy).find((other) => other.service_id === service_id);
}
class Waits {
  #said = /* @__PURE__ */ new Map();
  say({ id }, what) {
    if (this.#said.get(id) === what) return;
    this.#said.set(id, what);
    const deployLog = openLog(id);
    deployLog.system(what);
    deployLog.close().catch(
      (error) => log$g.error("a deploy log could not be written", { id, error: messageOf(error) })
    );
  }
  /** Forgets those that wait no longer. */
  forgetOthers(waiting) {
    const ids = new Set(waiting.map(({ id }) => id));
    for (const id of this.#said.keys()) if (!ids.has(id)) this.#said.delete(id);
  }
}

const KEY = "stopped_in_order";
function recordOrderlyStop() {
  useDatabase().run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, '1')", KEY);
}
function takeOrderlyStop() {
  return useDatabase().run("DELETE FROM settings WHERE key = ?", KEY) > 0;
}

const log$f = logger("deploys");
const MAX_CRASHES = 2;
const REASON = "the server crashed twice while this deploy was under way: find the reason in its log before you deploy this source again";
function recoverDeploys() {
  const crashed = !takeOrderlyStop();
  for (const deploy of deploysInProgress()) {
    const crashes = crashed && deploy.status !== "queued" ? deploy.crashes + 1 : 0;
    if (crashes !== deploy.crashes) updateDeploy(deploy.id, { crashes });
    if (crashes >= MAX_CRASHES) giveUp(deploy);
    else if (deploy.status === "building") tryMove(deployMachine, deploy.id, "queued", { started_at: null });
  }
}
function giveUp({ id, status }) {
  const to = status === "building" ? "build_failed" : "deploy_failed";
  if (!tryMove(deployMachine, id, to, { error: REASON, finished_at: Date.now() })) return;
  log$f.warn("a deploy is given up", { id, error: REASON });
  const deployLog = openLog(id);
  deployLog.system(`failed: ${REASON}`);
  deployLog.close().catch(
    (error) => log$f.error("a deploy log could not be written", { id, error: messageOf(error) })
  );
}

const log$e = logger("tasks");
const STOP_WITHIN_MS$1 = 2e3;
class Driver {
  #stop = new AbortController();
  #tasks = /* @__PURE__ */ new Map();
  /** Starts a task; its first run begins at once. */
  start(task) {
    const bell = new Bell();
    this.#tasks.set(task.name, { wake: () => bell.ring(), done: this.#loop(task, bell) });
  }
  /** Runs a task as soon as its current run, if any, has ended. */
  wake(name) {
    this.#tasks.get(name)?.wake();
  }
  /** Aborts every task and waits for their current runs, but not long: each can be run again. */
  async stop() {
    this.#stop.abort();
    const ended = Promise.all([...this.#tasks.values()].map(({ done }) => done));
    await Promise.race([ended, setTimeout$1(STOP_WITHIN_MS$1, void 0, { ref: false })]);
  }
  async #loop(task, bell) {
    const { signal } = this.#stop;
    let lastError = null;
    while (!signal.aborted) {
      try {
        await task.run(signal);
        if (lastError !== null) log$e.info(`${task.name} works again`);
        lastError = null;
      } catch (error) {
        if (!signal.aborted && messageOf(error) !== lastError) {
          lastError = messageOf(error);
          log$e.error(`${task.name} failed`, {
            error: lastError,
            stack: error.stack?.split("\n").slice(1, 6).join(" ")
          });
        }
      }
      await bell.wait(task.everyMs, signal);
    }
  }
}
class Bell {
  #rung = false;
  #wake = () => {
  };
  ring() {
    this.#rung = true;
    this.#wake();
  }
  async wait(milliseconds, signal) {
    if (!this.#rung && !signal.aborted) {
      await new Promise((resolve) => {
        const finish = () => {
          clearTimeout(timer);
          signal.removeEventListener("abort", finish);
          resolve();
        };
        const timer = setTimeout(finish, milliseconds);
        this.#wake = finish;
        signal.addEventListener("abort", finish, { once: true });
      });
    }
    this.#rung = false;
    this.#wake = () => {
    };
  }
}

const PERIOD_MS$6 = 5e3;
const ACTIVE_MS = 6 * 36e5;
const PARALLEL$2 = 4;
class Verification {
  #world;
  #looks = new Looks(ACTIVE_MS);
  #stopListening;
  #wake = () => {
  };
  constructor(world) {
    this.#world = world;
    this.#stopListening = onChange(({ kind, action }) => {
      if (kind === "domain" && action !== "updated") this.#wake();
    });
  }
  task(wake) {
    this.#wake = wake;
    return { name: "domains", everyMs: PERIOD_MS$6, run: () => this.#run() };
  }
  /** Looks at a domain now; a local one has nothing to look at. Answers it as it is then. */
  async verify(domain) {
    if (!isLocalName(domain.name)) await this.#look(domain);
    return getDomain(domain.id) ?? domain;
  }
  stop() {
    this.#stopListening();
  }
  async #run() {
    const domains = listDomains().filter(({ name }) => !isLocalName(name));
    this.#looks.keep(new Set(domains.map(({ id }) => id)));
    const due = domains.filter(({ id }) => this.#looks.isDue(id));
    await forEachLimited(due, PARALLEL$2, (domain) => this.#look(domain));
  }
  async #look(domain) {
    const checks = await checkDomain(domain.name);
    const now = getDomain(domain.id);
    if (!now) return;
    this.#looks.done(domain.id, reachesServer(checks));
    if (keepChecks(now, checks)) await this.#world.dataPlane.sync();
  }
}

const log$d = logger("engine");
async function meetEngine(world) {
  if (world.reachByAddress !== null) return;
  const { version } = await world.engine.info();
  await removeLeftProbes(world);
  const { subnet } = await ensureNetwork(world.engine, findEnvironment());
  world.reachByAddress = await isGatewayLocal(subnet);
  log$d.info(`engine ${version}`, { reached_by: world.reachByAddress ? "address" : "published port" });
  if (!world.reachByAddress) {
    log$d.warn(
      "containers cannot be reached by address: instances are published on loopback ports, and health is judged less exactly"
    );
  }
}

const log$c = logger("engine");
const RETRY_MS$1 = 2e3;
const WATCHED = /* @__PURE__ */ new Set([
  "start",
  "die",
  "oom",
  "destroy",
  "stop",
  "kill",
  "pause",
  "unpause",
  "update",
  "rename"
]);
function engineEvents(world, supervisor, datastores, serviceLogs, wakeOthers) {
  return {
    name: "engine events",
    everyMs: RETRY_MS$1,
    async run(signal) {
      try {
        await world.engine.info();
        await meetEngine(world);
        const wasAway = world.engineFault !== null;
        world.engineFault = null;
        if (wasAway) {
          log$c.info("the engine answers again");
          tellEverything();
        }
        supervisor.lookAtAll();
        datastores.lookAtAll();
        serviceLogs.lookAtAll();
        wakeOthers();
        for await (const event of world.engine.events(signal)) {
          if (event.type !== "container" || !WATCHED.has(event.action)) continue;
          const service = event.attributes["deployer.service"];
          const datastore = event.attributes["deployer.datastore"];
          if (service) supervisor.look(service);
          if (service) serviceLogs.look(service);
          if (datastore) datastores.look(datastore);
          if (datastore && event.action === "destroy") serviceLogs.replaced(datastore);
          else if (datastore) serviceLogs.look(datastore);
        }
      } catch (error) {
        if (signal.aborted) return;
        const isNew = world.engineFault === null;
        world.engineFault = messageOf(error);
        if (!isNew) return;
        log$c.warn("the engine does not answer; trying again", { error: world.engineFault });
        tellEverything();
        supervisor.lookAtAll();
        datastores.lookAtAll();
      }
    }
  };
}

const PERIOD_MS$5 = 6e4;
function jobCleanup(world) {
  return {
    name: "job cleanup",
    everyMs: PERIOD_MS$5,
    async run() {
      await forgetOldJobs();
      await removeStrayLogs();
      if (world.reachByAddress !== null) await removeStrayContainers(world);
    }
  };
}
async function removeStrayLogs() {
  for (const name of await readdir(join(useContext().options.dataDirectory, "logs"))) {
    const id = /^(job-[0-9a-f]{20})\.ndjson$/.exec(name)?.[1];
    if (id && jobStatus(id) === void 0 && !isOpen(id)) await removeLog(id);
  }
}
async function removeStrayContainers(world) {
  for (const name of jobAddressHolders().filter(isOver)) {
    await world.engine.containers.remove(name);
    releaseAddress(name);
  }
}
function isOver(container) {
  if (/^job-[0-9a-f]{20}$/.test(container)) {
    const status = jobStatus(container);
    return status === void 0 || !JOB_IN_PROGRESS.includes(status);
  }
  const deployId = /^pre-(dep-[0-9a-f]{20})$/.exec(container)?.[1];
  return deployId !== void 0 && getDeploy(deployId)?.status !== "deploying";
}

const log$b = logger("git");
const OF_AN_IMAGE = /* @__PURE__ */ new Set(["restart", "rollback"]);
const STATES = {
  queued: { state: "pending", description: "The deploy is under way" },
  building: { state: "pending", description: "The deploy is under way" },
  deploying: { state: "pending", description: "The deploy is under way" },
  live: { state: "success", description: "Live" },
  build_failed: { state: "failure", description: "The build failed" },
  deploy_failed: { state: "failure", description: "The deploy failed" },
  canceled: { state: "canceled", description: "The deploy was canceled" },
  deactivated: null
};
function tellCommitStatuses() {
  const told = /* @__PURE__ */ new Map();
  return onChange(({ kind, id, action }) => {
    if (kind !== "deploy") return;
    if (action === "deleted") told.delete(id);
    const deploy = getDeploy(id);
    const sha = deploy && commitOf(deploy);
    const status = deploy && STATES[deploy.status];
    if (!deploy || !sha || !status) return;
    const former = told.get(id);
    if (former?.state === status.state) return;
    const done = (former?.done ?? Promise.resolve()).then(() => tellStatus(deploy, sha, status));
    told.set(id, { state: status.state, done });
    if (status.state !== "pending") void done.then(() => told.delete(id));
  });
}
function commitOf(deploy) {
  const source = JSON.parse(deploy.source);
  const isOfCommit = source.kind === "git" && deploy.repo_credentials === null && !OF_AN_IMAGE.has(deploy.trigger);
  if (!isOfCommit) return null;
  const named = source.commit !== null && isFullCommit(source.commit) ? source.commit.toLowerCase() : null;
  return deploy.commit_sha ?? named;
}
async function tellStatus(deploy, sha, { state, description }) {
  const service = getService(deploy.service_id);
  const { repo_url } = JSON.parse(deploy.source);
  if (!service || repo_url === null) return;
  try {
    const serving = await servingConnection(repo_url);
    if (!serving) return;
    await apiOf(serving.connection).tellStatus(serving.credentials.password, serving.path, sha, {
      state,
      context: contextOf(service),
      description,
      url: pageOf(deploy)
    });
  } catch (error) {
    if (state === "pending" && error instanceof AppError)
      await noteInLog(deploy.id, `the commit gets no status: ${error.message}`).catch(() => {
      });
    log$b.info("a commit got no status", { deploy: deploy.id, error: messageOf(error) });
  }
}
function contextOf(service) {
  const environment = listEnvironments().find(({ id }) => id === service.environment_id);
  return `deployer/${environment ? qualifiedName(service.name, environment) : service.name}`;
}
function pageOf({ id, service_id }) {
  const { dashboardHost } = useContext().options;
  const origin = dashboardHost === null ? null : publicUrl(dashboardHost);
  return origin !== null && isOnInternet(origin) ? `${origin}/services/${service_id}/deploys/${id}` : null;
}

const serverLog = logger("jobs");
const LONGEST_RUN_MS = 12 * 36e5;
const MAX_ERROR_CHARACTERS = 8 * 1024;
async function runJob(world, id, signal) {
  const log = openLog(id);
  try {
    const job = getJob(id);
    const service = job && getService(job.service_id);
    if (!job || !service) return;
    const material = job.status === "running" ? await resume(world, job, log) : begin(job, service, log);
    if (!material) return;
    const { deploy, snapshot } = material;
    const command = job.own_command ? snapshot.start_command : job.command;
    const timeoutMs = Math.max(1, LONGEST_RUN_MS - (Date.now() - (getJob(id)?.started_at ?? Date.now())));
    const launch = () => prepareLaunch(world, service, deploy, snapshot);
    const run = { logId: id, launch, name: id, kind: "job", command, timeoutMs };
    settle(job, await runToEnd(world, run, log, signal), memoryOf(material), log);
  } catch (error) {
    settleFailure(id, error, log, signal);
  } finally {
    await log.close().catch(
      (error) => serverLog.error("a job log could not be written", { id, error: messageOf(error) })
    );
  }
}
function begin(job, service, log) {
  const kept = openJobSnapshot(job);
  const deploy = getDeploy(job.deploy_id);
  const material = kept && deploy ? { deploy, snapshot: kept } : jobMaterial(service);
  const command = job.own_command ? material.snapshot.start_command : job.command;
  const isMoved = tryMove(jobMachine, job.id, "running", {
    started_at: Date.now(),
    command,
    deploy_id: material.deploy.id,
    image: material.deploy.image,
    snapshot: sealJobSnapshot(material.snapshot)
  });
  if (!isMoved) return null;
  tellJob(job.id, job.service_id);
  log.system(`running ${command?.split("\n")[0] ?? "the image's own command"}`);
  return material;
}
async function resume(world, job, log) {
  const deploy = getDeploy(job.deploy_id);
  const snapshot = openJobSnapshot(job);
  if (!deploy || !snapshot || await world.engine.containers.inspect(job.id) === null) {
    throw new AppError(
      "runtime_error",
      "the server was stopped while it ran, and its container is gone: run it again"
    );
  }
  log.system("the server was restarted; going on");
  return { deploy, snapshot };
}
function settle(job, end, memoryMb, log) {
  const { exitCode, oomKilled, timedOut, lastLines } = end;
  const hours = LONGEST_RUN_MS / 36e5;
  const said = timedOut ? `killed after ${hours} hours, the longest that a run may take` : oomKilled ? `ran out of memory: its limit is ${memoryMb} MiB (memory_limit_mb); exit code ${exitCode}` : `ended with exit code ${exitCode}`;
  log.system(said);
  if (exitCode === 0) finish(job.id, "succeeded", { exit_code: 0 });
  else finish(job.id, "failed", { exit_code: exitCode, error: shortened([said, ...lastLines].join("\n")) });
}
function settleFailure(id, error, log, signal) {
  if (signal.reason === "stopping") return;
  const job = getJob(id);
  if (!job) return;
  if (job.status === "canceled") {
    log.system(job.error === null ? "canceled" : `canceled: ${job.error}`);
    return;
  }
  const message = shortened(messageOf(error));
  if (!(error instanceof AppError))
    serverLog.error("a job failed", { id, error: message, stack: error.stack ?? "" });
  log.system(`failed: ${message.split("\n")[0]}`);
  finish(id, "failed", { error: message });
}
function finish(id, to, columns) {
  tryMove(jobMachine, id, to, { ...columns, finished_at: Date.now(), snapshot: null });
  serverLog.info("job ended", { id, status: jobStatus(id) ?? "removed" });
}
function memoryOf({ snapshot }) {
  return snapshot.memory_limit_mb || useContext().options.defaultMemoryMb;
}
function shortened(text) {
  return text.slice(0, MAX_ERROR_CHARACTERS);
}

const log$a = logger("jobs");
const PERIOD_MS$4 = 1e4;
const STOP_WITHIN_MS = 4e3;
const runs = /* @__PURE__ */ new Map();
async function jobsGone(serviceId) {
  const own = [...runs.values()].filter(({ job }) => job.service_id === serviceId);
  await Promise.all(own.map(({ done }) => done));
}
class JobQueue {
  #world;
  #stopListening;
  #stopped = false;
  #wake = () => {
  };
  constructor(world) {
    this.#world = world;
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== "job") return;
      nudgeLog(id);
      if (jobStatus(id) === "canceled") runs.get(id)?.abort.abort("canceled");
      this.#wake();
    });
  }
  /** The task to hand to a driver; `wake` is how the queue asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return { name: "jobs", everyMs: PERIOD_MS$4, run: () => this.#startWhatCan() };
  }
  /** Stops following what runs, leaving its container and its record so that the next start takes it up. */
  async stop() {
    this.#stopped = true;
    this.#stopListening();
    for (const { abort } of runs.values()) abort.abort("stopping");
    const ended = Promise.all([...runs.values()].map(({ done }) => done));
    await Promise.race([ended, setTimeout$1(STOP_WITHIN_MS, void 0, { ref: false })]);
  }
  async #startWhatCan() {
    if (jobsInProgress().every(({ id }) => runs.has(id))) return;
    const { engine, engineFault, reachByAddress } = this.#world;
    if (reachByAddress === null || engineFault !== null) return;
    if (!await engine.answers() || this.#stopped) return;
    for (const job of jobsInProgress()) {
      if (!runs.has(job.id) && !isBlocked(job)) this.#start(job);
    }
  }
  #start(job) {
    const { id, service_id, trigger } = job;
    const abort = new AbortController();
    log$a.info("job starts", { id, service: service_id, trigger });
    const run = async () => {
      try {
        await runJob(this.#world, id, abort.signal);
        runs.delete(id);
        tellJob(id, service_id);
        this.#wake();
      } catch (error) {
        runs.delete(id);
        log$a.error("a job could not be recorded", { id, error: messageOf(error) });
      }
    };
    runs.set(id, { job, abort, done: run() });
  }
}
function isBlocked(job) {
  if (job.status === "running") return false;
  if (runs.size >= useContext().options.jobConcurrency) return true;
  const isOwnRun = (other) => other.own_command === 1 && other.service_id === job.service_id;
  return isOwnRun(job) && [...runs.values()].some((run) => isOwnRun(run.job));
}

function getMark(serviceId) {
  return useDatabase().get("SELECT * FROM schedule_marks WHERE service_id = ?", serviceId);
}
function allMarks() {
  const rows = useDatabase().all("SELECT service_id FROM schedule_marks");
  return rows.map(({ service_id }) => service_id);
}
function setMark(serviceId, schedule, seenAt) {
  useDatabase().run(
    `INSERT INTO schedule_marks (service_id, schedule, seen_at) VALUES (?1, ?2, ?3)
     ON CONFLICT (service_id) DO UPDATE SET schedule = ?2, seen_at = ?3`,
    serviceId,
    schedule,
    seenAt
  );
}
function removeMark(serviceId) {
  useDatabase().run("DELETE FROM schedule_marks WHERE service_id = ?", serviceId);
}

const log$9 = logger("schedule");
const PERIOD_MS$3 = 3e4;
const MAKE_UP_MS = 36e5;
class Schedule {
  #guard = clockGuard();
  #changed = /* @__PURE__ */ new Set();
  #stopListening;
  /** The next moment of each cron job, soonest first. */
  #queue = [];
  #isLoaded = false;
  #timer;
  #wake = () => {
  };
  constructor() {
    this.#stopListening = onChange(({ kind, id }) => {
      if (kind !== "service") return;
      this.#changed.add(id);
      this.#wake();
    });
  }
  /** The task to hand to a driver; `wake` is how it asks for its next run. */
  task(wake) {
    this.#wake = wake;
    return { name: "schedule", everyMs: PERIOD_MS$3, run: async () => this.#look() };
  }
  stop() {
    this.#stopListening();
    clearTimeout(this.#timer);
  }
  #look() {
    clearTimeout(this.#timer);
    const heldMs = this.#guard.heldMs();
    if (heldMs > 0) {
      this.#isLoaded = false;
      this.#wakeIn(heldMs);
      return;
    }
    try {
      if (this.#isLoaded) this.#refresh();
      else this.#load();
      this.#queueDue();
    } catch (error) {
      this.#isLoaded = false;
      throw error;
    }
    if (this.#queue[0]) this.#wakeIn(this.#queue[0].at - Date.now());
  }
  #wakeIn(milliseconds) {
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.min(PERIOD_MS$3, milliseconds)));
  }
  /** Compares every cron job with its mark: at start, and after the clock was set. */
  #load() {
    this.#isLoaded = true;
    this.#changed.clear();
    this.#queue = [];
    useDatabase().transaction(() => {
      const marked = new Set(allMarks());
      for (const service of allServices()) {
        if (service.type === "cron_job") this.#enqueue(service);
        marked.delete(service.id);
      }
      for (const id of marked) removeMark(id);
    });
  }
  /** Takes up the cron jobs that were changed, made or removed. */
  #refresh() {
    for (const id of this.#changed) {
      this.#changed.delete(id);
      const service = getService(id);
      if (service && service.type !== "cron_job") continue;
      this.#queue = this.#queue.filter(({ serviceId }) => serviceId !== id);
      if (service) this.#enqueue(service);
    }
  }
  #enqueue(service) {
    if (!isScheduled(service)) return removeMark(service.id);
    const now = Date.now();
    const mark = getMark(service.id);
    const isKnown = mark?.schedule === service.schedule && mark.seen_at <= now + JUMP_MS;
    const seenAt = isKnown ? Math.max(mark.seen_at, now - MAKE_UP_MS) : now;
    if (!isKnown) setMark(service.id, service.schedule, now);
    else if (mark.seen_at < seenAt) this.#tellMissed(service, mark.seen_at, seenAt);
    this.#insert(service, seenAt);
  }
  /** Of the runs that are not made up, one message for all. */
  #tellMissed(service, from, to) {
    const due = nextDue(service.schedule, new Date(from));
    if (!due || due.getTime() > to) return;
    setMark(service.id, service.schedule, to);
    happened("job.missed", service.id, due.toISOString());
  }
  #insert(service, after) {
    const at = nextDue(service.schedule, new Date(after))?.getTime();
    if (at === void 0) return;
    const place = this.#queue.findIndex((other) => other.at > at);
    this.#queue.splice(place === -1 ? this.#queue.length : place, 0, { serviceId: service.id, at });
  }
  /** Queues the runs that are due, all in one transaction, and finds the next moment of their schedules. */
  #queueDue() {
    const now = Date.now();
    const count = this.#queue.findIndex(({ at }) => at > now);
    const due = this.#queue.splice(0, count === -1 ? this.#queue.length : count);
    if (due.length === 0) return;
    const jobs = useDatabase().transaction(
      () => due.flatMap(({ serviceId }) => {
        const service = getService(serviceId);
        if (!service || !isScheduled(service)) return [];
        log$9.debug("a run is due", { service: serviceId, schedule: service.schedule });
        setMark(serviceId, service.schedule, now);
        this.#insert(service, now);
        return insertScheduledJob(service) ?? this.#skipped(service);
      })
    );
    for (const { id, service_id } of jobs) tellJob(id, service_id, "created");
  }
  #skipped({ id, name }) {
    log$9.info("a run that is due is left out: one waits already", { service: id, name });
    return [];
  }
}
function isScheduled(service) {
  return service.schedule !== null && service.live_deploy_id !== null && !service.suspended && !service.deleting;
}

const figure = (example) => z.number().nullable().meta({ examples: [example] });
const bytes = (example) => figure(example);
const Requests = {
  requests_per_sec: z.number().meta({ examples: [12.5] }),
  status_2xx: z.int().meta({ description: "Opened WebSockets among them", examples: [120] }),
  status_3xx: z.int().meta({ examples: [4] }),
  status_4xx: z.int().meta({ description: "Clients that left early among them", examples: [1] }),
  status_5xx: z.int().meta({ description: "Pages of the proxy among them", examples: [0] }),
  p50_ms: figure(4.2).meta({ description: "Null without a request to time" }),
  p95_ms: figure(18.7)
};
const RequestTarget = z.object({
  target: z.string().meta({
    description: "Id of a service, `dashboard` or `unrouted`",
    examples: ["srv-4f1d0c9a7b3e5d2f6a80"]
  }),
  name: z.string().meta({ examples: ["api"] }),
  ...Requests
}).meta({ id: "RequestTarget" });
const Kind = z.enum(["service", "datastore"]).meta({ examples: ["service"] });
const containerFields = {
  id: z.string().meta({ examples: ["srv-4f1d0c9a7b3e5d2f6a80"] }),
  name: z.string().meta({
    description: "`api` in production, `api.staging` elsewhere",
    examples: ["api"]
  }),
  kind: Kind,
  instance: z.string().nullable().meta({ description: "Of a service", examples: ["srv-4f1d0c9a7b3e5d2f6a80-1a2b3"] })
};
const CurrentMetrics = z.object({
  at: Timestamp,
  host: z.object({
    cpu_count: z.int().nullable().meta({ examples: [2] }),
    cpu_percent: figure(7.5).meta({ description: "0 to 100, of the whole machine" }),
    memory_used_bytes: bytes(1073741824).meta({ description: "Without page cache" }),
    memory_total_bytes: bytes(4294967296),
    network_rx_bytes_per_sec: bytes(1024),
    network_tx_bytes_per_sec: bytes(2048),
    disks: z.array(
      z.object({
        mount_point: z.string().meta({ examples: ["/"] }),
        total_bytes: bytes(68719476736),
        used_bytes: bytes(17179869184),
        read_bytes_per_sec: bytes(0),
        write_bytes_per_sec: bytes(8192)
      })
    )
  }),
  containers: z.array(
    z.object({
      ...containerFields,
      cpu_percent: figure(3.5).meta({ description: "100 is one core" }),
      cpu_limit: figure(1),
      memory_bytes: bytes(52428800),
      memory_limit_bytes: bytes(536870912)
    })
  ).nullable().meta({ description: "The busiest first; null when the container engine does not answer" }),
  requests: z.array(RequestTarget)
}).meta({ id: "CurrentMetrics", description: "What the host, containers and requests are doing now" });
const RANGES = ["1h", "6h", "24h"];
const HistoryQuery = z.strictObject({
  range: z.enum(RANGES).default("1h").meta({ description: "How far back from now", examples: ["6h"] })
});
const Window = {
  range: z.enum(RANGES).meta({ examples: ["1h"] }),
  from: Timestamp,
  to: Timestamp,
  step_seconds: z.int().meta({ examples: [10] })
};
const ContainerPoint = z.object({ at: Timestamp, cpu_percent: figure(3.5), memory_bytes: bytes(52428800) }).meta({ id: "ContainerPoint" });
const RequestPoint = z.object({
  at: Timestamp,
  seconds: z.number().meta({ description: "How long requests were counted", examples: [10] }),
  ...Requests
}).meta({ id: "RequestPoint" });
const MetricsHistory = z.object({
  ...Window,
  host: z.array(
    z.object({
      at: Timestamp,
      cpu_percent: figure(7.5),
      memory_used_bytes: bytes(1073741824),
      memory_total_bytes: bytes(4294967296),
      disk_read_bytes_per_sec: bytes(0),
      disk_write_bytes_per_sec: bytes(8192),
      network_rx_bytes_per_sec: bytes(1024),
      network_tx_bytes_per_sec: bytes(2048)
    })
  ),
  containers: z.array(
    z.object({
      ...containerFields,
      points: z.array(ContainerPoint)
    })
  ).meta({ description: "The five with the highest CPU use in the range, the busiest first" }),
  requests: z.array(RequestPoint).meta({ description: "Services' requests together" }),
  request_targets: z.array(RequestTarget)
}).meta({
  id: "MetricsHistory",
  description: "Steps of a range, oldest first; one without a reading is left out"
});
const ServiceMetrics = z.object({
  ...Window,
  instances: z.array(
    z.object({
      instance: z.string().meta({ examples: ["srv-4f1d0c9a7b3e5d2f6a80-1a2b3"] }),
      points: z.array(ContainerPoint)
    })
  ).meta({ description: "Those that ran in the range, at most 20, the last seen first" }),
  requests: z.array(RequestPoint)
}).meta({ id: "ServiceMetrics", description: "What the instances of a service used, and its requests" });

const STEPS = { "1h": 10, "6h": 60, "24h": 240 };
const POINTS = 360;
const HOUR_SECONDS = 3600;
const LONGEST_SHOWN_SECONDS = STEPS["24h"];
const STEP_SECONDS = [...RANGES.map((range) => STEPS[range]), HOUR_SECONDS];
function windowOf(range, now) {
  const stepSeconds = STEPS[range];
  const last = stepStart(stepSeconds, now);
  return { range, stepSeconds, first: last - (POINTS - 1) * stepSeconds * 1e3, last };
}
function stepStart(stepSeconds, at) {
  return at - at % (stepSeconds * 1e3);
}
function spansOf({ stepSeconds, first, last }) {
  return spansBetween(STEP_SECONDS.indexOf(stepSeconds), first, last + stepSeconds * 1e3);
}
function spansBetween(length, from, to) {
  if (from >= to) return [];
  const span = (start2, end2) => start2 < end2 ? [{ seconds: STEP_SECONDS[length], first: start2, last: end2 - 1 }] : [];
  const longer = STEP_SECONDS[length + 1];
  if (longer === void 0) return span(from, to);
  const start = stepStart(longer, from + longer * 1e3 - 1);
  const end = stepStart(longer, to);
  if (start >= end) return span(from, to);
  return [...span(from, start), ...spansBetween(length + 1, start, end), ...span(end, to)];
}

class SummedTable {
  #database;
  #name;
  #columns;
  #statements = /* @__PURE__ */ new Map();
  constructor(database, name, columns) {
    this.#database = database;
    this.#name = name;
    this.#columns = columns;
    database.exec(
      `CREATE TABLE IF NOT EXISTS ${name} (seconds INTEGER NOT NULL, series TEXT NOT NULL, at INTEGER NOT NULL,
       ${columns.map((column) => `${column} REAL NOT NULL`).join(", ")}, PRIMARY KEY (seconds, series, at)) STRICT, WITHOUT ROWID`
    );
  }
  /** Adds to the step of `seconds` that starts at `at`. */
  add(seconds, series, at, sums) {
    const columns = this.#columns;
    this.#prepare(
      `INSERT INTO ${this.#name} VALUES (?, ?, ?, ${columns.map(() => "?").join(", ")})
       ON CONFLICT DO UPDATE SET ${columns.map((column) => `${column} = ${column} + excluded.${column}`).join(", ")}`
    ).run(seconds, series, at, ...columns.map((column) => sums[column]));
  }
  /** The steps of a series, both ends included, oldest first. */
  steps(seconds, series, from, to) {
    return this.#prepare(
      `SELECT * FROM ${this.#name} WHERE seconds = ? AND series = ? AND at BETWEEN ? AND ? ORDER BY at`
    ).all(seconds, series, from, to);
  }
  /** Each series with the sums of its steps in a window. */
  totals(window) {
    return this.#prepare(
      `WITH RECURSIVE ${this.#names},
         spans (seconds, first, last) AS (
           SELECT value ->> 'seconds', value ->> 'first', value ->> 'last' FROM json_each(?2))
       SELECT names.series, ${this.#columns.map((column) => `sum(${column}) AS ${column}`).join(", ")}
       FROM names CROSS JOIN spans CROSS JOIN ${this.#name} AS step
       WHERE step.seconds = spans.seconds AND step.series = names.series AND step.at BETWEEN spans.first AND spans.last
       GROUP BY names.series`
    ).all(window.stepSeconds, JSON.stringify(spansOf(window)));
  }
  /** Makes steps of those that are there already and divide them. */
  sumUp(from, to) {
    const start = `at - at % ${to * 1e3}`;
    this.#prepare(
      `INSERT INTO ${this.#name} SELECT ?2, series, ${start}, ${this.#columns.map((column) => `sum(${column})`).join(", ")}
       FROM ${this.#name} WHERE seconds = ?1 GROUP BY series, ${start}`
    ).run(from, to);
  }
  /** Forgets all steps but these. */
  keep(seconds, from, to) {
    for (const [comparison, end] of [
      ["<", from],
      [">", to]
    ])
      this.#prepare(
        `WITH RECURSIVE ${this.#names}
         DELETE FROM ${this.#name} WHERE seconds = ?1 AND series IN (SELECT series FROM names) AND at ${comparison} ?2`
      ).run(seconds, end);
  }
  /** The series that have steps of length ?1, found one after the other by the key: so each is read where it is wanted only. */
  get #names() {
    return `names (series) AS (
      SELECT min(series) FROM ${this.#name} WHERE seconds = ?1
      UNION ALL
      SELECT (SELECT min(series) FROM ${this.#name} AS next WHERE next.seconds = ?1 AND next.series > names.series)
      FROM names WHERE names.series IS NOT NULL)`;
  }
  #prepare(sql) {
    const known2 = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known2);
    return known2;
  }
}
function averaged(names) {
  return names.flatMap((name) => [name, `${name}_known`]);
}
function known(values, names) {
  const entries = names.flatMap((name) => [
    [name, values[name] ?? 0],
    [`${name}_known`, values[name] === null ? 0 : 1]
  ]);
  return Object.fromEntries(entries);
}
function averages(row, names) {
  const entries = names.map((name) => {
    const times = row[`${name}_known`];
    return [name, times === 0 ? null : row[name] / times];
  });
  return Object.fromEntries(entries);
}

const DASHBOARD = "dashboard";
const UNROUTED = "unrouted";
function isService(target) {
  return target !== DASHBOARD && target !== UNROUTED;
}
function byTarget(left, right) {
  return placeOf(left.target) - placeOf(right.target) || right.requests_per_sec - left.requests_per_sec || (left.target < right.target ? -1 : 1);
}
function placeOf(target) {
  return isService(target) ? 0 : target === DASHBOARD ? 1 : 2;
}

const HOST_VALUES = [
  "cpu_percent",
  "memory_used_bytes",
  "memory_total_bytes",
  "disk_read_bytes_per_sec",
  "disk_write_bytes_per_sec",
  "network_rx_bytes_per_sec",
  "network_tx_bytes_per_sec"
];
const CONTAINER_VALUES = ["cpu_percent", "memory_bytes"];
const STATUSES = ["status_2xx", "status_3xx", "status_4xx", "status_5xx"];
const BUCKETS = [...LATENCY_BUCKETS_SECONDS, Infinity].map((_, index) => `bucket_${index}`);
const REQUEST_VALUES = ["counted_seconds", ...STATUSES, ...BUCKETS];
const HOST = "host";
const SERVICES = "services";
const AHEAD_MS = 24 * 60 * 60 * 1e3;
const VERSION = 2;
const WITHOUT_HOURS = 1;
class SpoiltHistory extends Error {
  name = "SpoiltHistory";
}
class History {
  #database;
  #host;
  #containers;
  #requests;
  /** What was written of each series since the last save. */
  #subjects = /* @__PURE__ */ new Map();
  /** Throws `SpoiltHistory`, or SQLite's error when the file cannot be read or written. */
  constructor(path) {
    const database = new DatabaseSync(path);
    try {
      if (path !== ":memory:") chmodSync(path, PRIVATE_FILE_MODE);
      const version = versionOf(database);
      database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
      this.#host = new SummedTable(database, "host_steps", averaged(HOST_VALUES));
      this.#containers = new SummedTable(database, "container_steps", averaged(CONTAINER_VALUES));
      this.#requests = new SummedTable(database, "request_steps", REQUEST_VALUES);
      database.exec(
        `CREATE TABLE IF NOT EXISTS subjects (series TEXT PRIMARY KEY, subject TEXT NOT NULL) STRICT, WITHOUT ROWID;
         PRAGMA user_version = ${VERSION}`
      );
      if (version === WITHOUT_HOURS)
        for (const table of [this.#host, this.#containers, this.#requests])
          table.sumUp(LONGEST_SHOWN_SECONDS, HOUR_SECONDS);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
  }
  /** Adds a reading that was taken at `at`. */
  add(at, reading) {
    if (!this.#database.isTransaction) this.#database.exec("BEGIN");
    for (const { container, ...rest } of reading.containers ?? []) this.#name(container, rest);
    for (const { target, name } of reading.requests?.targets ?? [])
      if (name !== null) this.#name(target, { id: target, name, kind: "service" });
    for (const seconds of STEP_SECONDS) this.#addTo(seconds, stepStart(seconds, at), reading);
  }
  /** Writes what was added. */
  save() {
    if (this.#database.isTransaction) this.#database.exec("COMMIT");
    this.#subjects.clear();
  }
  /** Forgets what no range shows any more. */
  forget(now) {
    const windows = RANGES.map((range) => windowOf(range, now));
    const oldest = Math.min(...windows.map(({ first }) => first));
    for (const { stepSeconds, first } of [...windows, { stepSeconds: HOUR_SECONDS, first: oldest }])
      for (const table of [this.#host, this.#containers, this.#requests])
        table.keep(stepSeconds, first, now + AHEAD_MS);
    this.#database.prepare(
      `DELETE FROM subjects WHERE NOT EXISTS
         (SELECT 1 FROM container_steps AS step WHERE seconds = ?1 AND step.series = subjects.series)
         AND NOT EXISTS (SELECT 1 FROM request_steps AS step WHERE seconds = ?1 AND step.series = subjects.series)`
    ).run(LONGEST_SHOWN_SECONDS);
    this.#subjects.clear();
  }
  /** Closes the file; what was not saved is lost. */
  close() {
    this.#database.close();
  }
  hostSteps({ stepSeconds, first, last }) {
    return this.#host.steps(stepSeconds, HOST, first, last).map((row) => ({ at: row.at, ...rounded$1(averages(row, HOST_VALUES)) }));
  }
  /** Each container with the CPU time that it used: percent of a core in each reading, added up. */
  containerTotals(window) {
    return this.#containers.totals(window).map((row) => ({ container: row.series, cpu: row.cpu_percent }));
  }
  containerSteps(container, { stepSeconds, first, last }) {
    return this.#containers.steps(stepSeconds, container, first, last).map((row) => ({ at: row.at, ...rounded$1(averages(row, CONTAINER_VALUES)) }));
  }
  /** The requests of a target, or of all services together. */
  requestSteps(target, { stepSeconds, first, last }) {
    return this.#requests.steps(stepSeconds, target ?? SERVICES, first, last).map((row) => ({ at: row.at, ...requestsOf(row) }));
  }
  /** Each target with all its requests, and how long requests were counted. */
  requestTotals(window) {
    const rows = this.#requests.totals(window);
    return {
      seconds: rows.find(({ series }) => series === SERVICES)?.counted_seconds ?? 0,
      targets: rows.filter(({ series }) => series !== SERVICES).map((row) => ({ target: row.series, ...requestsOf(row) }))
    };
  }
  /** What a container or a target belonged to when it was last seen. */
  subjectOf(series) {
    const row = this.#database.prepare("SELECT subject FROM subjects WHERE series = ?").get(series);
    return row && JSON.parse(row.subject);
  }
  /** The containers that belonged to a service or datastore. */
  containersOf(id) {
    const rows = this.#database.prepare("SELECT series FROM subjects WHERE subject ->> '$.id' = ? AND series <> ? ORDER BY series").all(id, id);
    return rows.map(({ series }) => series);
  }
  #addTo(seconds, at, { host, containers, requests }) {
    this.#host.add(seconds, HOST, at, known(host, HOST_VALUES));
    for (const { container, cpuPercent, memoryBytes } of containers ?? []) {
      const values = { cpu_percent: cpuPercent, memory_bytes: memoryBytes };
      this.#containers.add(seconds, container, at, known(values, CONTAINER_VALUES));
    }
    if (!requests) return;
    const { targets } = requests;
    for (const target of targets)
      this.#requests.add(seconds, target.target, at, sumsOf(requests.seconds, [target]));
    const services = targets.filter(({ target }) => isService(target));
    this.#requests.add(seconds, SERVICES, at, sumsOf(requests.seconds, services));
  }
  #name(series, { id, name, kind }) {
    const subject = JSON.stringify({ id, name, kind });
    if (this.#subjects.get(series) === subject) return;
    this.#database.prepare("INSERT INTO subjects VALUES (?1, ?2) ON CONFLICT DO UPDATE SET subject = ?2").run(series, subject);
    this.#subjects.set(series, subject);
  }
}
function sumsOf(seconds, targets) {
  const sum = (value) => targets.reduce((total, target) => total + value(target), 0);
  const entries = [
    ...STATUSES.map((name, index) => [name, sum(({ statuses }) => statuses[index])]),
    ...BUCKETS.map((name, index) => [name, sum(({ buckets }) => buckets[index] ?? 0)])
  ];
  return {
    counted_seconds: seconds,
    ...Object.fromEntries(entries)
  };
}
function requestsOf(row) {
  return {
    seconds: row.counted_seconds,
    statuses: STATUSES.map((name) => row[name]),
    buckets: BUCKETS.map((name) => row[name])
  };
}
function rounded$1(values) {
  const entries = Object.entries(values).map(([name, value]) => {
    const unit = name === "cpu_percent" ? 100 : 1;
    return [name, value === null ? null : Math.round(value * unit) / unit];
  });
  return Object.fromEntries(entries);
}
const SPOILT_CODES = [11, 26];
function versionOf(database) {
  try {
    const { quick_check } = database.prepare("PRAGMA quick_check(1)").get();
    if (quick_check !== "ok") throw new SpoiltHistory(`it is damaged: ${quick_check}`);
  } catch (error) {
    if (SPOILT_CODES.includes(error.errcode ?? 0))
      throw new SpoiltHistory(error.message, { cause: error });
    throw error;
  }
  const { user_version } = database.prepare("PRAGMA user_version").get();
  if (![0, WITHOUT_HOURS, VERSION].includes(user_version))
    throw new SpoiltHistory("another version of the server wrote it");
  return user_version;
}

const log$8 = logger("metrics");
function openHistory(path) {
  try {
    return openFile(path);
  } catch (error) {
    log$8.warn(`the metrics history is kept in memory until the server ends: ${path} cannot be used`, {
      error: messageOf(error)
    });
    return new History(":memory:");
  }
}
function openFile(path) {
  try {
    return new History(path);
  } catch (error) {
    if (!(error instanceof SpoiltHistory)) throw error;
    for (const end of ["-wal", "-shm"]) rmSync(path + end, { force: true });
    renameSync(path, `${path}.old`);
    log$8.warn(`the metrics history begins anew; what it was is ${path}.old`, { error: messageOf(error) });
    return new History(path);
  }
}

const MAX_APART_SECONDS = 60;
const PERCENT = 100;
function readingBetween(before, after) {
  return {
    host: hostReading(before.host, after.host),
    disks: diskReadings(before.host, after.host),
    containers: after.containers && containerReadings(before.containers, after.containers),
    requests: after.requests && before.requests && requestReading(before.requests, after.requests)
  };
}
function risen(before, after) {
  return after >= before ? after - before : after;
}
function secondsBetween(before, after) {
  const seconds = after.clock - before.clock;
  return seconds > 0 && seconds <= MAX_APART_SECONDS ? seconds : null;
}
function perSecond(before, after, seconds) {
  if (before === null || after === null || seconds === null) return null;
  return Math.round(risen(before, after) / seconds);
}
function hostReading(before, after) {
  const seconds = secondsBetween(before, after);
  const disk = (key) => perSecond(ofDisks(before, key), ofDisks(after, key), seconds);
  const network = (key) => perSecond(ofInterfaces(before, key), ofInterfaces(after, key), seconds);
  const { memory } = after;
  return {
    cpu_percent: seconds === null ? null : cpuPercent(before.cpuSeconds, after.cpuSeconds),
    memory_used_bytes: memory && memory.totalBytes - memory.availableBytes,
    memory_total_bytes: memory && memory.totalBytes,
    disk_read_bytes_per_sec: disk("readBytes"),
    disk_write_bytes_per_sec: disk("writtenBytes"),
    network_rx_bytes_per_sec: network("receivedBytes"),
    network_tx_bytes_per_sec: network("transmittedBytes")
  };
}
function cpuPercent(before, after) {
  if (!before || !after) return null;
  const spent = Object.entries(after).map(
    ([mode, seconds]) => [mode, risen(before[mode] ?? 0, seconds)]
  );
  const total = spent.reduce((sum, [, seconds]) => sum + seconds, 0);
  const idle = spent.reduce(
    (sum, [mode, seconds]) => mode === "idle" || mode === "iowait" ? sum + seconds : sum,
    0
  );
  return total > 0 ? hundredths((total - idle) / total * PERCENT) : null;
}
function ofDisks({ disks }, key) {
  return sumOf(new Map(disks.map((disk) => [disk.device, disk[key]])).values());
}
function ofInterfaces({ interfaces }, key) {
  const physical = interfaces?.filter(({ isPhysical }) => isPhysical);
  return sumOf((physical?.length ? physical : interfaces ?? []).map((each) => each[key]));
}
function sumOf(values) {
  const known = [...values].filter((value) => value !== null);
  return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
}
function diskReadings(before, after) {
  const seconds = secondsBetween(before, after);
  const known = new Map(before.disks.map((disk) => [`${disk.device} ${disk.mountPoint}`, disk]));
  return after.disks.map((disk) => {
    const former = known.get(`${disk.device} ${disk.mountPoint}`);
    return {
      mount_point: disk.mountPoint,
      total_bytes: disk.totalBytes,
      used_bytes: disk.usedBytes,
      read_bytes_per_sec: perSecond(former?.readBytes ?? null, disk.readBytes, seconds),
      write_bytes_per_sec: perSecond(former?.writtenBytes ?? null, disk.writtenBytes, seconds)
    };
  });
}
function containerReadings(before, after) {
  const known = new Map(before?.map((each) => [each.container, each]));
  const start = before && before.length > 0 ? Math.max(...before.map(({ clock }) => clock)) : null;
  return after.map((each) => {
    const { id, name, kind, container, memoryBytes, cpuLimit, memoryLimitBytes } = each;
    const former = known.get(container) ?? (start === null ? null : { clock: start, cpuSeconds: 0 });
    const cpuPercent2 = former && containerPercent(former, each);
    return { id, name, kind, container, cpuPercent: cpuPercent2, memoryBytes, cpuLimit, memoryLimitBytes };
  });
}
function containerPercent(before, after) {
  const seconds = secondsBetween(before, after);
  if (seconds === null || before.cpuSeconds === null || after.cpuSeconds === null) return null;
  return hundredths(risen(before.cpuSeconds, after.cpuSeconds) / seconds * PERCENT);
}
function requestReading(before, after) {
  const seconds = secondsBetween(before, after);
  if (seconds === null) return null;
  const known = new Map(
    before.incarnation === after.incarnation ? before.targets.map((each) => [each.target, each]) : []
  );
  const targets = after.targets.map((each) => targetReading(known.get(each.target), each));
  return {
    seconds,
    targets: targets.filter(({ statuses }) => statuses.some((count) => count > 0))
  };
}
function targetReading(before, after) {
  return {
    target: after.target,
    name: after.name,
    statuses: after.statuses.map(
      (count, index) => risen(before?.statuses[index] ?? 0, count)
    ),
    buckets: after.latency.buckets.map((count, index) => risen(before?.latency.buckets[index] ?? 0, count))
  };
}
function hundredths(value) {
  return Math.round(value * 100) / 100;
}

const MILLISECONDS = 1e3;
function percentile(buckets, share) {
  const total = buckets.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [index, upper] of LATENCY_BUCKETS_SECONDS.entries()) {
    const count = buckets[index] ?? 0;
    if (count > 0 && below + count >= rank) {
      const lower = index === 0 ? 0 : LATENCY_BUCKETS_SECONDS[index - 1];
      return rounded((lower + (upper - lower) * (rank - below) / count) * MILLISECONDS);
    }
    below += count;
  }
  return LATENCY_BUCKETS_SECONDS.at(-1) * MILLISECONDS;
}
function rounded(milliseconds) {
  return Math.round(milliseconds * 1e3) / 1e3;
}

const SHOWN_CONTAINERS = 5;
const SHOWN_INSTANCES = 20;
function viewCurrent(at, sample, reading, requests) {
  const { host, disks, containers } = reading;
  return {
    at: timestamp(at),
    host: {
      cpu_count: sample.host.cpuCount,
      cpu_percent: host.cpu_percent,
      memory_used_bytes: host.memory_used_bytes,
      memory_total_bytes: host.memory_total_bytes,
      network_rx_bytes_per_sec: host.network_rx_bytes_per_sec,
      network_tx_bytes_per_sec: host.network_tx_bytes_per_sec,
      disks
    },
    containers: containers && containers.map(({ id, name, kind, container, cpuPercent, cpuLimit, memoryBytes, memoryLimitBytes }) => ({
      id,
      name,
      kind,
      instance: kind === "service" ? container : null,
      cpu_percent: cpuPercent,
      cpu_limit: cpuLimit,
      memory_bytes: memoryBytes,
      memory_limit_bytes: memoryLimitBytes
    })).sort((left, right) => (right.cpu_percent ?? -1) - (left.cpu_percent ?? -1)),
    requests: (requests?.requests?.targets ?? []).map(
      ({ target, name, ...counted }) => viewTarget(target, name, { seconds: requests.requests.seconds, ...counted })
    ).sort(byTarget)
  };
}
function viewHistory(history, range, now) {
  const window = windowOf(range, now);
  const { seconds, targets } = history.requestTotals(window);
  return {
    ...viewWindow(window, now),
    host: history.hostSteps(window).map((step) => ({ ...step, at: timestamp(step.at) })),
    containers: history.containerTotals(window).sort((left, right) => right.cpu - left.cpu).slice(0, SHOWN_CONTAINERS).map(({ container }) => viewContainer(history, container, window)),
    requests: history.requestSteps(null, window).map(viewRequests),
    request_targets: targets.map(
      ({ target, ...counted }) => viewTarget(target, history.subjectOf(target)?.name ?? null, { ...counted, seconds })
    ).sort(byTarget)
  };
}
function viewServiceMetrics(history, serviceId, range, now) {
  const window = windowOf(range, now);
  return {
    ...viewWindow(window, now),
    instances: history.containersOf(serviceId).map((instance) => ({ instance, points: viewPoints(history, instance, window) })).filter(({ points }) => points.length > 0).sort((left, right) => left.points.at(-1).at < right.points.at(-1).at ? 1 : -1).slice(0, SHOWN_INSTANCES),
    requests: history.requestSteps(serviceId, window).map(viewRequests)
  };
}
function viewWindow({ range, stepSeconds, first }, now) {
  return { range, from: timestamp(first), to: timestamp(now), step_seconds: stepSeconds };
}
function viewContainer(history, container, window) {
  const { id, name, kind } = history.subjectOf(container);
  return {
    id,
    name,
    kind,
    instance: kind === "service" ? container : null,
    points: viewPoints(history, container, window)
  };
}
function viewPoints(history, container, window) {
  return history.containerSteps(container, window).map((step) => ({ ...step, at: timestamp(step.at) }));
}
function viewTarget(target, name, counted) {
  return { target, name: name ?? target, ...viewCounts(counted) };
}
function viewRequests(step) {
  return { at: timestamp(step.at), seconds: thousandths(step.seconds), ...viewCounts(step) };
}
function viewCounts({ seconds, statuses, buckets }) {
  const [status_2xx, status_3xx, status_4xx, status_5xx] = statuses;
  const count = status_2xx + status_3xx + status_4xx + status_5xx;
  return {
    requests_per_sec: seconds > 0 ? thousandths(count / seconds) : 0,
    status_2xx,
    status_3xx,
    status_4xx,
    status_5xx,
    p50_ms: percentile(buckets, 0.5),
    p95_ms: percentile(buckets, 0.95)
  };
}
function thousandths(value) {
  return Math.round(value * 1e3) / 1e3;
}

const LIST_MS = 5e3;
const AT_A_TIME = 4;
const ONE_MS = 5e3;
const ALL_MS = 8e3;
async function readContainers(engine, signal, listMs = LIST_MS) {
  let running;
  try {
    running = await engine.usages.running(listMs);
  } catch {
    return null;
  }
  const subjects = subjectsByContainer();
  const rest = running.filter(({ name }) => subjects.has(name));
  const limited = AbortSignal.any([signal, AbortSignal.timeout(ALL_MS)]);
  const read = [];
  const work = async () => {
    for (let container = rest.shift(); container; container = rest.shift()) {
      const { limits, ...subject } = subjects.get(container.name);
      const figures = await figuresOf(engine, container, limited);
      if (figures) read.push({ ...subject, container: container.name, ...figures, ...limits });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return read;
}
async function figuresOf(engine, container, signal) {
  try {
    const usage = await engine.usages.read(container, { signal, timeoutMs: ONE_MS });
    return usage && { clock: clock$1(), ...usage };
  } catch {
    return { clock: clock$1(), cpuSeconds: null, memoryBytes: null, cpuLimit: null, memoryLimitBytes: null };
  }
}
function clock$1() {
  return performance.now() / 1e3;
}
function subjectsByContainer() {
  const subjects = /* @__PURE__ */ new Map();
  const services = serviceSubjects();
  for (const { id, service_id } of allInstances()) {
    const service = services.get(service_id);
    if (service) subjects.set(id, service);
  }
  const environments = new Map(listEnvironments().map((environment) => [environment.id, environment]));
  for (const row of allDatastores()) {
    const { memoryBytes, cpus } = containerLimits(row);
    subjects.set(row.id, {
      id: row.id,
      name: qualifiedName(row.name, environments.get(row.environment_id)),
      kind: "datastore",
      limits: { cpuLimit: cpus, memoryLimitBytes: memoryBytes }
    });
  }
  return subjects;
}
function serviceSubjects() {
  return new Map(
    listEnvironments().flatMap(
      (environment) => listServices(environment.id).map((service) => [
        service.id,
        { id: service.id, name: qualifiedName(service.name, environment), kind: "service" }
      ])
    )
  );
}

const TICKS_PER_SECOND = 100;
const KIBIBYTE = 1024;
const SECTOR_BYTES = 512;
const MODES = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"];
const NOT_THE_HOSTS = /^(lo|docker\d+|docker_gwbridge|br-[0-9a-f]{12}|veth.*|podman\d+|cni-.*)$/;
const OTHER_TYPES = ["zfs"];
const IMAGE_TYPES = ["squashfs", "iso9660", "erofs", "udf"];
function cpuIn(stat) {
  const lines = stat.split("\n");
  const ticks = lines.find((line) => line.startsWith("cpu "))?.split(" ").filter((word) => word !== "").slice(1);
  return {
    cpuCount: lines.filter((line) => /^cpu\d/.test(line)).length || null,
    cpuSeconds: ticks ? Object.fromEntries(MODES.map((mode, index) => [mode, Number(ticks[index] ?? 0) / TICKS_PER_SECOND])) : null
  };
}
function memoryIn(meminfo) {
  const valueOf = (name) => {
    const line = meminfo.split("\n").find((candidate) => candidate.startsWith(`${name}:`));
    return line === void 0 ? null : Number.parseInt(line.slice(name.length + 1), 10) * KIBIBYTE;
  };
  const total = valueOf("MemTotal");
  const available = valueOf("MemAvailable");
  return total === null || available === null ? null : { totalBytes: total, availableBytes: available };
}
function interfacesIn(dev) {
  return dev.split("\n").slice(2).flatMap((line) => {
    const [device = "", counts = ""] = line.trim().split(/:(.*)/, 2);
    const columns = counts.split(" ").filter((word) => word !== "");
    if (columns.length < 9 || NOT_THE_HOSTS.test(device)) return [];
    return [{ device, receivedBytes: Number(columns[0]), transmittedBytes: Number(columns[8]) }];
  });
}
function devicesIn(diskstats) {
  return new Map(
    diskstats.split("\n").flatMap((line) => {
      const [major, minor, , , , read, , , , written] = line.split(" ").filter((word) => word !== "");
      if (written === void 0) return [];
      return [
        [
          `${major}:${minor}`,
          { readBytes: Number(read) * SECTOR_BYTES, writtenBytes: Number(written) * SECTOR_BYTES }
        ]
      ];
    })
  );
}
function mountsIn(mountinfo) {
  const mounts = /* @__PURE__ */ new Map();
  for (const line of mountinfo.split("\n")) {
    const [left = "", right = ""] = line.split(" - ");
    const [, , device, root, place] = left.split(" ");
    const [type = "", source = ""] = right.split(" ");
    if (device === void 0 || place === void 0) continue;
    const isKept = source.startsWith("/dev/") ? !IMAGE_TYPES.includes(type) : OTHER_TYPES.includes(type);
    if (!isKept && place !== "/") continue;
    const known = mounts.get(device);
    const isWhole = root === "/";
    if (known && (known.isWhole || !isWhole)) continue;
    mounts.set(device, { mountPoint: withoutEscapes(place), device, source, isWhole });
  }
  return [...mounts.values()].map(({ mountPoint, device, source }) => ({ mountPoint, device, source }));
}
function withoutEscapes(path) {
  return path.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
}

const MAX_DISKS = 32;
async function readHost() {
  const [stat2, meminfo, disks, interfaces] = await Promise.all([
    read("/proc/stat"),
    read("/proc/meminfo"),
    readDisks(),
    readInterfaces()
  ]);
  return {
    clock: performance.now() / 1e3,
    ...cpuIn(stat2 ?? ""),
    memory: memoryIn(meminfo ?? ""),
    disks,
    interfaces
  };
}
async function readDisks() {
  const [mountinfo, diskstats] = await Promise.all([read("/proc/self/mountinfo"), read("/proc/diskstats")]);
  const devices = devicesIn(diskstats ?? "");
  const mounts = mountsIn(mountinfo ?? "").slice(0, MAX_DISKS);
  return Promise.all(
    mounts.map(async (mount) => {
      const [size, device] = await Promise.all([sizeOf(mount.mountPoint), deviceOf(mount, devices)]);
      const counted = devices.get(device);
      return {
        mountPoint: mount.mountPoint,
        device,
        ...size,
        readBytes: counted?.readBytes ?? null,
        writtenBytes: counted?.writtenBytes ?? null
      };
    })
  );
}
async function sizeOf(mountPoint) {
  try {
    const { bsize, blocks, bfree } = await statfs(mountPoint);
    return { totalBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize };
  } catch {
    return { totalBytes: null, usedBytes: null };
  }
}
async function deviceOf(mount, devices) {
  if (devices.has(mount.device) || !mount.source.startsWith("/dev/")) return mount.device;
  try {
    const { rdev } = await stat(mount.source);
    const major = Math.floor(rdev / 256) % 4096;
    const minor = rdev % 256 + Math.floor(rdev / 1048576) * 256;
    return `${major}:${minor}`;
  } catch {
    return mount.device;
  }
}
async function readInterfaces() {
  const dev = await read("/proc/net/dev");
  if (dev === null) return null;
  return Promise.all(
    interfacesIn(dev).map(async (each) => ({ ...each, isPhysical: await isPhysical(each.device) }))
  );
}
function isPhysical(device) {
  return access(`/sys/class/net/${device}/device`).then(
    () => true,
    () => false
  );
}
function read(path) {
  return readFile(path, "utf8").catch(() => null);
}

async function readRequests(dataPlane) {
  try {
    const { incarnation, targets } = await dataPlane.counts();
    const services = serviceSubjects();
    return {
      clock: performance.now() / 1e3,
      incarnation,
      targets: Object.entries(targets).map(([target, counts]) => ({
        target,
        name: isService(target) ? services.get(target)?.name ?? null : target,
        statuses: [counts.status_2xx, counts.status_3xx, counts.status_4xx, counts.status_5xx],
        latency: { buckets: counts.latency_buckets, sumSeconds: counts.latency_sum_seconds }
      }))
    };
  } catch {
    return null;
  }
}

const log$7 = logger("metrics");
const EVERY_MS = 1e4;
const INTO_STEP_MS = 1e3;
const SLACK_MS = 1e3;
const ROUNDS_A_SAVE = 6;
const ROUNDS_A_CLEARING = 60;
const LEAST_APART_SECONDS = 1;
const MOST_APART_SECONDS = 60;
const SILENT_LIST_MS = 2e3;
class Metrics {
  #world;
  #history = openHistory(join(useContext().options.dataDirectory, "metrics.db"));
  #last = null;
  #rounds = 0;
  /** What current metrics were last told from. */
  #told = null;
  #telling = null;
  constructor(world) {
    this.#world = world;
  }
  /** The task that measures. It paces itself, so that each step of the history gets its reading. */
  task() {
    return {
      name: "metrics",
      everyMs: 0,
      run: async (signal) => {
        if (this.#last !== null) await setTimeout$1(untilNextRound(Date.now()), void 0, { signal });
        await this.#round(signal);
      }
    };
  }
  /** What is happening now; takes about a second. Calls at one time share one look. */
  current() {
    this.#telling ??= this.#tell().finally(() => this.#telling = null);
    return this.#telling;
  }
  /** The steps of a range up to now. */
  history(range) {
    return viewHistory(this.#history, range, Date.now());
  }
  /** The same of one service. */
  historyOf(serviceId, range) {
    return viewServiceMetrics(this.#history, serviceId, range, Date.now());
  }
  /** Writes what was read since the last time. */
  stop() {
    this.#save();
    this.#history.close();
  }
  async #round(signal) {
    const at = Date.now();
    const before = this.#last;
    const [sample, requests] = await Promise.all([this.#sample(signal), readRequests(this.#world.dataPlane)]);
    signal.throwIfAborted();
    const after = { ...sample, requests };
    this.#last = { ...after, requests: requests ?? before?.requests ?? null };
    const reading = before && readingBetween(before, after);
    publishLatest({ sample: after, reading });
    if (reading) this.#history.add(at, reading);
    this.#rounds++;
    if (this.#rounds % ROUNDS_A_CLEARING === 0) this.#history.forget(at);
    if (this.#rounds % ROUNDS_A_SAVE === 0) this.#save();
  }
  async #sample(signal, listMs) {
    const { engine } = this.#world;
    const [host, containers] = await Promise.all([readHost(), readContainers(engine, signal, listMs)]);
    return { host, containers, requests: null };
  }
  async #tell() {
    const { stopping } = useContext();
    const listMs = this.#last?.containers === null ? SILENT_LIST_MS : void 0;
    const before = this.#recentlyTold() ?? await this.#sample(stopping, listMs);
    const apart = clock() - before.host.clock;
    if (apart < LEAST_APART_SECONDS)
      await setTimeout$1((LEAST_APART_SECONDS - apart) * 1e3, void 0, { signal: stopping });
    const after = await this.#sample(stopping, listMs);
    this.#told = after;
    return viewCurrent(Date.now(), after, readingBetween(before, after), freshLatest()?.reading ?? null);
  }
  #recentlyTold() {
    return this.#told && clock() - this.#told.host.clock <= MOST_APART_SECONDS ? this.#told : null;
  }
  #save() {
    try {
      this.#history.save();
    } catch (error) {
      log$7.warn("the metrics of the last minute cannot be written", { error: messageOf(error) });
    }
  }
}
function untilNextRound(now) {
  return EVERY_MS - (now - INTO_STEP_MS + SLACK_MS) % EVERY_MS + SLACK_MS;
}
function clock() {
  return performance.now() / 1e3;
}

class LogDrains {
  #drains = /* @__PURE__ */ new Map();
  #stops;
  #isStopped = false;
  constructor() {
    this.#stops = [
      onDrainsChanged(() => void this.#look(true)),
      onChange(({ kind, action }) => {
        if (kind === "service" && action === "created") void this.#look(false);
      })
    ];
    void this.#look(false);
  }
  async stop() {
    this.#isStopped = true;
    for (const stop of this.#stops) stop();
    await Promise.all([...this.#drains.values()].map(({ drain }) => drain.stop()));
  }
  /** `startsNow`: services that join because a drain was changed begin with what they print from now on. */
  async #look(startsNow) {
    if (this.#isStopped) return;
    const rows = drains.list().filter(({ enabled }) => enabled === 1);
    for (const [id, { drain, version }] of this.#drains) {
      if (rows.some((row) => row.id === id && row.updated_at === version)) continue;
      this.#drains.delete(id);
      void drain.stop();
    }
    for (const row of rows) {
      const known = this.#drains.get(row.id) ?? { drain: new Drain(row), version: row.updated_at };
      this.#drains.set(row.id, known);
      known.drain.follow(row, startsNow);
    }
  }
}

const BYTES_PER_SECOND = 12 * 1024 * 1024;
const BURST_BYTES = 64 * 1024 * 1024;
class Intake {
  #left = BURST_BYTES;
  #at = performance.now();
  /** Whether so many bytes more are taken in. */
  take(bytes) {
    const now = performance.now();
    this.#left = Math.min(BURST_BYTES, this.#left + (now - this.#at) / 1e3 * BYTES_PER_SECOND);
    this.#at = now;
    if (this.#left < bytes) return false;
    this.#left -= bytes;
    return true;
  }
}

const KNOWN_BYTES = 2 * 1024 * 1024;
async function knownOf(log, instance, isNew) {
  if (isNew) return new KnownLines();
  const slices = await log.stored();
  const filter = { since: null, until: null, stream: null, search: null };
  const isWhole = slices.length === 0 || slices[0].first === 0;
  const newest = isWhole ? void 0 : parse((await readTail(slices, null, 1, new Allowance(KNOWN_BYTES))).blocks)[0];
  const known = new KnownLines(newest ? engineMoment(Date.parse(newest.ts)) : null);
  for (const stream of ["stdout", "stderr"]) {
    const matcher = lineMatcher({ ...filter, stream, instances: [instance] });
    const { blocks } = await readTail(slices, matcher, KNOWN_LINES, new Allowance(KNOWN_BYTES));
    known.add(parse(blocks).map(({ ts, line }) => ({ ts, stream, line })));
  }
  return known;
}
function parse(blocks) {
  return linesIn(Buffer.concat(blocks).toString("utf8")).map((line) => JSON.parse(line));
}

const log$6 = logger("logs");
const CATCH_UP_MS = 5e3;
const MAX_EARLY_BYTES = 8 * 1024 * 1024;
const LINE_BYTES = 128;
const LAST_WORDS_MS = 2e3;
const RETRY_MS = 5e3;
class ServiceOutput {
  #engine;
  #serviceId;
  #log;
  #intake = new Intake();
  /** Rung when something happened to one of the instances. */
  #news = new Bell$1();
  #followed = /* @__PURE__ */ new Map();
  /** The readings that are under way. */
  #readings = /* @__PURE__ */ new Map();
  /** What is read before the instances that were there first have caught up, to be put in order. */
  #early = [];
  #earlyBytes = 0;
  #behind = 0;
  constructor(engine, serviceId) {
    this.#engine = engine;
    this.#serviceId = serviceId;
    this.#log = serviceLog(serviceId);
  }
  /** Follows exactly these instances. */
  follow(ids) {
    for (const id of ids) {
      const instance = this.#followed.get(id);
      if (instance) continue;
      const stop = new AbortController();
      this.#followed.set(id, stop);
      void this.#follow(id, stop.signal);
    }
    for (const [id, stop] of this.#followed) {
      if (ids.includes(id)) continue;
      this.#followed.delete(id);
      setTimeout(() => stop.abort(), LAST_WORDS_MS).unref();
    }
    if (ids.length === 0) this.#begin();
    this.#news.ring();
  }
  /** Reads on in another container of the same name; what the removed one printed last is waited for. */
  replaced(id) {
    const reading = this.#readings.get(id);
    setTimeout(() => reading?.abort(), LAST_WORDS_MS).unref();
  }
  stop() {
    this.#begin();
    for (const stop of this.#followed.values()) stop.abort();
  }
  /** Never throws: one instance's fault must end neither the others nor the server. */
  async #follow(id, signal) {
    try {
      await this.#run(id, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#warn("the output of an instance is not taken in until the next change", id, error);
      this.#followed.delete(id);
    }
  }
  async #run(id, signal) {
    const isFirst = this.#early !== null;
    let isBehind = isFirst;
    const caughtUp = () => {
      if (isBehind && --this.#behind === 0) this.#begin();
      isBehind = false;
    };
    if (isFirst) {
      this.#behind++;
      setTimeout(caughtUp, CATCH_UP_MS).unref();
    }
    try {
      const known = await this.#placeOf(id, signal);
      while (!signal.aborted) {
        const wasReplaced = await this.#read(id, known, caughtUp, signal).catch((error) => {
          this.#warn("the output of an instance cannot be taken in; it is tried again", id, error);
          return false;
        });
        caughtUp();
        if (!wasReplaced) await this.#news.wait(AbortSignal.any([signal, AbortSignal.timeout(RETRY_MS)]));
      }
    } finally {
      caughtUp();
      this.#readings.delete(id);
    }
  }
  /** Reads as long as there is something to read; answers whether another container has taken the place of the one read. */
  async #read(id, known, onLive, signal) {
    const reading = new AbortController();
    this.#readings.set(id, reading);
    let isLive = false;
    const caughtUp = () => {
      isLive = true;
      onLive();
    };
    const options = {
      signal: AbortSignal.any([signal, reading.signal]),
      known,
      onLive: caughtUp,
      isTold: true
    };
    for await (const output of readOutput(this.#engine, id, options)) {
      const bytes = output.reduce((sum, { line }) => sum + line.length + 1, 0);
      if (!isLive) await this.#log.room();
      if (!isLive || this.#intake.take(bytes)) this.#take(id, output, bytes);
      else this.#log.lose(output.length);
      await setImmediate();
    }
    return reading.signal.aborted;
  }
  #warn(what, instance, error) {
    log$6.warn(what, { service: this.#serviceId, instance, error: messageOf(error) });
  }
  /** What is stored of an instance already. A store that cannot be read is waited for. */
  async #placeOf(id, signal) {
    const isNew = id !== this.#serviceId && !instanceDeploys(this.#serviceId).has(id);
    for (; ; ) {
      try {
        const known = await knownOf(this.#log, id, isNew);
        recordLogInstance(id);
        return known;
      } catch (error) {
        signal.throwIfAborted();
        log$6.warn("a service log cannot be read", { service: this.#serviceId, error: messageOf(error) });
        await setTimeout$1(RETRY_MS, void 0, { signal });
      }
    }
  }
  #take(id, output, bytes) {
    const oldest = new Date(Date.now() - useContext().options.logRetentionMs).toISOString();
    const lines = output.map((line) => toLogLine(id, line)).filter(({ ts }) => ts >= oldest);
    if (!this.#early) return this.#log.append(lines);
    for (const line of lines) this.#early.push({ line, time: line.ts });
    this.#earlyBytes += bytes + lines.length * LINE_BYTES;
    if (this.#earlyBytes > MAX_EARLY_BYTES) this.#begin();
  }
  /** Stores what was held, in the order of its times; lines of one instance stay in their own. */
  #begin() {
    const early = this.#early;
    this.#early = null;
    if (early) this.#log.append(inOrder(early).map(({ line }) => line));
  }
}
function inOrder(lines) {
  const latest = /* @__PURE__ */ new Map();
  const timed = lines.map((entry) => {
    const before = latest.get(entry.line.instance) ?? "";
    const time = entry.time > before ? entry.time : before;
    latest.set(entry.line.instance, time);
    return { entry, time };
  });
  return timed.toSorted((left, right) => left.time < right.time ? -1 : left.time > right.time ? 1 : 0).map(({ entry }) => entry);
}

const TIDY_MS = 6e5;
class LogCollector {
  #engine;
  #outputs = /* @__PURE__ */ new Map();
  #stopListening;
  #isStopped = false;
  constructor(engine) {
    this.#engine = engine;
    this.#stopListening = onChange(({ kind, id, service_id }) => {
      if (service_id !== null) this.look(service_id);
      else if (kind === "datastore") this.look(id);
    });
    this.lookAtAll();
  }
  /** The task that keeps what is stored within its bounds. */
  task() {
    return {
      name: "service logs",
      everyMs: TIDY_MS,
      async run() {
        tidyLogInstances(useContext().options.logRetentionMs);
        await tidyServiceLogs((id) => (getService(id) ?? getDatastore(id)) !== void 0);
      }
    };
  }
  /** Takes up the containers of a service or a datastore that are new, and lets go of those that are gone. */
  look(id) {
    const ids = isId("datastore", id) ? containersOfDatastore(id) : instancesOf(id).map((row) => row.id);
    const known = this.#outputs.get(id);
    if (this.#isStopped || !known && ids.length === 0) return;
    const output = known ?? new ServiceOutput(this.#engine, id);
    output.follow(ids);
    if (ids.length > 0) this.#outputs.set(id, output);
    else this.#outputs.delete(id);
  }
  /** Takes note that the container of a datastore was removed, in whose place another may come by the same name. */
  replaced(datastoreId) {
    this.#outputs.get(datastoreId)?.replaced(datastoreId);
  }
  /** Looks at every service and datastore, after the engine came back. */
  lookAtAll() {
    const ofServices = allInstances().map(({ service_id }) => service_id);
    const ids = [...ofServices, ...allDatastores().map(({ id }) => id), ...this.#outputs.keys()];
    for (const id of new Set(ids)) this.look(id);
  }
  /** Ends the reading and writes what waits. */
  async stop() {
    this.#isStopped = true;
    this.#stopListening();
    for (const output of this.#outputs.values()) output.stop();
    await closeServiceLogs();
  }
}
function containersOfDatastore(id) {
  const row = getDatastore(id);
  return row && row.status !== "deleting" ? [id] : [];
}

const PERIOD_MS$2 = 6e4;
const DAY_MS = 864e5;
const DAYS_LEFT = [1, 3, 7, 14];
const LOW_PERCENT = 10;
const ENOUGH_PERCENT = 15;
function looks() {
  return {
    name: "notification looks",
    everyMs: PERIOD_MS$2,
    async run() {
      lookAtCertificates(Date.now());
      await lookAtDisk(useContext().options.dataDirectory);
    }
  };
}
function lookAtCertificates(now) {
  for (const { id, not_after, renew_at } of certificatesByName().values()) {
    if (not_after !== null && (renew_at ?? 0) <= now) lookAtEnd(id, id, not_after, now);
  }
  for (const { id, hosts, not_after } of listUploaded())
    lookAtEnd(id, JSON.parse(hosts)[0] ?? id, not_after, now);
}
function lookAtEnd(id, host, notAfter, now) {
  const left = DAYS_LEFT.find((days) => notAfter - now <= days * DAY_MS);
  const key = `expiring ${id}`;
  const told = lastTold(key);
  if (left === void 0 || told !== null && Number(told) <= left) return;
  const days_left = Math.max(0, Math.ceil((notAfter - now) / DAY_MS));
  useDatabase().transaction(() => {
    setTold(key, String(left));
    happened("certificate.expiring", host, JSON.stringify({ days_left, not_after: timestamp(notAfter) }));
  });
}
async function lookAtDisk(path) {
  const { bavail, blocks, bsize } = await statfs(path);
  const free_percent = blocks === 0 ? 100 : Math.floor(bavail / blocks * 100);
  const isTold = lastTold("disk") !== null;
  if (isTold && free_percent > ENOUGH_PERCENT) setTold("disk", null);
  if (isTold || free_percent >= LOW_PERCENT) return;
  useDatabase().transaction(() => {
    setTold("disk", "low");
    happened(
      "server.disk_low",
      path,
      JSON.stringify({ free_percent, free_bytes: bavail * bsize, total_bytes: blocks * bsize })
    );
  });
}

const DOWN_MS = 1e4;
class ServiceWatch {
  #stopListening;
  #timers = /* @__PURE__ */ new Map();
  constructor() {
    this.#stopListening = onChange(({ kind, id, action }) => {
      if (kind === "service" && action !== "deleted") this.#look(id);
    });
    for (const { id } of allServices()) this.#look(id);
  }
  stop() {
    this.#stopListening();
    for (const timer of this.#timers.values()) clearTimeout(timer);
  }
  #look(id) {
    const service = getService(id);
    const state = service && viewService(service).state;
    if (state === "down") return this.#waitForIt(id);
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (state === "running" && lastTold(keyOf(id)) !== null) this.#tell(id, "service.recovered", null);
    if (state === "suspended" || state === "idle") setTold(keyOf(id), null);
  }
  #waitForIt(id) {
    if (this.#timers.has(id) || lastTold(keyOf(id)) !== null) return;
    const timer = setTimeout(() => {
      this.#timers.delete(id);
      const service = getService(id);
      if (service && viewService(service).state === "down") this.#tell(id, "service.down", reasonOf(id));
    }, DOWN_MS);
    this.#timers.set(id, timer);
  }
  #tell(id, type, detail) {
    useDatabase().transaction(() => {
      setTold(keyOf(id), type === "service.down" ? "down" : null);
      happened(type, id, detail);
    });
  }
}
function keyOf(id) {
  return `down ${id}`;
}
function reasonOf(id) {
  return instancesOf(id).find(({ reason }) => reason !== null)?.reason ?? null;
}

const log$5 = logger("data plane");
const UNAVAILABLE = /* @__PURE__ */ new Set(["EADDRINUSE", "EACCES"]);
function wantedListeners() {
  const { httpListen, httpsListen, tls } = useContext().options;
  const http = { protocol: "http", flag: "--http-listen", address: httpListen, fallbackPort: 8080 };
  const https = {
    protocol: "https",
    flag: "--https-listen",
    address: httpsListen,
    fallbackPort: 8443
  };
  return tls === "off" ? [http] : [http, https];
}
function listenerSpecs(listeners) {
  return listeners.map(({ address, protocol }) => ({ address: formatAddress(address), protocol }));
}
function otherListeners(listeners, error) {
  const failed = listeners.find(({ address: address2 }) => formatAddress(address2) === error.address);
  if (!failed) throw new AppError("io_error", error.message, { cause: error });
  const { flag, address, fallbackPort } = failed;
  const text = formatAddress(address);
  if (!UNAVAILABLE.has(error.code))
    throw new AppError("io_error", `${flag} ${text}: ${error.message}`, { cause: error });
  if (address.named || address.port === fallbackPort) {
    const why = error.code === "EACCES" ? "this user may not listen there" : "another program listens there";
    throw new AppError("io_error", `${flag} ${text}: ${why}; stop it or name another address`, {
      cause: error
    });
  }
  log$5.warn(
    `${text} cannot be had (${error.code}); using port ${fallbackPort}. Free it, or name another with ${flag}.`
  );
  return listeners.map(
    (listener) => listener === failed ? { ...listener, address: { ...address, port: fallbackPort } } : listener
  );
}
function boundPort(listeners, bound, protocol) {
  const wanted = listenerSpecs(listeners).find((listener) => listener.protocol === protocol);
  return bound.find(({ address }) => address === wanted?.address)?.port ?? null;
}
function formatAddress({ host, port }) {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function servedCertificates() {
  if (useContext().options.tls === "off") return {};
  const uploaded = new UploadedBook();
  const names = new CertificateNames();
  const versions = servingVersions();
  const served = {};
  for (const routed of routedHosts()) {
    const { host } = routed;
    const own = uploaded.find(host);
    const name = [names.nameOf(routed), host].find((name2) => versions.has(name2));
    if (own) served[host] = uploadedFiles(own.id);
    else if (name !== void 0) served[host] = versionFiles(name, versions.get(name));
  }
  return served;
}

function buildTable(listeners, apiPort, switching) {
  const { options } = useContext();
  const book = new ZoneBook();
  const table = {
    listeners,
    hosts: {},
    targets: {},
    zones: book.zones,
    certificates: servedCertificates(),
    acme_challenges: Object.fromEntries(proofs.tokens),
    tls_challenges: Object.fromEntries(proofs.handshakes),
    verification_key: verificationKey(),
    hsts_seconds: options.hstsSeconds,
    h2c: options.h2c,
    trusted_proxies: options.trustedProxies,
    upstream_timeout_ms: options.upstreamTimeoutMs,
    max_connections_per_ip: options.maxConnectionsPerIp
  };
  if (options.dashboardHost !== null) {
    table.hosts[options.dashboardHost] = DASHBOARD_TARGET;
    table.targets[DASHBOARD_TARGET] = {
      id: DASHBOARD_TARGET,
      state: "serving",
      upstreams: [{ instance: DASHBOARD_TARGET, host: apiHost(options.listen.host), port: apiPort }]
    };
  }
  const domains = servedDomains();
  const sites = publishedSites(switching);
  const stoppedFirst = servicesStoppedFirst();
  const instances = Map.groupBy(allInstances(), ({ service_id }) => service_id);
  for (const { id, environment_id, name, kind, address } of allDatastores()) {
    const upstreams = address === null ? [] : [{ instance: id, host: address, port: KINDS[kind].port }];
    book.add(environment_id, name, upstreams);
  }
  for (const environment of listEnvironments()) {
    const latest = latestDeploys(environment.id);
    for (const service of listServices(environment.id)) {
      if (service.deleting) continue;
      const target = targetOf(
        service,
        latest.get(service.id),
        instances.get(service.id) ?? [],
        switching.get(service.id),
        stoppedFirst.has(service.id)
      );
      if (TYPES[service.type].listens) book.add(environment.id, service.name, target.upstreams);
      const hosts = allHostsOf(service, environment, domains);
      for (const host of hosts) table.hosts[host] = service.id;
      if (hosts.length === 0) continue;
      redirectToCanonical(table, service);
      const site = target.state === "serving" ? sites.get(service.id) : void 0;
      table.targets[service.id] = site ? { ...target, site } : target;
    }
  }
  return table;
}
function redirectToCanonical({ hosts, targets }, service) {
  const { id, canonical_domain } = service;
  const others = customDomainsOf(service).filter((host) => host !== canonical_domain);
  if (canonical_domain === null || others.length === 0) return;
  const key = `${id} canonical`;
  targets[key] = { id, state: "serving", upstreams: [], redirect: publicUrl(canonical_domain) };
  for (const host of others) hosts[host] = key;
}
function targetOf(service, latest, instances, switchingTo, isStoppedFirst) {
  const state = targetState({ ...service, live_deploy_id: switchingTo ?? service.live_deploy_id }, latest);
  if (state !== "serving") return { id: service.id, state, upstreams: [] };
  if (switchingTo === void 0 && isStoppedFirst) return { id: service.id, state: "starting", upstreams: [] };
  const upstreams = switchingTo === void 0 ? upstreamsOf(instances, service.live_deploy_id) : toUpstreams(instances.filter(({ deploy_id }) => deploy_id === switchingTo));
  return { id: service.id, state, upstreams, ...service.compression === 1 && { compression: true } };
}
function targetState(service, latest) {
  if (service.suspended) return "suspended";
  if (service.live_deploy_id !== null) return service.instances === 0 ? "scaled_to_zero" : "serving";
  if (!latest || latest.status === "canceled") return "not_deployed";
  return IN_PROGRESS.includes(latest.status) ? "starting" : "failed";
}
function upstreamsOf(instances, deployId) {
  const ofDeploy = instances.filter(({ deploy_id }) => deploy_id === deployId);
  const ready = toUpstreams(ofDeploy.filter(({ status }) => status === "ready"));
  return ready.length > 0 ? ready : toUpstreams(ofDeploy.filter(({ status }) => status === "failing"));
}
function toUpstreams(instances) {
  return instances.filter(({ upstream_port }) => upstream_port !== null).map(({ id, upstream_host, upstream_port }) => ({
    instance: id,
    host: upstream_host,
    port: upstream_port
  }));
}
function apiHost(host) {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
let lastVersion = 0;
function nextTableVersion() {
  lastVersion = Math.max(Date.now(), lastVersion + 1);
  return lastVersion;
}

const log$4 = logger("data plane");
class DataPlane {
  #client;
  #listeners;
  #apiPort;
  #switching = /* @__PURE__ */ new Map();
  /** The table in force without its version; null when that is not known. */
  #inForce = null;
  #running = null;
  #next = null;
  constructor(client, listeners, apiPort) {
    this.#client = client;
    this.#listeners = listeners;
    this.#apiPort = apiPort;
  }
  /**
   * Finds the data plane, or starts it, and gives it the table. Throws `io_error` when a named address cannot be had;
   * a default one gives way to another port.
   */
  static async start(program, apiPort) {
    const { dataDirectory } = useContext().options;
    const former = await findProxy(dataDirectory);
    former?.close();
    try {
      return await DataPlane.#startAnywhere(program, apiPort);
    } catch (error) {
      if (!former) await (await findProxy(dataDirectory))?.stop();
      throw error;
    }
  }
  static async #startAnywhere(program, apiPort) {
    for (let listeners = wantedListeners(); ; ) {
      try {
        return await DataPlane.#startAt(program, listeners, apiPort);
      } catch (error) {
        if (!(error instanceof ProxyListenError)) throw error;
        listeners = otherListeners(listeners, error);
      }
    }
  }
  static async #startAt(program, listeners, apiPort) {
    const { options, serverId, version } = useContext();
    const specs = listenerSpecs(listeners);
    const client = await ProxyClient.connect({
      dataDirectory: options.dataDirectory,
      serverId,
      version,
      program,
      node: process.execPath,
      maySpawn: options.dataPlane === "start",
      ...options.proxyWorkers === null ? {} : { workers: options.proxyWorkers },
      table: { ...buildTable(specs, apiPort, /* @__PURE__ */ new Map()), version: nextTableVersion() },
      log: (message, fields) => log$4.info(message, fields)
    });
    const dataPlane = new DataPlane(client, specs, apiPort);
    client.onReconnect = () => {
      dataPlane.#inForce = null;
      dataPlane.sync().catch((error) => log$4.error("the route table was not taken", { error: messageOf(error) }));
    };
    setListenerPorts({
      http: boundPort(listeners, client.bound, "http") ?? options.httpListen.port,
      https: boundPort(listeners, client.bound, "https")
    });
    return dataPlane;
  }
  /**
   * Gives the data plane the table as the database has it. Resolves when a table built after this call is in force.
   * Calls during a push share the next one.
   */
  sync() {
    if (this.#running === null) return this.#push();
    this.#next ??= this.#running.catch(() => {
    }).then(() => {
      this.#next = null;
      return this.#push();
    });
    return this.#next;
  }
  /**
   * Routes a service to the instances of a deploy, then has `commit` record it: so `live` is never told before it is
   * true. When `commit` throws, the routes go back to what the database says.
   */
  async switchOver(serviceId, deployId, commit) {
    this.#switching.set(serviceId, deployId);
    try {
      await this.sync();
      commit();
    } catch (error) {
      this.#switching.delete(serviceId);
      await this.sync().catch(() => {
      });
      throw error;
    } finally {
      this.#switching.delete(serviceId);
    }
  }
  /** Resolves when an instance has no request left, at the latest after `deadlineMs`, when those left are cut. */
  drain(instance, deadlineMs) {
    return this.#client.drain(instance, deadlineMs);
  }
  /** Requests by target since the data plane started. */
  counts() {
    return this.#client.counts();
  }
  /** Ends the connection; the data plane serves on. */
  close() {
    this.#client.close();
  }
  #push() {
    const push = this.#apply().finally(() => {
      this.#running = null;
    });
    this.#running = push;
    return push;
  }
  async #apply() {
    const table = buildTable(this.#listeners, this.#apiPort, this.#switching);
    const text = JSON.stringify(table);
    if (text === this.#inForce) return;
    this.#inForce = null;
    await this.#client.applyTable({ ...table, version: nextTableVersion() });
    this.#inForce = text;
  }
}

const log$3 = logger("health");
const PERIOD_MS$1 = 5e3;
const PARALLEL$1 = 32;
const LEAVES_AFTER_MS = 15e3;
const RESTARTS_AFTER_MS = 6e4;
class Health {
  #world;
  #supervisor;
  /** Since when an instance has been failing, on the monotonic clock. */
  #failingSince = /* @__PURE__ */ new Map();
  constructor(world, supervisor) {
    this.#world = world;
    this.#supervisor = supervisor;
  }
  task() {
    return { name: "health", everyMs: PERIOD_MS$1, run: () => this.#run() };
  }
  async #run() {
    const instances = useDatabase().all(
      `SELECT instances.*, deploys.health_check_path, services.name, services.type, services.custom_domains, environments.name AS environment
       FROM instances
       JOIN deploys ON deploys.id = instances.deploy_id
       JOIN services ON services.id = instances.service_id
       JOIN environments ON environments.id = services.environment_id
       WHERE instances.status IN ('ready', 'failing')`
    );
    for (const id of this.#failingSince.keys()) {
      if (!instances.some((instance) => instance.id === id)) this.#failingSince.delete(id);
    }
    await forEachLimited(instances, PARALLEL$1, (instance) => this.#look(instance));
  }
  async #look(instance) {
    const reason = this.#supervisor.isPaused(instance.id) ? "its container is paused" : await this.#probe(instance);
    if (reason === null) return this.#recovered(instance);
    const since = this.#failingSince.get(instance.id) ?? performance.now();
    this.#failingSince.set(instance.id, since);
    const failingMs = performance.now() - since;
    if (failingMs >= LEAVES_AFTER_MS && tryMove(instanceMachine, instance.id, "failing", { reason })) {
      log$3.warn("an instance fails its probe", { instance: instance.id, reason });
      await this.#changed(instance);
    }
    if (failingMs >= RESTARTS_AFTER_MS) {
      log$3.warn("an instance is restarted, since its probe fails", { instance: instance.id, reason });
      this.#failingSince.delete(instance.id);
      this.#supervisor.restart(instance);
    }
  }
  async #probe(instance) {
    const { upstream_host, upstream_port } = instance;
    if (upstream_host === null || upstream_port === null) return null;
    return probe({
      host: upstream_host,
      port: upstream_port,
      path: instance.health_check_path,
      hostHeader: hostsOf(instance, { name: instance.environment })[0] ?? instance.name,
      published: this.#world.reachByAddress === false
    });
  }
  async #recovered(instance) {
    this.#failingSince.delete(instance.id);
    if (instance.status !== "failing" || this.#supervisor.isLooping(instance.id)) return;
    if (tryMove(instanceMachine, instance.id, "ready", { reason: null })) await this.#changed(instance);
  }
  async #changed(instance) {
    tellService(instance.service_id);
    await this.#world.dataPlane.sync();
  }
}

function outOfStep(containers, isPaused) {
  const instances = Map.groupBy(allInstances(), ({ service_id }) => service_id);
  const sites = servicesServedAsSites();
  return allServices().filter((service) => {
    const runs = service.live_deploy_id !== null && !sites.has(service.id);
    const wanted = runs ? wantedInstances(service) : 0;
    return !isAsItShouldBe(service, wanted, instances.get(service.id) ?? [], containers, isPaused);
  }).map(({ id }) => id);
}
function isAsItShouldBe(service, wanted, instances, containers, isPaused) {
  const isSettled = service.observed_generation === service.generation && service.apply_error === null;
  return isSettled && !service.deleting && instances.length === wanted && instances.every(
    ({ id, deploy_id, status, address }) => deploy_id === service.live_deploy_id && (status === "ready" || status === "failing") && isWhole(containers.get(id), address, isPaused(id))
  );
}
function isWhole(container, address, isKnownPaused) {
  if (!container?.running || container.paused !== isKnownPaused) return false;
  return container.networks.some((network) => network.address === address);
}

const log$2 = logger("instances");
const DRAIN_MS = 3e4;
class Upkeep {
  #world;
  #look;
  #background = new Background();
  #crashes = new CrashHistory();
  #paused = /* @__PURE__ */ new Set();
  constructor(world, look) {
    this.#world = world;
    this.#look = look;
  }
  /** Whether an instance's program ended so often lately that it counts as down. */
  isLooping(instanceId) {
    return this.#crashes.isLooping(instanceId);
  }
  /** Whether an instance's container was frozen from outside when it was last looked at. */
  isPaused(instanceId) {
    return this.#paused.has(instanceId);
  }
  /**
   * Brings an instance of the live deploy up when its container does not run, or lacks what it was made with. Answers
   * whether the instance left rotation.
   */
  keepUp(instance, container, network) {
    const { id, service_id, status } = instance;
    if (container?.paused) this.#paused.add(id);
    else this.#paused.delete(id);
    if (this.#background.has(id)) return false;
    const end = endOf(container, (found) => lossOf(found, instance, network));
    const wasUp = status === "ready" || status === "failing";
    if (end === null && wasUp) return false;
    const ended = end !== null && wasUp;
    if (ended) this.#recordEnd(instance, container?.exitCode ?? null, end);
    if (ended && container?.oomKilled) happened("service.out_of_memory", service_id, id);
    this.#background.start({
      key: id,
      pauseMs: this.#crashes.backOffMs(id),
      run: (signal) => this.#bringUp(id, signal),
      onFailure: (error) => this.#startFailed(instance, error),
      onEnd: () => this.#look(service_id)
    });
    return ended;
  }
  /** Lets an instance that left rotation finish its requests, then stops and removes it. */
  drain(instance) {
    const key = `drain ${instance.id}`;
    this.#background.start({
      key,
      pauseMs: this.#crashes.backOffMs(key),
      run: async (signal) => {
        await this.#background.cancel(instance.id);
        await this.#drain(instance.id, signal);
        this.#crashes.forget(key);
      },
      onFailure: (error) => {
        this.#crashes.record(key);
        log$2.warn("an instance could not be removed", { instance: instance.id, error: messageOf(error) });
      },
      onEnd: () => this.#look(instance.service_id)
    });
  }
  /** Stops an instance's program, which is then found ended and started again. */
  restart(instance) {
    this.#background.start({
      key: instance.id,
      pauseMs: 0,
      run: () => this.#world.engine.containers.stop(instance.id, STOP_GRACE_SECONDS),
      onFailure: (error) => log$2.warn("an instance could not be stopped", { instance: instance.id, error: messageOf(error) }),
      onEnd: () => this.#look(instance.service_id)
    });
  }
  /** Calls off what is under way, stops an instance and removes it at once, for a service that is deleted. */
  async remove(instance) {
    await Promise.all([this.#background.cancel(instance.id), this.#background.cancel(`drain ${instance.id}`)]);
    await removeInstance(this.#world, instance, STOP_GRACE_SECONDS);
    this.#forget(instance.id);
  }
  /** Ends the work; what is half done is found and finished by the next start. */
  stop() {
    this.#background.stop();
  }
  #forget(id) {
    this.#crashes.forget(id);
    this.#paused.delete(id);
  }
  #recordEnd(instance, exitCode, how) {
    this.#crashes.record(instance.id);
    tryMove(instanceMachine, instance.id, "down", {
      exit_code: exitCode,
      restarts: instance.restarts + 1,
      reason: how
    });
    log$2.warn("an instance ended", { instance: instance.id, how });
    noteInService(instance.service_id, instance.id, `${how}; it is started again`);
    tellService(instance.service_id);
  }
  async #bringUp(id, signal) {
    const instance = getInstance(id);
    const service = instance && getService(instance.service_id);
    const live = service?.live_deploy_id ? getDeploy(service.live_deploy_id) : void 0;
    if (!instance || !service || instance.status === "draining" || instance.deploy_id !== live?.id) return;
    const snapshot = openSnapshot(live);
    if (!snapshot) throw new Error(`the live deploy ${live.id} has no snapshot: deploy again`);
    const launch = await prepareLaunch(this.#world, service, live, snapshot);
    const say = (hint) => noteInService(service.id, id, hint);
    try {
      await bringUp(this.#world, launch, id, { isNew: false, say }, signal);
    } catch (error) {
      if (error instanceof NotReady) await this.#world.engine.containers.stop(id, STOP_GRACE_SECONDS);
      throw error;
    }
    const moved = tryMove(instanceMachine, id, this.isLooping(id) ? "failing" : "ready");
    if (!moved) return;
    tellService(service.id);
    await this.#world.dataPlane.sync();
  }
  #startFailed(instance, error) {
    const reason = messageOf(error);
    this.#crashes.record(instance.id);
    log$2.warn("an instance does not come up", { instance: instance.id, error: reason });
    noteInService(instance.service_id, instance.id, `${reason}; it is started again`);
    if (!tryMove(instanceMachine, instance.id, "down", { reason })) updateInstance(instance.id, { reason });
    tellService(instance.service_id);
  }
  async #drain(id, signal) {
    const instance = getInstance(id);
    if (!instance) return;
    await this.#world.dataPlane.sync();
    await this.#world.dataPlane.drain(id, DRAIN_MS);
    await outliveRotation(instance, signal);
    signal.throwIfAborted();
    await removeInstance(this.#world, instance, STOP_GRACE_SECONDS);
    this.#forget(id);
    tellService(instance.service_id);
  }
}

const log$1 = logger("instances");
const PERIOD_MS = 15e3;
const PARALLEL = 8;
class Supervisor {
  #world;
  #workGone;
  #upkeep;
  #removals = new Background();
  #failures = new CrashHistory();
  #stopListening;
  #dirty = /* @__PURE__ */ new Set();
  #lastSweep = -Infinity;
  #wake = () => {
  };
  constructor(world, workGone) {
    this.#world = world;
    this.#workGone = workGone;
    this.#upkeep = new Upkeep(world, (serviceId) => this.look(serviceId));
    this.#stopListening = onChange(({ kind, service_id, action }) => {
      if (service_id !== null && (kind === "service" || kind === "deploy" && action === "updated"))
        this.look(service_id);
    });
  }
  task(wake) {
    this.#wake = wake;
    return { name: "instances", everyMs: PERIOD_MS, run: () => this.#run() };
  }
  /** Asks for a service to be looked at soon. */
  look(serviceId) {
    this.#dirty.add(serviceId);
    this.#wake();
  }
  /** Whether an instance's program ended so often lately that it counts as down. */
  isLooping(instanceId) {
    return this.#upkeep.isLooping(instanceId);
  }
  /** Whether an instance's container was frozen from outside. */
  isPaused(instanceId) {
    return this.#upkeep.isPaused(instanceId);
  }
  /** Asks for a look at everything, after the engine came back or a container was changed from outside. */
  lookAtAll() {
    this.#lastSweep = -Infinity;
    this.#wake();
  }
  /** Stops an instance's program, which is then found ended and started again. */
  restart(instance) {
    this.#upkeep.restart(instance);
  }
  /** Ends the work; what is half done is found and finished by the next start. */
  stop() {
    this.#stopListening();
    this.#upkeep.stop();
    this.#removals.stop();
  }
  async #run() {
    const isSweep = performance.now() - this.#lastSweep >= PERIOD_MS;
    if (isSweep) this.#lastSweep = performance.now();
    if (this.#world.reachByAddress === null) return this.#observeAll(this.#world.engineFault);
    if (isSweep) await this.#sweep();
    const ids = [...this.#dirty].filter((id) => !this.#removals.has(id));
    for (const id of ids) this.#dirty.delete(id);
    await forEachLimited(ids, PARALLEL, (id) => this.#reconcile(id));
  }
  /** Looks at every container in one request, marks the services that are not as they should be, and removes strays. */
  async #sweep() {
    let containers;
    try {
      const found = await this.#world.engine.containers.list({ "deployer.kind": "instance" });
      containers = new Map(found.map((state) => [state.name, state]));
    } catch (error) {
      return this.#observeAll(messageOf(error));
    }
    for (const id of outOfStep(containers, (id2) => this.isPaused(id2))) {
      log$1.debug("a service is not as it should be: it is looked at", { service: id });
      this.#dirty.add(id);
    }
    const strays = [...containers.keys()].filter((name) => !getInstance(name));
    await forEachLimited(strays, PARALLEL, (name) => this.#world.engine.containers.remove(name));
  }
  /** Tells who waits for a change that the engine does not answer; nothing while it has not been asked. */
  #observeAll(reason) {
    if (reason === null) return;
    for (const service of allServices()) observe(service, hasNothingToApply(service) ? null : reason);
  }
  async #reconcile(id) {
    const service = getService(id);
    if (!service) return;
    if (service.deleting) return this.#remove(service);
    try {
      await this.#makeSo(service);
      observe(service, null);
    } catch (error) {
      log$1.error("a service is not as it should be", { service: id, error: messageOf(error) });
      observe(service, messageOf(error));
    }
  }
  async #makeSo(service) {
    const live = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
    const runs = live !== void 0 && live.site_id === null && !servicesStoppedFirst().has(service.id);
    const wanted = runs ? wantedInstances(service) : 0;
    let isRouteChanged = service.observed_generation !== service.generation || service.apply_error !== null;
    const current = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id === live?.id && status !== "draining"
    );
    const extra = current.splice(wanted);
    const former = instancesOf(service.id).filter(
      ({ deploy_id, status }) => deploy_id !== live?.id && status !== "draining" && !isRollingOut(deploy_id)
    );
    for (const { id } of [...extra, ...former]) {
      log$1.debug("an instance is one too many", { instance: id, wanted });
      isRouteChanged = true;
      tryMove(instanceMachine, id, "draining", { left_rotation_at: Date.now() });
    }
    if (live && wanted > 0)
      isRouteChanged = await this.#keepUp(service, live, current, wanted) || isRouteChanged;
    if (isRouteChanged) await this.#world.dataPlane.sync();
    const draining = instancesOf(service.id).filter(({ status }) => status === "draining");
    for (const instance of draining) {
      await this.#world.engine.containers.inspect(instance.id);
      this.#upkeep.drain(instance);
    }
  }
  /** Brings a service's instances up to as many as are wanted; answers whether one left rotation. */
  async #keepUp(service, live, current, wanted) {
    const { engine } = this.#world;
    const network = await ensureNetwork(engine, findEnvironment(service.environment_id));
    while (current.length < wanted && this.#mayAdd(service, live)) {
      current.push(getInstance(addInstance(service, live.id, network)));
    }
    let hasLeft = false;
    for (const { id } of current) {
      const container = await engine.containers.inspect(id);
      const instance = getInstance(id);
      if (instance) hasLeft = this.#upkeep.keepUp(instance, container, network) || hasLeft;
    }
    return hasLeft;
  }
  /** Two programs must not write to one disk: while any instance of such a service is there, none is added. */
  #mayAdd(service, live) {
    if (instancesOf(service.id).length === 0) return true;
    return (openSnapshot(live)?.disk_mount_path ?? null) === null;
  }
  #remove(service) {
    this.#removals.start({
      key: service.id,
      pauseMs: this.#failures.backOffMs(service.id),
      run: () => this.#removeService(service),
      onFailure: (error) => {
        this.#failures.record(service.id);
        observe(getService(service.id) ?? service, messageOf(error));
      },
      onEnd: () => {
        if (getService(service.id)) this.look(service.id);
      }
    });
  }
  async #removeService(service) {
    const { containers, volumes } = this.#world.engine;
    await this.#world.dataPlane.sync();
    await this.#workGone(service.id);
    await forEachLimited(instancesOf(service.id), PARALLEL, (instance) => this.#upkeep.remove(instance));
    const strays = await containers.list({ "deployer.service": service.id });
    await forEachLimited(strays, PARALLEL, ({ name }) => containers.remove(name));
    await volumes.remove(diskName(service.id));
    deleteServiceRow(service.id);
    await removeServiceLog(service.id);
    this.#failures.forget(service.id);
    tellService(service.id, "deleted");
    passEnded(service.id);
  }
}
function hasNothingToApply(service) {
  const live = service.live_deploy_id === null ? void 0 : getDeploy(service.live_deploy_id);
  const wanted = live && live.site_id === null ? wantedInstances(service) : 0;
  return wanted === 0 && !service.deleting && instancesOf(service.id).length === 0;
}
function isRollingOut(deployId) {
  const status = getDeploy(deployId)?.status;
  return status === "deploying" || status === "queued";
}
function observe(service, error) {
  observeService(service.id, service.generation, error);
  passEnded(service.id);
}

const LEFT = /^checkouts\.\d+\.left$/;
function setCheckoutsAside(dataDirectory) {
  const checkouts = join(dataDirectory, "checkouts");
  if (readdirSync(checkouts).length === 0) return;
  renameSync(checkouts, `${checkouts}.${Date.now()}.left`);
  makePrivateDirectory(checkouts);
}
async function removeLeftCheckouts(dataDirectory) {
  for (const name of readdirSync(dataDirectory).filter((name2) => LEFT.test(name2)))
    await clearTree(join(dataDirectory, name));
}

const log = logger("daemon");
let world;
let apiUrl = "";
let verification;
let blueprintSync;
let metrics;
function useWorld() {
  if (!world) throw new Error("the daemon has not started");
  return world;
}
function useApiAddress() {
  return apiUrl;
}
function verifyDomain(domain) {
  if (!verification) throw new Error("the daemon has not started");
  return verification.verify(domain);
}
function useBlueprintSync() {
  if (!blueprintSync) throw new Error("the daemon has not started");
  return blueprintSync;
}
function useMetrics() {
  if (!metrics) throw new Error("the daemon has not started");
  return metrics;
}
async function startDaemon(start) {
  const { options, serverId } = useContext();
  apiUrl = start.apiUrl;
  provideReaderProgram(start.readerProgram);
  provideGitRunner(start.gitProgram);
  provideSearchProgram(start.searchProgram);
  provideBlueprintProgram(start.blueprintProgram);
  const engine = createEngine({
    ...options.dockerHost === null ? {} : { dockerHost: options.dockerHost },
    serverId,
    ledger
  });
  const dataPlane = await DataPlane.start(start.proxyProgram, start.apiPort);
  const started = { engine, dataPlane, reachByAddress: null, engineFault: null };
  world = started;
  const driver = new Driver();
  const deploys = new DeployQueue(started);
  const jobs = new JobQueue(started);
  const schedule = new Schedule();
  const supervisor = new Supervisor(started, (id) => Promise.all([deployGone(id), jobsGone(id)]));
  const datastores = new DatastoreKeeper(started);
  recoverDeploys();
  datastores.recover();
  void removeLeftCheckouts(options.dataDirectory);
  const domains = new Verification(started);
  verification = domains;
  const certificates = new Certification(started);
  blueprintSync = new BlueprintSync(started);
  const endStatuses = tellCommitStatuses();
  const measuring = new Metrics(started);
  metrics = measuring;
  const serviceLogs = new LogCollector(engine);
  const logDrains = new LogDrains();
  const notifier = new Notifier();
  const serviceWatch = new ServiceWatch();
  driver.start(
    engineEvents(started, supervisor, datastores, serviceLogs, () => {
      driver.wake("deploys");
      driver.wake("jobs");
      driver.wake("cleanup");
    })
  );
  driver.start(deploys.task(() => driver.wake("deploys")));
  driver.start(supervisor.task(() => driver.wake("instances")));
  driver.start(new Health(started, supervisor).task());
  for (const task of datastores.tasks((name) => driver.wake(name))) driver.start(task);
  driver.start(jobs.task(() => driver.wake("jobs")));
  driver.start(schedule.task(() => driver.wake("schedule")));
  driver.start(domains.task(() => driver.wake("domains")));
  driver.start(certificates.task(() => driver.wake("certificates")));
  driver.start(blueprintSync.task(() => driver.wake("blueprints")));
  driver.start(cleanup(started));
  driver.start(environments(started));
  driver.start(jobCleanup(started));
  driver.start(measuring.task());
  driver.start(serviceLogs.task());
  driver.start(notifier.task(() => driver.wake("notifications")));
  driver.start(looks());
  ensureSshKey(options.dataDirectory).catch(
    (error) => log.warn("no key for clones over ssh", { error: messageOf(error) })
  );
  return {
    async stop() {
      endStatuses();
      supervisor.stop();
      datastores.stop();
      domains.stop();
      certificates.stop();
      schedule.stop();
      serviceWatch.stop();
      await Promise.all([deploys.stop(), jobs.stop(), driver.stop()]);
      measuring.stop();
      await Promise.all([serviceLogs.stop(), logDrains.stop(), notifier.stop()]);
      dataPlane.close();
    }
  };
}

export { CurrentMetrics as C, HistoryQuery as H, MetricsHistory as M, ServiceMetrics as S, startDaemon as a, applyBlueprint as b, useWorld as c, routed as d, removeUploaded as e, formatAddress as f, assembleChain as g, deleteEnvironment as h, removeNetwork as i, createEnvironment as j, useApiAddress as k, useMetrics as l, provideNetwork as p, recordOrderlyStop as r, setCheckoutsAside as s, useBlueprintSync as u, verifyDomain as v, writeUploaded as w };
