import { readFile } from 'node:fs/promises'

/** How often a process is looked at; what it can take between two looks is far below what a host has to spare. */
const PERIOD_MS = 100
/** The unit of times in /proc/[pid]/stat: 100 a second on every architecture, whatever the kernel's own (proc_pid_stat(5)). */
const TICKS_PER_SECOND = 100

/** What a process has taken so far. */
export interface Usage {
  /** Of all its threads. */
  cpuSeconds: number
  residentBytes: number
}

/** What a living process takes; null when there is none of that id. */
export async function usageOf(pid: number): Promise<Usage | null> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, 'latin1'),
      readFile(`/proc/${pid}/status`, 'latin1'),
    ])
    // The name before stands in parentheses and may hold any character (proc_pid_stat(5)); utime and stime are fields 14, 15.
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

/** Looks at a process until it has ended or the function that this answers is called. */
export function watchUsage(pid: number, onUsage: (usage: Usage) => void): () => void {
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    const usage = await usageOf(pid)
    if (stopped || usage === null) return
    onUsage(usage)
    timer = setTimeout(() => void look(), PERIOD_MS).unref()
  }
  timer = setTimeout(() => void look(), PERIOD_MS).unref()
  return () => {
    stopped = true
    clearTimeout(timer)
  }
}
