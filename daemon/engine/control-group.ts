import { readFile } from 'node:fs/promises'

/** The processor time that a container has used since it started, and the memory that it uses now. */
export interface Usage {
  cpuSeconds: number
  /** Without the page cache that the kernel can take back. */
  memoryBytes: number
}

/** The files of a container's control group that show its usage. */
export interface ControlGroup {
  cpu: string
  memory: string
  memoryStat: string
  read(cpu: string, memory: string, memoryStat: string): Usage
}

/** The mount points of the hierarchies, by controller (version 1) and as `unified` (version 2). */
export type Hierarchies = ReadonlyMap<string, string>

const UNIFIED = 'unified'
const NANOSECONDS = 1e9
const MICROSECONDS = 1e6

/**
 * The control group of a container whose first process is `pid`; null when it cannot be found from here (an engine in a
 * virtual machine, a server that itself runs in a container).
 */
export async function findControlGroup(pid: number, containerId: string): Promise<ControlGroup | null> {
  try {
    const [groups, mounts] = await Promise.all([
      readFile(`/proc/${pid}/cgroup`, 'utf8'),
      readFile('/proc/self/mountinfo', 'utf8'),
    ])
    const group = controlGroupIn(groups, hierarchiesIn(mounts), containerId)
    if (group) await readControlGroup(group)
    return group
  } catch {
    return null
  }
}

/** Reads the usage of a container. Throws ENOENT when it has ended. */
export async function readControlGroup(group: ControlGroup): Promise<Usage> {
  const [cpu, memory, memoryStat] = await Promise.all(
    [group.cpu, group.memory, group.memoryStat].map((path) => readFile(path, 'utf8')),
  )
  return group.read(cpu!, memory!, memoryStat!)
}

/** The hierarchies in /proc/[pid]/mountinfo (proc_pid_mountinfo(5)) that are mounted from their root. */
export function hierarchiesIn(mountinfo: string): Hierarchies {
  const hierarchies = new Map<string, string>()
  for (const line of mountinfo.split('\n')) {
    const [left, right] = line.split(' - ')
    const [, , , root, mountPoint] = (left ?? '').split(' ')
    const [type, , options] = (right ?? '').split(' ')
    if (root !== '/' || mountPoint === undefined) continue
    if (type === 'cgroup2') hierarchies.set(UNIFIED, mountPoint)
    if (type === 'cgroup')
      for (const option of (options ?? '').split(',')) hierarchies.set(option, mountPoint)
  }
  return hierarchies
}

/** The container's group from /proc/[pid]/cgroup of its process (cgroups(7)); null when that names another container. */
export function controlGroupIn(
  groups: string,
  hierarchies: Hierarchies,
  containerId: string,
): ControlGroup | null {
  const folderOf = (controller: string) => folderIn(groups, hierarchies, controller, containerId)
  const accounting = folderOf('cpuacct')
  const memory = folderOf('memory')
  if (accounting && memory) {
    return {
      cpu: `${accounting}/cpuacct.usage`,
      memory: `${memory}/memory.usage_in_bytes`,
      memoryStat: `${memory}/memory.stat`,
      read: (cpu, usage, stat) => ({
        cpuSeconds: Number(cpu) / NANOSECONDS,
        memoryBytes: withoutCache(Number(usage), valueOf(stat, 'total_inactive_file')),
      }),
    }
  }
  const unified = folderOf('')
  if (!unified) return null
  return {
    cpu: `${unified}/cpu.stat`,
    memory: `${unified}/memory.current`,
    memoryStat: `${unified}/memory.stat`,
    read: (cpu, usage, stat) => ({
      cpuSeconds: valueOf(cpu, 'usage_usec') / MICROSECONDS,
      memoryBytes: withoutCache(Number(usage), valueOf(stat, 'inactive_file')),
    }),
  }
}

/** Counts memory as `docker stats` does (docker/cli, cli/command/container/stats_helpers.go). */
export function withoutCache(usage: number, inactiveFile: number): number {
  return inactiveFile < usage ? usage - inactiveFile : usage
}

function folderIn(
  groups: string,
  hierarchies: Hierarchies,
  controller: string,
  containerId: string,
): string | null {
  const mountPoint = hierarchies.get(controller === '' ? UNIFIED : controller)
  if (mountPoint === undefined) return null
  for (const line of groups.split('\n')) {
    const [, controllers = '', path = ''] = line.split(':')
    if (!controllers.split(',').includes(controller)) continue
    // The program may have groups of its own below the container's.
    const segments = path.split('/')
    const own = segments.findIndex((segment) => segment.includes(containerId))
    // The engine may run elsewhere, where this process id is that of the container.
    return own === -1 ? null : mountPoint + segments.slice(0, own + 1).join('/')
  }
  return null
}

function valueOf(stat: string, name: string): number {
  const line = stat.split('\n').find((candidate) => candidate.startsWith(`${name} `))
  return Number(line?.slice(name.length + 1) ?? 0)
}
