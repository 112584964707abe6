import { statSync, accessSync, constants, readdirSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { j as makePrivateDirectory, A as AppError, m as messageOf, k as PRIVATE_DIRECTORY_MODE } from '../nitro/nitro.mjs';

const FOLDERS = [
  "archives",
  "certificates",
  "checkouts",
  "deliveries",
  "logs",
  "mirrors",
  "proxy",
  "sites",
  "ssh"
];
const OWN_FILES = ["deployer.db", "lock.db", "secret.key", "api_token", "setup_code"];
const LOST_AND_FOUND = "lost+found";
const OPEN_TO_OTHERS = 63;
function prepareDataDirectory(path) {
  try {
    makePrivateDirectory(path);
    if (!statSync(path).isDirectory()) throw new Error("it is no directory");
    closeToOthers(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    for (const folder of FOLDERS) makePrivateDirectory(join(path, folder));
  } catch (cause) {
    throw new AppError("io_error", `--data-dir ${path} cannot be used: ${messageOf(cause)}`, { cause });
  }
}
function closeToOthers(path) {
  const mode = statSync(path).mode & 4095;
  if ((mode & OPEN_TO_OTHERS) === 0) return;
  const names = readdirSync(path).filter((name) => name !== LOST_AND_FOUND);
  const reason = `others can read it (mode ${mode.toString(8).padStart(4, "0")})`;
  if (names.length > 0 && !names.some((name) => OWN_FILES.includes(name)))
    throw new Error(
      `${reason} and it holds other files: name a directory of the server's own, or chmod 700 it`
    );
  try {
    chmodSync(path, PRIVATE_DIRECTORY_MODE);
  } catch (cause) {
    throw new Error(`${reason}, and its mode cannot be changed: ${messageOf(cause)}`, { cause });
  }
}

export { prepareDataDirectory as p };
