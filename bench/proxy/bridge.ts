import { execFileSync, type ChildProcess } from 'node:child_process'
import { startUpstream } from './nginx.ts'
import { stopProgram } from './programs.ts'

const NAME = 'deployer-bench'
/** At most 15 characters. */
const BRIDGE = 'dpl-bench'
const OUTSIDE = 'dpl-bench-out'
const INSIDE = 'dpl-bench-in'
const GATEWAY = '10.231.77.1/24'
const ADDRESS = '10.231.77.2'
const PORT = 80

/** An application in a network of its own behind a bridge, like a container's. */
export class BridgedUpstream {
  readonly host = ADDRESS
  readonly port = PORT
  readonly #program: ChildProcess

  private constructor(program: ChildProcess) {
    this.#program = program
  }

  /** Starts one; null if this user may not create networks. */
  static async start(folder: string): Promise<BridgedUpstream | null> {
    if (process.getuid?.() !== 0) return null
    removeNetwork()
    ip('netns', 'add', NAME)
    ip('link', 'add', BRIDGE, 'type', 'bridge')
    ip('addr', 'add', GATEWAY, 'dev', BRIDGE)
    ip('link', 'set', BRIDGE, 'up')
    ip('link', 'add', OUTSIDE, 'type', 'veth', 'peer', 'name', INSIDE, 'netns', NAME)
    ip('link', 'set', OUTSIDE, 'master', BRIDGE, 'up')
    ip('-n', NAME, 'addr', 'add', `${ADDRESS}/24`, 'dev', INSIDE)
    ip('-n', NAME, 'link', 'set', INSIDE, 'up')
    ip('-n', NAME, 'link', 'set', 'lo', 'up')
    const listen = { host: ADDRESS, port: PORT, enter: ['ip', 'netns', 'exec', NAME] }
    return new BridgedUpstream(await startUpstream(folder, listen))
  }

  get pid(): number {
    return this.#program.pid!
  }

  async stop(): Promise<void> {
    await stopProgram(this.#program)
    removeNetwork()
  }
}

function removeNetwork(): void {
  for (const gone of [
    ['netns', 'del', NAME],
    ['link', 'del', BRIDGE],
  ]) {
    try {
      ip(...gone)
    } catch {
      // It did not exist.
    }
  }
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'ignore' })
}
