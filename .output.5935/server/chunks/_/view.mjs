import { E as useDatabase, q as randomHex, I as timestamp } from '../nitro/nitro.mjs';
import { a as IN_PROGRESS } from './states.mjs';
import { l as latestDeploys, e as listDeploys } from './store2.mjs';
import { v as viewDeploy } from './view2.mjs';
import { g as groupNamesByService } from './store3.mjs';
import { i as internalPort, e as lastRuns, r as runningJobs } from './internal-port.mjs';
import { v as viewJob } from './view3.mjs';
import { b as publicUrl } from './public-address.mjs';
import { s as servedDomains } from './store4.mjs';
import { h as hostsOf, c as customDomainsOf } from './hosts.mjs';
import { a as aptPackagesOf, l as listServices } from './store5.mjs';
import { T as TYPES } from './types.mjs';

const SUFFIX_BYTES = 3;
const SUFFIX_CHARACTERS = 5;
function newInstanceId(serviceId) {
  return `${serviceId}-${randomHex(SUFFIX_BYTES).slice(0, SUFFIX_CHARACTERS)}`;
}
function insertInstance(id, serviceId, deployId, address) {
  useDatabase().run(
    "INSERT INTO instances (id, service_id, deploy_id, status, address, created_at) VALUES (?, ?, ?, 'starting', ?, ?)",
    id,
    serviceId,
    deployId,
    address,
    Date.now()
  );
}
function getInstance(id) {
  return useDatabase().get("SELECT * FROM instances WHERE id = ?", id);
}
function instancesOf(serviceId) {
  return useDatabase().all(
    "SELECT * FROM instances WHERE service_id = ? ORDER BY created_at, id",
    serviceId
  );
}
function allInstances() {
  return useDatabase().all("SELECT * FROM instances ORDER BY created_at, id");
}
function updateInstance(id, columns) {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`);
  useDatabase().run(
    `UPDATE instances SET ${assignments.join(", ")} WHERE id = ?`,
    ...Object.values(columns),
    id
  );
}
function deleteInstance(id) {
  useDatabase().run("DELETE FROM instances WHERE id = ?", id);
}
function readyInstances(environmentId) {
  const rows = useDatabase().all(
    `SELECT instances.service_id, count(*) AS ready FROM instances JOIN services ON services.id = instances.service_id
     WHERE services.environment_id = ? AND instances.status = 'ready' AND instances.deploy_id = services.live_deploy_id
     GROUP BY instances.service_id`,
    environmentId
  );
  return new Map(rows.map(({ service_id, ready }) => [service_id, ready]));
}

const NOT_LIVE = { port: null, isSite: false };
function viewServices(environment, isWanted = () => true) {
  const rows2 = listServices(environment.id).filter(isWanted);
  if (rows2.length === 0) return [];
  const surroundings = readSurroundings(environment);
  return rows2.map((row) => view(row, surroundings));
}
function viewService(row) {
  const environment = useDatabase().get(
    "SELECT * FROM environments WHERE id = ?",
    row.environment_id
  );
  return view(row, readSurroundings(environment, row.id));
}
function stateOf(row, latest, live, ready, jobs) {
  if (row.deleting) return "deleting";
  if (row.suspended) return "suspended";
  if (row.live_deploy_id === null) return stateBeforeLive(latest);
  if (row.type === "cron_job") return jobs > 0 ? "running" : "idle";
  if (row.instances === 0) return "idle";
  if (live.isSite) return "running";
  if (ready >= row.instances) return "running";
  return ready > 0 ? "degraded" : "down";
}
function stateBeforeLive(latest) {
  if (!latest) return "not_deployed";
  if (IN_PROGRESS.includes(latest.status)) return "deploying";
  return latest.status === "canceled" ? "not_deployed" : "failed";
}
function readSurroundings(environment, only) {
  const database = useDatabase();
  return {
    environment,
    domains: servedDomains(),
    latest: only === void 0 ? latestDeploys(environment.id) : latestDeployOf(only),
    ready: readyInstances(environment.id),
    jobs: runningJobs(environment.id),
    lastRuns: lastRuns(environment.id, only),
    live: new Map(
      rows(
        database,
        "SELECT services.id, deploys.port, deploys.site_id FROM services JOIN deploys ON deploys.id = services.live_deploy_id",
        environment.id,
        only
      ).map(({ id, port, site_id }) => [id, { port, isSite: site_id !== null }])
    ),
    groups: groupNamesByService(environment.id, only)
  };
}
function rows(database, select, environmentId, only) {
  return only === void 0 ? database.all(`${select} WHERE services.environment_id = ?`, environmentId) : database.all(`${select} WHERE services.id = ?`, only);
}
function latestDeployOf(serviceId) {
  const row = listDeploys(serviceId, 1)[0];
  return new Map(row ? [[serviceId, row]] : []);
}
function view(row, surroundings) {
  const latest = surroundings.latest.get(row.id);
  const hosts = hostsOf(row, surroundings.environment, surroundings.domains);
  const customDomains = customDomainsOf(row);
  const live = surroundings.live.get(row.id) ?? NOT_LIVE;
  const lastRun = surroundings.lastRuns.get(row.id);
  const listens = TYPES[row.type].listens && !live.isSite;
  const hookPath = `/hooks/deploy/${row.id}?key=${row.deploy_hook_key}`;
  return {
    id: row.id,
    name: row.name,
    environment: surroundings.environment.name,
    ...viewSettings(row),
    deploy_hook_key: row.deploy_hook_key,
    live_deploy_id: row.live_deploy_id,
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
    settings_updated_at: timestamp(row.settings_updated_at),
    deploy_hook_path: hookPath,
    env_groups: surroundings.groups.get(row.id) ?? [],
    hosts: [...hosts, ...customDomains],
    internal_host: listens ? row.name : null,
    internal_port: listens ? internalPort(row, live.port) : null,
    latest_deploy: latest ? viewDeploy(latest) : null,
    last_run: lastRun ? viewJob(lastRun) : null,
    state: stateOf(
      row,
      latest,
      live,
      surroundings.ready.get(row.id) ?? 0,
      surroundings.jobs.get(row.id) ?? 0
    ),
    url: hosts[0] === void 0 ? null : publicUrl(hosts[0])
  };
}
function viewSettings(row) {
  return {
    type: row.type,
    runtime: row.runtime,
    repo_url: row.repo_url === null ? null : shownUrl(row.repo_url, row.repo_credentials !== null),
    branch: row.branch,
    root_dir: row.root_dir,
    dockerfile_path: row.dockerfile_path,
    image: row.image,
    build_command: row.build_command,
    start_command: row.start_command,
    publish_dir: row.publish_dir,
    pre_deploy_command: row.pre_deploy_command,
    health_check_path: row.health_check_path,
    port: row.port,
    schedule: row.schedule,
    disk_mount_path: row.disk_mount_path,
    instances: row.instances,
    memory_limit_mb: row.memory_limit_mb,
    cpu_limit: row.cpu_limit,
    apt_packages: aptPackagesOf(row),
    auto_deploy: row.auto_deploy === 1,
    suspended: row.suspended === 1,
    custom_domains: customDomainsOf(row),
    canonical_domain: row.canonical_domain,
    compression: row.compression === 1,
    watch_paths: row.watch_paths === null ? null : JSON.parse(row.watch_paths)
  };
}
function shownUrl(url, hasCredentials) {
  return hasCredentials ? url.replace("://", "://***@") : url;
}

export { instancesOf as a, allInstances as b, viewService as c, deleteInstance as d, viewServices as e, getInstance as g, insertInstance as i, newInstanceId as n, shownUrl as s, updateInstance as u, viewSettings as v };
