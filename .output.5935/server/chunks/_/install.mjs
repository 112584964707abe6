import { realpathSync, existsSync, mkdirSync, cpSync, renameSync, readFileSync, writeFileSync, readdirSync, rmSync, statSync, copyFileSync } from 'node:fs';
import { dirname, join, basename } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { f as findProxy, k as keptServerId, a as keepServerId } from './find.mjs';
import { A as AppError, o as openDatabase } from '../nitro/nitro.mjs';
import { p as prepareDataDirectory } from './data-directory.mjs';
import { D as DNS_PROVIDER_VARIABLES, F as FLAGS, e as exposedSecrets } from './dns-provider.mjs';
import { r as readOptions } from './options.mjs';
import { s as serverIdOf } from './server-id.mjs';
import { V as VERSION } from './version.mjs';
import { f as findServer, r as readServerFile } from './running.mjs';
import { stop } from './stop.mjs';
import { P as PROGRAM_FOLDER, C as COMMAND_FILE, S as SETTINGS_FOLDER, D as DATA_UNIT, a as SETTINGS_FILE, b as CONTROL_UNIT, U as UNIT_FOLDER } from './layout.mjs';
import { createHash } from 'node:crypto';
import { k as keptSettings, g as givenSettings, a as keepSettings } from './settings.mjs';
import { r as requireSystemd, s as systemctl, u as unitState } from './systemd.mjs';
import { s as supervisorPidFile, p as proxyDirectory } from './greeting.mjs';
import { constants } from 'node:os';
import 'node:child_process';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:util';
import 'node:net';
import 'zod';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';
import './data-lock.mjs';
import 'node:sqlite';

const PARTS = ["server", "public"];
const HASH_CHARACTERS = 12;
const PROGRAM_MODE = 493;
function installRelease() {
  const built = dirname(dirname(realpathSync(process.argv[1])));
  const release = join(PROGRAM_FOLDER, `${VERSION}-${contentHash(built)}`);
  if (!existsSync(release)) {
    const fresh = `${release}.${process.pid}`;
    mkdirSync(fresh, { recursive: true, mode: PROGRAM_MODE });
    for (const part of PARTS)
      cpSync(join(built, part), join(fresh, part), { recursive: true, verbatimSymlinks: true });
    renameSync(fresh, release);
  }
  return { node: installNode(), entry: join(release, "server/index.mjs") };
}
const SYSTEM_NODES = /^\/(usr|opt)\/(?!.*\/node_modules\/)/;
function installNode() {
  const node = realpathSync(process.execPath);
  if (SYSTEM_NODES.test(node)) return node;
  const installed = join(PROGRAM_FOLDER, `node-${process.version}`);
  if (existsSync(installed) && statSync(installed).size === statSync(node).size) return installed;
  const fresh = `${installed}.${process.pid}`;
  copyFileSync(node, fresh);
  renameSync(fresh, installed);
  return installed;
}
function writeCommand({ node, entry }) {
  const script = `#!/bin/sh
exec ${quoted(node)} ${quoted(entry)} "$@"
`;
  if (existsSync(COMMAND_FILE) && readFileSync(COMMAND_FILE, "utf8") === script) return false;
  mkdirSync(dirname(COMMAND_FILE), { recursive: true });
  const fresh = `${COMMAND_FILE}.${process.pid}`;
  writeFileSync(fresh, script, { mode: PROGRAM_MODE });
  renameSync(fresh, COMMAND_FILE);
  return true;
}
function removeOldReleases({ node, entry }) {
  const kept = [basename(node), basename(dirname(dirname(entry)))];
  for (const name of readdirSync(PROGRAM_FOLDER))
    if (!kept.includes(name)) rmSync(join(PROGRAM_FOLDER, name), { recursive: true, force: true });
}
function contentHash(folder) {
  const hash = createHash("sha256");
  for (const part of PARTS) {
    const names = readdirSync(join(folder, part), { recursive: true, encoding: "utf8" }).sort();
    for (const name of names) {
      const file = join(folder, part, name);
      if (!statSync(file).isFile()) continue;
      const content = readFileSync(file);
      hash.update(`${part}/${name}\0${content.length}\0`).update(content);
    }
  }
  return hash.digest("hex").slice(0, HASH_CHARACTERS);
}
function quoted(text) {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function runsAs(pid, { node, entry }, settings) {
  if (pid === null) return false;
  try {
    const [program, file] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    if (program !== node || file !== entry) return false;
    const has = environmentOf(pid);
    const variables = [...Object.values(FLAGS).map(({ variable }) => variable), ...DNS_PROVIDER_VARIABLES];
    return [...variables, ...Object.keys(settings)].every(
      (name) => (has[name] ?? "") === (settings[name] ?? "")
    );
  } catch {
    return false;
  }
}
function environmentOf(pid) {
  const words = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0").filter(Boolean);
  return Object.fromEntries(
    words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1)])
  );
}

constants.priority.PRIORITY_NORMAL;
const PRIORITY_OF_REQUESTS = -5;

const SANDBOX = [
  "NoNewPrivileges=yes",
  "ProtectSystem=strict",
  "PrivateTmp=yes",
  "PrivateDevices=yes",
  "ProtectKernelTunables=yes",
  "ProtectKernelModules=yes",
  "ProtectKernelLogs=yes",
  "ProtectClock=yes",
  "ProtectHostname=yes",
  "RestrictNamespaces=yes",
  "RestrictRealtime=yes",
  "RestrictSUIDSGID=yes",
  "LockPersonality=yes",
  "RemoveIPC=yes",
  "KeyringMode=private",
  "SystemCallArchitectures=native",
  "SystemCallErrorNumber=EPERM",
  "SystemCallFilter=@system-service",
  "SystemCallFilter=~@keyring",
  "UMask=0077"
];
function dataUnit({ release, dataDirectory }) {
  const command = (action) => `${program(release)} proxy ${action} --data-dir ${execWord(dataDirectory)}`;
  return unit({
    Unit: [
      "Description=Deployer: the data plane, which serves requests",
      "Wants=network-online.target",
      "After=network-online.target",
      "StartLimitIntervalSec=0"
    ],
    Service: [
      "Type=forking",
      `PIDFile=${specifiers(supervisorPidFile(dataDirectory))}`,
      `ExecStart=${command("start")}`,
      `ExecReload=${command("upgrade")}`,
      "KillMode=process",
      "RestartKillSignal=SIGUSR2",
      "TimeoutStopSec=20s",
      "Restart=on-failure",
      "RestartSec=100ms",
      "OOMScoreAdjust=-800",
      // How far workers may put requests before everything else here.
      `LimitNICE=${PRIORITY_OF_REQUESTS}`,
      // Of the data directory it sees its own folder, and the sites and certificates that it serves: no other key, no database.
      `TemporaryFileSystem=${word(`${dataDirectory}:ro`)}`,
      `BindPaths=${word(proxyDirectory(dataDirectory))}`,
      ...["sites", "certificates"].map((name) => `BindReadOnlyPaths=${word(join(dataDirectory, name))}`),
      `InaccessiblePaths=-${SETTINGS_FOLDER}`,
      "ProtectHome=read-only",
      "ProtectControlGroups=yes",
      "ProtectProc=invisible",
      "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
      ...SANDBOX,
      "SystemCallFilter=~@privileged"
    ],
    Install: ["WantedBy=multi-user.target"]
  });
}
function controlUnit({ release, dataDirectory, dockerHost }) {
  const wanted = ["network-online.target", DATA_UNIT, ...engineUnits(dockerHost)];
  return unit({
    Unit: [
      "Description=Deployer: the control plane, which deploys and keeps what runs",
      `Wants=${wanted.join(" ")}`,
      `After=network-online.target ${DATA_UNIT} docker.service podman.socket`,
      "StartLimitIntervalSec=0"
    ],
    Service: [
      "Type=exec",
      `EnvironmentFile=${SETTINGS_FILE}`,
      `ExecStart=${program(release)} serve --data-plane wait`,
      "KillMode=mixed",
      "TimeoutStopSec=15s",
      "Restart=on-failure",
      "RestartSec=1s",
      "OOMScoreAdjust=-500",
      `ReadWritePaths=${word(dataDirectory)}`,
      "ProtectHome=read-only",
      "CapabilityBoundingSet=CAP_DAC_OVERRIDE CAP_NET_BIND_SERVICE",
      "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
      ...SANDBOX
    ],
    Install: ["WantedBy=multi-user.target"]
  });
}
function engineUnits(dockerHost) {
  if (dockerHost?.includes("/podman/")) return ["podman.socket"];
  return dockerHost === null || /^unix:\/\/(\/var)?\/run\/docker\.sock$/.test(dockerHost) ? ["docker.service"] : [];
}
function unit(sections) {
  const texts = Object.entries(sections).map(([name, lines]) => `[${name}]
${lines.join("\n")}
`);
  return `# Written by deployer install. Changes belong into a file beside it: systemctl edit
${texts.join("\n")}`;
}
function program({ node, entry }) {
  return `${execWord(node)} ${execWord(entry)}`;
}
function execWord(text) {
  return word(text).replaceAll("$", "$$$$");
}
function word(text) {
  return `"${specifiers(text).replace(/["\\]/g, "\\$&")}"`;
}
function specifiers(text) {
  return text.replaceAll("%", "%%");
}

const START_LIMIT_MS = 6e4;
const LOOK_EVERY_MS = 100;
const PRIVATE_FOLDERS = /^\/(tmp|var\/tmp)(\/|$)/;
async function install(argv) {
  requireSystemd("install");
  const before = keptSettings();
  const given = givenSettings(argv, process.env);
  const settings = Object.fromEntries(
    Object.entries({ ...before, ...given }).filter(([, value]) => value !== "")
  );
  const options = readOptions([], settings);
  if (PRIVATE_FOLDERS.test(options.dataDirectory))
    throw new AppError(
      "invalid_request",
      `--data-dir ${options.dataDirectory}: services have a /tmp of their own, and others empty it; name another`
    );
  for (const warning of exposedSecrets(argv)) say(`warning: ${warning}`);
  await clearTheWay(options, readOptions([], before));
  await prepare(options.dataDirectory);
  const release = installRelease();
  const { dataDirectory, dockerHost } = options;
  const facts = { release, dataDirectory, dockerHost };
  keepSettings(given);
  writeCommand(release);
  const changed = [
    writeUnit(DATA_UNIT, dataUnit(facts)) && DATA_UNIT,
    writeUnit(CONTROL_UNIT, controlUnit(facts)) && CONTROL_UNIT
  ].filter((unit) => unit !== false);
  if (changed.length > 0) await systemctl("daemon-reload");
  const done = await start(release, settings, changed);
  await untilReady(options);
  removeOldReleases(release);
  report(options, [...changed.map((unit) => `wrote ${unit}`), ...done]);
  return 0;
}
async function clearTheWay({ dataDirectory }, before) {
  const [control, data] = [await unitState(CONTROL_UNIT), await unitState(DATA_UNIT)];
  if (before.dataDirectory !== dataDirectory && (control.active || data.active)) {
    say(`the data directory was ${before.dataDirectory}: ending what runs there`);
    await systemctl("stop", CONTROL_UNIT, DATA_UNIT);
    return clearTheWay({ ...before, dataDirectory }, { ...before, dataDirectory });
  }
  const hasServer = !control.active && findServer(dataDirectory) !== null;
  const proxy = data.active ? null : await findProxy(dataDirectory);
  proxy?.close();
  if (!hasServer && !proxy) return;
  say("ending the server that was started by hand");
  await stop([`--data-dir=${dataDirectory}`, ...proxy ? ["--all"] : []]);
}
async function prepare(dataDirectory) {
  prepareDataDirectory(dataDirectory);
  if (keptServerId(dataDirectory) !== null) return;
  const database = await openDatabase(join(dataDirectory, "deployer.db"));
  try {
    keepServerId(dataDirectory, serverIdOf(database));
  } finally {
    await database.close();
  }
}
function writeUnit(unit, text) {
  const file = join(UNIT_FOLDER, unit);
  try {
    if (readFileSync(file, "utf8") === text) return false;
  } catch {
  }
  mkdirSync(UNIT_FOLDER, { recursive: true });
  writeFileSync(file, text);
  return true;
}
async function start(release, settings, changed) {
  const done = [];
  for (const unit of [DATA_UNIT, CONTROL_UNIT]) {
    const { active, enabled, pid } = await unitState(unit);
    if (!enabled) await systemctl("enable", unit);
    if (!active) {
      await systemctl("start", unit);
      done.push(`started ${unit}`);
    } else if (unit === CONTROL_UNIT && (changed.includes(unit) || !runsAs(pid, release, settings))) {
      await systemctl("restart", unit);
      done.push(`restarted ${unit}`);
    }
  }
  return done;
}
async function untilReady({ dataDirectory }) {
  const until = performance.now() + START_LIMIT_MS;
  while (performance.now() < until) {
    const { pid } = await unitState(CONTROL_UNIT);
    const server = readServerFile(dataDirectory);
    if (server && server.pid === pid && await answers(server)) return;
    await setTimeout(LOOK_EVERY_MS);
  }
  throw new AppError(
    "io_error",
    `${CONTROL_UNIT} does not get ready: see journalctl -u ${CONTROL_UNIT} -n 30`
  );
}
async function answers({ url }) {
  return fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false
  );
}
function report({ dataDirectory }, done) {
  for (const line of done) say(line);
  if (done.length === 0) say("nothing to change");
  say(`version ${VERSION} runs from ${PROGRAM_FOLDER}, now and after each boot; settings: ${SETTINGS_FILE}`);
  const code = readSetupCode(dataDirectory);
  const server = readServerFile(dataDirectory);
  if (code !== null && server) say(`set up the administrator account: ${server.url}/setup?code=${code}`);
}
function readSetupCode(dataDirectory) {
  try {
    return readFileSync(join(dataDirectory, "setup_code"), "utf8").trim();
  } catch {
    return null;
  }
}
function say(line) {
  process.stdout.write(`${line}
`);
}

export { install };
