import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { g as greet } from './greeting.mjs';
import { r as readOptions } from './options.mjs';
import { V as VERSION } from './version.mjs';
import { f as findServer } from './running.mjs';
import { a as SETTINGS_FILE, U as UNIT_FOLDER, b as CONTROL_UNIT, D as DATA_UNIT } from './layout.mjs';
import { u as unitState } from './systemd.mjs';
import 'node:timers/promises';
import 'node:net';
import 'node:os';
import '../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:crypto';
import 'node:util';
import 'zod';
import './dns-provider.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './bare-host.mjs';
import 'node:tls';
import './rules2.mjs';
import './data-lock.mjs';
import 'node:sqlite';
import 'node:child_process';

const NOT_RUNNING = 3;
const ANSWER_LIMIT_MS = 5e3;
async function status(argv) {
  const { dataDirectory, apiToken } = readOptions(argv);
  const server = existsSync(dataDirectory) ? findServer(dataDirectory) : null;
  const info = server && await askInfo(server, apiToken ?? readToken(dataDirectory));
  const proxy = await greet(dataDirectory, 0).catch(() => null);
  proxy?.channel.close();
  const rows = [
    ["command", `version ${VERSION}`],
    ["control plane", `${controlText(server, info)}${await unitText(CONTROL_UNIT)}`],
    ["data plane", `${dataText(proxy?.hello ?? null)}${await unitText(DATA_UNIT)}`],
    ["engine", engineText(server, info)],
    ["data directory", dataDirectory],
    [
      "settings",
      existsSync(SETTINGS_FILE) ? SETTINGS_FILE : "flags and variables; deployer install keeps them"
    ]
  ];
  for (const [name, text] of rows) process.stdout.write(`${name.padEnd(16)}${text}
`);
  return server && proxy ? 0 : NOT_RUNNING;
}
function controlText(server, info) {
  if (!server) return "does not run, or not yet";
  if (!info) return `process ${server.pid} does not answer at ${server.url}`;
  return `runs version ${info.version} at ${server.url}, process ${server.pid}`;
}
function dataText(hello) {
  if (!hello) return "does not run";
  const addresses = hello.listeners.map(({ address }) => address).join(" and ") || "no address yet";
  return `runs version ${hello.version.split("+")[0]} at ${addresses}, process ${hello.pid}`;
}
function engineText(server, info) {
  if (!info)
    return server ? "not known: the control plane does not answer" : "not known without the control plane";
  return info.runtime_version ?? "does not answer; the server goes on trying";
}
async function unitText(unit) {
  if (!existsSync(join(UNIT_FOLDER, unit))) return "";
  const found = await unitState(unit).catch(() => null);
  if (!found) return "";
  const again = found.restarts === 0 ? "" : `, started anew ${found.restarts} times after a sudden end`;
  return ` (${unit}: ${found.state} since ${found.since || "never"}, ${found.enabled ? "" : "not "}at boot${again})`;
}
function readToken(dataDirectory) {
  return readFileSync(join(dataDirectory, "api_token"), "utf8").trim();
}
async function askInfo({ url }, token) {
  try {
    const response = await fetch(`${url}/api/v1/info`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS)
    });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}

export { status };
