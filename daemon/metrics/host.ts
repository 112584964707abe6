import { access, readFile, stat, statfs } from 'node:fs/promises'
import type { DiskCounters, HostCounters, InterfaceCounters } from '#server/metrics/sample.ts'
import { cpuIn, devicesIn, interfacesIn, memoryIn, mountsIn, type Mount } from './proc.ts'

/** More than an ordinary host has; a limit, because each file system costs a call and lines in every answer. */
const MAX_DISKS = 32

/** Reads the host's counters; what cannot be read, for example on a system without /proc, is null. */
export async function readHost(): Promise<HostCounters> {
  const [stat, meminfo, disks, interfaces] = await Promise.all([
    read('/proc/stat'),
    read('/proc/meminfo'),
    readDisks(),
    readInterfaces(),
  ])
  return {
    clock: performance.now() / 1_000,
    ...cpuIn(stat ?? ''),
    memory: memoryIn(meminfo ?? ''),
    disks,
    interfaces,
  }
}

async function readDisks(): Promise<DiskCounters[]> {
  const [mountinfo, diskstats] = await Promise.all([read('/proc/self/mountinfo'), read('/proc/diskstats')])
  const devices = devicesIn(diskstats ?? '')
  const mounts = mountsIn(mountinfo ?? '').slice(0, MAX_DISKS)
  return Promise.all(
    mounts.map(async (mount) => {
      const [size, device] = await Promise.all([sizeOf(mount.mountPoint), deviceOf(mount, devices)])
      const counted = devices.get(device)
      return {
        mountPoint: mount.mountPoint,
        device,
        ...size,
        readBytes: counted?.readBytes ?? null,
        writtenBytes: counted?.writtenBytes ?? null,
      }
    }),
  )
}

async function sizeOf(mountPoint: string): Promise<Pick<DiskCounters, 'totalBytes' | 'usedBytes'>> {
  try {
    const { bsize, blocks, bfree } = await statfs(mountPoint)
    return { totalBytes: blocks * bsize, usedBytes: (blocks - bfree) * bsize }
  } catch {
    return { totalBytes: null, usedBytes: null }
  }
}

/** Returns the device of a mount. The device number of a Btrfs mount is not a real one, so its source name is looked up. */
async function deviceOf(mount: Mount, devices: ReadonlyMap<string, unknown>): Promise<string> {
  if (devices.has(mount.device) || !mount.source.startsWith('/dev/')) return mount.device
  try {
    const { rdev } = await stat(mount.source)
    // The two halves of a device number (gnu_dev_major(3)).
    const major = Math.floor(rdev / 256) % 4_096
    const minor = (rdev % 256) + Math.floor(rdev / 1_048_576) * 256
    return `${major}:${minor}`
  } catch {
    return mount.device
  }
}

async function readInterfaces(): Promise<InterfaceCounters[] | null> {
  const dev = await read('/proc/net/dev')
  if (dev === null) return null
  return Promise.all(
    interfacesIn(dev).map(async (each) => ({ ...each, isPhysical: await isPhysical(each.device) })),
  )
}

function isPhysical(device: string): Promise<boolean> {
  return access(`/sys/class/net/${device}/device`).then(
    () => true,
    () => false,
  )
}

function read(path: string): Promise<string | null> {
  return readFile(path, 'utf8').catch(() => null)
}
