import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The core of the proxy that is measured. */
export const PROXY_CORE = '1'
/** The core of load and upstream. */
export const LOAD_CORE = '0'
/** Where several workers are measured, everybody shares both. */
export const BOTH_CORES = '0,1'

const START_MS = 15_000
const START_POLL_MS = 20
const STOP_MS = 5_000

/** Who is measured. */
export type Contender = 'ours' | 'nginx' | 'nginxLargeBuffers' | 'haproxy' | 'caddy'

/** One started proxy: where it listens and what it consists of. All ports are on 127.0.0.1. */
export interface Program {
  plainPort: number
  securePort: number
  /** Serves the folder of files; null for one that serves none. */
  filesPort: number | null
  /** Every process of it, for its CPU. */
  pids(): number[]
  /** Those that serve. */
  workers(): number[]
  stop(): Promise<void>
}

/** What every proxy is started with. */
export interface Start {
  /** For its configuration and what it writes. */
  folder: string
  cores: string
  workers: number
  upstreamPort: number
  /** Where uploads go. */
  uploadsPort: number
  /** The same application behind a bridge; null where that cannot be. */
  bridged: { host: string; port: number } | null
  ports: { plain: number; secure: number; files: number }
  certificate: { certificate: string; key: string }
  /** The folder of files to serve. */
  files: string
}

/** Starts a program on some cores; its output goes to a file in its folder. */
export async function startProgram(
  cores: string,
  [command, ...args]: [string, ...string[]],
  {
    folder,
    ports,
    host = '127.0.0.1',
    env = {},
  }: { folder: string; ports: number[]; host?: string; env?: NodeJS.ProcessEnv },
): Promise<ChildProcess> {
  const log = join(folder, `${basename(command)}.log`)
  const output = openSync(log, 'a')
  const child = spawn('taskset', ['-c', cores, command, ...args], {
    stdio: ['ignore', output, output],
    cwd: folder,
    env: { ...process.env, ...env },
  })
  closeSync(output)
  const deadline = performance.now() + START_MS
  for (const port of ports) {
    while (!(await accepts(port, host))) {
      if (child.exitCode !== null)
        throw new Error(`${command} ended at its start: ${readFileSync(log, 'utf8').trim()}`)
      if (performance.now() > deadline) throw new Error(`${command} does not listen on port ${port}`)
      await delay(START_POLL_MS)
    }
  }
  return child
}

/** Ends a program that `startProgram` started. */
export async function stopProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS)
  await ended
  clearTimeout(timer)
}

/** Moves processes, all their threads, to some cores. */
export function moveTo(cores: string, pids: readonly number[]): void {
  for (const pid of pids) execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' })
}

/** Whether anybody listens on a port. */
export function accepts(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
