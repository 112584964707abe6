import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childrenOf, isAlive } from '../support/processes.ts'
import { waitFor } from '../support/wait.ts'
import { findProgram } from './packages.ts'
import { endsWithThis, run } from './run.ts'

/** A machine with an engine, as far as a server can tell: namespaces of its own (namespaces(7)) on a bridge with the others. */
export interface Machine {
  /** Its host name. */
  readonly name: string
  /** Where the other machines, and this process, reach it. */
  readonly address: string
  /** The socket of its engine, as programs of the machine see it. */
  readonly dockerHost: string
  /** The program and arguments that run a command in the machine. */
  readonly entering: readonly string[]
  /** Runs a program in the machine and returns its standard output. */
  run(program: string, ...args: string[]): Promise<string>
  /** Runs the engine's client in the machine. */
  docker(...args: string[]): Promise<string>
  /** Takes the machine's cable out. */
  cutOff(): Promise<void>
  /** Puts it in again. */
  reconnect(): Promise<void>
  /** Ends the engine as a crash would. */
  killEngine(): Promise<void>
  startEngine(): Promise<void>
  /** Ends it with everything that runs on it. */
  end(): Promise<void>
}

/** The network of the machines, without the last number of its addresses. */
const NETWORK = '10.77.0'
/** This process among the machines. */
export const HERE = `${NETWORK}.254`
/** The bridge that is this process's end of the network. */
export const BRIDGE = 'machines'
/** Where this process serves the machines the images of the stand, in place of Docker Hub. */
export const MIRROR = `${HERE}:5000`
const FIRST_PROGRAM = fileURLToPath(new URL('machine-init', import.meta.url))
const LOG_TAIL_BYTES = 4_000

/** Of the engine, and of its containerd. */
const PID_FILES = ['docker.pid', 'exec/containerd/containerd.pid']

const ENGINE_CONFIGURATION = {
  'registry-mirrors': [`http://${MIRROR}`],
  // BuildKit looks for the scheme.
  'insecure-registries': [`http://${MIRROR}`, `${NETWORK}.0/24`],
  'log-opts': { 'max-size': '10m', 'max-file': '3' },
}

/** The machine has its own engine and client. */
const ENVIRONMENT = { DOCKER_HOST: undefined, DOCKER_CONFIG: '/run/docker-client' }

/** A machine of namespaces; it ends with this process. */
export class NamespaceMachine implements Machine {
  readonly name: string
  readonly address: string
  readonly dockerHost = 'unix:///run/docker.sock'
  readonly entering: readonly string[]
  readonly #folder: string
  /** Its end of the cable on the bridge. */
  readonly #port: string
  readonly #namespaces: ChildProcess

  private constructor(number: number, folder: string, namespaces: ChildProcess, pid: number) {
    this.name = `machine-${number}`
    this.address = `${NETWORK}.${number}`
    this.entering = ['nsenter', '--target', String(pid), '--net', '--mount', '--uts', '--pid', '--']
    this.#folder = folder
    this.#port = `port-${number}`
    this.#namespaces = namespaces
  }

  /** Makes it, with what its daemon.json has besides; throws with the end of its log when that fails. */
  static async start(
    number: number,
    folder: string,
    configuration: Record<string, unknown>,
  ): Promise<NamespaceMachine> {
    mkdirSync(folder)
    // Without its first program, all others of the machine are killed (pid_namespaces(7)).
    const enter = ['unshare', '--net', '--mount', '--uts', '--pid', '--fork', '--kill-child']
    const first = [findProgram('docker-init')!, '--', FIRST_PROGRAM, `machine-${number}`, folder]
    const [program, ...args] = endsWithThis([...enter, ...first])
    const log = openSync(join(folder, 'machine.log'), 'a')
    const namespaces = spawn(program!, args, { stdio: ['ignore', log, log] })
    try {
      await waitFor(() => existsSync(join(folder, 'ready')), `machine ${number}`)
      const machine = new NamespaceMachine(number, folder, namespaces, childrenOf(namespaces.pid!)[0]!)
      await machine.#connect(childrenOf(namespaces.pid!)[0]!)
      writeFileSync(
        join(folder, 'daemon.json'),
        JSON.stringify({ ...ENGINE_CONFIGURATION, ...configuration }),
      )
      await machine.startEngine()
      return machine
    } catch (error) {
      namespaces.kill('SIGKILL')
      throw new Error(`machine ${number} did not start:\n${tailOf(folder)}`, { cause: error })
    }
  }

  run(program: string, ...args: string[]): Promise<string> {
    const [enter, ...before] = this.entering
    return run(enter!, [...before, program, ...args], { env: ENVIRONMENT })
  }

  docker(...args: string[]): Promise<string> {
    return this.run(findProgram('docker')!, '-H', this.dockerHost, ...args)
  }

  async cutOff(): Promise<void> {
    await run('ip', ['link', 'set', this.#port, 'down'])
  }

  async reconnect(): Promise<void> {
    await run('ip', ['link', 'set', this.#port, 'up'])
  }

  async killEngine(): Promise<void> {
    // containerd dies with it, but later than a new engine looks for it.
    const pids = PID_FILES.map((file) => readFileSync(join(this.#folder, file), 'utf8'))
    await this.run('kill', '-9', pids[0]!)
    const isOver = () =>
      this.run('ps', '-o', 'pid=', '-p', pids.join()).then(
        () => false,
        () => true,
      )
    await waitFor(isOver, `the end of the engine of ${this.name}`)
  }

  async startEngine(): Promise<void> {
    // What they name has ended: an engine is only started where none runs.
    for (const file of PID_FILES) rmSync(join(this.#folder, file), { force: true })
    const log = openSync(join(this.#folder, 'machine.log'), 'a')
    const [enter, ...before] = this.entering
    spawn(enter!, [...before, findProgram('dockerd')!, ...this.#engineFlags()], {
      stdio: ['ignore', log, log],
      env: { ...process.env, ...ENVIRONMENT },
    })
    await waitFor(() => this.docker('version'), `the engine of ${this.name}`)
  }

  /** Ends it with everything that runs on it. */
  async end(): Promise<void> {
    this.#namespaces.kill('SIGKILL')
    await waitFor(() => !isAlive(Number(this.entering[2])), `the end of ${this.name}`)
  }

  async #connect(pid: number): Promise<void> {
    const end = ['peer', 'name', 'eth0', 'netns', String(pid)]
    await run('ip', ['link', 'add', this.#port, 'type', 'veth', ...end])
    await run('ip', ['link', 'set', this.#port, 'master', BRIDGE, 'up'])
    await this.run('ip', 'address', 'add', `${this.address}/24`, 'dev', 'eth0')
    await this.run('ip', 'link', 'set', 'eth0', 'up')
    await this.run('ip', 'route', 'add', 'default', 'via', HERE)
  }

  #engineFlags(): string[] {
    const flags: Record<string, string> = {
      host: this.dockerHost,
      'config-file': join(this.#folder, 'daemon.json'),
      'data-root': join(this.#folder, 'data'),
      'exec-root': join(this.#folder, 'exec'),
      pidfile: join(this.#folder, 'docker.pid'),
    }
    return Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  }
}

function tailOf(folder: string): string {
  return readFileSync(join(folder, 'machine.log'), 'utf8').slice(-LOG_TAIL_BYTES)
}
