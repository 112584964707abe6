import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { t as takeDataLock } from './data-lock.mjs';

function findServer(dataDirectory) {
  const server = readServerFile(dataDirectory);
  if (!server) return null;
  const lock = takeDataLock(dataDirectory);
  lock?.release();
  return lock ? null : server;
}
function readServerFile(dataDirectory) {
  const file = join(dataDirectory, "server.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : null;
}

export { findServer as f, readServerFile as r };
