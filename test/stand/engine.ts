import { spawn } from 'node:child_process'
import { existsSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { engineSocket, standDirectory, standFolder } from './place.ts'
import { findProgram } from './packages.ts'
import { run } from './run.ts'

/** After a power cut the engine first removes what hundreds of containers left: 40 s were seen. */
const START_DEADLINE_MS = 300_000
const STOP_DEADLINE_MS = 30_000
const POLL_MS = 50
const PING_TIMEOUT_MS = 2_000
/** Enough of the engine's log to see why it did not start. */
const LOG_TAIL_BYTES = 4_000

/** Whether the stand's engine answers. */
export function isEngineUp(): Promise<boolean> {
  return new Promise((resolve) => {
    const ping = request(
      { socketPath: engineSocket(), path: '/_ping', timeout: PING_TIMEOUT_MS },
      (response) => {
        response.resume().on('end', () => resolve(response.statusCode === 200))
      },
    )
    ping.on('timeout', () => ping.destroy())
    ping.on('error', () => resolve(false))
    ping.end()
  })
}

/**
 * Starts the stand's own dockerd (own data, socket and pid file) unless it runs; it outlives this process. Images with
 * Docker Hub names come from the registry at `mirror`. Throws with the end of its log when it does not answer.
 */
export async function startEngine(mirror: string): Promise<void> {
  if (await isEngineUp()) return
  const directory = standFolder('engine')
  writeFileSync(configurationFile(directory), JSON.stringify(engineConfiguration(mirror), null, 2))
  await launchEngine(directory)
  // Nobody can be using an engine that was down.
  await sweepEngine()
}

/** Starts dockerd as it is configured and waits until it answers. */
async function launchEngine(directory: string): Promise<void> {
  forgetDeadProcesses(directory)
  const log = openSync(join(directory, 'dockerd.log'), 'a', 0o600)
  const child = spawn(findProgram('dockerd')!, engineFlags(directory), {
    detached: true,
    stdio: ['ignore', log, log],
  })
  child.unref()
  const until = performance.now() + START_DEADLINE_MS
  while (!(await isEngineUp())) {
    if (performance.now() > until || child.exitCode !== null) {
      throw new Error(`the test stand's engine did not start:\n${tailOf(join(directory, 'dockerd.log'))}`)
    }
    await delay(POLL_MS)
  }
}

/**
 * Kills the stand's engine, as a crash would, under everything that uses it. Returns what starts it again; the containers have
 * kept running.
 */
export async function crashEngine(): Promise<() => Promise<void>> {
  const directory = standFolder('engine')
  const pid = Number(readFileSync(join(directory, 'docker.pid'), 'utf8'))
  process.kill(pid, 'SIGKILL')
  while (isAlive(pid)) await delay(POLL_MS)
  return () => launchEngine(directory)
}

/** Stops the stand's engine if it runs; containers keep running if they were told to (`live-restore`). */
export async function stopEngine(): Promise<void> {
  const pidFile = join(standDirectory(), 'engine', 'docker.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8'))
  if (!isAlive(pid)) return
  process.kill(pid, 'SIGTERM')
  const until = performance.now() + STOP_DEADLINE_MS
  while (isAlive(pid)) {
    if (performance.now() > until) throw new Error(`the test stand's engine (pid ${pid}) does not stop`)
    await delay(POLL_MS)
  }
}

/** Runs the `docker` client against the stand's engine and returns what it printed. */
export function docker(arguments_: string[], input?: string | Buffer): Promise<string> {
  return run(findProgram('docker')!, ['-H', `unix://${engineSocket()}`, ...arguments_], {
    input,
    // The base images are made with the classic builder: the client needs a plug-in for the other.
    env: { DOCKER_BUILDKIT: '0', DOCKER_CONFIG: standFolder('client') },
  })
}

/** What a server under test created has this label (daemon/engine/labels.ts). */
const MADE_BY_SERVER = 'label=deployer.server'

/**
 * Removes the containers, networks and volumes that servers under test left behind; with `serverId`, those of one
 * server. What is still in use stays for the next time.
 */
export async function sweepEngine(serverId?: string): Promise<void> {
  const made = ['--filter', serverId ? `${MADE_BY_SERVER}=${serverId}` : MADE_BY_SERVER]
  await removeAll(['ps', '-aq', ...made], ['rm', '-fv'])
  await removeAll(['network', 'ls', '-q', ...made], ['network', 'rm'])
  await removeAll(['volume', 'ls', '-q', ...made], ['volume', 'rm'])
}

async function removeAll(list: string[], remove: string[]): Promise<void> {
  const found = (await docker(list)).split('\n').filter(Boolean)
  if (found.length === 0) return
  await docker([...remove, ...found]).catch((error: Error) =>
    process.stderr.write(`test stand: ${error.message}\n`),
  )
}

function configurationFile(directory: string): string {
  return join(directory, 'daemon.json')
}

function engineFlags(directory: string): string[] {
  const flags: Record<string, string> = {
    host: `unix://${engineSocket()}`,
    'config-file': configurationFile(directory),
    'data-root': join(directory, 'data'),
    'exec-root': join(directory, 'exec'),
    pidfile: join(directory, 'docker.pid'),
  }
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
}

function engineConfiguration(mirror: string): Record<string, unknown> {
  return {
    'live-restore': true,
    'registry-mirrors': [`http://${mirror}`],
    'log-opts': { 'max-size': '10m', 'max-file': '3' },
    // The engine's own address pools end at about 30 networks.
    'default-address-pools': [{ base: '10.201.0.0/16', size: 26 }],
  }
}

/** A stale pid file prevents dockerd from starting, and a containerd that is still a zombie does so for 15 s. */
function forgetDeadProcesses(directory: string): void {
  for (const file of [
    join(directory, 'docker.pid'),
    join(directory, 'exec', 'containerd', 'containerd.pid'),
  ]) {
    if (existsSync(file) && !isAlive(Number(readFileSync(file, 'utf8')))) rmSync(file)
  }
}

/** Whether a process runs; a zombie does not (proc(5), `State`). */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

function tailOf(file: string): string {
  return readFileSync(file, 'utf8').slice(-LOG_TAIL_BYTES)
}
