import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { applyFile, type Applied } from '#server/blueprints/apply.ts'
import { exportBlueprint } from '#server/blueprints/export.ts'
import { readBlueprint, type FileContext } from '#server/blueprints/read.ts'
import { onChange, type Change } from '#server/changes.ts'
import type { Context } from '#server/context.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { getDeploy, insertDeploy, listDeploys } from '#server/deploys/store.ts'
import { createEnvGroup } from '#server/env-groups/operations.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { AppError } from '#server/errors.ts'
import { newId } from '#server/ids.ts'
import { createService, findService } from '#server/services/operations.ts'
import { changeVariables } from '#server/services/variables.ts'
import { ServiceInput } from '#server/services/input.ts'
import { resolveEnvironment } from '#server/variables/environment.ts'
import { openContext } from '../../support/context.ts'

let context: Context
let close: () => Promise<void>

beforeEach(async () => {
  ;({ context, close } = await openContext())
})
afterEach(() => close())

function apply(yaml: string, more: { dryRun?: boolean; keepsHandSet?: boolean } & FileContext = {}): Applied {
  const { dryRun = false, keepsHandSet = false, ...place } = more
  return applyFile(readBlueprint(yaml, place), { dryRun, keepsHandSet })
}

function told({ actions }: Applied): string[] {
  return actions.map(({ resource, name, action, changes }) =>
    [resource, name, action, ...changes].join(' | '),
  )
}

function faultsOf(yaml: string): string[] {
  try {
    apply(yaml)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return error.message.split('\n')
    throw error
  }
  return []
}

/** Everything that is stored, by table. */
function everyRow(): Record<string, unknown[]> {
  const { database } = context
  const tables = database.all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'")
  return Object.fromEntries(tables.map(({ name }) => [name, database.all(`SELECT * FROM "${name}"`)]))
}

/** Makes a service live, as its first deploy would. */
function live(name: string): void {
  const service = findService(name)
  const id = newId('deploy')
  insertDeploy({
    id,
    service_id: service.id,
    trigger: 'manual',
    source: { kind: 'image', repo_url: null, branch: null, commit: null },
  })
  context.database.run("UPDATE deploys SET status = 'deploying' WHERE id = ?", id)
  makeLive(getDeploy(id)!)
}

const WEB = (name: string, more = '') => `
  - name: ${name}
    image: registry.example.com/${name}:1${more}`

describe('an apply', () => {
  it('gives a service its own address, and reports one that has none', () => {
    const variable = (name: string) => `env: [{key: OWN_URL, from_service: {name: ${name}, property: url}}]`
    apply(`services:${WEB('site', `\n    ${variable('site')}`)}`)
    expect(resolveEnvironment(findService('site')).get('OWN_URL')).toMatch(
      /^http:\/\/site\.localhost(:\d+)?$/,
    )
    expect(told(apply(`services:${WEB('site', `\n    ${variable('site')}`)}`))).toEqual([
      'service | site | unchanged',
    ])
    const worker = `\n    type: background_worker\n    ${variable('mailer')}`
    expect(faultsOf(`services:${WEB('mailer', worker)}`)).toEqual([
      expect.stringContaining('mailer has no url'),
    ])
  })

  it('that changes nothing writes nothing, queues nothing and notifies nobody', () => {
    const file = `env_groups:
  - {name: shared, vars: [{key: A, value: 1}, {key: B, generate: true}]}
datastores:
  - {name: db, kind: relational, memory_limit_mb: 256, backup_schedule: 0 3 * * *}
services:${WEB('api', '\n    env_groups: [shared]\n    env: [{key: DB, from_datastore: {name: db}}, {key: X, sync: false}]')}`
    apply(file)
    const version = context.database.version()
    const changes: Change[] = []
    const stop = onChange((change) => changes.push(change))
    const again = apply(file)
    stop()
    expect(told(again)).toEqual([
      'env_group | shared | unchanged',
      'datastore | db | unchanged',
      'service | api | unchanged',
    ])
    expect({ deploys: again.deploys, changes }).toEqual({ deploys: [], changes: [] })
    expect(context.database.version()).toBe(version)
  })

  it('as a dry run plans what the apply then does, and leaves nothing behind', () => {
    const file = `environment: staging\nservices:${WEB('api', '\n    port: 3000')}`
    const changes: Change[] = []
    const stop = onChange((change) => changes.push(change))
    const plan = apply(file, { dryRun: true })
    expect(changes).toEqual([])
    expect(() => findEnvironment('staging')).toThrow('no environment staging')
    const done = apply(file)
    stop()
    expect(told(plan)).toEqual(told(done))
    expect(told(done)).toEqual([
      'environment | staging | create',
      'service | api | create | type: none -> web_service | image: none -> registry.example.com/api:1 | port: none -> 3000',
    ])
    expect(changes.map(({ kind, action }) => `${kind} ${action}`)).toContain('service created')
  })

  it('keeps what the file leaves out, and treats null as a return to the default', () => {
    apply(
      `services:${WEB('api', '\n    port: 3000\n    instances: 2\n    memory_limit_mb: 512\n    custom_domains: [www.example.org]\n    auto_deploy: false')}`,
    )
    expect(told(apply('services: [{name: api}]'))).toEqual(['service | api | unchanged'])
    const back = apply(
      'services: [{name: api, port: null, instances: ~, memory_limit_mb: null, custom_domains: null, auto_deploy: null}]',
    )
    expect(told(back)).toEqual([
      'service | api | update | port: 3000 -> none | instances: 2 -> 1 | memory_limit_mb: 512 -> 0 | auto_deploy: false -> true | custom_domains: www.example.org -> none',
    ])
  })

  it('accepts hosts in any spelling, as the API does', () => {
    apply(
      `services:${WEB('api', '\n    custom_domains: [WWW.Example.org., Bücher.example]\n    canonical_domain: www.EXAMPLE.org')}`,
    )
    expect(findService('api')).toMatchObject({
      custom_domains: '["www.example.org","xn--bcher-kva.example"]',
      canonical_domain: 'www.example.org',
    })
  })

  it('adopts existing objects with the same name and removes nothing', () => {
    createEnvGroup({ name: 'shared', vars: [{ key: 'OLD', value: '1' }] })
    createDatastore({ name: 'db', kind: 'relational' })
    createService(
      ServiceInput.parse({
        name: 'api',
        image: 'registry.example.com/api:1',
        env: [{ key: 'OLD', value: 'x' }],
      }),
    )
    const result = apply(`env_groups: [{name: shared, vars: [{key: NEW, value: 2}]}]
datastores: [{name: db, kind: relational}]
services: [{name: api, env: [{key: NEW, value: y}], env_groups: [shared]}]`)
    expect(told(result)).toEqual([
      'env_group | shared | update | env.NEW: added',
      'datastore | db | unchanged',
      'service | api | update | env_groups: none -> shared | env.NEW: added',
    ])
    expect(Object.fromEntries(resolveEnvironment(findService('api')))).toEqual({ OLD: 'x', NEW: 'y' })
  })

  it('never shows the value of a variable', () => {
    apply(`services:${WEB('api', '\n    env: [{key: TOKEN, value: first-secret}]')}`)
    const result = apply(`services:${WEB('api', '\n    env: [{key: TOKEN, value: second-secret}]')}`)
    expect(told(result)).toEqual(['service | api | update | env.TOKEN: changed'])
    expect(JSON.stringify(result)).not.toContain('secret"')
  })

  it('writes services whose variables refer to each other, in any order', () => {
    apply(
      `services:${WEB('a', '\n    env: [{key: W, value: w}, {key: X, from_service: {name: b, env_var: Y}}, {key: HOST, from_service: {name: b, property: host}}]')}${WEB('b', '\n    env: [{key: Y, from_service: {name: a, env_var: W}}, {key: HOST, from_service: {name: a, property: host}}]')}`,
    )
    expect(resolveEnvironment(findService('a')).get('X')).toBe('w')
    expect(resolveEnvironment(findService('b')).get('HOST')).toBe('a')
  })

  it('delays references to a variable that is still to be set by hand', () => {
    const file = `services:${WEB('a', '\n    env: [{key: KEY, sync: false}]')}${WEB('b', '\n    env: [{key: URL, value: "https://${{service.a.env.KEY}}.example.org"}]')}${WEB('c', '\n    env: [{key: OF_B, from_service: {name: b, env_var: URL}}, {key: LEVEL, value: info}]')}`
    const { warnings } = apply(file)
    expect(warnings).toEqual([
      'line 4: KEY of service a has no value yet (sync: false): set it by hand',
      'line 7: URL of service b refers to KEY of a, which has no value yet: apply the file again when it has',
      'line 10: OF_B of service c refers to KEY of a, which has no value yet: apply the file again when it has',
    ])
    expect(Object.fromEntries(resolveEnvironment(findService('c')))).toEqual({ LEVEL: 'info' })
    changeVariables(findService('a'), [{ key: 'KEY', value: 'k' }], [])
    expect(told(apply(file)).slice(1)).toEqual([
      'service | b | update | env.URL: added',
      'service | c | update | env.OF_B: added',
    ])
    expect(resolveEnvironment(findService('c')).get('OF_B')).toBe('https://k.example.org')
  })

  it('shows the part in which long commands differ', () => {
    const command = (port: number) => `run ${'--option '.repeat(30)}--port ${port} ${'--last '.repeat(30)}`
    const file = (port: number) => `services:${WEB('api', `\n    start_command: ${command(port)}`)}`
    apply(file(3000))
    expect(told(apply(file(8080)))[0]).toMatch(
      /start_command: …[^]*--port 3000[^]*… -> …[^]*--port 8080[^]*…$/,
    )
  })

  it('deploys the live services whose environment a group changed, and no others', () => {
    const group = (level: string) => `env_groups: [{name: shared, vars: [{key: LEVEL, value: ${level}}]}]`
    apply(
      `${group('info')}\nservices:${WEB('one', '\n    env_groups: [shared]')}${WEB('two')}${WEB('three', '\n    env_groups: [shared]\n    env: [{key: LEVEL, value: own}]')}`,
    )
    for (const name of ['one', 'two', 'three']) live(name)
    const { deploys } = apply(group('debug'))
    expect(deploys.map(({ service_id, trigger }) => [service_id, trigger])).toEqual([
      [findService('one').id, 'blueprint'],
    ])
  })

  it('deploys nothing for changes that take effect at once, nor if the file says so', () => {
    apply(`services:${WEB('api')}${WEB('quiet', '\n    deploy: false')}`)
    expect(listDeploys(findService('quiet').id, 10)).toEqual([])
    expect(apply('services: [{name: api, instances: 3, auto_deploy: false}]').deploys).toEqual([])
    expect(apply('services: [{name: api, port: 8080}]').deploys).toHaveLength(1)
  })

  it('keeps credentials that are shown as ***, and recognizes those that it has', () => {
    const url = 'https://ci:token-1@git.example.com/team/api.git'
    apply(`services: [{name: api, repo_url: "${url}"}]`)
    for (const same of [url, 'https://***@git.example.com/team/api.git'])
      expect(told(apply(`services: [{name: api, repo_url: "${same}"}]`))).toEqual([
        'service | api | unchanged',
      ])
    for (const unknown of [
      'services: [{name: other, repo_url: "https://***@git.example.com/team/api.git"}]',
      'services: [{name: api, repo_url: "https://***@git.example.com/team/renamed.git"}]',
    ])
      expect(faultsOf(unknown)).toEqual([expect.stringContaining('contains *** in place of a hidden part')])
  })

  it('says what of a datastore stays as it is', () => {
    apply('datastores: [{name: db, kind: relational, version: 17}]')
    const { actions, warnings } = apply(
      'datastores: [{name: db, kind: relational, version: 18, database: other}]',
    )
    expect(actions).toMatchObject([{ action: 'unchanged' }])
    expect(warnings).toEqual([
      'line 1: datastore db keeps its version 17: upgrade it separately',
      'line 1: datastore db keeps its database db, which cannot be changed',
    ])
  })
})

describe('a file that is refused', () => {
  it.each([
    [
      'an unknown kind',
      'datastores: [{name: db, kind: mysql}]',
      ['line 1, column 25: datastores[0].kind: must be one of relational, keyvalue'],
    ],
    [
      'an unknown type',
      'services: [{name: a, type: lambda}]',
      [
        'line 1, column 22: services[0].type: must be one of web_service, private_service, background_worker, static_site, cron_job',
      ],
    ],
    ['an unknown field at the top', 'service: []', ['line 1, column 1: service: unknown field']],
    [
      'a repeated name',
      `services:${WEB('a')}${WEB('a')}`,
      ['line 4, column 5: services[1].name: a is already the name of a service in this file'],
    ],
    [
      'a datastore and a service with the same name',
      'datastores: [{name: a, kind: keyvalue}]\nservices: [{name: a}]',
      ['line 2, column 13: services[0].name: a is already the name of a datastore in this file'],
    ],
    [
      'a reference to nothing',
      'services: [{name: a, env: [{key: X, from_datastore: {name: no}}]}]',
      [
        'line 1, column 29: services[0].env[0].key: ${{datastore.no.url}}: there is no datastore no in production; write $${{ for a literal ${{',
      ],
    ],
    [
      'a reference to a variable of a missing service',
      'services: [{name: a, env: [{key: X, from_service: {name: b, env_var: Y}}]}, {name: b}]',
      [
        'line 1, column 29: services[0].env[0].key: ${{service.b.env.Y}}: service b has no variable Y of its own',
      ],
    ],
    [
      'a cycle',
      'services: [{name: a, env: [{key: X, from_service: {name: b, env_var: Y}}]}, {name: b, env: [{key: Y, from_service: {name: a, env_var: X}}]}]',
      ['line 1, column 29: services[0].env[0].key: is circular: X of a -> Y of b -> X of a'],
    ],
    [
      'both dialects mixed',
      'databases: []\nservices: [{name: a, start_command: x}]',
      [
        'line 2, column 12: services[0]: type: is required',
        'line 2, column 22: services[0].start_command: belongs to the native dialect, but databases in line 1 belongs to render.yaml: a file must use one dialect',
      ],
    ],
    ['nothing in it', '', ['line 1, column 1: the file is empty']],
    ['a list', '- a', ['line 1, column 1: a blueprint is a mapping with services, datastores or env_groups']],
    [
      'a service that is a word',
      'services: [api]',
      ['line 1, column 12: services[0]: must be a mapping of fields'],
    ],
    ['a missing name', 'services: [{port: 1}]', ['line 1, column 12: services[0].name: is required']],
    [
      'rules between fields',
      'services: [{name: a, type: cron_job, port: 1}]',
      [
        'line 1, column 12: services[0].schedule: is required for a cron job, such as 0 3 * * *',
        'line 1, column 38: services[0].port: a cron job listens on no port',
      ],
    ],
  ])('for %s changes nothing', (_what, yaml, faults) => {
    const before = everyRow()
    expect(faultsOf(yaml)).toEqual(faults)
    expect(everyRow()).toEqual(before)
  })

  it('because a name has another kind, or a host belongs to another service, changes nothing', () => {
    createDatastore({ name: 'taken', kind: 'keyvalue' })
    createService(
      ServiceInput.parse({
        name: 'holder',
        image: 'registry.example.com/a:1',
        custom_domains: ['www.example.org'],
      }),
    )
    expect(faultsOf(`services:${WEB('new')}${WEB('taken')}`)).toEqual([
      expect.stringMatching(/^line 4, column 5: services\[1\].name: taken is in use by datastore dbs-/),
    ])
    const faults = faultsOf(
      `services:${WEB('new')}${WEB('second', '\n    custom_domains: [ok.example.org, www.example.org]')}`,
    )
    expect(faults).toEqual([
      expect.stringMatching(/^line 6, column 38: services\[1\].custom_domains\[1\]: www.example.org /),
    ])
    expect(() => findService('new')).toThrow('there is no service new')
    expect(faultsOf('services: [{name: holder, type: static_site}]')).toEqual([
      'line 1, column 27: services[0].type: cannot be changed: service holder is a web service',
    ])
  })

  it('reports an error in a variable of a group once, and not for each service that gets it', () => {
    const faults =
      faultsOf(`env_groups: [{name: shared, vars: [{key: HOST, value: "\${{service.gone.host}}"}]}]
services:${WEB('a', '\n    env_groups: [shared]')}${WEB('b', '\n    env_groups: [shared]')}`)
    expect(faults).toEqual([
      expect.stringMatching(
        /^line 1, column 48: env_groups\[0\].vars\[0\].value: \S+: there is no service gone in production/,
      ),
    ])
    expect(() => findService('a')).toThrow('there is no service a')
  })

  it('reports an error in an environment where the environment is named', () => {
    expect(faultsOf(`environment: ${'e'.repeat(64)}\nservices: [{nam: x}]`)).toEqual([
      expect.stringMatching(/^line 1, column 1: environment: /),
      'line 2, column 12: services[0].name: is required',
      'line 2, column 13: services[0].nam: unknown field',
    ])
  })

  it('reports the errors of all its parts at once, without those that only follow from others', () => {
    const faults = faultsOf(`env_groups: [{name: shared, vars: [{key: 1, value: x}]}]
datastores: [{name: db, kind: nothing}]
services:${WEB('api', '\n    port: 0\n    env: [{key: DB, from_datastore: {name: db}}]\n    env_groups: [shared, missing]')}`)
    expect(faults.map((fault) => fault.split(': ')[1])).toEqual([
      'env_groups[0].vars[0].value',
      'datastores[0].kind',
      'services[0].port',
      'services[0].env_groups[1]',
    ])
  })
})

describe('an export', () => {
  it('leaves secrets and generated values to people, unless they are included', () => {
    apply(
      `services:${WEB('api', '\n    env: [{key: LEVEL, value: info}, {key: API_TOKEN, value: t-1}, {key: SEED, generate: true}, {key: SERVER, value: "https://u:p@example.com"}]')}`,
    )
    const production = findEnvironment()
    const text = exportBlueprint(production, 'plain', 'http://localhost:7878')
    expect(text).toContain(
      '# yaml-language-server: $schema=http://localhost:7878/api/blueprint.schema.json\n',
    )
    expect(text.match(/sync: false/g)).toHaveLength(3)
    expect(text).not.toMatch(/t-1|u:p/)
    expect(exportBlueprint(production, 'all', '')).toMatch(/t-1[^]*u:p/)
    expect(told(apply(text))).toEqual(['environment | production | unchanged', 'service | api | unchanged'])
  })
})
