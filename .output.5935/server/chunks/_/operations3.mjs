import { c as tellService, d as tellDeploy } from './changes.mjs';
import { A as AppError, q as randomHex, Y as ID_PATTERN, N as isId, E as useDatabase, F as newId, J as useContext } from '../nitro/nitro.mjs';
import { q as queueSourceDeploy, c as cancelDeploysOf } from './operations4.mjs';
import { c as assertServiceHostsFree, d as assertCustomDomainFree } from './claims.mjs';
import { f as findEnvGroup, w as writeLinks, i as insertLinks } from './store3.mjs';
import { f as findEnvironment } from './store.mjs';
import { s as splitCredentials } from './url.mjs';
import { a as settleEnvironment, c as cancelJobsOf, t as tellJob } from './operations2.mjs';
import { b as assertUnreferenced, a as assertNameFree } from './referrers.mjs';
import { a as assertSize } from './rules.mjs';
import { f as forgetReferences, w as writeVariables, i as insertVariables } from './store6.mjs';
import { c as customDomainsOf } from './hosts.mjs';
import { n as normalMountPath } from './rules2.mjs';
import { T as TYPES } from './types.mjs';
import { s as shownUrl } from './view.mjs';
import { u as updateService, g as getService, c as getServiceByName, i as insertService } from './store5.mjs';

function rule(fields, broken) {
  return { fields, broken };
}
const BRING_COMMAND = /* @__PURE__ */ new Set(["auto", "docker", "image"]);
const RULES = [
  rule(
    ["repo_url", "image"],
    ({ repo_url, image }) => repo_url && image ? ["image", "a service has a repository or an image, not both: clear the other one"] : null
  ),
  rule(
    ["runtime", "image"],
    ({ runtime, image }) => runtime === "image" && !image ? ["runtime", "image needs the field image"] : null
  ),
  rule(
    ["runtime", "image"],
    ({ runtime, image }) => image && runtime !== "image" && runtime !== "auto" ? ["runtime", `must be image or auto for a service with an image, not ${runtime}`] : null
  ),
  rule(
    ["runtime"],
    ({ runtime }, type) => runtime === "static" && type !== "static_site" ? ["runtime", `static is for static sites, not for ${TYPES[type].label}`] : null
  ),
  rule(
    ["port"],
    ({ port }, type) => port && !TYPES[type].listens ? ["port", `${TYPES[type].label} listens on no port`] : null
  ),
  rule(
    ["health_check_path"],
    ({ health_check_path }, type) => health_check_path && !TYPES[type].listens ? ["health_check_path", `${TYPES[type].label} is not probed over HTTP`] : null
  ),
  rule(
    ["publish_dir"],
    ({ publish_dir }, type) => publish_dir && type !== "static_site" ? ["publish_dir", `${TYPES[type].label} publishes no folder`] : null
  ),
  rule(
    ["schedule"],
    ({ schedule }, type) => schedule && type !== "cron_job" ? ["schedule", `${TYPES[type].label} has no schedule`] : null
  ),
  rule(
    ["schedule"],
    ({ schedule }, type) => type === "cron_job" && !schedule ? ["schedule", "a cron job needs one, such as 0 3 * * *"] : null
  ),
  rule(
    ["start_command", "runtime"],
    ({ start_command, runtime }, type) => type === "cron_job" && !start_command && !BRING_COMMAND.has(runtime) ? ["start_command", `a cron job of the runtime ${runtime} needs the command to run`] : null
  ),
  rule(
    ["pre_deploy_command"],
    ({ pre_deploy_command }, type) => pre_deploy_command && type === "static_site" ? ["pre_deploy_command", "a static site has no container to run it in: use build_command"] : null
  ),
  rule(
    ["custom_domains"],
    ({ custom_domains }, type) => custom_domains && custom_domains !== "[]" && !TYPES[type].hasHosts ? ["custom_domains", `${TYPES[type].label} has no public address`] : null
  ),
  rule(
    ["canonical_domain", "custom_domains"],
    ({ canonical_domain, custom_domains }) => canonical_domain && !JSON.parse(custom_domains ?? "[]").includes(canonical_domain) ? ["canonical_domain", `${canonical_domain} is none of custom_domains`] : null
  ),
  rule(
    ["compression"],
    ({ compression }, type) => compression && !(TYPES[type].hasHosts && TYPES[type].listens) ? ["compression", `${TYPES[type].label} has no answers to compress`] : null
  ),
  rule(
    ["disk_mount_path"],
    ({ disk_mount_path }, type) => disk_mount_path && !TYPES[type].hasInstances ? ["disk_mount_path", `${TYPES[type].label} has no disk`] : null
  ),
  rule(
    ["disk_mount_path", "instances"],
    ({ disk_mount_path, instances }) => disk_mount_path && instances > 1 ? ["instances", "a service with a disk runs at most one instance"] : null
  ),
  rule(
    ["instances"],
    ({ instances }, type) => instances !== 1 && !TYPES[type].hasInstances ? ["instances", `${TYPES[type].label} cannot be scaled`] : null
  )
];
function settingFaults(row, type, unknown = /* @__PURE__ */ new Set()) {
  return RULES.filter(({ fields }) => !fields.some((field) => unknown.has(field))).map(({ broken }) => broken(row, type)).filter((broken) => broken !== null);
}
function assertSettings(row, type) {
  const [broken] = settingFaults(row, type);
  if (broken) throw new AppError("invalid_request", `${broken[0]}: ${broken[1]}`);
}

const HOOK_KEY_BYTES = 20;
function findService(idOrName, environmentRef) {
  const environment = findEnvironment(environmentRef);
  const found = ID_PATTERN.test(idOrName) ? isId("service", idOrName) && getService(idOrName) : getServiceByName(environment.id, idOrName);
  const elsewhere = found && environmentRef !== void 0 && found.environment_id !== environment.id;
  if (!found || elsewhere)
    throw new AppError("not_found", `there is no service ${idOrName} in ${environment.name}`);
  return found;
}
function createService(input) {
  const { name, type, environment: place, env = [], env_groups = [], deploy, ...given } = input;
  assertSize(env, "env");
  const settings = { runtime: "auto", instances: 1, auto_deploy: 1, ...toColumns(given) };
  assertSettings(settings, type);
  const environment = findEnvironment(place);
  const groups = env_groups.map((group) => findEnvGroup(group).id);
  const id = newId("service");
  const now = Date.now();
  const row = {
    id,
    environment_id: environment.id,
    name,
    type,
    deploy_hook_key: randomHex(HOOK_KEY_BYTES),
    created_at: now,
    updated_at: now,
    settings_updated_at: now,
    ...settings
  };
  const created = useDatabase().transaction(() => {
    assertServiceHostsFree({ type, name }, environment);
    assertOwnHostsFree({ id, type, name, environment_id: environment.id }, given.custom_domains);
    assertNameFree(environment.id, name);
    insertService(row);
    insertVariables(id, env);
    insertLinks(id, groups);
    settleEnvironment(id, { own: "env", groups: "env_groups" });
    return getService(id);
  });
  tellService(id, "created");
  if (!deploy || created.repo_url === null && created.image === null) return created;
  queueSourceDeploy(created, "create");
  return getService(id);
}
function patchService(service, patch) {
  const { suspended, name, env, env_groups, ...settings } = withoutShownUrl(service, patch);
  if (env !== void 0) assertSize(env, "env");
  const columns = changesOf(service, {
    ...toColumns(settings),
    ...name === void 0 ? {} : { name },
    ...suspended === void 0 ? {} : { suspended: suspended ? 1 : 0 }
  });
  if (settings.canonical_domain === void 0 && losesCanonical(service, columns))
    columns.canonical_domain = null;
  const changed = { ...service, ...columns };
  assertSettings(changed, service.type);
  const groups = env_groups?.map((group) => findEnvGroup(group).id);
  assertNotDeleting(service);
  if (Object.keys(columns).length === 0 && env === void 0 && groups === void 0) return service;
  const tellCanceled = useDatabase().transaction(() => {
    if (changed.name !== service.name) {
      assertServiceHostsFree(changed, findEnvironment(service.environment_id));
      assertUnreferenced("service", service.environment_id, service.name, "");
      assertNameFree(service.environment_id, changed.name);
    }
    if (columns.custom_domains !== void 0) assertOwnHostsFree(changed, settings.custom_domains);
    updateService(service.id, columns);
    if (env !== void 0) writeVariables(service.id, env);
    if (groups !== void 0) writeLinks(service.id, groups);
    if (env !== void 0 || groups !== void 0) {
      settleEnvironment(service.id, {
        ...env ? { own: "env" } : {},
        groups: groups ? "env_groups" : "env"
      });
    }
    const isSuspending = suspended === true && !service.suspended;
    return isSuspending ? cancelWorkOf(service.id, "the service was suspended") : () => {
    };
  });
  tellCanceled();
  tellService(service.id);
  return getService(service.id);
}
function changesOf(row, columns) {
  const entries = Object.entries(columns);
  return Object.fromEntries(entries.filter(([column, value]) => row[column] !== value));
}
function scaleService(service, instances) {
  if (service.type === "cron_job")
    throw new AppError("invalid_request", "instances: a cron job cannot be scaled");
  return patchService(service, { instances });
}
function suspendService(service) {
  assertNotDeleting(service);
  return service.suspended ? service : patchService(service, { suspended: true });
}
function resumeService(service) {
  assertNotDeleting(service);
  return service.suspended ? patchService(service, { suspended: false }) : service;
}
function rotateDeployHook(service) {
  assertNotDeleting(service);
  updateService(service.id, { deploy_hook_key: randomHex(HOOK_KEY_BYTES) });
  tellService(service.id);
  return getService(service.id);
}
function deleteService(service, force) {
  const tellCanceled = useDatabase().transaction(() => {
    if (!force && !service.deleting)
      assertUnreferenced("service", service.environment_id, service.name, ", or repeat with force=true");
    updateService(service.id, { deleting: 1 });
    forgetReferences(service.id);
    return cancelWorkOf(service.id, "the service was deleted");
  });
  tellCanceled();
  tellService(service.id);
}
function cancelWorkOf(serviceId, reason) {
  const deploys = cancelDeploysOf(serviceId, reason);
  const jobs = cancelJobsOf(serviceId, reason);
  return () => {
    for (const id of deploys) tellDeploy(id, serviceId);
    for (const id of jobs) tellJob(id, serviceId);
  };
}
function withoutShownUrl(service, patch) {
  const { repo_url, ...rest } = patch;
  const isShown = service.repo_credentials !== null && repo_url === shownUrl(service.repo_url, true);
  return isShown ? rest : patch;
}
function toColumns({
  repo_url,
  auto_deploy,
  compression,
  apt_packages,
  custom_domains,
  watch_paths,
  ...settings
}) {
  const columns = Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== void 0)
  );
  if (auto_deploy !== void 0) columns.auto_deploy = auto_deploy ? 1 : 0;
  if (compression !== void 0) columns.compression = compression ? 1 : 0;
  if (apt_packages !== void 0) columns.apt_packages = JSON.stringify([...new Set(apt_packages)]);
  if (watch_paths !== void 0)
    columns.watch_paths = watch_paths === null ? null : JSON.stringify(watch_paths);
  if (custom_domains !== void 0) columns.custom_domains = JSON.stringify([...new Set(custom_domains)]);
  if (typeof settings.disk_mount_path === "string")
    columns.disk_mount_path = normalMountPath(settings.disk_mount_path);
  if (repo_url === null) Object.assign(columns, { repo_url: null, repo_credentials: null });
  if (typeof repo_url === "string") {
    const { url, username, password } = splitCredentials(repo_url);
    const isOpen = username === null && password === null;
    columns.repo_url = url;
    columns.repo_credentials = isOpen ? null : useContext().vault.seal(repo_url);
  }
  return columns;
}
function assertOwnHostsFree(service, hosts = []) {
  for (const [index, host] of hosts.entries())
    assertCustomDomainFree(host, service, `custom_domains.${index}`);
}
function losesCanonical({ canonical_domain }, { custom_domains }) {
  if (canonical_domain === null || custom_domains === void 0) return false;
  return !customDomainsOf({ custom_domains }).includes(canonical_domain);
}
function assertNotDeleting(service) {
  if (service.deleting) throw new AppError("conflict", `service ${service.name} is being deleted`);
}

export { assertNotDeleting as a, resumeService as b, createService as c, deleteService as d, scaleService as e, findService as f, suspendService as g, patchService as p, rotateDeployHook as r, settingFaults as s };
