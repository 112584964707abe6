import type { HostCounters, InterfaceCounters } from '#server/metrics/sample.ts'

/** The unit of times in proc_stat(5): USER_HZ, 100 on every architecture that node runs on. */
const TICKS_PER_SECOND = 100
const KIBIBYTE = 1_024
/** The unit of /proc/diskstats, whatever the device's own sectors are (Linux, Documentation/admin-guide/iostats.rst). */
const SECTOR_BYTES = 512
/** The columns of a `cpu` line; `user` and `nice` already include the time of guests. */
const MODES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal']
/** Loopback, and what Docker and Podman create: bridges, and the host's end of each container's veth pair. */
const EXCLUDED_INTERFACES = /^(lo|docker\d+|docker_gwbridge|br-[0-9a-f]{12}|veth.*|podman\d+|cni-.*)$/
/** File systems with data of the host whose source is not under /dev. */
const OTHER_TYPES = ['zfs']
/** Read-only images always report 100 % used. */
const IMAGE_TYPES = ['squashfs', 'iso9660', 'erofs', 'udf']

/** Returns the number of CPUs in /proc/stat, and the time that they spent in each mode. */
export function cpuIn(stat: string): Pick<HostCounters, 'cpuCount' | 'cpuSeconds'> {
  const lines = stat.split('\n')
  const ticks = lines
    .find((line) => line.startsWith('cpu '))
    ?.split(' ')
    .filter((word) => word !== '')
    .slice(1)
  return {
    cpuCount: lines.filter((line) => /^cpu\d/.test(line)).length || null,
    cpuSeconds: ticks
      ? Object.fromEntries(MODES.map((mode, index) => [mode, Number(ticks[index] ?? 0) / TICKS_PER_SECOND]))
      : null,
  }
}

/** Returns the memory from /proc/meminfo. */
export function memoryIn(meminfo: string): HostCounters['memory'] {
  const valueOf = (name: string) => {
    const line = meminfo.split('\n').find((candidate) => candidate.startsWith(`${name}:`))
    return line === undefined ? null : Number.parseInt(line.slice(name.length + 1), 10) * KIBIBYTE
  }
  const total = valueOf('MemTotal')
  const available = valueOf('MemAvailable')
  return total === null || available === null ? null : { totalBytes: total, availableBytes: available }
}

/** Returns the host's own interfaces from /proc/net/dev. */
export function interfacesIn(dev: string): Omit<InterfaceCounters, 'isPhysical'>[] {
  return dev
    .split('\n')
    .slice(2)
    .flatMap((line) => {
      // A count of many digits follows the colon without a space.
      const [device = '', counts = ''] = line.trim().split(/:(.*)/, 2)
      const columns = counts.split(' ').filter((word) => word !== '')
      if (columns.length < 9 || EXCLUDED_INTERFACES.test(device)) return []
      return [{ device, receivedBytes: Number(columns[0]), transmittedBytes: Number(columns[8]) }]
    })
}

/** Returns the bytes read from and written to each device from /proc/diskstats, by major and minor number. */
export function devicesIn(diskstats: string): Map<string, { readBytes: number; writtenBytes: number }> {
  return new Map(
    diskstats.split('\n').flatMap((line) => {
      const [major, minor, , , , read, , , , written] = line.split(' ').filter((word) => word !== '')
      if (written === undefined) return []
      return [
        [
          `${major}:${minor}`,
          { readBytes: Number(read) * SECTOR_BYTES, writtenBytes: Number(written) * SECTOR_BYTES },
        ],
      ]
    }),
  )
}

/** A mounted file system. */
export interface Mount {
  mountPoint: string
  device: string
  /** What is mounted, such as `/dev/sda1`. */
  source: string
}

/**
 * Returns the file systems with the host's data from /proc/self/mountinfo (proc_pid_mountinfo(5)): those on a device, and
 * `/` in any case. If a device is mounted several times, the mount of its root, else the first one.
 */
export function mountsIn(mountinfo: string): Mount[] {
  const mounts = new Map<string, Mount & { isWhole: boolean }>()
  for (const line of mountinfo.split('\n')) {
    const [left = '', right = ''] = line.split(' - ')
    const [, , device, root, place] = left.split(' ')
    const [type = '', source = ''] = right.split(' ')
    if (device === undefined || place === undefined) continue
    const isKept = source.startsWith('/dev/') ? !IMAGE_TYPES.includes(type) : OTHER_TYPES.includes(type)
    if (!isKept && place !== '/') continue
    const known = mounts.get(device)
    const isWhole = root === '/'
    if (known && (known.isWhole || !isWhole)) continue
    mounts.set(device, { mountPoint: withoutEscapes(place), device, source, isWhole })
  }
  // A later mount at the same place hides the earlier one.
  const shown = new Map([...mounts.values()].map((mount) => [mount.mountPoint, mount]))
  return [...shown.values()].map(({ mountPoint, device, source }) => ({ mountPoint, device, source }))
}

/** Decodes spaces and similar characters, which are written in octal. */
function withoutEscapes(path: string): string {
  return path.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
}
