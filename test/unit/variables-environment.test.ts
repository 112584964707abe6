import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onChange, type Change } from '#server/changes.ts'
import { provideContext, type Context } from '#server/context.ts'
import { openDatabase } from '#server/database/index.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { deployMachine } from '#server/deploys/states.ts'
import { getDeploy, insertDeploy, listDeploys } from '#server/deploys/store.ts'
import {
  createEnvGroup,
  deleteEnvGroup,
  environmentsOf,
  linkEnvGroup,
  replaceGroupVariables,
  unlinkEnvGroup,
} from '#server/env-groups/operations.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { viewEnvGroup } from '#server/env-groups/view.ts'
import { ensureBaseDomain } from '#server/domains/operations.ts'
import { ensureProduction } from '#server/environments/store.ts'
import { newId } from '#server/ids.ts'
import { tryMove } from '#server/machine.ts'
import { readOptions } from '#server/options.ts'
import { openVault, type Vault } from '#server/secrets.ts'
import { createService, deleteService, findService, patchService } from '#server/services/operations.ts'
import { restartChanged } from '#server/services/restart.ts'
import { getService, updateService, type ServiceRow } from '#server/services/store.ts'
import type { ServiceType } from '#server/services/types.ts'
import { changeVariables, replaceVariables } from '#server/services/variables.ts'
import { resolveEnvironment } from '#server/variables/environment.ts'
import { readVariables } from '#server/variables/store.ts'

let directory: string
let context: Context
/** How many values were opened. */
let opened: number

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'deployer-variables-'))
  const vault = openVault(join(directory, 'key'))
  opened = 0
  const counting: Vault = {
    ...vault,
    open: (sealed) => {
      opened++
      return vault.open(sealed)
    },
  }
  context = {
    options: readOptions(['--data-dir', directory, '--http-listen', '127.0.0.1:80'], {}),
    database: await openDatabase(join(directory, 'deployer.db')),
    vault: counting,
    serverId: 'test',
    version: '0.0.0',
    stopping: new AbortController().signal,
  }
  provideContext(context)
  ensureProduction()
  ensureBaseDomain()
  addEnvironment('staging')
})

afterEach(async () => {
  await context.database.close()
  rmSync(directory, { recursive: true })
})

type Values = Record<string, string>

function listed(values: Values): { key: string; value: string }[] {
  return Object.entries(values).map(([key, value]) => ({ key, value }))
}

function addEnvironment(name: string): void {
  context.database.run(
    'INSERT INTO environments (id, name, created_at) VALUES (?, ?, ?)',
    newId('environment'),
    name,
    Date.now() + 1_000,
  )
}

function service(
  name: string,
  env: Values = {},
  more: { type?: ServiceType; environment?: string; env_groups?: string[] } = {},
): ServiceRow {
  return createService({ name, type: 'web_service', deploy: false, env: listed(env), ...more })
}

function group(name: string, vars: Values) {
  return createEnvGroup({ name, vars: listed(vars) })
}

function environmentOf(name: string, environment?: string): Values {
  return Object.fromEntries(resolveEnvironment(findService(name, environment)))
}

function references(): unknown[] {
  return context.database.all('SELECT key, kind, name, property FROM variable_references ORDER BY key, name')
}

/** Makes a service live as the end of a deploy does. */
function live(row: ServiceRow): ServiceRow {
  const id = newId('deploy')
  const source = { kind: 'image' as const, repo_url: null, branch: null, commit: null }
  insertDeploy({ id, service_id: row.id, trigger: 'manual', source })
  tryMove(deployMachine, id, 'deploying', {})
  makeLive(getDeploy(id)!)
  return getService(row.id)!
}

function restarts(row: ServiceRow): number {
  return listDeploys(row.id, 10).filter(({ trigger }) => trigger === 'restart').length
}

describe('the whole environment of a service', () => {
  it("is its groups' variables in the order of the links with its own over them", () => {
    group('first', { A: 'first', B: 'first', C: 'first' })
    group('second', { B: 'second', C: 'second' })
    service('api', { C: 'own', D: 'own' }, { env_groups: ['first', 'second'] })
    expect(environmentOf('api')).toEqual({ A: 'first', B: 'second', C: 'own', D: 'own' })
    patchService(findService('api'), { env_groups: ['second', 'first'] })
    expect(environmentOf('api')).toEqual({ A: 'first', B: 'first', C: 'own', D: 'own' })
  })

  it('has every property of another service in the place of its reference', () => {
    service('web', { PORT: '8080' })
    service('files', {}, { type: 'static_site' })
    service('queue', { NAME: 'q' }, { type: 'background_worker' })
    service('api', {
      HOST: '${{service.web.host}}',
      PORT_OF: '${{service.web.port}}',
      BOTH: '${{service.web.hostport}} ${{service.web}}',
      URL: '<${{ service.web.url }}>',
      FILES: '${{service.files.url}}',
      QUEUE: '${{service.queue.env.NAME}}',
      ESCAPED: '$${{service.web.host}}',
    })
    expect(environmentOf('api')).toEqual({
      HOST: 'web',
      PORT_OF: '8080',
      BOTH: 'web:8080 web:8080',
      URL: '<http://web.localhost>',
      FILES: 'http://files.localhost',
      QUEUE: 'q',
      ESCAPED: '${{service.web.host}}',
    })
  })

  it('follows a variable that is itself a reference, and reads what it brings as text alone', () => {
    service('a', { PASSWORD: 'p$${{service.a.host}}$$' })
    service('b', { URL: 'db://${{service.a.env.PASSWORD}}@${{service.a.host}}' })
    service('c', { URL: '"${{service.b.env.URL}}"' })
    expect(environmentOf('c')).toEqual({ URL: '"db://p${{service.a.host}}$$@a"' })
  })

  it('resolves a group in the environment of each service', () => {
    service('db', { PORT: '1' })
    service('db', { PORT: '2' }, { environment: 'staging' })
    group('shared', { DB: '${{service.db}} ${{service.db.url}}' })
    service('api', {}, { env_groups: ['shared'] })
    service('api', {}, { environment: 'staging', env_groups: ['shared'] })
    expect(environmentOf('api')).toEqual({ DB: 'db:1 http://db.localhost' })
    expect(environmentOf('api', 'staging')).toEqual({ DB: 'db:2 http://db.staging.localhost' })
    expect(viewEnvGroup(findEnvGroup('shared')).services).toEqual(['api', 'api.staging'])
  })

  it('of a service that is being deleted holds no group back', () => {
    service('db')
    const shared = group('shared', {})
    const leaving = service('leaving', {}, { environment: 'staging', env_groups: ['shared'] })
    const change = () => replaceGroupVariables(shared, listed({ DB: '${{service.db}}' }))
    expect(change).toThrow(/^vars: DB of leaving.staging: .*staging has no service db/)
    deleteService(leaving, false)
    expect(change).not.toThrow()
  })

  it('opens each value once however often it is referred to', () => {
    service('a', { X: 'x', UNUSED: 'y' })
    service('b', { X: '${{service.a.env.X}}${{service.a.env.X}}' })
    service('c', { X: '${{service.a.env.X}}${{service.b.env.X}}', Y: '${{service.b.env.X}}' })
    opened = 0
    expect(environmentOf('c')).toEqual({ X: 'xxx', Y: 'xx' })
    expect(opened).toBe(4)
    const shared = group('shared', { G: '1', PORT: '2' })
    for (const name of ['a', 'b', 'c']) linkEnvGroup(findService(name), 'shared')
    opened = 0
    replaceGroupVariables(shared, listed({ G: '2', PORT: '3' }))
    expect(opened).toBe(7)
  })
})

describe('references', () => {
  it('that lead round are refused wherever the circle is closed', () => {
    service('a', { X: 'x' })
    service('b', { X: '${{service.a.env.X}}' })
    service('c', { X: '${{service.b.env.X}}' })
    expect(() => replaceVariables(findService('a'), listed({ X: '${{service.c.env.X}}' }))).toThrow(
      /^vars: X of a -> X of c -> X of b -> X of a: goes round in a circle/,
    )
    expect(readVariables(findService('a').id)).toEqual(listed({ X: 'x' }))
    group('shared', { Y: '${{service.a.env.X}}' })
    linkEnvGroup(findService('c'), 'shared')
    expect(() => replaceVariables(findService('a'), listed({ X: '${{service.c.env.Y}}' }))).toThrow(
      /service c has no variable Y of its own/,
    )
  })

  it('to hosts may be mutual, since neither needs the value of the other', () => {
    service('a')
    service('b', { A: '${{service.a.url}}' })
    replaceVariables(findService('a'), listed({ B: '${{service.b.url}}' }))
    expect(environmentOf('a')).toEqual({ B: 'http://b.localhost' })
  })

  it('resolve for every order of saving when they lead back nowhere, and are refused when they do', () => {
    // Variable number i of service s refers to others; a graph is good when no path comes back.
    const edges = fc.uniqueArray(fc.tuple(fc.nat(3), fc.nat(3)), { maxLength: 8, selector: String })
    for (const name of ['n0', 'n1', 'n2', 'n3']) service(name, { V: '' })
    fc.assert(
      fc.property(edges, (edges) => {
        for (const name of ['n0', 'n1', 'n2', 'n3']) replaceVariables(findService(name), listed({ V: '' }))
        const saved: [number, number][] = []
        for (const [from, to] of edges) {
          const wanted = [...saved, [from, to] as [number, number]]
          const targets = wanted.filter(([start]) => start === from).map(([, end]) => end)
          const value = targets.map((end) => `\${{service.n${end}.env.V}}`).join('')
          const save = () => replaceVariables(findService(`n${from}`), listed({ V: `.${value}` }))
          if (reaches(wanted, to, from)) expect(save).toThrow(/circle|may not refer to itself/)
          else {
            save()
            saved.push([from, to])
          }
          for (const name of ['n0', 'n1', 'n2', 'n3']) expect(environmentOf(name).V).toMatch(/^\.*$/)
        }
      }),
      { numRuns: 30 },
    )
  })

  it('may follow one another 32 times and not once more, whichever variable is looked at first', () => {
    const names = Array.from({ length: 34 }, (_, index) => `s${index}`)
    service('s0', { X: 'end' })
    for (const [index, name] of names.entries()) {
      if (index === 0 || index === 33) continue
      service(name, { X: `\${{service.s${index - 1}.env.X}}` })
    }
    expect(environmentOf('s32')).toEqual({ X: 'end' })
    expect(() => service('s33', { X: '${{service.s32.env.X}}' })).toThrow(/more than 32 references/)
    expect(() => service('s33', { A: '${{service.s10.env.X}}', X: '${{service.s32.env.X}}' })).toThrow(
      /more than 32 references/,
    )
  })

  it('that became too many in a row are refused at the deploy', () => {
    for (const half of ['low', 'high']) {
      service(`${half}-0`, { X: 'end' })
      for (let at = 1; at <= 20; at++)
        service(`${half}-${at}`, { X: `\${{service.${half}-${at - 1}.env.X}}` })
    }
    replaceVariables(findService('high-0'), listed({ X: '${{service.low-20.env.X}}' }))
    expect(environmentOf('high-10')).toEqual({ X: 'end' })
    expect(() => environmentOf('high-20')).toThrow(/more than 32 references/)
  })

  it('cannot make a value or an environment of any size', () => {
    const big = 'x'.repeat(60 * 1024)
    service('a', { X: big })
    expect(() => service('b', { X: '${{service.a.env.X}}${{service.a.env.X}}' })).toThrow(
      /^env: X of b: becomes longer than 64 KiB/,
    )
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`K${at}`, '${{service.a.env.X}}']))
    expect(() => service('b', many)).toThrow(
      /^env: the whole environment of service b must be at most 512 KiB/,
    )
  })

  it('of an environment that became too large fail the deploy, which says so', () => {
    service('a', { X: '' })
    service('b', { X: `${'x'.repeat(60 * 1024)}\${{service.a.env.X}}` })
    replaceVariables(findService('a'), listed({ X: 'x'.repeat(5 * 1024) }))
    expect(() => environmentOf('b')).toThrow(/X of b: becomes longer than 64 KiB/)
  })

  it('are known by holder, key and property after every write', () => {
    service('web', { A: '1' })
    const api = service('api', { X: '${{service.web}} ${{service.web.hostport}} ${{service.web.env.A}}' })
    const shared = group('shared', { Y: '${{datastore.db}} $${{service.no.host}}' })
    expect(references()).toEqual([
      { key: 'X', kind: 'service', name: 'web', property: 'env.A' },
      { key: 'X', kind: 'service', name: 'web', property: 'hostport' },
      { key: 'Y', kind: 'datastore', name: 'db', property: 'url' },
    ])
    changeVariables(api, [{ key: 'X', value: '${{service.web.port}}' }], [])
    replaceGroupVariables(shared, [])
    expect(references()).toEqual([{ key: 'X', kind: 'service', name: 'web', property: 'port' }])
    deleteService(findService('api'), false)
    expect(references()).toEqual([])
  })

  it('go with the group that held them', () => {
    deleteEnvGroup(group('shared', { Y: '${{datastore.db}}' }), false)
    expect(references()).toEqual([])
  })
})

describe('what is referred to', () => {
  it('is told by every variable that counts, of services and groups, and by no other', () => {
    const web = service('web', { A: '1' })
    service('api', { X: '${{service.web.host}}', HIDES: '1' })
    group('shared', { Y: '${{service.web.env.A}}', HIDES: '${{service.web.host}}' })
    group('later', { EARLIER: '1' })
    group('earlier', { EARLIER: '${{service.web.host}}' })
    group('nobody', { Z: '${{service.web.host}}' })
    patchService(findService('api'), { env_groups: ['shared', 'earlier', 'later'] })
    service('web', {}, { environment: 'staging' })
    service('other', { X: '${{service.web.host}}' }, { environment: 'staging' })
    expect(() => deleteService(web, false)).toThrow(
      'service web is referred to by X of service api, Y of env group shared: change them first, or repeat with force=true',
    )
    expect(() => patchService(web, { name: 'site' })).toThrow(/X of service api, Y of env group shared/)
    expect(getService(web.id)).toMatchObject({ name: 'web', deleting: 0 })
  })

  it('is named when it is gone, by the deploy of who refers to it', () => {
    const web = service('web')
    service('api', { X: '${{service.web.host}}' })
    deleteService(web, true)
    expect(() => environmentOf('api')).toThrow(
      'X of api: ${{service.web.host}} is missing: production has no service web',
    )
    expect(() => service('late', { X: '${{service.web.host}}' })).toThrow(/production has no service web/)
  })

  it('that is gone keeps nobody from changing a group that has nothing to do with it', () => {
    const web = service('web')
    const shared = group('shared', { A: '1' })
    const api = service('api', { X: '${{service.web.host}}' }, { env_groups: ['shared'] })
    deleteService(web, true)
    replaceGroupVariables(shared, listed({ A: '2' }))
    group('other', { B: '1' })
    linkEnvGroup(findService('api'), 'other')
    expect(() => environmentOf('api')).toThrow(/X of api/)
    expect(() => changeVariables(api, [], [])).toThrow(/^set: X of api/)
    expect(() => replaceGroupVariables(shared, listed({ A: '${{service.web.host}}' }))).toThrow(
      /^vars: A of api/,
    )
    expect(changeVariables(api, [], ['X'])).toEqual([])
    expect(environmentOf('api')).toEqual({ A: '2', B: '1' })
  })

  it('is named with the way that leads to it', () => {
    service('a', { X: '1' })
    service('b', { Y: '${{service.a.env.X}}' })
    service('c', { Z: '${{service.b.env.Y}}' })
    replaceVariables(findService('a'), [])
    expect(() => environmentOf('c')).toThrow(
      'Z of c -> Y of b: ${{service.a.env.X}} is missing: service a has no variable X of its own',
    )
  })

  it('no longer holds back the deletion when who refers to it is being deleted itself', () => {
    const web = service('web')
    group('shared', { Y: '${{service.web.host}}' })
    const api = service('api', { X: '${{service.web.host}}' }, { env_groups: ['shared'] })
    deleteService(api, false)
    deleteService(web, false)
    expect(getService(web.id)!.deleting).toBe(1)
  })

  it('may be renamed once nothing refers to it, and may then be referred to by its new name', () => {
    const web = service('web')
    const api = service('api', { X: '${{service.web.host}}' })
    expect(() => patchService(web, { name: 'site', branch: 'x' })).toThrow(/X of service api/)
    expect(getService(web.id)!.branch).toBeNull()
    replaceVariables(api, [])
    patchService(web, { name: 'site' })
    replaceVariables(api, listed({ X: '${{service.site.host}}' }))
    expect(environmentOf('api')).toEqual({ X: 'site' })
  })
})

describe('the port that variables name', () => {
  const port = (name = 'api') => findService(name).variable_port

  it('follows the links, the groups and the own variables', () => {
    const shared = group('shared', { PORT: '1000' })
    group('later', { PORT: '2000' })
    service('api')
    expect(port()).toBeNull()
    linkEnvGroup(findService('api'), 'shared')
    expect(port()).toBe(1_000)
    linkEnvGroup(findService('api'), 'later')
    expect(port()).toBe(2_000)
    unlinkEnvGroup(findService('api'), 'later')
    expect(port()).toBe(1_000)
    replaceGroupVariables(shared, listed({ PORT: '1500' }))
    expect(port()).toBe(1_500)
    replaceVariables(findService('api'), listed({ PORT: '3000' }))
    expect(port()).toBe(3_000)
    replaceVariables(findService('api'), [])
    deleteEnvGroup(shared, true)
    expect(port()).toBeNull()
  })

  it('is none where a reference or no number stands, although a group has one', () => {
    group('shared', { PORT: '1000' })
    service('web', { P: '1' })
    service('api', { PORT: '${{service.web.env.P}}' }, { env_groups: ['shared'] })
    expect(port()).toBeNull()
    for (const value of ['http', '0', '65536', '']) {
      replaceVariables(findService('api'), listed({ PORT: value }))
      expect(port()).toBeNull()
    }
  })
})

describe('a restart that a change of variables asks for', () => {
  it('is queued for each live service whose whole environment changed, and for no other', () => {
    const shared = group('shared', { A: '1', B: '1' })
    const linked = { env_groups: ['shared'] }
    const changed = live(service('changed', {}, linked))
    const hiding = live(service('hiding', { A: 'own' }, linked))
    const elsewhere = live(service('changed', {}, { ...linked, environment: 'staging' }))
    const suspended = live(service('suspended', {}, linked))
    updateService(suspended.id, { suspended: 1 })
    const deleting = live(service('deleting', {}, linked))
    updateService(deleting.id, { deleting: 1 })
    const never = service('never', {}, linked)
    const unlinked = live(service('unlinked', { A: '1' }))
    restartChanged(true, environmentsOf(shared), () =>
      replaceGroupVariables(shared, listed({ A: '2', B: '1' })),
    )
    const all = [changed, hiding, elsewhere, suspended, deleting, never, unlinked]
    expect(all.map(restarts)).toEqual([1, 0, 1, 0, 0, 0, 0])
  })

  it('is queued for those, too, that refer to what changed', () => {
    const a = live(service('a', { X: '1', Y: '1', PORT: '80' }))
    const value = live(service('value', { V: '${{service.a.env.X}}' }))
    const through = live(service('through', { V: '${{service.value.env.V}}' }))
    const other = live(service('other', { V: '${{service.a.env.Y}}' }))
    const address = live(service('address', { V: '${{service.a.hostport}}' }))
    const change = (values: Values) =>
      restartChanged(true, [a.environment_id], () => replaceVariables(a, listed(values)))
    change({ X: '2', Y: '1', PORT: '80' })
    expect([a, value, through, other, address].map(restarts)).toEqual([1, 1, 1, 0, 0])
    change({ PORT: '81', Y: '1', X: '2' })
    expect([a, value, through, other, address].map(restarts)).toEqual([2, 1, 1, 0, 1])
  })

  it('is queued for none when nothing changed but the order, or when none was asked for', () => {
    const api = live(service('api', { A: '1', B: '2' }))
    restartChanged(true, [api.environment_id], () => replaceVariables(api, listed({ B: '2', A: '1' })))
    restartChanged(false, [api.environment_id], () => replaceVariables(api, []))
    expect(restarts(api)).toBe(0)
  })

  it('is queued by the forced deletion of a group for those that lose a variable', () => {
    const shared = group('shared', { A: '1' })
    const losing = live(service('losing', {}, { env_groups: ['shared'] }))
    const keeping = live(service('keeping', { A: '1' }, { env_groups: ['shared'] }))
    restartChanged(true, environmentsOf(shared), () => deleteEnvGroup(shared, true))
    expect([losing, keeping].map(restarts)).toEqual([1, 0])
  })

  it('is the error when it cannot be queued, with the variables saved and the other restarts queued', () => {
    const shared = group('shared', {})
    const broken = live(service('broken', {}, { env_groups: ['shared'] }))
    updateService(broken.id, { live_deploy_id: 'dep-00000000000000000000' })
    const whole = live(service('whole', {}, { env_groups: ['shared'] }))
    const change = () =>
      restartChanged(true, environmentsOf(shared), () => replaceGroupVariables(shared, listed({ A: '1' })))
    expect(change).toThrow(/service broken was never live/)
    expect(readVariables(shared.id)).toEqual(listed({ A: '1' }))
    expect(restarts(whole)).toBe(1)
  })
})

describe('the change feed', () => {
  function told(work: () => unknown): string[] {
    const changes: Change[] = []
    const stop = onChange((change) => changes.push(change))
    try {
      work()
    } catch {
      // A refusal is part of what is looked at.
    }
    stop()
    return changes.map(({ kind, action }) => `${kind} ${action}`)
  }

  it('has one change a write and none of a refusal', () => {
    let shared = group('shared', {})
    const api = service('api')
    expect(told(() => (shared = group('other', {})))).toEqual(['env_group created'])
    expect(told(() => linkEnvGroup(api, 'other'))).toEqual(['service updated'])
    expect(told(() => linkEnvGroup(api, 'other'))).toEqual([])
    expect(told(() => replaceGroupVariables(shared, listed({ A: '1' })))).toEqual(['env_group updated'])
    expect(told(() => replaceGroupVariables(shared, listed({ A: '${{service.x}}' })))).toEqual([])
    expect(told(() => replaceVariables(api, listed({ A: '${{service.x}}' })))).toEqual([])
    expect(told(() => deleteEnvGroup(shared, false))).toEqual([])
    expect(told(() => group('other', {}))).toEqual([])
    expect(told(() => unlinkEnvGroup(api, 'other'))).toEqual(['service updated'])
    expect(told(() => patchService(api, { env: [], env_groups: ['other'] }))).toEqual(['service updated'])
    expect(told(() => deleteEnvGroup(shared, true))).toEqual(['env_group deleted', 'service updated'])
  })
})

/** Whether edges lead from one node to another. */
function reaches(edges: [number, number][], from: number, to: number, seen = new Set<number>()): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return edges.some(([start, end]) => start === from && reaches(edges, end, to, seen))
}
