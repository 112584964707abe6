import { existsSync, rmSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { parseArgs } from 'node:util';
import { r as runEach, l as ledgerOf, c as createEngine } from './run-each.mjs';
import { A as AppError, m as messageOf, o as openDatabase, f as openVault } from '../nitro/nitro.mjs';
import { r as readOptions } from './options.mjs';
import { s as serverIdOf } from './server-id.mjs';
import { stop } from './stop.mjs';
import { b as CONTROL_UNIT, D as DATA_UNIT, U as UNIT_FOLDER, a as SETTINGS_FILE, S as SETTINGS_FOLDER, C as COMMAND_FILE, P as PROGRAM_FOLDER } from './layout.mjs';
import { k as keptSettings } from './settings.mjs';
import { r as requireSystemd, u as unitState, s as systemctl } from './systemd.mjs';
import 'node:stream';
import 'node:timers/promises';
import 'dockerode';
import 'node:http';
import './answer-of.mjs';
import 'node:os';
import 'node:fs/promises';
import 'node:crypto';
import 'node:http2';
import 'node:child_process';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:net';
import 'zod';
import './dns-provider.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';
import './find.mjs';
import './greeting.mjs';
import './running.mjs';
import './data-lock.mjs';
import 'node:sqlite';

async function removeEverything(engine, ledger) {
  const names = (kind) => ledger.list(kind).map(({ name }) => name);
  await runEach([
    ...names("container").map((name) => () => engine.containers.remove(name)),
    ...names("network").map((name) => () => engine.networks.remove(name)),
    ...names("volume").map((name) => () => engine.volumes.remove(name)),
    ...names("image").map((name) => () => engine.images.remove(name)),
    () => engine.shrinkBuildCache(0)
  ]);
}

async function uninstall(argv) {
  requireSystemd("uninstall");
  const { data, yes } = readFlags(argv);
  const options = readOptions([], keptSettings());
  if (data && !yes && !await isMeant(options)) return 1;
  if (data) await inEngine(options, ({ engine }) => engine.info());
  const removed = [];
  for (const unit of [CONTROL_UNIT, DATA_UNIT]) {
    if ((await unitState(unit)).loaded) await systemctl("disable", "--now", "--quiet", unit);
    removed.push(...remove(join(UNIT_FOLDER, unit)));
  }
  await systemctl("daemon-reload");
  if (data) removed.push(...await removeData(options));
  removed.push(...remove(COMMAND_FILE), ...remove(PROGRAM_FOLDER));
  for (const line of removed) process.stdout.write(`removed ${line}
`);
  if (removed.length === 0) process.stdout.write("nothing is installed\n");
  if (!data)
    process.stdout.write(
      `${options.dataDirectory}, ${SETTINGS_FILE} and the containers stay; deployer uninstall --data removes them too
`
    );
  return 0;
}
function readFlags(argv) {
  const flags = { data: { type: "boolean" }, yes: { type: "boolean" } };
  try {
    const { data = false, yes = false } = parseArgs({ args: argv, options: flags, strict: true }).values;
    return { data, yes };
  } catch (cause) {
    throw new AppError("invalid_request", `${messageOf(cause).split(". ")[0]}. It takes --data and --yes.`, {
      cause
    });
  }
}
async function isMeant({ dataDirectory }) {
  process.stdout.write(
    [
      "This removes for good:",
      `  ${dataDirectory}: the database, secrets, certificates, sites, logs, and backups`,
      "  every container, network, volume and image that the server made, and with them what datastores and disks hold",
      `  ${SETTINGS_FOLDER}
`
    ].join("\n")
  );
  if (!process.stdin.isTTY) throw new AppError("invalid_request", "say that you mean it: --data --yes");
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await terminal.question(`Type ${dataDirectory} to go on: `)).trim() === dataDirectory;
  } finally {
    terminal.close();
  }
}
async function removeData(options) {
  const { dataDirectory } = options;
  if (existsSync(dataDirectory)) await stop([`--data-dir=${dataDirectory}`, "--all"]);
  const made = await inEngine(options, async ({ engine, ledger }) => {
    const counts = ["container", "network", "volume", "image"].map(
      (kind) => `${kind}s: ${ledger.list(kind).length}`
    );
    await removeEverything(engine, ledger);
    return counts.join(", ");
  });
  return [...made === null ? [] : [made], ...removeContent(dataDirectory), ...remove(SETTINGS_FOLDER)];
}
async function inEngine({ dataDirectory, dockerHost }, act) {
  const file = join(dataDirectory, "deployer.db");
  if (!existsSync(file)) return null;
  const database = await openDatabase(file);
  try {
    const ledger = ledgerOf(
      () => database,
      () => existingVault(dataDirectory)
    );
    const serverId = serverIdOf(database);
    return await act({
      engine: createEngine({ ...dockerHost === null ? {} : { dockerHost }, serverId, ledger }),
      ledger
    });
  } finally {
    await database.close();
  }
}
function existingVault(dataDirectory) {
  const file = join(dataDirectory, "secret.key");
  if (!existsSync(file)) throw new AppError("io_error", `${file} is missing`);
  return openVault(file);
}
function removeContent(directory) {
  if (!existsSync(directory)) return [];
  for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true, force: true });
  try {
    rmSync(directory, { recursive: true });
    return [directory];
  } catch {
    return [`what ${directory} held`];
  }
}
function remove(path) {
  if (!existsSync(path)) return [];
  rmSync(path, { recursive: true, force: true });
  return [path];
}

export { uninstall };
