import { writeFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
/** The kernel's default period for CPU quotas. */
const PERIOD_US = 100_000

export interface BuildLimits {
  memoryBytes: number
  cpus: number
}

/**
 * Bounds all BuildKit steps of the local engine together by the control group above them, since BuildKit ignores limits
 * of a single build. Returns whether it could: root on the engine's own host, with Docker's layout of control groups.
 */
export function limitBuilds(limits: BuildLimits): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    return existsSync(join(ROOT, 'cgroup.controllers')) ? limitUnified(limits) : limitLegacy(limits)
  } catch {
    // Read-only, another layout, or less than root's usual rights: the build's time limit stands alone then.
    return false
  }
}

/** cgroup v1: a tree for each controller (docs.kernel.org, admin-guide/cgroup-v1). */
function limitLegacy({ memoryBytes, cpus }: BuildLimits): boolean {
  const memory = folder(ROOT, 'memory', 'docker', 'buildkit')
  const cpu = folder(ROOT, 'cpu', 'docker', 'buildkit')
  if (!memory || !cpu) return false
  writeFileSync(join(memory, 'memory.limit_in_bytes'), String(memoryBytes))
  writeFileSync(join(cpu, 'cpu.cfs_period_us'), String(PERIOD_US))
  writeFileSync(join(cpu, 'cpu.cfs_quota_us'), String(Math.round(cpus * PERIOD_US)))
  return true
}

/** cgroup v2: one tree; steps are under `docker/buildkit`, or `system.slice` where systemd keeps it. */
function limitUnified({ memoryBytes, cpus }: BuildLimits): boolean {
  const group = folder(ROOT, 'docker', 'buildkit')
  if (!group) return false
  for (const parent of [ROOT, join(ROOT, 'docker')]) {
    const file = join(parent, 'cgroup.subtree_control')
    const enabled = readFileSync(file, 'utf8').split(/\s+/)
    for (const controller of ['memory', 'cpu']) {
      if (!enabled.includes(controller)) writeFileSync(file, `+${controller}`)
    }
  }
  writeFileSync(join(group, 'memory.max'), String(memoryBytes))
  writeFileSync(join(group, 'cpu.max'), `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`)
  return true
}

/** The group, made when only it and Docker's own are missing: the first step would make it, unbounded until then. */
function folder(root: string, ...names: string[]): string | null {
  if (!existsSync(join(root, names[0]!)) && names.length > 2) return null
  const path = join(root, ...names)
  mkdirSync(path, { recursive: true })
  return path
}
