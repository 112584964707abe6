import { setTimeout } from 'node:timers/promises';
import { p as proxyDirectory, w as workerSocketFiles, c as connectChannel, g as greet, e as endOlder, H as HELLO_MS } from './greeting.mjs';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, mkdirSync, writeFileSync, renameSync, readdirSync, statSync, rmSync, openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { w as writePrivateFile } from '../nitro/nitro.mjs';

function ask(channel, name, body, timeoutMs) {
  return channel.request(name, body, timeoutMs);
}

const KEPT_PROGRAMS = 3;
const SERVER_ID_FILE = "server_id";
const WORKER_ANSWER_MS = 3e3;
function stageProgram(dataDirectory, source, version) {
  const content = readFileSync(source);
  const hash = createHash("sha256").update(content).digest("hex").slice(0, 12);
  const staged = { file: source, version: `${version}+${hash}` };
  if (!source.endsWith(".mjs")) return staged;
  const directory = proxyDirectory(dataDirectory);
  mkdirSync(directory, { recursive: true, mode: 448 });
  staged.file = join(directory, `program-${hash}.mjs`);
  const temporary = `${staged.file}.${process.pid}.tmp`;
  writeFileSync(temporary, content, { mode: 384 });
  renameSync(temporary, staged.file);
  removeOldPrograms(directory);
  return staged;
}
function removeOldPrograms(directory) {
  const programs = readdirSync(directory).filter((name) => /^program-[0-9a-f]+\.mjs$/.test(name)).map((name) => ({ file: join(directory, name), written: statSync(join(directory, name)).mtimeMs })).sort((left, right) => right.written - left.written);
  for (const { file } of programs.slice(KEPT_PROGRAMS)) rmSync(file, { force: true });
}
function keepServerId(dataDirectory, serverId) {
  if (keptServerId(dataDirectory) !== serverId)
    writePrivateFile(join(proxyDirectory(dataDirectory), SERVER_ID_FILE), `${serverId}
`);
}
function keptServerId(dataDirectory) {
  try {
    return readFileSync(join(proxyDirectory(dataDirectory), SERVER_ID_FILE), "utf8").trim();
  } catch (error) {
    if (error.code === "ENOENT") return null;
    throw error;
  }
}
async function livingWorkers(dataDirectory) {
  const channels = await Promise.all(
    workerSocketFiles(dataDirectory).map(({ file }) => connectChannel(file, () => null).catch(() => null))
  );
  return channels.filter((channel) => channel !== null);
}
async function startSupervisor(node, program, settings, maySpawn) {
  const workers = await livingWorkers(settings.data_directory);
  try {
    for (const worker of workers) {
      const ask = { node, program: program.file, settings };
      const started = await worker.request("start_supervisor", ask, WORKER_ANSWER_MS).then(
        () => true,
        () => false
      );
      if (started) return { failed: new Promise(() => {
      }) };
    }
  } finally {
    for (const worker of workers) worker.close();
  }
  if (!maySpawn) throw new Error(`no data plane runs on ${settings.data_directory}; its own unit starts it`);
  return { failed: spawnDetached(node, program, settings) };
}
function spawnDetached(node, program, settings) {
  const directory = proxyDirectory(settings.data_directory);
  mkdirSync(directory, { recursive: true, mode: 448 });
  const logFile = join(directory, "proxy.log");
  const output = openSync(logFile, "a", 384);
  const { PATH, TZ, DEPLOYER_PROXY_POISON } = process.env;
  const child = spawn(node, [program.file, "supervisor", JSON.stringify(settings)], {
    detached: true,
    cwd: settings.data_directory,
    env: { PATH, TZ, DEPLOYER_PROXY_POISON },
    stdio: ["ignore", output, output]
  });
  closeSync(output);
  child.unref();
  return new Promise((_, reject) => {
    child.once("error", (error) => reject(new Error(`the proxy cannot be started: ${error.message}`)));
    child.once("exit", (code, signal) => {
      reject(new Error(`the proxy ended at its start (${signal ?? `exit code ${code}`}); see ${logFile}`));
    });
  });
}

const STOP_MS = 15e3;
async function findProxy(dataDirectory) {
  const found = await greet(dataDirectory, 0);
  if (found) {
    const { channel, hello } = found;
    return {
      async stop() {
        await endOlder(dataDirectory, found);
        await ask(channel, "attach", { server_id: hello.server_id, workers: 0 }, HELLO_MS);
        await stopProxy(channel);
      },
      close: () => channel.close()
    };
  }
  const workers = await livingWorkers(dataDirectory);
  if (workers.length === 0) return null;
  return {
    async stop() {
      const ended = workers.map((worker) => new Promise((resolve) => worker.onClose = resolve));
      const terms = { limit_ms: STOP_MS / 3, close_idle: true };
      for (const worker of workers) worker.request("retire", terms, HELLO_MS).catch(() => worker.destroy());
      await Promise.race([Promise.all(ended), setTimeout(STOP_MS, void 0, { ref: false })]);
    },
    close() {
      for (const worker of workers) worker.close();
    }
  };
}
async function stopProxy(channel) {
  await ask(channel, "stop", {}, STOP_MS);
  channel.close();
}

export { keepServerId as a, ask as b, stageProgram as c, stopProxy as d, findProxy as f, keptServerId as k, startSupervisor as s };
