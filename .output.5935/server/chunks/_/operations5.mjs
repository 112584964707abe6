import { E as useDatabase, q as randomHex, Y as ID_PATTERN, N as isId, A as AppError, J as useContext, F as newId } from '../nitro/nitro.mjs';
import { b as tellDatastore } from './changes.mjs';
import { f as findEnvironment } from './store.mjs';
import { m as move } from './machine.mjs';
import { r as referenceFault, a as assertNameFree } from './referrers.mjs';
import { K as KINDS } from './kinds.mjs';
import { d as datastoreMachine, p as postgresName } from './states3.mjs';
import { g as getDatastore, c as getDatastoreByName, s as setDatastore, i as insertDatastore } from './store7.mjs';

function getBackup(id) {
  return useDatabase().get("SELECT * FROM backups WHERE id = ?", id);
}
function listBackups(datastoreId) {
  return useDatabase().all(
    "SELECT * FROM backups WHERE datastore_id = ? ORDER BY sequence DESC",
    datastoreId
  );
}
function runningBackups() {
  return useDatabase().all("SELECT * FROM backups WHERE status = 'running' ORDER BY sequence");
}
function runningBackup(datastoreId) {
  return useDatabase().get(
    "SELECT * FROM backups WHERE datastore_id = ? AND status = 'running' AND sha256 IS NULL",
    datastoreId
  );
}
function insertBackup(row) {
  const now = Date.now();
  const error = row.error ?? null;
  useDatabase().run(
    "INSERT INTO backups (id, datastore_id, status, trigger, error, created_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
    row.id,
    row.datastore_id,
    error === null ? "running" : "failed",
    row.trigger,
    error,
    now,
    error === null ? null : now
  );
}
function setBackupFile(id, size, sha256) {
  const sql = "UPDATE backups SET size_bytes = ?, sha256 = ? WHERE id = ? AND status = 'running'";
  return useDatabase().run(sql, size, sha256, id) > 0;
}
function setBackupCopy(id, url, error) {
  return useDatabase().run("UPDATE backups SET object_url = ?, error = ? WHERE id = ?", url, error, id) > 0;
}
function uncopiedBackups() {
  return useDatabase().all(
    `SELECT backups.* FROM backups JOIN datastores ON datastores.id = datastore_id
     WHERE backups.status <> 'failed' AND sha256 IS NOT NULL AND object_url IS NULL AND datastores.status <> 'deleting'
     ORDER BY sequence`
  );
}
const FILLED = `replacements JOIN datastores ON datastores.id = replacements.datastore_id
   AND datastores.status IN ('restoring', 'upgrading')`;
function isBeingRestored(id) {
  return useDatabase().get(`SELECT 1 FROM ${FILLED} WHERE backup_id = ?`, id) !== void 0;
}
function filledFrom(datastoreId) {
  return useDatabase().get(
    `SELECT datastores.name FROM ${FILLED} JOIN backups ON backups.id = backup_id
     WHERE backups.datastore_id = ?1 AND datastores.id <> ?1`,
    datastoreId
  )?.name;
}
function insertSpareObject(url) {
  useDatabase().run("INSERT OR IGNORE INTO spare_objects (url) VALUES (?)", url);
}
function spareObjects() {
  return useDatabase().all("SELECT url FROM spare_objects ORDER BY url").map(({ url }) => url);
}
function isSpareObject(url) {
  return useDatabase().get("SELECT 1 FROM spare_objects WHERE url = ?", url) !== void 0;
}
function forgetSpareObject(url) {
  useDatabase().run("DELETE FROM spare_objects WHERE url = ?", url);
}
function deleteBackupRow(id) {
  useDatabase().run("DELETE FROM backups WHERE id = ?", id);
}
function surplusBackups() {
  return useDatabase().all(
    `SELECT * FROM (
       SELECT backups.*, datastores.backup_retention AS kept,
         row_number() OVER (PARTITION BY datastore_id, backups.status ORDER BY sequence DESC) AS place
       FROM backups JOIN datastores ON datastores.id = datastore_id
       WHERE backups.status <> 'running')
     WHERE place > kept AND id NOT IN (SELECT backup_id FROM ${FILLED} WHERE backup_id IS NOT NULL)`
  );
}

const PASSWORD_BYTES = 24;
const VOLUME_SUFFIX_BYTES = 4;
const DEFAULT_BACKUPS_KEPT = 7;
const KEY_VALUE_USER = "default";
function findDatastore(idOrName, environmentRef) {
  const environment = findEnvironment(environmentRef);
  const found = ID_PATTERN.test(idOrName) ? isId("datastore", idOrName) && getDatastore(idOrName) : getDatastoreByName(environment.id, idOrName);
  const elsewhere = found && environmentRef !== void 0 && found.environment_id !== environment.id;
  if (!found || elsewhere)
    throw new AppError("not_found", `there is no datastore ${idOrName} in ${environment.name}`);
  return found;
}
function createDatastore(input) {
  const { kind, name, version } = input;
  const environment = findEnvironment(input.environment);
  const [repository, defaultVersion] = imageOf(kind);
  const row = recordNew({
    environment_id: environment.id,
    name,
    kind,
    repository,
    version: version ?? defaultVersion,
    status: "creating",
    ...ownerOf(input),
    memory_limit_mb: input.memory_limit_mb ?? 0,
    cpu_limit: input.cpu_limit ?? 0,
    backup_schedule: input.backup_schedule ?? null,
    backup_retention: input.backup_retention ?? DEFAULT_BACKUPS_KEPT
  });
  tellDatastore(row.id, "created");
  return row;
}
function recordNew(chosen) {
  const id = newId("datastore");
  const now = Date.now();
  useDatabase().transaction(() => {
    assertNameFree(chosen.environment_id, chosen.name);
    insertDatastore({
      id,
      ...chosen,
      password: useContext().vault.seal(randomHex(PASSWORD_BYTES)),
      volume: newVolume(id),
      backup_seen_at: now,
      created_at: now,
      updated_at: now
    });
  });
  return getDatastore(id);
}
function newVolume(datastoreId) {
  return `${datastoreId}-${randomHex(VOLUME_SUFFIX_BYTES)}`;
}
function patchDatastore(datastore, patch) {
  if (datastore.status === "deleting")
    throw new AppError("conflict", `datastore ${datastore.name} is being deleted`);
  const {
    memory_limit_mb = datastore.memory_limit_mb,
    cpu_limit = datastore.cpu_limit,
    backup_schedule = datastore.backup_schedule,
    backup_retention = datastore.backup_retention
  } = patch;
  const isScheduled = backup_schedule === datastore.backup_schedule;
  const backup_seen_at = isScheduled ? datastore.backup_seen_at : Date.now();
  const settings = { memory_limit_mb, cpu_limit, backup_schedule, backup_retention, backup_seen_at };
  const isLimited = memory_limit_mb !== datastore.memory_limit_mb || cpu_limit !== datastore.cpu_limit;
  const isSame = Object.entries(settings).every(
    ([column, value]) => datastore[column] === value
  );
  if (isSame && datastore.apply_error === null) return datastore;
  setDatastore(datastore.id, settings, isLimited || datastore.apply_error !== null);
  tellDatastore(datastore.id);
  return getDatastore(datastore.id);
}
function deleteDatastore(datastore, force) {
  if (datastore.status === "deleting") return;
  useDatabase().transaction(() => {
    const obstacles = force ? [] : obstaclesTo(datastore);
    if (obstacles.length > 0)
      throw new AppError("conflict", `${obstacles.join("; ")}, or repeat with force=true`);
    move(datastoreMachine, datastore.id, "deleting", {
      error: null,
      updated_at: Date.now(),
      generation: datastore.generation + 1
    });
  });
  tellDatastore(datastore.id);
}
function obstaclesTo({ id, environment_id, name, status }) {
  const filled = filledFrom(id);
  return [
    referenceFault("datastore", environment_id, name),
    status === "upgrading" ? `datastore ${name} is upgrading: wait for its end` : null,
    filled === void 0 ? null : `datastore ${filled} is being filled from a backup of ${name}, which would go too: wait for its end`
  ].filter((fault) => fault !== null);
}
function imageOf(kind) {
  const { relationalImage, keyvalueImage } = useContext().options;
  const { repository, tag } = kind === "relational" ? relationalImage : keyvalueImage;
  return [repository, tag];
}
function ownerOf({ kind, name, database, username }) {
  if (!KINDS[kind].hasDatabases) return { database: null, username: KEY_VALUE_USER };
  const fromName = postgresName(name);
  return { database: database ?? fromName, username: username ?? fromName };
}

export { insertSpareObject as a, runningBackup as b, createDatastore as c, setBackupCopy as d, surplusBackups as e, forgetSpareObject as f, getBackup as g, setBackupFile as h, isSpareObject as i, insertBackup as j, deleteBackupRow as k, listBackups as l, isBeingRestored as m, newVolume as n, recordNew as o, patchDatastore as p, findDatastore as q, runningBackups as r, spareObjects as s, deleteDatastore as t, uncopiedBackups as u };
