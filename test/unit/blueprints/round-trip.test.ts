import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { applyFile } from '#server/blueprints/apply.ts'
import { DATASTORE_FIELDS, FIXED_DATASTORE_FIELDS, SERVICE_FIELDS } from '#server/blueprints/compare.ts'
import { exportBlueprint } from '#server/blueprints/export.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import type { Context } from '#server/context.ts'
import { provideAuthority } from '#server/datastores/authority.ts'
import { PasswordHashes } from '#server/edge/passwords.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { createRegistryCredential } from '#server/registry-credentials/operations.ts'
import { openContext } from '../../support/context.ts'

const ORIGIN = 'http://localhost:7878'
const OPTIONS = { dryRun: false, keepsHandSet: false, hashes: new PasswordHashes() }

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      '3.10',
      '010',
      'yes',
      'null',
      '~',
      '',
      ' x ',
      'a: b',
      '# c',
      '- d',
      '"',
      "it's",
      'a\nb',
      'a\n\n b\n',
      '\t',
      '1e3',
      '<<',
      '*x',
      '&x',
      '{a}',
      '[b]',
      '!t',
      '%',
      '@',
      '`',
      '\r\n',
      '\u2028',
      '{{}}',
    ),
  )
  .filter((value) => !value.includes('\0') && !value.includes('${{'))
const key = fc
  .stringMatching(/^[A-Z_][A-Z0-9_]{0,12}$/)
  .filter((name) => !name.startsWith('DEPLOYER_') && name !== 'PORT')
const variables = fc.uniqueArray(
  fc.oneof(
    fc.record({ key, value: text }),
    fc.record({ key, generate: fc.constant(true) }),
    fc.record({ key, sync: fc.constant(false) }),
  ),
  { selector: (entry) => entry.key, maxLength: 5 },
)
const command = text.filter((value) => value.trim() !== '')
const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/), {
  minLength: 6,
  maxLength: 6,
})

/** What any service may set, whatever its type and source. */
const common = {
  build_command: command,
  start_command: command,
  root_dir: fc.constantFrom('apps/x', 'a b', null),
  apt_packages: fc.constantFrom([], ['ffmpeg', 'libvips42']),
  memory_limit_mb: fc.constantFrom(null, 0, 16, 512),
  cpu_limit: fc.constantFrom(null, 0.25, 2),
  auto_deploy: fc.boolean(),
  watch_paths: fc.constantFrom(null, [], ['apps/x/**', '*.md']),
  registry_credential: fc.constantFrom(null, 'hub'),
  deploy: fc.boolean(),
  overlap_policy: fc.constantFrom(null, 'wait', 'override'),
}
const image = {
  image: fc.constantFrom('busybox', 'registry.example.com/team/web:1'),
  runtime: fc.constantFrom('auto', 'image'),
}
const repository = {
  repo_url: fc.constantFrom(
    'https://git.example.com/a/b.git',
    'git@git.example.com:a/b.git',
    'https://u:p%40@git.example.com/a/b.git',
  ),
  branch: fc.constantFrom(null, 'main', '3.10'),
  runtime: fc.constantFrom('auto', 'docker', 'node', 'python', null),
  dockerfile_path: fc.constantFrom(null, 'docker/Dockerfile'),
}
const listening = {
  port: fc.constantFrom(null, 80, 65_535),
  health_check_path: fc.constantFrom(null, '/', '/healthz?full=1'),
}
const moved = { pre_deploy_command: command }
/** A host follows from the service's name, since no two services have the same one. */
const hosts = { isCanonical: fc.option(fc.boolean(), { nil: undefined }) }
/** What a service with a public address may ask for its requests. */
const edge = {
  ip_allow_list: fc.constantFrom(
    null,
    [],
    [{ source: '203.0.113.0/24', description: 'a: b' }, { source: '::1' }],
  ),
  redirects: fc.constantFrom(null, [], [{ from: '/a/*', to: '/b/:splat', status: 301 }]),
  maintenance: fc.constantFrom(
    null,
    { enabled: true, page: '<!doctype html>\n<p>', allow_ips: ['::1'] },
    { enabled: false, message: 'yes' },
  ),
  rate_limit: fc.constantFrom(null, { requests: 10 }, { requests: 10, period_seconds: 1, burst: 2 }),
  basic_auth: fc.constantFrom(
    null,
    { users: [{ username: 'ada', password: 'pass: word' }] },
    { users: [{ username: 'bob', sync: false }], except_paths: ['/webhooks/*'] },
  ),
  headers: fc.constantFrom(null, [
    { name: 'X-A', value: '#' },
    { path: '/a', name: 'Server', value: null },
  ]),
  access_log: fc.constantFrom(null, true, false),
}
const ofInstances = {
  session_affinity: fc.constantFrom(null, true),
  upstream_timeout_seconds: fc.constantFrom(null, 3_600),
  max_body_mb: fc.constantFrom(null, 1),
}
const seconds = fc.constantFrom(null, 1, 30, 300)
const scaled = fc.oneof(
  fc.record({
    instances: fc.constantFrom(null, 0, 1, 32),
    placement: fc.constantFrom(null, {}, { labels: { disk: 'ssd' } }, { spread: false }),
  }),
  fc.record({
    disk_mount_path: fc.constantFrom('/data//x/', '/var/lib/x'),
    disk_backup_schedule: fc.constantFrom(null, '0 4 * * *'),
    disk_backup_retention: fc.constantFrom(null, 7, 30),
    instances: fc.constantFrom(0, 1),
  }),
  fc.record({
    disks: fc.constantFrom(
      [{ name: 'data', mount_path: '/data' }],
      [
        { name: 'one', mount_path: '/one//' },
        { name: 'data', mount_path: '/data' },
      ],
    ),
    disk_backup_schedule: fc.constantFrom(null, '0 4 * * *'),
    disk_backup_retention: fc.constantFrom(null, 7, 30),
    instances: fc.constantFrom(0, 1),
  }),
)

/** Any of these fields, with those that such a service needs. */
function anyOf(
  needed: Record<string, fc.Arbitrary<unknown>>,
  possible: Record<string, fc.Arbitrary<unknown>>,
) {
  return fc.record<Record<string, unknown>>({ ...possible, ...needed }, { requiredKeys: Object.keys(needed) })
}
function ofType(
  type: string,
  needed: Record<string, fc.Arbitrary<unknown>>,
  possible: Record<string, fc.Arbitrary<unknown>>,
) {
  const { runtime: ofImage, ...pulled } = image
  const { runtime: ofRepository, repo_url, ...built } = repository
  return fc.oneof(
    anyOf({ type: fc.constant(type), ...pulled, ...needed }, { runtime: ofImage, ...common, ...possible }),
    anyOf(
      { type: fc.constant(type), repo_url, ...needed },
      { runtime: ofRepository, ...built, ...common, ...possible },
    ),
  )
}
const withScale = (services: fc.Arbitrary<Record<string, unknown>>) =>
  fc.tuple(services, scaled).map(([fields, scale]) => ({ ...fields, ...scale }))

const service: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  withScale(
    ofType(
      'web_service',
      {},
      {
        ...{ ...listening, ...moved, ...hosts, ...edge, ...ofInstances },
        ...{ compression: fc.boolean(), drain_seconds: seconds },
      },
    ),
  ),
  withScale(ofType('private_service', {}, { ...listening, ...moved })),
  withScale(ofType('background_worker', {}, { ...moved, max_shutdown_delay_seconds: seconds })),
  anyOf(
    { type: fc.constant('static_site'), repo_url: repository.repo_url },
    {
      ...common,
      ...hosts,
      ...edge,
      runtime: fc.constantFrom('auto', 'static', 'node'),
      branch: repository.branch,
      publish_dir: fc.constantFrom(null, '.', 'dist/public'),
    },
  ),
  ofType(
    'cron_job',
    { schedule: fc.constantFrom('0 3 * * *', '*/5 * * * 1-5'), start_command: command },
    moved,
  ),
)

const datastore = fc.oneof(
  anyOf(
    { kind: fc.constant('relational') },
    {
      version: fc.constantFrom('17', '18', '16.4-alpine'),
      database: fc.constantFrom('app', '_x9'),
      username: fc.constantFrom('app', 'someone'),
    },
  ),
  anyOf({ kind: fc.constant('keyvalue') }, { version: fc.constantFrom('8', '7.2') }),
)
const kept = anyOf(
  {},
  {
    memory_limit_mb: common.memory_limit_mb,
    cpu_limit: common.cpu_limit,
    backup_schedule: fc.constantFrom(null, '0 4 * * *'),
    backup_retention: fc.constantFrom(null, 1, 30),
  },
)

const project = fc
  .record({
    names,
    services: fc.array(service, { minLength: 1, maxLength: 3 }),
    env: fc.array(variables, { minLength: 3, maxLength: 3 }),
    vars: variables,
    linked: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    datastore: fc.tuple(datastore, kept).map(([own, any]) => ({ ...own, ...any })),
  })
  .map(({ names, services, env, vars, linked, datastore }) => ({
    env_groups: [{ name: names[0], vars }],
    datastores: [{ name: names[1], ...datastore }],
    services: services.map(({ isCanonical, ...fields }, index) => {
      const name = names[index + 2]!
      const host = `${name}.example.org`
      return {
        name,
        ...fields,
        ...(isCanonical === undefined ? {} : { custom_domains: [host, `www.${host}`] }),
        ...(isCanonical === true ? { canonical_domain: host } : {}),
        env: [
          ...env[index]!.filter((entry) => entry.key !== 'TO_STORE'),
          { key: 'TO_STORE', from_datastore: { name: names[1] } },
          { key: 'AUTHORITY_OF_STORE', from_datastore: { name: names[1], property: 'ca_certificate' } },
        ],
        env_groups: linked[index] ? [names[0]] : [],
      }
    }),
  }))

/** Undoes what one case made. */
class Undo extends Error {}

let context: Context
let close: () => Promise<void>
beforeAll(async () => {
  ;({ context, close } = await openContext())
  await provideAuthority()
  createRegistryCredential({ name: 'hub', host: 'docker.io', username: 'ci', password: 'x' })
  await OPTIONS.hashes.add([{ username: 'ada', password: 'pass: word' }], [])
  await OPTIONS.hashes.lockNew()
})
afterAll(() => close())

describe('existing objects', () => {
  it('are tried with every field that there is', () => {
    const tried = new Set<string>()
    const triedOfStores = new Set<string>()
    for (const { services, datastores } of fc.sample(project, 500)) {
      for (const fields of services) for (const field of Object.keys(fields)) tried.add(field)
      for (const fields of datastores) for (const field of Object.keys(fields)) triedOfStores.add(field)
    }
    expect(SERVICE_FIELDS.filter((field) => !tried.has(field))).toEqual([])
    const ofStores = ['kind', ...FIXED_DATASTORE_FIELDS, ...DATASTORE_FIELDS]
    expect(ofStores.filter((field) => !triedOfStores.has(field))).toEqual([])
  })

  it('that are exported and applied again change nothing', () => {
    fc.assert(
      fc.property(project, fc.constantFrom('all', 'plain', 'none'), (made, values) => {
        const check = () => {
          applyFile(readBlueprint(stringify(made), {}), OPTIONS)
          const exported = exportBlueprint(findEnvironment(), values, ORIGIN)
          const version = context.database.version()
          const { actions, deploys } = applyFile(readBlueprint(exported, {}), OPTIONS)
          expect(actions.filter(({ action }) => action !== 'unchanged')).toEqual([])
          expect(deploys).toEqual([])
          expect(context.database.version()).toBe(version)
          expect(exportBlueprint(findEnvironment(), values, ORIGIN)).toBe(exported)
          throw new Undo()
        }
        expect(() => context.database.transaction(check)).toThrow(Undo)
      }),
    )
  })

  it('keep names of databases and roles that new datastores may not have', () => {
    const file = { datastores: ['template1', 'none', 'pg-x'].map((name) => ({ name, kind: 'relational' })) }
    const check = () => {
      applyFile(readBlueprint(stringify(file), {}), OPTIONS)
      // As an earlier version named them.
      context.database.run("UPDATE datastores SET database = name, username = name WHERE name <> 'pg-x'")
      const exported = exportBlueprint(findEnvironment(), 'plain', ORIGIN)
      const { actions } = applyFile(readBlueprint(exported, {}), OPTIONS)
      expect(actions.filter(({ action }) => action !== 'unchanged')).toEqual([])
      throw new Undo()
    }
    expect(() => context.database.transaction(check)).toThrow(Undo)
  })
})
