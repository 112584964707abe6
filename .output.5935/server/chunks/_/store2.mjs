import { E as useDatabase, J as useContext } from '../nitro/nitro.mjs';
import { I as IN_PROGRESS_SQL } from './states.mjs';

const UNPLANNED = { port: null, health_check_path: null, pre_deploy_command: null };
function insertDeploy({ source, ...deploy }) {
  const row = {
    ...deploy,
    source: JSON.stringify(source),
    status: "queued",
    created_at: Date.now()
  };
  const columns = Object.keys(row);
  useDatabase().run(
    `INSERT INTO deploys (sequence, ${columns.join(", ")})
     VALUES ((SELECT coalesce(max(sequence), 0) + 1 FROM deploys), ${columns.map(() => "?").join(", ")})`,
    ...Object.values(row)
  );
}
function getDeploy(id) {
  return useDatabase().get("SELECT * FROM deploys WHERE id = ?", id);
}
function listDeploys(serviceId, limit) {
  return useDatabase().all(
    `SELECT ${FACT_COLUMNS} FROM deploys WHERE service_id = ? ORDER BY sequence DESC LIMIT ?`,
    serviceId,
    limit
  );
}
const FACTS = [
  "id",
  "sequence",
  "service_id",
  "status",
  "trigger",
  "source",
  "archive_id",
  "clear_cache",
  "rollback_of",
  "commit_sha",
  "commit_message",
  "commit_author",
  "image",
  "image_id",
  "port",
  "site_id",
  "health_check_path",
  "pre_deployed",
  "was_live",
  "stops_first",
  "error",
  "created_at",
  "started_at",
  "finished_at",
  "replaced_at"
];
const FACT_COLUMNS = FACTS.map((column) => `deploys.${column}`).join(", ");
function latestDeploys(environmentId) {
  const rows = useDatabase().all(
    `SELECT ${FACT_COLUMNS} FROM services JOIN deploys ON deploys.sequence =
       (SELECT max(sequence) FROM deploys WHERE service_id = services.id)
     WHERE services.environment_id = ?`,
    environmentId
  );
  return new Map(rows.map((row) => [row.service_id, row]));
}
function cacheScope(serviceId) {
  const cleared = useDatabase().get(
    "SELECT id FROM deploys WHERE service_id = ? AND clear_cache = 1 ORDER BY sequence DESC LIMIT 1",
    serviceId
  );
  return cleared === void 0 ? serviceId : `${serviceId}-${cleared.id}`;
}
function deploysInProgress(serviceId) {
  const scope = serviceId === void 0 ? "" : "AND service_id = ?";
  return useDatabase().all(
    `SELECT * FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) ${scope} ORDER BY sequence`,
    ...serviceId === void 0 ? [] : [serviceId]
  );
}
function servicesServedAsSites() {
  const rows = useDatabase().all(
    `SELECT services.id FROM services JOIN deploys ON deploys.id = services.live_deploy_id
     WHERE deploys.site_id IS NOT NULL`
  );
  return new Set(rows.map(({ id }) => id));
}
function servicesStoppedFirst() {
  const rows = useDatabase().all(
    `SELECT service_id FROM deploys WHERE status IN (${IN_PROGRESS_SQL}) AND stops_first = 1`
  );
  return new Set(rows.map(({ service_id }) => service_id));
}
function newestArchive(serviceId) {
  const row = useDatabase().get(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL
     ORDER BY (was_live OR status IN (${IN_PROGRESS_SQL})) DESC, sequence DESC LIMIT 1`,
    serviceId
  );
  return row?.archive_id ?? null;
}
function keptArchives(serviceId) {
  const live = useDatabase().get(
    `SELECT archive_id FROM deploys WHERE service_id = ? AND archive_id IS NOT NULL AND was_live = 1
     ORDER BY sequence DESC LIMIT 1`,
    serviceId
  );
  return new Set([newestArchive(serviceId), live?.archive_id].filter((id) => typeof id === "string"));
}
function updateDeploy(id, columns) {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`);
  useDatabase().run(
    `UPDATE deploys SET ${assignments.join(", ")} WHERE id = ?`,
    ...Object.values(columns),
    id
  );
}
function sealSnapshot(snapshot) {
  return useContext().vault.seal(JSON.stringify(snapshot));
}
function openSnapshot(deploy) {
  if (deploy.snapshot === null) return null;
  const snapshot = JSON.parse(useContext().vault.open(deploy.snapshot));
  return {
    ...snapshot,
    disk_mount_path: snapshot.disk_mount_path ?? null,
    is_port_chosen: snapshot.is_port_chosen ?? true,
    planned: snapshot.planned ?? UNPLANNED,
    pre_deploy_command: snapshot.pre_deploy_command ?? null
  };
}

export { UNPLANNED as U, servicesStoppedFirst as a, servicesServedAsSites as b, cacheScope as c, deploysInProgress as d, listDeploys as e, getDeploy as g, insertDeploy as i, keptArchives as k, latestDeploys as l, newestArchive as n, openSnapshot as o, sealSnapshot as s, updateDeploy as u };
