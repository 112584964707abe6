import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, rm, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { J as useContext, j as makePrivateDirectory, n as PRIVATE_FILE_MODE, A as AppError } from '../nitro/nitro.mjs';
import { g as getBackup, m as isBeingRestored } from './operations5.mjs';
import { d as defineMachine } from './machine.mjs';

const PART = ".part";
function backupFolder() {
  return join(useContext().options.dataDirectory, "backups");
}
function backupPath(id) {
  return join(backupFolder(), id);
}
function hasBackupFile(id) {
  return existsSync(backupPath(id));
}
async function writeBackupPart(id, chunks) {
  makePrivateDirectory(backupFolder());
  try {
    const file = await open(partPath(id), "w", PRIVATE_FILE_MODE);
    try {
      const hash = createHash("sha256");
      let size = 0;
      for await (const chunk of chunks) {
        hash.update(chunk);
        for (let written = 0; written < chunk.length; )
          written += (await file.write(chunk, written)).bytesWritten;
        size += chunk.length;
      }
      await file.sync();
      return { size_bytes: size, sha256: hash.digest("hex") };
    } finally {
      await file.close();
    }
  } catch (error) {
    throw readable(error);
  }
}
async function keepBackupPart(id) {
  await rename(partPath(id), backupPath(id));
  const folder = await open(backupFolder());
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
async function removeBackupPart(id) {
  await rm(partPath(id), { force: true });
}
async function removeBackupFiles(id) {
  await Promise.all([backupPath(id), partPath(id)].map((path) => rm(path, { force: true })));
}
async function removeStrayBackupFiles() {
  const names = await readdir(backupFolder()).catch(() => []);
  for (const name of names) {
    const id = /^(bak-[0-9a-f]{20})(?:\.part)?$/.exec(name)?.[1];
    if (id === void 0) continue;
    const status = getBackup(id)?.status;
    const isWanted = name.endsWith(PART) ? status === "running" || isBeingRestored(id) : status === "running" || status === "succeeded";
    if (!isWanted) await rm(join(backupFolder(), name), { force: true });
  }
}
function partPath(id) {
  return `${backupPath(id)}${PART}`;
}
function readable(error) {
  const { code } = error;
  if (code === "ENOSPC" || code === "EDQUOT")
    return new AppError("io_error", "the disk of the server's data directory is full: free some space", {
      cause: error
    });
  return error;
}

const BACKUP_STATUSES = ["running", "succeeded", "failed"];
const BACKUP_TRIGGERS = ["manual", "schedule", "upgrade"];
const backupMachine = defineMachine({
  table: "backups",
  moves: { running: ["succeeded", "failed"], succeeded: [], failed: [] }
});

export { BACKUP_TRIGGERS as B, removeStrayBackupFiles as a, backupPath as b, removeBackupPart as c, backupMachine as d, BACKUP_STATUSES as e, hasBackupFile as h, keepBackupPart as k, removeBackupFiles as r, writeBackupPart as w };
