import { SERVICE_TYPES } from '#server/services/types.ts'
import { listed, patched, type Place, type Service } from './model-rules.ts'
import type { Model } from './model.ts'

/** A request, and what the model says about it; a success changes the model. */
export interface Operation {
  method: string
  path: string
  body?: unknown
  expect: (model: Model) => number
}

const ENVIRONMENTS = ['production', 'production', 'staging', 'other', 'Bad'] as const
const SERVICES = ['api', 'web', 'worker', 'x_y'] as const
const GROUPS = ['shared', 'more', '9'] as const
const DOMAINS = ['one.test', 'staging.one.test', 'two.test', 'other.localhost', '*.test'] as const
const KEYS = ['A', 'B', 'C', 'B-AD', 'DEPLOYER_C'] as const
const VALUES = [
  ...['', '1', 'é\n"$x', 'a\0b', '${{nothing}}', '${{service.web.host}}', '${{service.worker.host}}'],
  ...[
    '${{service.api.env.A}}',
    'x${{ service.web.env.B }}y'.replaceAll(' ', ''),
    '${{service.worker.env.A}}',
  ],
] as const
const FIELDS: { [Field in keyof Omit<Service, 'birth' | 'type'>]: readonly Service[Field][] } = {
  port: [null, 80, 0],
  schedule: [null, '0 3 * * *'],
  instances: [1, 2, 0, -1],
  disk_mount_path: [null, '/data', 'data'],
  memory_limit_mb: [0, 16, 15],
  start_command: [null, 'run me'],
  suspended: [false, true],
  custom_domains: [[], ['www.example.org'], ['shop.example.org', 'www.example.org']],
}
// Most are web services, which have the most settings.
const TYPES = ['web_service', ...SERVICE_TYPES] as const

/** Draws an operation at random, valid and invalid ones alike. */
export function drawOperation(random: () => number): Operation {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!
  return pick(KINDS)(pick, random)
}

type Pick = <T>(from: readonly T[]) => T
type Kind = (pick: Pick, random: () => number) => Operation

const KINDS: readonly Kind[] = [
  (pick) => {
    const name = pick(ENVIRONMENTS)
    return { ...request('POST', '/environments', { name }), expect: (model) => model.makeEnvironment(name) }
  },
  (pick) => {
    const name = pick(ENVIRONMENTS)
    return { ...request('DELETE', `/environments/${name}`), expect: (model) => model.dropEnvironment(name) }
  },
  (pick) => {
    const name = pick(DOMAINS)
    return { ...request('POST', '/domains', { name }), expect: (model) => model.makeDomain(name) }
  },
  (pick) => {
    const name = pick(['localhost', 'one.test', 'staging.one.test', 'two.test', 'other.localhost'])
    return { ...request('DELETE', `/domains/${name}`), expect: (model) => model.dropDomain(name) }
  },
  (pick, random) => {
    const name = pick(GROUPS)
    const vars = drawVariables(pick, random)
    return {
      ...request('POST', '/env-groups', { name, vars }),
      expect: (model) => model.makeGroup(name, vars),
    }
  },
  (pick) => {
    const name = pick(GROUPS)
    const force = pick([true, false, false])
    return {
      ...request('DELETE', `/env-groups/${name}?force=${force}`),
      expect: (model) => model.dropGroup(name, force),
    }
  },
  (pick, random) => {
    const name = pick(GROUPS)
    const { body, changed } = drawChange(pick, random)
    return {
      ...request('set' in body ? 'PATCH' : 'PUT', `/env-groups/${name}/env`, body),
      expect: (model) => model.changeGroup(name, changed),
    }
  },
  ...Array.from({ length: 3 }, () => makeService),
  ...Array.from({ length: 3 }, () => changeService),
  ...Array.from({ length: 3 }, () => changeVariables),
  ...Array.from({ length: 2 }, () => changeLink),
  (pick) => {
    const at = drawPlace(pick)
    const name = pick(SERVICES)
    return { ...request('PATCH', addressOf(at), { name }), expect: (model) => model.renameService(at, name) }
  },
  (pick) => {
    const at = drawPlace(pick)
    const force = pick([true, false, false])
    return {
      ...request('DELETE', `${addressOf(at)}&force=${force}`),
      expect: (model) => model.dropService(at, force),
    }
  },
]

function makeService(pick: Pick, random: () => number): Operation {
  const at = drawPlace(pick)
  const type = pick(TYPES)
  const fields = {
    type,
    ...(type === 'cron_job' ? { schedule: '0 3 * * *' } : {}),
    ...drawFields(pick, 2, ['suspended']),
  }
  const vars = drawVariables(pick, random)
  return {
    ...request('POST', '/services', { ...at, ...fields, env: vars, deploy: false }),
    expect: (model) => model.makeService(at, fields, vars),
  }
}

function changeService(pick: Pick): Operation {
  const at = drawPlace(pick)
  const fields = drawFields(pick, 2, [])
  return { ...request('PATCH', addressOf(at), fields), expect: (model) => model.changeService(at, fields) }
}

function changeVariables(pick: Pick, random: () => number): Operation {
  const at = drawPlace(pick)
  const { body, changed } = drawChange(pick, random)
  return {
    ...request('set' in body ? 'PATCH' : 'PUT', addressOf(at, '/env'), body),
    expect: (model) => model.changeVariables(at, changed),
  }
}

function changeLink(pick: Pick, random: () => number): Operation {
  const at = drawPlace(pick)
  const group = pick(GROUPS)
  if (random() < 0.3)
    return {
      ...request('DELETE', addressOf(at, `/env-groups/${group}`)),
      expect: (model) => model.unlink(at, group),
    }
  return {
    ...request('POST', addressOf(at, '/env-groups'), { group }),
    expect: (model) => model.link(at, group),
  }
}

function request(method: string, path: string, body?: unknown): Omit<Operation, 'expect'> {
  return { method, path, body }
}

function drawPlace(pick: Pick): Place {
  return { environment: pick(ENVIRONMENTS), name: pick(SERVICES) }
}

function addressOf({ environment, name }: Place, below = ''): string {
  return `/services/${name}${below}?environment=${environment}`
}

function drawVariables(pick: Pick, random: () => number) {
  return Array.from({ length: Math.floor(random() * 3) }, () => ({ key: pick(KEYS), value: pick(VALUES) }))
}

function drawFields(pick: Pick, most: number, without: readonly string[]): Partial<Service> {
  const names = (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).filter((name) => !without.includes(name))
  return Object.fromEntries(
    Array.from({ length: most }, () => pick(names)).map((name) => [name, pick<unknown>(FIELDS[name])]),
  )
}

/** A PUT of all variables, or a PATCH of some. */
function drawChange(pick: Pick, random: () => number) {
  const vars = drawVariables(pick, random)
  if (random() < 0.4) return { body: { vars }, changed: () => listed(vars) }
  const unset = random() < 0.4 ? [pick(KEYS.slice(0, 3))] : []
  return { body: { set: vars, unset }, changed: (old: Map<string, string>) => patched(old, vars, unset) }
}
