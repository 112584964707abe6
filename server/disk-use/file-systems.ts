import { stat, statfs } from 'node:fs/promises'
import { AppError } from '../errors.ts'
import type { Options } from '../options/index.ts'
import type { DiskFloor } from '../options/disk-floor.ts'

/** A file system that the server fills; sizes are in bytes. */
export interface FileSystem {
  /** A folder on it. */
  path: string
  /** Equal for two folders on the same one (`st_dev`). */
  device: number
  totalBytes: number
  /** What programs can still write, without what is reserved for root. */
  freeBytes: number
  /** Builds wait while less than this is free. */
  floorBytes: number
  /** 0 if the file system creates inodes as it needs them. */
  totalInodes: number
  freeInodes: number
}

/** The file systems of the data directory and of the engine's images; often they are the same. */
export interface FileSystems {
  data: FileSystem
  /** Null if the engine keeps its data where this host does not see it, or did not say where. */
  engine: FileSystem | null
}

/** Reads both file systems; `engineRoot` is the folder of the engine's data, if it is known. Throws if the first is gone. */
export async function readFileSystems(
  { dataDirectory, diskFloor }: Pick<Options, 'dataDirectory' | 'diskFloor'>,
  engineRoot: string | null,
): Promise<FileSystems> {
  const [data, engine] = await Promise.all([
    readFileSystem(dataDirectory, diskFloor),
    // The data of an engine in a virtual machine is in a folder that this host does not have.
    engineRoot === null ? null : readFileSystem(engineRoot, diskFloor).catch(() => null),
  ])
  return { data, engine }
}

/** The file system that has less room above its floor. */
export function fullerOf({ data, engine }: FileSystems): FileSystem {
  return engine !== null && roomOf(engine) < roomOf(data) ? engine : data
}

/** Whether so little is free that builds wait. */
export function isBelowFloor(fileSystem: FileSystem): boolean {
  return roomOf(fileSystem) < 0
}

async function readFileSystem(path: string, floor: DiskFloor): Promise<FileSystem> {
  const [{ dev }, { bavail, blocks, bsize, files, ffree }] = await Promise.all([stat(path), statfs(path)])
  const totalBytes = blocks * bsize
  return {
    path,
    device: dev,
    totalBytes,
    freeBytes: bavail * bsize,
    floorBytes: floorOf(floor, totalBytes),
    totalInodes: files,
    freeInodes: ffree,
  }
}

/** Throws `io_error` unless a folder has room for so many bytes; `what` takes them, as in "the backup takes". */
export async function assertRoom(folder: string, bytes: number, what: string, advice: string): Promise<void> {
  const { bavail, bsize } = await statfs(folder)
  const freeBytes = bavail * bsize
  if (freeBytes >= bytes) return
  throw new AppError(
    'io_error',
    `${what} ${mebibytes(bytes)}, but ${folder} has ${mebibytes(freeBytes)} free: ${advice}`,
  )
}

function mebibytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`
}

/** The floor of a file system of this size, in bytes. */
export function floorOf({ percent, minBytes }: DiskFloor, totalBytes: number): number {
  return Math.max(Math.ceil((totalBytes * percent) / 100), minBytes)
}

function roomOf({ freeBytes, floorBytes }: FileSystem): number {
  return freeBytes - floorBytes
}
