import type Docker from 'dockerode'

/** What a container uses. */
export interface ContainerSample {
  /** Of one CPU: 150 is one and a half. */
  cpuPercent: number
  /** Without the page cache that the kernel can take back. */
  memoryBytes: number
}

/** Reads a sample from the engine's statistics; null when the container does not run. */
export function sampleOf(stats: Docker.ContainerStats): ContainerSample | null {
  const { cpu_stats: now, precpu_stats: before, memory_stats: memory } = stats
  if (!now.system_cpu_usage || memory.usage === undefined) return null
  const used = now.cpu_usage.total_usage - before.cpu_usage.total_usage
  const passed = now.system_cpu_usage - (before.system_cpu_usage ?? 0)
  const cpuPercent = passed > 0 && used > 0 ? (used / passed) * (now.online_cpus || 1) * 100 : 0
  // cgroup v1 and v2 name it differently (docker/cli, cli/command/container/stats_helpers.go).
  const cache = memory.stats as { total_inactive_file?: number; inactive_file?: number } | undefined
  const inactive = cache?.total_inactive_file ?? cache?.inactive_file ?? 0
  return { cpuPercent, memoryBytes: Math.max(0, memory.usage - inactive) }
}
