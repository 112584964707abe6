import { readFile, statfs } from 'node:fs/promises'
import { cpuIn, memoryIn } from '#daemon/metrics/proc.ts'
import type { HostAnswer } from './protocol.ts'

/** The host's figures. A container sees the host's own files there. */
export async function readHost(): Promise<HostAnswer> {
  const [stat, meminfo, disk] = await Promise.all([read('/proc/stat'), read('/proc/meminfo'), readDisk()])
  return { now: Date.now(), ...cpuIn(stat), memory: memoryIn(meminfo), disk }
}

/** The root of a container is on the file system where the engine keeps its layers. */
async function readDisk(): Promise<HostAnswer['disk']> {
  const found = await statfs('/').catch(() => null)
  return found && { totalBytes: found.blocks * found.bsize, freeBytes: found.bavail * found.bsize }
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}
