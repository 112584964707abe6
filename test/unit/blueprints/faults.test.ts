import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { applyFile } from '#server/blueprints/apply.ts'
import { exportBlueprint } from '#server/blueprints/export.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { AppError } from '#server/errors.ts'
import { createService } from '#server/services/operations.ts'
import { ServiceInput } from '#server/services/input.ts'
import { openContext } from '../../support/context.ts'

const OPTIONS = { dryRun: false, keepsHandSet: false }

/** What a planted error does to a valid file: it spoils something, and returns its position. */
type Plant<T> = (file: T) => string

type Entry = Record<string, unknown>
interface NativeFile extends Entry {
  env_groups: (Entry & { vars: Entry[] })[]
  datastores: Entry[]
  services: (Entry & { env: Entry[] })[]
}

function soundFile(): NativeFile {
  const image = 'registry.example.com/app:1'
  return {
    env_groups: [
      { name: 'shared', vars: [{ key: 'LEVEL', value: 'info' }] },
      { name: 'lone', vars: [{ key: 'A', generate: true }] },
    ],
    datastores: [
      { name: 'db', kind: 'relational' },
      { name: 'cache', kind: 'keyvalue' },
      { name: 'spare', kind: 'relational' },
    ],
    services: [
      {
        name: 'web',
        image,
        env_groups: ['shared'],
        custom_domains: ['www.example.org'],
        env: [{ key: 'DATABASE_URL', from_datastore: { name: 'db' } }],
      },
      {
        name: 'worker',
        type: 'background_worker',
        image,
        env_groups: ['shared', 'lone'],
        env: [{ key: 'OWN', value: 'x' }],
      },
      {
        name: 'nightly',
        type: 'cron_job',
        image,
        schedule: '0 3 * * *',
        env: [{ key: 'OF_WORKER', from_service: { name: 'worker', env_var: 'OWN' } }],
      },
      { name: 'alone', image, env: [] },
      { name: 'last', image, env: [] },
    ],
  }
}

/** Spoils a field of a service. */
function field(index: number, name: string, value: unknown): Plant<NativeFile> {
  return ({ services }) => {
    services[index]![name] = value
    return `services[${index}].${name}`
  }
}

/** Adds an item to a list of a service. */
function item(index: number, name: string, value: unknown): Plant<NativeFile> {
  return ({ services }) => {
    const list = (services[index]![name] ??= []) as unknown[]
    list.push(value)
    return `services[${index}].${name}[${list.length - 1}]`
  }
}

/** Adds a variable to a service; `of` is the field that is wrong. */
function variable(index: number, entry: Entry, of = 'key'): Plant<NativeFile> {
  return (file) => `${item(index, 'env', entry)(file)}${of && `.${of}`}`
}

/** Adds a variable to a group. */
function shared(index: number, entry: Entry, of: string): Plant<NativeFile> {
  return ({ env_groups }) => {
    const { vars } = env_groups[index]!
    vars.push(entry)
    return `env_groups[${index}].vars[${vars.length - 1}].${of}`
  }
}

function ofStore(index: number, name: string, value: unknown): Plant<NativeFile> {
  return ({ datastores }) => {
    datastores[index]![name] = value
    return `datastores[${index}].${name}`
  }
}

/** Each kind of error that a file can have next to others, whichever step finds it. */
const PLANTS: Plant<NativeFile>[] = [
  (file) => {
    file.servces = []
    return 'servces'
  },
  shared(0, { key: '1ST', value: 'x' }, 'value'),
  shared(0, { key: 'G1', value: '${{service.gone.host}}' }, 'value'),
  shared(0, { key: 'G2', from_datastore: { name: 'nothing' } }, 'key'),
  shared(1, { key: 'G3', value: 'http://${{service.worker.host}}' }, 'value'),
  shared(1, { key: 'G4', value: '${{datastore.cache.database}}' }, 'value'),
  shared(1, { key: 'G5', value: '${{ who knows }}' }, 'value'),
  shared(1, { key: 'A', value: 'twice' }, 'value'),
  ({ env_groups }) => {
    env_groups[1]!.note = 'x'
    return 'env_groups[1].note'
  },
  ofStore(0, 'memory_limit_mb', 1),
  ofStore(0, 'size', 10),
  ofStore(1, 'database', 'app'),
  ofStore(2, 'kind', 'mysql'),
  ofStore(2, 'name', 'Not A Name'),
  ofStore(2, 'cpu_limit', -1),
  field(0, 'prot', 3000),
  field(0, 'port', 99_999),
  field(0, 'health_check_path', 'healthz'),
  field(0, 'disk_mount_path', '/etc'),
  item(0, 'custom_domains', 'taken.example.org'),
  item(0, 'custom_domains', 'also-taken.example.org'),
  item(0, 'custom_domains', '10.0.0.1'),
  item(0, 'env_groups', 'nowhere'),
  variable(0, { key: 'S1', from_service: { name: 'absent' } }),
  variable(0, { key: 'S2', from_service: { name: 'nightly', property: 'host' } }),
  variable(0, { key: 'S3', from_service: { name: 'worker', env_var: 'ABSENT' } }),
  variable(0, { key: 'S4', from_service: { name: 'web' } }),
  variable(0, { key: 'S5', value: 'x', generate: true }, ''),
  variable(0, { key: 'S6', value: 'x', form_service: {} }, 'form_service'),
  variable(0, { key: 'S7', value: ['x'] }, 'value'),
  variable(0, { key: 'DATABASE_URL', sync: false }),
  variable(0, { key: 'DEPLOYER_X', sync: false }),
  variable(0, { value: 'x' }, 'key'),
  field(0, 'image', '169.254.169.254/app:1'),
  field(1, 'port', 80),
  field(1, 'schedule', '0 0 * * *'),
  field(1, 'publish_dir', 'dist'),
  field(1, 'custom_domains', ['worker.example.org']),
  field(2, 'schedule', 'at noon'),
  field(2, 'instances', 2),
  field(2, 'runtime', 'cobol'),
  field(2, 'build_command', 'TAGGED'),
  field(3, 'name', 'Not A Name'),
  field(3, 'repo_url', 'ftp://example.org/x'),
  field(3, 'dockerfile_path', '../Dockerfile'),
  variable(3, { key: 'T1', value: '${{service.gone.env.KEY}}' }, 'value'),
  field(4, 'name', 'db'),
  field(4, 'root_dir', 'TWICE'),
  (file) => `${field(4, 'placement', { nodes: ['gone'] })(file)}.nodes[0]`,
  ofStore(1, 'node', 'gone'),
  (file) => {
    Object.assign(file.services[1]!, { disk_mount_path: '/data', node: 'gone' })
    return 'services[1].node'
  },
  (file) => {
    // The circle is closed where it began.
    variable(4, { key: 'ROUND', value: '${{service.worker.env.ROUND}}' })(file)
    file.services[1]!.env.push({ key: 'ROUND', value: '${{service.last.env.ROUND}}' })
    return `services[1].env[${file.services[1]!.env.length - 1}].value`
  },
]

/** Errors that only the text of a file can have. */
function written(file: NativeFile): string {
  return stringify(file, { lineWidth: 0 })
    .replace('build_command: TAGGED', 'build_command: !code x')
    .replace('root_dir: TWICE', 'root_dir: a\n    root_dir: b')
}

/** The positions of the errors for which something is refused. */
function refusedAt(work: () => unknown): string[] {
  try {
    work()
    return []
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'invalid_request') throw error
    for (const { line, column } of error.details!) expect(Math.min(line, column)).toBeGreaterThan(0)
    return error.details!.map(({ path }) => path)
  }
}

let close: () => Promise<void>
beforeAll(async () => {
  ;({ close } = await openContext())
  const custom_domains = ['taken.example.org', 'also-taken.example.org']
  createService(ServiceInput.parse({ name: 'holder', image: 'busybox', custom_domains }))
})
afterAll(() => close())

describe('the errors of a file', () => {
  it('are none if none was planted', () => {
    const plan = { ...OPTIONS, dryRun: true }
    expect(refusedAt(() => applyFile(readBlueprint(written(soundFile()), {}), plan))).toEqual([])
  })

  it.each(PLANTS.map((plant) => [plant(soundFile()), plant] as const))(
    'are reported alone: %s',
    (_, plant) => {
      const file = soundFile()
      const planted = plant(file)
      expect(refusedAt(() => applyFile(readBlueprint(written(file), {}), OPTIONS))).toEqual([planted])
    },
  )

  it('are reported next to a type that cannot be read, if they would be errors whatever the type', () => {
    const file = soundFile()
    const [web] = file.services
    Object.assign(web!, {
      type: 'website',
      repo_url: 'https://git.example.com/a/b.git',
      schedule: '0 3 * * *',
    })
    const told = refusedAt(() => applyFile(readBlueprint(written(file), {}), OPTIONS))
    expect(told.toSorted()).toEqual(['services[0].image', 'services[0].type'])
  })

  it('are reported next to the first word of another dialect', () => {
    const file = soundFile()
    Object.assign(file.services[0]!, { port: 99_999 })
    Object.assign(file.services[3]!, { type: 'web', healthCheckPath: '/' })
    const told = refusedAt(() => applyFile(readBlueprint(written(file), {}), OPTIONS))
    expect(told.toSorted()).toEqual(['services[0].port', 'services[3].healthCheckPath', 'services[3].type'])
  })

  it('are all reported at once, however many there are, and change nothing', () => {
    const before = exportBlueprint(findEnvironment(), 'all', '')
    fc.assert(
      fc.property(fc.shuffledSubarray(PLANTS, { minLength: 2 }), (plants) => {
        const file = soundFile()
        const planted = plants.map((plant) => plant(file))
        const told = refusedAt(() => applyFile(readBlueprint(written(file), {}), OPTIONS))
        expect(told.toSorted()).toEqual(planted.toSorted())
      }),
      { numRuns: 200 },
    )
    expect(exportBlueprint(findEnvironment(), 'all', '')).toBe(before)
  })
})
