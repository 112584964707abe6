import { E as useDatabase, J as useContext, I as timestamp } from '../nitro/nitro.mjs';
import { f as findEnvironment } from './store.mjs';
import { K as KINDS } from './kinds.mjs';
import { l as listDatastores } from './store7.mjs';

const known = /* @__PURE__ */ new Map();
function diskBytesOf(id) {
  return known.get(id) ?? null;
}
function recordDiskBytes(id, bytes) {
  known.set(id, bytes);
}
function forgetDiskBytes(id) {
  known.delete(id);
}

function getReplacement(datastoreId) {
  return useDatabase().get("SELECT * FROM replacements WHERE datastore_id = ?", datastoreId);
}
function allReplacements() {
  return useDatabase().all("SELECT * FROM replacements ORDER BY datastore_id");
}
function insertReplacement(row) {
  useDatabase().run(
    "INSERT INTO replacements (datastore_id, kind, backup_id, version, volume) VALUES (?, ?, ?, ?, ?)",
    row.datastore_id,
    row.kind,
    row.backup_id,
    row.version,
    row.volume
  );
}
function countTry(datastoreId, volume) {
  useDatabase().run(
    "UPDATE replacements SET tries = tries + 1, volume = ? WHERE datastore_id = ?",
    volume,
    datastoreId
  );
}
function updateReplacement(datastoreId, columns) {
  const assignments = Object.keys(columns).map((column) => `${column} = ?`);
  useDatabase().run(
    `UPDATE replacements SET ${assignments.join(", ")} WHERE datastore_id = ?`,
    ...Object.values(columns),
    datastoreId
  );
}
function deleteReplacement(datastoreId) {
  useDatabase().run("DELETE FROM replacements WHERE datastore_id = ?", datastoreId);
}
function giveUpVolume(volume, datastoreId) {
  insertSpareVolume({ volume, datastore_id: datastoreId, remove_at: 0, version: null });
}
function insertSpareVolume({ volume, datastore_id, remove_at, version }) {
  useDatabase().run(
    "INSERT OR REPLACE INTO spare_volumes (volume, datastore_id, remove_at, version) VALUES (?, ?, ?, ?)",
    volume,
    datastore_id,
    remove_at,
    version
  );
}
function dueSpareVolumes() {
  return useDatabase().all("SELECT * FROM spare_volumes WHERE remove_at <= ?", Date.now());
}
function spareVolumesOf(datastoreId) {
  return useDatabase().all("SELECT * FROM spare_volumes WHERE datastore_id = ?", datastoreId);
}
function forgetSpareVolume(volume) {
  useDatabase().run("DELETE FROM spare_volumes WHERE volume = ?", volume);
}

const LOOPBACK = "127.0.0.1";
function viewDatastores(environment) {
  return listDatastores(environment.id).map((row) => view(row, environment));
}
function viewDatastore(row) {
  return view(row, findEnvironment(row.environment_id));
}
function internalPlace(row) {
  return { ...credentials(row), host: row.name, port: KINDS[row.kind].port };
}
function externalPlace(row) {
  return row.host_port === null ? null : { ...credentials(row), host: LOOPBACK, port: row.host_port };
}
function credentials({ database, username, password }) {
  return { database, username, password: useContext().vault.open(password) };
}
function view(row, environment) {
  const kind = KINDS[row.kind];
  const internal = internalPlace(row);
  const external = externalPlace(row);
  const externalUrl = external && kind.url(external);
  return {
    id: row.id,
    name: row.name,
    kind: row.kind,
    version: row.version,
    environment: environment.name,
    status: row.status,
    error: row.error,
    database: row.database,
    username: row.username,
    password: internal.password,
    host_port: row.host_port,
    internal_host: internal.host,
    internal_port: internal.port,
    internal_url: kind.url(internal),
    external_url: externalUrl,
    connect_command: externalUrl && kind.connectCommand(externalUrl),
    disk_bytes: diskBytesOf(row.id),
    memory_limit_mb: row.memory_limit_mb,
    cpu_limit: row.cpu_limit,
    backup_schedule: row.backup_schedule,
    backup_retention: row.backup_retention,
    kept_volumes: keptVolumes(row),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at)
  };
}
function keptVolumes({ id }) {
  return spareVolumesOf(id).filter(({ remove_at }) => remove_at > Date.now()).toSorted((left, right) => right.remove_at - left.remove_at).map(({ volume, version, remove_at }) => ({ volume, version, kept_until: timestamp(remove_at) }));
}

export { dueSpareVolumes as a, forgetDiskBytes as b, allReplacements as c, diskBytesOf as d, externalPlace as e, forgetSpareVolume as f, getReplacement as g, giveUpVolume as h, internalPlace as i, deleteReplacement as j, countTry as k, insertSpareVolume as l, insertReplacement as m, viewDatastores as n, recordDiskBytes as r, spareVolumesOf as s, updateReplacement as u, viewDatastore as v };
