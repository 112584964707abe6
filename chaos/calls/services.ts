import type { ServiceKind, ServiceRecord, Settings } from '../model.ts'
import { addDeploy, splitPlace } from '../model.ts'
import { about, freePlace, pickService, type Call, type CallKind, type Scene } from './call.ts'
import { DISK_PATH, serve } from './programs.ts'
import { VARIABLES } from './surroundings.ts'

const IMAGE = 'busybox:1'
/** As many programs as a small machine runs next to the tests of others. */
const MAX_SERVICES = 9
const MEMORY_MIB = [32, 48, 64]
const DEFAULTS: Settings = {
  type: 'web_service',
  image: null,
  start_command: null,
  schedule: null,
  disk_mount_path: null,
  instances: 1,
  memory_limit_mb: 32,
  suspended: false,
  custom_domains: [],
}

/** Whether a number of instances runs for a service, which can be chosen. */
function canScale({ kind, settings }: ServiceRecord): boolean {
  return (kind === 'image' || kind === 'upload' || kind === 'worker') && settings.disk_mount_path === null
}

function create(scene: Scene, kind: ServiceKind, settings: Partial<Settings>): Call | null {
  const { model, draw, round, text } = scene
  const place = freePlace(scene)
  if (place === null || Object.keys(model.services).length >= MAX_SERVICES) return null
  const { environment, name } = splitPlace(place)
  const variables = { [draw.pick(VARIABLES)]: text }
  const groups = Object.keys(model.groups).slice(0, draw.below(2))
  const given = { type: 'web_service', memory_limit_mb: draw.pick(MEMORY_MIB), ...settings }
  const env = Object.entries(variables).map(([key, value]) => ({ key, value }))
  return {
    method: 'POST',
    path: '/services',
    body: { name, environment, ...given, env, env_groups: groups },
    subjects: [place, `environment ${environment}`, ...groups.map((group) => `group ${group}`)],
    apply(next, answer) {
      const record: ServiceRecord = {
        id: answer?.id ?? null,
        kind,
        settings: { ...DEFAULTS, ...given },
        variables,
        groups,
        printed: kind === 'image' ? [{ round, text }] : [],
        deploys: [],
        jobs: [],
        diskBackups: [],
        touched: round,
        onDisk: null,
      }
      next.services[place] = record
      const isDeployed = record.settings.image !== null
      const id = answer?.latest_deploy?.id ?? null
      if (isDeployed) addDeploy(record, { id, round, trigger: 'create', texts: null })
    },
  }
}

/** A change of settings by `PATCH`, or by the path of its own that some changes have. */
function change(
  scene: Scene,
  place: string,
  settings: Partial<Settings>,
  { below, body = settings }: { below?: string; body?: object } = {},
): Call {
  const method = below === undefined ? 'PATCH' : 'POST'
  return about(place, { method, below, body }, scene.round, (record) => {
    if (settings.start_command !== undefined) record.printed.push({ round: scene.round, text: scene.text })
    Object.assign(record.settings, settings)
    if (settings.suspended) allowCancels(record)
  })
}

/** What is under way is canceled with a suspension. */
function allowCancels(record: ServiceRecord): void {
  for (const deploy of record.deploys) if (deploy.cancel === 'no') deploy.cancel = 'asked'
  for (const job of record.jobs) job.mayBeCanceled = true
}

/** Calls that create, change and delete services. */
export const SERVICE_CALLS: readonly CallKind[] = [
  {
    name: 'create a web service',
    weight: 6,
    draw(scene) {
      const hasDisk = scene.draw.chance(0.3)
      return create(scene, 'image', {
        image: IMAGE,
        start_command: serve(scene.text, hasDisk),
        disk_mount_path: hasDisk ? DISK_PATH : null,
        instances: hasDisk ? 1 : scene.draw.pick([1, 1, 2]),
      })
    },
  },
  { name: 'create a service for uploads', weight: 2, draw: (scene) => create(scene, 'upload', {}) },
  { name: 'create a site', weight: 3, draw: (scene) => create(scene, 'site', { type: 'static_site' }) },
  {
    name: 'create a worker',
    weight: 2,
    draw: (scene) =>
      create(scene, 'worker', {
        type: 'background_worker',
        image: IMAGE,
        start_command: 'exec sleep 100000',
        instances: scene.draw.pick([1, 2]),
      }),
  },
  {
    name: 'create a cron job',
    weight: 2,
    draw: (scene) =>
      create(scene, 'cron', {
        type: 'cron_job',
        image: IMAGE,
        start_command: 'echo done',
        schedule: scene.draw.pick(['* * * * *', '0 3 * * *']),
      }),
  },
  {
    name: 'change what it serves',
    weight: 5,
    draw(scene) {
      const found = pickService(scene, ({ kind }) => kind === 'image')
      if (!found) return null
      const hasDisk = found.record.settings.disk_mount_path !== null
      return change(scene, found.place, { start_command: serve(scene.text, hasDisk) })
    },
  },
  {
    name: 'change its memory',
    weight: 2,
    draw(scene) {
      const found = pickService(scene, () => true)
      return found && change(scene, found.place, { memory_limit_mb: scene.draw.pick(MEMORY_MIB) })
    },
  },
  {
    name: 'change when it runs',
    weight: 1,
    draw(scene) {
      const found = pickService(scene, ({ kind }) => kind === 'cron')
      return found && change(scene, found.place, { schedule: scene.draw.pick(['* * * * *', '5 4 * * *']) })
    },
  },
  {
    name: 'scale',
    weight: 5,
    draw(scene) {
      const found = pickService(scene, canScale)
      if (!found) return null
      const settings = { instances: scene.draw.pick([0, 1, 2, 3]) }
      return change(scene, found.place, settings, scene.draw.chance(0.5) ? { below: '/scale' } : {})
    },
  },
  {
    name: 'suspend',
    weight: 3,
    draw(scene) {
      const found = pickService(scene, ({ settings }) => !settings.suspended)
      return found && change(scene, found.place, { suspended: true }, { below: '/suspend', body: {} })
    },
  },
  {
    name: 'resume',
    weight: 5,
    draw(scene) {
      const found = pickService(scene, ({ settings }) => settings.suspended)
      return found && change(scene, found.place, { suspended: false }, { below: '/resume', body: {} })
    },
  },
  {
    name: 'delete a service',
    weight: 2,
    draw(scene) {
      const found = pickService(scene, () => true)
      if (!found) return null
      const { place } = found
      return about(place, { method: 'DELETE', query: '&force' }, scene.round, (_record, answer, model) => {
        delete model.services[place]
        if (answer === null) model.leaving.push(place)
      })
    },
  },
]
