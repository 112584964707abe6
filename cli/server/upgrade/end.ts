import { readdirSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { takeDataLock } from '#server/data-directory.ts'

/** A server ends within 10 s of SIGTERM; one that does not is killed. */
const END_WITHIN_MS = 15_000
const POLL_EVERY_MS = 100

/** Ends the server of a data directory, whether it is ready or not, by force when it does not end within its time. */
export async function endServer(dataDirectory: string): Promise<void> {
  const began = performance.now()
  const asked = new Set<string>()
  while (!isFree(dataDirectory)) {
    const signal = performance.now() - began > END_WITHIN_MS ? 'SIGKILL' : 'SIGTERM'
    const pid = lockHolder(dataDirectory)
    if (pid !== null && !asked.has(`${signal} ${pid}`)) kill(pid, signal)
    asked.add(`${signal} ${pid}`)
    await delay(POLL_EVERY_MS)
  }
}

/** Whether a process is the server of a data directory; one that has ended may still be listed, until it is waited for. */
export function isServerOf(dataDirectory: string, pid: number): boolean {
  return !isFree(dataDirectory) && isAlive(pid) && (lockHolder(dataDirectory) ?? pid) === pid
}

/** Whether a process exists. */
export function isAlive(pid: number): boolean {
  return kill(pid, 0)
}

function isFree(dataDirectory: string): boolean {
  const lock = takeDataLock(dataDirectory)
  lock?.release()
  return lock !== null
}

/**
 * The process that holds the lock of a data directory (proc_locks(5)); null when none is seen. What the last server wrote
 * about itself may be about an earlier one, since it is written when a server is ready.
 */
function lockHolder(dataDirectory: string): number | null {
  const file = realpathSync(join(dataDirectory, 'lock.db'))
  const { ino } = statSync(file)
  for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
    const [, pid, inode] = /POSIX\s+ADVISORY\s+WRITE\s+(\d+)\s+[0-9a-f]+:[0-9a-f]+:(\d+)\s/.exec(line) ?? []
    if (inode === String(ino) && Number(pid) !== process.pid && hasOpen(Number(pid), file)) return Number(pid)
  }
  return null
}

/** Whether a process has a file open: files of other file systems may have the same inode number. */
function hasOpen(pid: number, file: string): boolean {
  try {
    const folder = `/proc/${pid}/fd`
    return readdirSync(folder).some((name) => linkOf(join(folder, name)) === file)
  } catch {
    // It has ended.
    return false
  }
}

function linkOf(path: string): string | null {
  try {
    return readlinkSync(path)
  } catch {
    // It was just closed.
    return null
  }
}

function kill(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    // It has ended.
    return false
  }
}
