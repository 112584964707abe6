import { accessSync, constants, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const ROOT = '/sys/fs/cgroup'
/** The kernel's default period for CPU quotas. */
const PERIOD_US = 100_000

/** The limits of all builds together. */
export interface BuildLimits {
  memoryBytes: number
  cpus: number
  /** Processes and threads. */
  pids: number
}

/** The files that set a limit, by its human-readable name. */
type Settings = Record<string, { controller: string; files: [name: string, value: string][] }>

/** The limits of builds by their human-readable names, with which those that cannot be set are reported. */
export const BUILD_LIMITS: readonly string[] = ['memory', 'CPU', 'processes']

/** What decides whether an engine's builds can be limited. */
interface BuildHost {
  name: string
  rootless: boolean
  cgroupDriver: string
}

/** Why the builds of an engine cannot be limited, wherever the server runs; null when they can. */
export function engineLimitsFault({ name, rootless, cgroupDriver }: BuildHost): string | null {
  if (name !== 'docker') return `${name} has no BuildKit of its own`
  if (rootless) return 'the engine is rootless'
  // With systemd's driver, each step has a control group of its own at the root, so the steps have no parent to limit.
  return cgroupDriver === 'cgroupfs' ? null : `the engine uses the ${cgroupDriver || 'unknown'} cgroup driver`
}

/** Why this process cannot limit the builds of an engine; null when it can. Changes nothing. */
export function buildLimitsFault(host: BuildHost): string | null {
  const fault = engineLimitsFault(host)
  if (fault !== null) return fault
  if (process.getuid?.() !== 0) return 'the server does not run as root'
  const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
  for (const tree of isUnified ? [ROOT] : ['memory', 'cpu', 'pids'].map((name) => join(ROOT, name))) {
    if (!existsSync(tree)) return `this host has no control groups at ${tree}`
    const place = nearest(join(tree, 'docker', 'buildkit'))
    try {
      accessSync(place, constants.W_OK)
    } catch (error) {
      return `${place} cannot be written (${(error as NodeJS.ErrnoException).code})`
    }
  }
  return null
}

/** The nearest folder above that exists, or the folder itself. */
function nearest(path: string): string {
  return existsSync(path) ? path : nearest(dirname(path))
}

/**
 * Limits all BuildKit steps of the local engine together by their parent control group, since BuildKit ignores the limits of
 * a single build. Returns the names of the limits that could not be set: that needs root on the engine's own host, with
 * Docker's layout of control groups.
 */
export function limitBuilds(limits: BuildLimits): string[] {
  if (process.getuid?.() !== 0) return [...BUILD_LIMITS]
  const isUnified = existsSync(join(ROOT, 'cgroup.controllers'))
  const settings = isUnified ? unified(limits) : legacy(limits)
  return BUILD_LIMITS.filter((name) => {
    const { controller, files } = settings[name]!
    try {
      const group = isUnified ? enable(controller) : groupOf(controller)
      if (group === null) return true
      for (const [file, value] of files) writeFileSync(join(group, file), value)
      return false
    } catch {
      // A read-only file system, another layout, or root without its usual rights.
      return true
    }
  })
}

/** cgroup v1 (docs.kernel.org, admin-guide/cgroup-v1). */
function legacy({ memoryBytes, cpus, pids }: BuildLimits): Settings {
  const cpu: [string, string][] = [
    ['cpu.cfs_period_us', String(PERIOD_US)],
    ['cpu.cfs_quota_us', String(Math.round(cpus * PERIOD_US))],
  ]
  return {
    memory: { controller: 'memory', files: [['memory.limit_in_bytes', String(memoryBytes)]] },
    CPU: { controller: 'cpu', files: cpu },
    processes: { controller: 'pids', files: [['pids.max', String(pids)]] },
  }
}

/** cgroup v2 (docs.kernel.org, admin-guide/cgroup-v2). */
function unified({ memoryBytes, cpus, pids }: BuildLimits): Settings {
  const quota = `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`
  return {
    memory: { controller: 'memory', files: [['memory.max', String(memoryBytes)]] },
    CPU: { controller: 'cpu', files: [['cpu.max', quota]] },
    processes: { controller: 'pids', files: [['pids.max', String(pids)]] },
  }
}

/** Version 1 has a tree for each controller. The group is created before the first step would create it, without limits. */
function groupOf(controller: string): string | null {
  if (!existsSync(join(ROOT, controller))) return null
  const path = join(ROOT, controller, 'docker', 'buildkit')
  mkdirSync(path, { recursive: true })
  return path
}

/** Version 2 has one tree, in which each group has to enable a controller for the groups below. */
function enable(controller: string): string {
  const group = join(ROOT, 'docker', 'buildkit')
  mkdirSync(group, { recursive: true })
  for (const parent of [ROOT, join(ROOT, 'docker')]) {
    const file = join(parent, 'cgroup.subtree_control')
    if (!readFileSync(file, 'utf8').split(/\s+/).includes(controller)) writeFileSync(file, `+${controller}`)
  }
  return group
}
