import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { readFileSystems, type FileSystem } from '#server/disk-use/file-systems.ts'
import { memoryIn } from '../../metrics/proc.ts'
import { failed, passed, skipped, warning, worstOf, type Check, type Verdict } from '../check.ts'
import type { Facts } from '../facts.ts'

/** Shares that are free. */
const SPACE_WARNING = 0.15
const SPACE_FAILED = 0.05
const MEMORY_WARNING = 0.1
const MEMORY_FAILED = 0.05
const GIBIBYTE = 1024 ** 3

/** What a verdict needs of a file system. */
type Space = Pick<FileSystem, 'path' | 'totalBytes' | 'freeBytes' | 'totalInodes' | 'freeInodes'>

const FIX = 'df -h and df -i show the file systems of this host.'

export const disk: Check = {
  id: 'disk',
  title: 'Disk space',
  fix: FIX,
  look: async (facts) => judgeDisk(await fileSystems(facts)),
}

export const inodes: Check = {
  id: 'inodes',
  title: 'Inodes',
  fix: FIX,
  look: async (facts) => judgeInodes(await fileSystems(facts)),
}

export const memory: Check = {
  id: 'memory',
  title: 'Memory',
  fix: 'free -m shows the memory of this host.',
  async look() {
    const found = memoryIn(await readFile('/proc/meminfo', 'utf8').catch(() => ''))
    return found
      ? judgeMemory(found.availableBytes, found.totalBytes)
      : skipped('this host has no /proc/meminfo')
  },
}

export function judgeDisk(systems: readonly Space[]): Verdict {
  const fix =
    'The disk page of the server (deployer server disk) shows what the server uses and removes what it needs no more; docker system df and du -xh --max-depth=1 show the rest. Or make the file system larger.'
  return worstOf(
    systems.map(({ path, freeBytes, totalBytes }) => {
      const text = `${path}: ${gibibytes(freeBytes)} (${percent(freeBytes, totalBytes)}) are free`
      return judgeShare(freeBytes / totalBytes, [SPACE_WARNING, SPACE_FAILED], text, fix)
    }),
  )
}

export function judgeInodes(systems: readonly Space[]): Verdict {
  const fix =
    'Remove what has many small files: docker builder prune empties the build cache. The number of inodes is set when a file system is created.'
  return worstOf(
    systems.map(({ path, totalInodes, freeInodes }) => {
      if (totalInodes === 0) return passed(`${path} has no fixed number of inodes`)
      const text = `${path}: ${percent(freeInodes, totalInodes)} of ${totalInodes} inodes are free`
      return judgeShare(freeInodes / totalInodes, [SPACE_WARNING, SPACE_FAILED], text, fix)
    }),
  )
}

export function judgeMemory(availableBytes: number, totalBytes: number): Verdict {
  const text = `${gibibytes(availableBytes)} (${percent(availableBytes, totalBytes)}) of ${gibibytes(totalBytes)} are available`
  return judgeShare(
    availableBytes / totalBytes,
    [MEMORY_WARNING, MEMORY_FAILED],
    text,
    'The metrics of the server show which service uses most: lower its memory limit or its number of instances, or give the host more memory.',
  )
}

function judgeShare(free: number, [warn, fail]: [number, number], text: string, fix: string): Verdict {
  if (free < fail) return failed(text, fix)
  return free < warn ? warning(text, fix) : passed(text)
}

/** The file systems of the data directory and of the engine's data, each once. */
async function fileSystems(facts: Facts): Promise<FileSystem[]> {
  const { options } = facts
  const info = await facts.engineInfoIfAny()
  const dataDirectory = existing(options.dataDirectory)
  const { data, engine } = await readFileSystems({ ...options, dataDirectory }, info?.dataRoot ?? null)
  return engine === null || engine.device === data.device ? [data] : [data, engine]
}

/** A folder, or the nearest one above that exists: a server that is not installed yet has none. */
function existing(folder: string): string {
  return existsSync(folder) || folder === dirname(folder) ? folder : existing(dirname(folder))
}

function gibibytes(bytes: number): string {
  return `${(bytes / GIBIBYTE).toFixed(1)} GiB`
}

function percent(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 100)} %`
}
