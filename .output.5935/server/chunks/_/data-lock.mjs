import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

function takeDataLock(dataDirectory) {
  const database = new DatabaseSync(join(dataDirectory, "lock.db"));
  try {
    database.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    return { release: () => database.close() };
  } catch {
    database.close();
    return null;
  }
}

export { takeDataLock as t };
