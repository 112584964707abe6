import { execFile } from 'node:child_process';
import { mkdir, rm, chmod, rename, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { k as PRIVATE_DIRECTORY_MODE, n as PRIVATE_FILE_MODE } from '../nitro/nitro.mjs';

const run = promisify(execFile);
let making;
async function ensureSshKey(dataDirectory) {
  making = (making ?? Promise.resolve("")).catch(() => "").then(() => readOrMake(join(dataDirectory, "ssh")));
  return making;
}
async function readOrMake(directory) {
  const key = join(directory, "id_ed25519");
  const existing = await readPublicKey(key);
  if (existing !== null) return existing;
  await mkdir(directory, { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const fresh = `${key}.new`;
  await rm(fresh, { force: true });
  await rm(`${fresh}.pub`, { force: true });
  try {
    await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "deployer", "-f", fresh]);
  } catch (cause) {
    throw new Error('ssh-keygen could not make the ssh key: install the package "openssh-client"', { cause });
  }
  await chmod(fresh, PRIVATE_FILE_MODE);
  await rename(`${fresh}.pub`, `${key}.pub`);
  await rename(fresh, key);
  return await readPublicKey(key);
}
async function readPublicKey(key) {
  try {
    await readFile(key);
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
  try {
    return (await readFile(`${key}.pub`, "utf8")).trim();
  } catch {
    return (await run("ssh-keygen", ["-y", "-f", key])).stdout.trim();
  }
}

export { ensureSshKey as e };
