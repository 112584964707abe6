import { closeSync, constants, openSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** sun_path of unix(7) holds 108 bytes with its terminating NUL. */
const SOCKET_PATH_BYTES = 107

/** Returns the control socket of the data plane of a data directory. */
export function controlSocketFile(dataDirectory: string): string {
  return join(proxyDirectory(dataDirectory), 'control.sock')
}

/**
 * Returns the control socket of older data planes. If an older one is not found, it is not upgraded: a second data plane is
 * started on its workers' listening sockets, and both serve, the older one by a table that never changes again.
 */
export function olderControlSocketFile(dataDirectory: string): string {
  return join(dataDirectory, 'proxy.sock')
}

/** Returns where the data plane keeps its table, counts, log, control socket and the sockets of its workers. */
export function proxyDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'proxy')
}

/** Returns the file in which the active supervisor writes its process id, for a service manager to watch. */
export function supervisorPidFile(dataDirectory: string): string {
  return join(proxyDirectory(dataDirectory), 'supervisor.pid')
}

/** Returns the control socket of one worker. */
export function workerSocketFile(dataDirectory: string, pid: number): string {
  return join(proxyDirectory(dataDirectory), `worker-${pid}.sock`)
}

/** Returns the control sockets that workers, living or dead, have left in the data directory. */
export function workerSocketFiles(dataDirectory: string): { pid: number; file: string }[] {
  const directory = proxyDirectory(dataDirectory)
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const pid = /^worker-(\d+)\.sock$/.exec(name)?.[1]
    return pid === undefined ? [] : [{ pid: Number(pid), file: join(directory, name) }]
  })
}

/**
 * Calls `use` with a path for a Unix socket: `file` itself or, when that is too long for the kernel, a shorter path through
 * an open descriptor of its folder, which is held until the promise of `use` settles.
 */
export async function withSocketPath<T>(file: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(file) <= SOCKET_PATH_BYTES) return use(file)
  const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return await use(`/proc/self/fd/${folder}/${basename(file)}`)
  } finally {
    closeSync(folder)
  }
}
