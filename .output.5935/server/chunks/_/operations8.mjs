import { n as newVolume, o as recordNew, b as runningBackup } from './operations5.mjs';
import { b as tellDatastore } from './changes.mjs';
import { E as useDatabase, A as AppError } from '../nitro/nitro.mjs';
import { d as datastoreMachine } from './states3.mjs';
import { r as recordDatastore, g as getDatastore, e as refoundDatastore } from './store7.mjs';
import { t as tryMove } from './machine.mjs';
import { h as giveUpVolume, j as deleteReplacement, k as countTry, g as getReplacement, l as insertSpareVolume, u as updateReplacement, m as insertReplacement } from './view4.mjs';

const KEPT_MS = 24 * 36e5;
const UNSETTLED = /* @__PURE__ */ new Set(["upgrading", "deleting", "gone"]);
function restoreBackup(datastore, backup, name) {
  if (backup.sha256 === null)
    throw new AppError("conflict", `the backup ${backup.id} is ${backup.status}: there is nothing to restore`);
  return name === void 0 ? restoreInPlace(datastore, backup) : restoreBeside(datastore, backup, name);
}
function restoreInPlace(datastore, backup) {
  const { id, version } = datastore;
  begin(datastore, "restoring", {
    datastore_id: id,
    kind: "restore",
    backup_id: backup.id,
    version,
    volume: newVolume(id)
  });
  return getDatastore(id);
}
function restoreBeside(datastore, backup, name) {
  const { environment_id, kind, repository, version, database, username, image_id } = datastore;
  const { memory_limit_mb, cpu_limit, backup_retention } = datastore;
  const made = useDatabase().transaction(() => {
    const status = getDatastore(datastore.id)?.status ?? "gone";
    if (UNSETTLED.has(status)) throw new AppError("conflict", `datastore ${datastore.name} is ${status}`);
    const limits = { memory_limit_mb, cpu_limit, backup_retention, backup_schedule: null };
    const image = { kind, repository, version, database, username };
    const row = recordNew({ environment_id, name, status: "restoring", ...image, ...limits });
    recordDatastore(row.id, { image_id });
    insertReplacement({
      datastore_id: row.id,
      kind: "first",
      backup_id: backup.id,
      version,
      volume: row.volume
    });
    return row;
  });
  tellDatastore(made.id, "created");
  return getDatastore(made.id);
}
function upgradeDatastore(datastore, version) {
  const [from, to] = [majorOf(datastore.version), majorOf(version)];
  if (to === null)
    throw new AppError("invalid_request", "version: must begin with a major version, such as 18");
  if (from === null)
    throw new AppError(
      "invalid_request",
      `version: ${datastore.version}, which datastore ${datastore.name} has, does not say its major version: restore a backup into a new datastore instead`
    );
  if (to <= from)
    throw new AppError(
      "invalid_request",
      `version: must be a newer major version than ${from}, which datastore ${datastore.name} has`
    );
  const { id } = datastore;
  begin(datastore, "upgrading", {
    datastore_id: id,
    kind: "upgrade",
    backup_id: null,
    version,
    volume: newVolume(id)
  });
  return getDatastore(id);
}
function begin({ id, name }, to, replacement) {
  useDatabase().transaction(() => {
    const running = runningBackup(id);
    if (running) throw new AppError("conflict", `the backup ${running.id} of datastore ${name} is running`);
    const isFree = !getReplacement(id);
    if (!isFree || !tryMove(datastoreMachine, id, to, { error: null, updated_at: Date.now() }))
      throw new AppError("conflict", `datastore ${name} is ${getDatastore(id)?.status ?? "gone"}`);
    insertReplacement(replacement);
  });
  tellDatastore(id);
}
function beginTry({ datastore_id: id, volume, kind }) {
  useDatabase().transaction(() => {
    const fresh = newVolume(id);
    giveUpVolume(volume, id);
    countTry(id, fresh);
    if (kind === "first") {
      const { version, image_id } = getDatastore(id);
      refoundDatastore(id, { volume: fresh, version, image_id });
    }
  });
  return getReplacement(id);
}
function forbidWrites(datastoreId) {
  updateReplacement(datastoreId, { reads_only: 1 });
  tellDatastore(datastoreId);
}
function finishReplacement(row, { volume, version }, imageId) {
  useDatabase().transaction(() => {
    if (row.volume !== volume)
      insertSpareVolume({
        volume: row.volume,
        datastore_id: row.id,
        remove_at: Date.now() + KEPT_MS,
        version: row.version
      });
    refoundDatastore(row.id, { volume, version, image_id: imageId });
    deleteReplacement(row.id);
  });
  tellDatastore(row.id);
}
function giveUpReplacement({ datastore_id: id, kind, volume }, reason) {
  useDatabase().transaction(() => {
    giveUpVolume(volume, id);
    recordDatastore(id, { error: reason });
    if (kind === "first") tryMove(datastoreMachine, id, "failed");
    else deleteReplacement(id);
  });
  tellDatastore(id);
}
function majorOf(version) {
  const digits = /^(\d{1,6})(?:[.-]|$)/.exec(version)?.[1];
  return digits === void 0 ? null : Number(digits);
}

export { forbidWrites as a, beginTry as b, finishReplacement as f, giveUpReplacement as g, restoreBackup as r, upgradeDatastore as u };
