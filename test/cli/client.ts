import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtServer } from '../support/build.ts'
import type { TestServer } from '../support/server.ts'

/** The program under test: the command line without the commands of the server's host. */
export const CLIENT = join(dirname(await builtServer()), '../cli/deployer.mjs')

/** Where a client connects to: a server, or what stands in front of it. */
export type Place = Pick<TestServer, 'url' | 'token'>

export interface Outcome {
  code: number
  out: string
  error: string
}

export interface ClientOptions {
  env?: Record<string, string>
  cwd?: string
  /** A file descriptor that takes its standard output. */
  output?: number
  /** What it reads from standard input; nothing by default. */
  input?: string
  /** Whether it leads a process group of its own, as what a shell starts on a terminal does. */
  hasOwnGroup?: boolean
}

/** A client that runs. */
export interface Running {
  readonly child: ChildProcess
  /** What it has printed so far. */
  readonly out: string
  readonly error: string
  /** Resolves when it has ended. */
  readonly ended: Promise<Outcome>
}

/** The home folder of clients that keep nothing. */
const home = mkdtempSync(join(tmpdir(), 'deployer-home-'))

/** What a client has compiled is there for the next one, which then starts in half the time. */
export const COMPILED = { NODE_COMPILE_CACHE: join(home, 'compiled') }

/** Starts the client, signed in to a server by its environment. */
export function startClient(place: Place, words: readonly string[], options: ClientOptions = {}): Running {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [CLIENT, ...words], {
    cwd: options.cwd ?? home,
    detached: options.hasOwnGroup ?? false,
    stdio: [options.input === undefined ? 'ignore' : 'pipe', options.output ?? 'pipe', 'pipe'],
    env: {
      // For root the data directory is the same whatever HOME is, and a server of this machine may use it.
      ...{ PATH, HOME: home, DEPLOYER_DATA_DIR: join(home, 'no-server'), ...COMPILED },
      ...{ DEPLOYER_HOST: place.url, DEPLOYER_TOKEN: place.token, ...options.env },
    },
  })
  child.stdin?.end(options.input)
  const printed = { out: '', error: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (printed.out += text))
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (printed.error += text))
  const ended = new Promise<Outcome>((resolve) => {
    child.once('close', (code) => resolve({ code: code ?? -1, ...printed }))
  })
  return {
    child,
    ended,
    get out() {
      return printed.out
    },
    get error() {
      return printed.error
    },
  }
}

/** Runs the client to its end. */
export function client(place: Place, ...words: string[]): Promise<Outcome> {
  return startClient(place, words).ended
}

/** The lines of a text that ends with a newline. */
export function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n')
}
