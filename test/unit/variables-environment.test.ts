import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { authorityCertificate, provideAuthority } from '#server/datastores/authority.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { deleteEnvGroup, linkEnvGroup, replaceGroupVariables } from '#server/env-groups/operations.ts'
import { findEnvGroup } from '#server/env-groups/store.ts'
import { viewEnvGroup } from '#server/env-groups/view.ts'
import { deleteService, findService, patchService } from '#server/services/operations.ts'
import { getService } from '#server/services/store.ts'
import { changeVariables, replaceVariables } from '#server/services/variables.ts'
import { readVariables } from '#server/variables/store.ts'

import {
  environmentOf,
  group,
  listed,
  openedBy,
  references,
  service,
  useVariables,
} from './variables-context.ts'
useVariables()

describe('the whole environment of a service', () => {
  it("is its groups' variables in the order of the links with its own over them", () => {
    group('first', { A: 'first', B: 'first', C: 'first' })
    group('second', { B: 'second', C: 'second' })
    service('api', { C: 'own', D: 'own' }, { env_groups: ['first', 'second'] })
    expect(environmentOf('api')).toEqual({ A: 'first', B: 'second', C: 'own', D: 'own' })
    patchService(findService('api'), { env_groups: ['second', 'first'] })
    expect(environmentOf('api')).toEqual({ A: 'first', B: 'first', C: 'own', D: 'own' })
  })

  it('has every property of another service in place of its reference', () => {
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

  it('has the certificate that verifies a datastore, even before its first start', async () => {
    await provideAuthority()
    createDatastore({ kind: 'relational', name: 'db' })
    createDatastore({ kind: 'keyvalue', name: 'old', version: '5-alpine' })
    service('api', { CA: '${{datastore.db.ca_certificate}}' })
    expect(environmentOf('api')).toEqual({ CA: authorityCertificate() })
    expect(() => service('web', { CA: '${{datastore.old.ca_certificate}}' })).toThrow(
      '${{datastore.old.ca_certificate}} is missing: key-value datastore has no ca_certificate',
    )
  })

  it('follows a variable that is itself a reference, and treats its value as plain text', () => {
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

  it('of a service that is being deleted does not restrict a group', () => {
    service('db')
    const shared = group('shared', {})
    const leaving = service('leaving', {}, { environment: 'staging', env_groups: ['shared'] })
    const change = () => replaceGroupVariables(shared, listed({ DB: '${{service.db}}' }))
    expect(change).toThrow(/^vars: DB of leaving.staging: .*staging has no service db/)
    deleteService(leaving, false)
    expect(change).not.toThrow()
  })

  it('decrypts each value once however often it is referred to', () => {
    service('a', { X: 'x', UNUSED: 'y' })
    service('b', { X: '${{service.a.env.X}}${{service.a.env.X}}' })
    service('c', { X: '${{service.a.env.X}}${{service.b.env.X}}', Y: '${{service.b.env.X}}' })
    expect(openedBy(() => expect(environmentOf('c')).toEqual({ X: 'xxx', Y: 'xx' }))).toBe(4)
    const shared = group('shared', { G: '1', PORT: '2' })
    for (const name of ['a', 'b', 'c']) linkEnvGroup(findService(name), 'shared')
    // Two more are compared with those that replace them.
    expect(openedBy(() => replaceGroupVariables(shared, listed({ G: '2', PORT: '3' })))).toBe(9)
  })
})

describe('references', () => {
  it('that are circular are refused wherever the circle is closed', () => {
    service('a', { X: 'x' })
    service('b', { X: '${{service.a.env.X}}' })
    service('c', { X: '${{service.b.env.X}}' })
    expect(() => replaceVariables(findService('a'), listed({ X: '${{service.c.env.X}}' }))).toThrow(
      /^vars: X of a -> X of c -> X of b -> X of a: is circular/,
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

  it('resolve for every order of saving if they are not circular, and are refused if they are', () => {
    // Variable number i of service s refers to others; a graph is good if no path comes back.
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
          if (reaches(wanted, to, from)) expect(save).toThrow(/circular|may not refer to itself/)
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

  it('may form a chain of 32 and no more, whichever variable is resolved first', () => {
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

  it('whose chain became too long are refused at the deploy', () => {
    for (const half of ['low', 'high']) {
      service(`${half}-0`, { X: 'end' })
      for (let at = 1; at <= 20; at++)
        service(`${half}-${at}`, { X: `\${{service.${half}-${at - 1}.env.X}}` })
    }
    replaceVariables(findService('high-0'), listed({ X: '${{service.low-20.env.X}}' }))
    expect(environmentOf('high-10')).toEqual({ X: 'end' })
    expect(() => environmentOf('high-20')).toThrow(/more than 32 references/)
  })

  it('cannot make a value or an environment of unlimited size', () => {
    const big = 'x'.repeat(60 * 1024)
    service('a', { X: big })
    expect(() => service('b', { X: '${{service.a.env.X}}${{service.a.env.X}}' })).toThrow(
      /^env: X of b: is longer than 64 KiB when resolved/,
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
    expect(() => environmentOf('b')).toThrow(/X of b: is longer than 64 KiB when resolved/)
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

  it('are deleted with the group that had them', () => {
    deleteEnvGroup(group('shared', { Y: '${{datastore.db}}' }), false)
    expect(references()).toEqual([])
  })
})

describe('the target of a reference', () => {
  it('is known to every variable that counts, of services and groups, and to no other', () => {
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

  it('is named if it is gone, by the deploy of the service that refers to it', () => {
    const web = service('web')
    service('api', { X: '${{service.web.host}}' })
    deleteService(web, true)
    expect(() => environmentOf('api')).toThrow(
      'X of api: ${{service.web.host}} is missing: production has no service web',
    )
    expect(() => service('late', { X: '${{service.web.host}}' })).toThrow(/production has no service web/)
  })

  it('that is gone does not prevent changes of a group that has nothing to do with it', () => {
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

  it('is named with the path that leads to it', () => {
    service('a', { X: '1' })
    service('b', { Y: '${{service.a.env.X}}' })
    service('c', { Z: '${{service.b.env.Y}}' })
    replaceVariables(findService('a'), [])
    expect(() => environmentOf('c')).toThrow(
      'Z of c -> Y of b: ${{service.a.env.X}} is missing: service a has no variable X of its own',
    )
  })

  it('can be deleted while the service that refers to it is being deleted itself', () => {
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

/** Whether edges lead from one node to another. */
function reaches(edges: [number, number][], from: number, to: number, seen = new Set<number>()): boolean {
  if (from === to) return true
  if (seen.has(from)) return false
  seen.add(from)
  return edges.some(([start, end]) => start === from && reaches(edges, end, to, seen))
}
