import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import {
  at,
  commandOf,
  commandsOf,
  fileOf,
  joined,
  pathOf,
  readRecord,
  silent,
  startsOf,
  textsIn,
  type HostFile,
} from './host-file.ts'
import { nixpacksPlan } from './nixpacks.ts'

const FILES = ['railway.json', 'railway.toml']

/**
 * Reads Railway's configuration file, which overrides its dashboard (docs.railway.com, "Config as Code"). A service with a
 * schedule runs its command and ends, so the command is that of a job.
 */
export async function railway(tree: Tree, notes: string[]): Promise<HostFile | null> {
  for (const file of FILES) {
    const value = await readRecord(tree, file, notes)
    if (value !== null) return read(file, value)
  }
  return null
}

function read(file: string, value: Record<string, unknown>): HostFile {
  const { build, deploy } = value
  const planned = at(build, 'nixpacksPlan')
  const plan = isRecord(planned) ? nixpacksPlan(file, planned) : silent(file)
  const command = commandOf(at(deploy, 'startCommand'))
  const building = commandsOf(at(build, 'buildCommand'))
  const schedule = commandOf(at(deploy, 'cronSchedule'))
  const isOfBuilder =
    ['NIXPACKS', 'RAILPACK'].includes(String(at(build, 'builder')).toUpperCase()) || isRecord(planned)
  const watched = textsIn(at(build, 'watchPatterns'))
  return {
    ...plan,
    starts: command === null ? plan.starts : schedule !== null ? { job: command } : startsOf(command),
    build: building.length === 0 ? plan.build : building,
    preDeploy: joined(commandsOf(at(deploy, 'preDeployCommand'))),
    healthCheckPath: pathOf(at(deploy, 'healthcheckPath')),
    isOfBuilder,
    dockerfile: isOfBuilder ? null : fileOf(at(build, 'dockerfilePath')),
    notes: [
      ...(schedule === null
        ? []
        : [`${file} runs it on the schedule ${schedule}: make it a cron_job for that`]),
      ...(watched.length === 0
        ? []
        : [`${file} deploys only for changes of ${watched.join(', ')}: set watch_paths for that`]),
    ],
  }
}
