import { closeSync, constants, openSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** sun_path of unix(7) holds 108 bytes with its terminating NUL. */
const SOCKET_PATH_BYTES = 107

/** The control socket of a data directory's data plane. */
export function controlSocketFile(dataDirectory: string): string {
  return join(proxyDirectory(dataDirectory), 'control.sock')
}

/**
 * Where older data planes have theirs. One that is not found is not upgraded: another would be started on its workers'
 * listening sockets, and both would serve, the older by a table that nobody changes any more.
 */
export function olderControlSocketFile(dataDirectory: string): string {
  return join(dataDirectory, 'proxy.sock')
}

/** Where the data plane keeps its table, counts, log, control socket and the sockets of its workers. */
export function proxyDirectory(dataDirectory: string): string {
  return join(dataDirectory, 'proxy')
}

/** Where the supervisor in charge writes its process id, for a service manager to watch. */
export function supervisorPidFile(dataDirectory: string): string {
  return join(proxyDirectory(dataDirectory), 'supervisor.pid')
}

/** The control socket of one worker. */
export function workerSocketFile(dataDirectory: string, pid: number): string {
  return join(proxyDirectory(dataDirectory), `worker-${pid}.sock`)
}

/** Control sockets that workers, living or dead, have left in the data directory. */
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
 * Calls `use` with a path for a Unix socket: `file` itself, or, when that is too long for the kernel, a short way to
 * it through an open descriptor of its folder, held until the promise of `use` settles.
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
