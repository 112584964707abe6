import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAlive } from '../support/processes.ts'
import { withLock } from './lock.ts'
import { BRIDGE, HERE, MIRROR, NamespaceMachine, type Machine } from './machine.ts'
import { standFolder } from './place.ts'
import { serveCopy } from './registry.ts'
import { run } from './run.ts'

export interface Machines {
  /** `machine-1`, on which the server under test runs, and the others. */
  list: [Machine, Machine, Machine, ...Machine[]]
  /** Ends all of them with everything that runs on them. */
  close(): Promise<void>
}

export interface MachinesOptions {
  /** What daemon.json of the first machine's engine has besides. */
  configuration?: Record<string, unknown>
  /** How many there are; three if absent. */
  count?: number
}

const COUNT = 3
let made = 0

/** Why machines cannot be made here; null if they can. */
export async function lackForMachines(): Promise<string | null> {
  if (process.getuid?.() !== 0) return 'machines are namespaces, which only root makes'
  if ((await run('ip', ['route', 'show', 'default'])) !== '')
    return 'the bridge of the machines needs a network of its own: run this by test/acme/in-own-network'
  try {
    await run('ip', ['link', 'add', 'trial', 'type', 'vxlan', 'id', '1', 'dstport', '4789'])
    await run('ip', ['link', 'delete', 'trial'])
    return null
  } catch (error) {
    return `networks of several machines need VXLAN, which this kernel lacks: ${(error as Error).message}`
  }
}

/**
 * Makes machines with an engine each, which have the images of the prepared stand to pull. They end with this process,
 * however it ends.
 */
export async function startMachines({
  configuration = {},
  count = COUNT,
}: MachinesOptions = {}): Promise<Machines> {
  await withLock('machines', removeLeftovers)
  const folder = join(standFolder('machines'), `${process.pid}.${made++}`)
  mkdirSync(folder)
  await layBridge()
  const mirror = await serveCopy(MIRROR, folder)
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const started = await Promise.allSettled(
    numbers.map((number) =>
      NamespaceMachine.start(number, join(folder, String(number)), number === 1 ? configuration : {}),
    ),
  )
  const list = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const close = async (): Promise<void> => {
    await Promise.all(list.map((machine) => machine.end()))
    await mirror.close()
    await run('ip', ['link', 'delete', BRIDGE])
    removeFolder(folder)
  }
  const failed = started.find((one) => one.status === 'rejected')
  if (!failed) return { list: list as unknown as Machines['list'], close }
  await close()
  throw failed.reason
}

async function layBridge(): Promise<void> {
  // What an attempt that failed left.
  await run('ip', ['link', 'delete', BRIDGE]).catch(() => {})
  await run('ip', ['link', 'add', BRIDGE, 'type', 'bridge'])
  await run('ip', ['address', 'add', `${HERE}/24`, 'dev', BRIDGE])
  await run('ip', ['link', 'set', BRIDGE, 'up'])
  // A router without a way out refuses what goes elsewhere; otherwise it would wait.
  writeFileSync('/proc/sys/net/ipv4/ip_forward', '1')
}

/** Removes the folders of runs that were killed; their machines ended with them. */
async function removeLeftovers(): Promise<void> {
  const folder = standFolder('machines')
  for (const name of readdirSync(folder)) {
    if (!isAlive(Number(name.split('.')[0]))) removeFolder(join(folder, name))
  }
}

/** Removes what machines had on disk, and the control groups of containers that were killed with their engine. */
function removeFolder(folder: string): void {
  for (const number of readdirSync(folder)) {
    const containers = join(folder, number, 'data', 'containers')
    if (existsSync(containers)) readdirSync(containers).forEach(removeControlGroups)
  }
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}

/** With version 1 of control groups there is one for each controller. */
function removeControlGroups(container: string): void {
  const root = '/sys/fs/cgroup'
  for (const controller of ['.', ...readdirSync(root)]) {
    const group = join(root, controller, 'docker', container)
    if (existsSync(group)) rmdirSync(group)
  }
}
