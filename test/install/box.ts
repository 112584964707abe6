import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { standDirectory, standFolder } from '../stand/place.ts'
import { waitFor } from '../support/wait.ts'

/** The folder of the project, whose program is installed. */
const PROJECT = fileURLToPath(new URL('../..', import.meta.url))
const BOOT_SCRIPT = fileURLToPath(new URL('box.sh', import.meta.url))
const SYSTEMD = '/usr/lib/systemd/systemd'
/** Units of the machine's packages that a machine for only this product does not need. */
const MASKED = [
  'console-getty.service',
  'containerd.service',
  'dbus.service',
  'dbus.socket',
  'docker.service',
  'docker.socket',
  'getty.target',
  'sys-fs-fuse-connections.mount',
  'systemd-logind.service',
  'systemd-modules-load.service',
  'systemd-remount-fs.service',
  'systemd-journald-audit.socket',
  'systemd-update-utmp.service',
  'systemd-update-utmp-runlevel.service',
  'proc-sys-fs-binfmt_misc.automount',
]

export interface Output {
  code: number
  /** What it printed, on both streams. */
  text: string
}

/**
 * A separate machine that systemd boots: this machine's files, except for what a server has left of itself, under a layer
 * that receives what is written, with its own processes, mounts, control group and unit files. It shares this machine's network.
 */
export class Box {
  readonly folder = mkdtempSync(join(standFolder('boxes'), 'box-'))
  #init: ChildProcess | null = null
  #pid = 0

  constructor() {
    const masks = join(this.folder, 'units')
    mkdirSync(masks)
    for (const unit of MASKED) symlinkSync('/dev/null', join(masks, unit))
  }

  /** Boots, and waits until systemd accepts commands. Throws with the obstacle otherwise. */
  async boot(): Promise<void> {
    const cgroup = this.#cgroup()
    mkdirSync(cgroup, { recursive: true })
    let printed = ''
    const init = spawn('sh', [BOOT_SCRIPT, this.folder, standDirectory(), cgroup, PROJECT], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    for (const stream of [init.stdout, init.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => (printed += text))
    this.#init = init
    await waitFor(async () => {
      if (init.exitCode !== null) return true
      this.#pid = firstChild(init.pid!)
      const { text } = await this.run('systemctl', 'is-system-running')
      return /^(running|degraded)/.test(text)
    }, 'systemd to boot').catch((error: Error) => {
      throw new Error(`${error.message}: ${printed}`)
    })
    if (init.exitCode !== null) throw new Error(`systemd cannot be booted here: ${printed.trim()}`)
  }

  /** Runs a program inside to its end. */
  async run(...command: string[]): Promise<Output> {
    const inside = ['--target', String(this.#pid), '--mount', '--uts', '--ipc', '--pid', '--cgroup']
    const env = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' }
    try {
      const { stdout, stderr } = await promisify(execFile)('nsenter', [...inside, '--', ...command], { env })
      return { code: 0, text: stdout + stderr }
    } catch (error) {
      const { code, stdout = '', stderr = '' } = error as { code: number; stdout?: string; stderr?: string }
      return { code, text: stdout + stderr }
    }
  }

  /** The same; throws with its output when it fails. */
  async must(...command: string[]): Promise<string> {
    const { code, text } = await this.run(...command)
    if (code !== 0) throw new Error(`${command.join(' ')}: ${text}`)
    return text.trim()
  }

  /** Where a file of the box is on this machine. */
  path(file: string): string {
    return join('/proc', String(this.#pid), 'root', file)
  }

  /** Restarts the whole machine. `before` runs while it is down. */
  async reboot(before: () => void = () => {}): Promise<void> {
    const ended = once(this.#init!, 'exit')
    await this.run('systemctl', 'reboot')
    await ended
    before()
    await this.boot()
  }

  async remove(): Promise<void> {
    const init = this.#init
    if (init && init.exitCode === null && init.signalCode === null) {
      const ended = once(init, 'exit')
      process.kill(this.#pid, 'SIGKILL')
      await ended
    }
    removeGroups(this.#cgroup())
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 })
  }

  /** For the second version, which is next to the first on machines that still use that. */
  #cgroup(): string {
    const root = existsSync('/sys/fs/cgroup/cgroup.procs') ? '/sys/fs/cgroup' : '/sys/fs/cgroup/unified'
    return join(root, `deployer-${this.folder.split('-').at(-1)}`)
  }
}

/** Why no machine can be booted here; null if one can. */
export async function whyNoBox(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'it takes root'
  if (!existsSync(SYSTEMD)) return 'systemd is not installed'
  const box = new Box()
  try {
    await box.boot()
    return null
  } catch (error) {
    return (error as Error).message
  } finally {
    await box.remove()
  }
}

function firstChild(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0])
}

/** A control group is removed once those below it are. */
function removeGroups(group: string): void {
  if (!existsSync(group)) return
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroups(join(group, entry.name))
  rmdirSync(group)
}
