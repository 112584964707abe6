import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { basename, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

/** The core of the measured proxy. */
export const PROXY_CORE = '1'
/** The core of the load generator and the upstream. */
export const LOAD_CORE = '0'
/** With several workers, all programs share both cores. */
export const BOTH_CORES = '0,1'

const START_MS = 15_000
const START_POLL_MS = 20
const STOP_MS = 5_000

/** The programs that are compared. */
export type Contender = 'ours' | 'nginx' | 'nginxLargeBuffers' | 'haproxy' | 'caddy'

/** A started proxy: where it listens, and its processes. All ports are on 127.0.0.1. */
export interface Program {
  plainPort: number
  securePort: number
  /** Serves the folder of files; null if it serves no files. */
  filesPort: number | null
  /** Returns all its processes, for their CPU time. */
  pids(): number[]
  /** Returns the processes that serve. */
  workers(): number[]
  stop(): Promise<void>
}

/** What every proxy is started with. */
export interface Start {
  /** The folder for its configuration and its files. */
  folder: string
  cores: string
  workers: number
  upstreamPort: number
  /** The port of the application that takes uploads. */
  uploadsPort: number
  /** The same application behind a bridge; null if that is not possible here. */
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
        throw new Error(`${command} ended during its start: ${readFileSync(log, 'utf8').trim()}`)
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

/** Moves processes, with all their threads, to some cores. */
export function moveTo(cores: string, pids: readonly number[]): void {
  for (const pid of pids) execFileSync('taskset', ['-a', '-p', '-c', cores, String(pid)], { stdio: 'ignore' })
}

/** Whether a program listens on a port. */
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
