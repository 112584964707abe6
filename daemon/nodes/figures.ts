import type { HostAnswer } from '#agent/protocol.ts'
import type { HostFigures } from '#server/nodes/schema.ts'

const IDLE_MODES = ['idle', 'iowait']

/** What a node's host uses, as the API shows it. */
export function figuresOf({ memory, disk }: HostAnswer, cpuPercent: number | null): HostFigures {
  return {
    cpu_percent: cpuPercent,
    memory_used_bytes: memory && memory.totalBytes - memory.availableBytes,
    memory_total_bytes: memory && memory.totalBytes,
    disk_used_bytes: disk && disk.totalBytes - disk.freeBytes,
    disk_total_bytes: disk && disk.totalBytes,
  }
}

/** How busy all CPUs were between two answers, 0 to 100; null when they do not say. */
export function cpuPercentOf(before: HostAnswer, after: HostAnswer): number | null {
  if (!before.cpuSeconds || !after.cpuSeconds) return null
  let busy = 0
  let all = 0
  for (const [mode, seconds] of Object.entries(after.cpuSeconds)) {
    const spent = Math.max(0, seconds - (before.cpuSeconds[mode] ?? 0))
    all += spent
    if (!IDLE_MODES.includes(mode)) busy += spent
  }
  return all === 0 ? null : (busy / all) * 100
}
