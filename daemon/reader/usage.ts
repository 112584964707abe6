import { readFile } from 'node:fs/promises'

/** How often a process is checked; what it can use between two checks is far below what a host can spare. */
const PERIOD_MS = 100
/** The unit of times in /proc/[pid]/stat: 100 per second on all architectures, whatever the kernel uses (proc_pid_stat(5)). */
const TICKS_PER_SECOND = 100

/** What a process has used so far. */
export interface Usage {
  /** Over all its threads. */
  cpuSeconds: number
  residentBytes: number
}

/** The usage of a running process; null when there is no process with that id. */
async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ])
    // The name before is in parentheses and may have any character (proc_pid_stat(5)); utime and stime are fields 14, 15.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const resident = /^VmRSS:[ \t]*(\d+) kB$/m.exec(status)?.[1] ?? 0
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      residentBytes: Number(resident) * 1024,
    }
  } catch {
    return null
  }
}

/** The memory of a process and its descendants, without pages of files; null when there is no process with that id. */
async function memoryOfTree(pid: number): Promise<number | null> {
  try {
    const [status, children] = await Promise.all([
      readFile(`/proc/${pid}/status`, 'latin1'),
      // The children of its first thread, the only one with which git starts others (proc_pid_task(5)).
      readFile(`/proc/${pid}/task/${pid}/children`, 'latin1').catch(() => ''),
    ])
    const own = Number(/^RssAnon:[ \t]*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
    const below = await Promise.all(
      (children.match(/\d+/g) ?? []).map((child) => memoryOfTree(Number(child))),
    )
    return below.reduce<number>((sum, bytes) => sum + (bytes ?? 0), own)
  } catch {
    return null
  }
}

/** Watches a process until the returned function is called. */
export function watchUsage(pid: number, onUsage: (usage: Usage) => void): () => void {
  return watch(() => usageOf(pid), onUsage)
}

/** Watches the memory of a process and its descendants until the returned function is called. */
export function watchMemory(pid: number, onBytes: (bytes: number) => void): () => void {
  return watch(() => memoryOfTree(pid), onBytes)
}

/** Keeps checking when a check fails, for example for lack of a free file descriptor. */
function watch<T>(read: () => Promise<T | null>, onValue: (value: T) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    const value = await read()
    if (stopped) return
    if (value !== null) onValue(value)
    later()
  }
  const later = (): void => void (timer = setTimeout(() => void look(), PERIOD_MS).unref())
  later()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
