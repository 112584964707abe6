import { describe, expect, it } from 'vitest'
import { onChange, type Change } from '#server/changes.ts'
import {
  deleteEnvGroup,
  environmentsOf,
  linkEnvGroup,
  replaceGroupVariables,
  unlinkEnvGroup,
} from '#server/env-groups/operations.ts'
import { findService, patchService } from '#server/services/operations.ts'
import { restartChanged } from '#server/services/restart.ts'
import { updateService } from '#server/services/store.ts'
import { replaceVariables } from '#server/services/variables.ts'
import { readVariables } from '#server/variables/store.ts'

import { group, listed, live, restarts, service, useVariables, type Values } from './variables-context.ts'
useVariables()

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

  it('is null for a reference or nothing, although a group has one; a value that is not a port is refused', () => {
    group('shared', { PORT: '1000' })
    service('web', { P: '1' })
    service('api', { PORT: '${{service.web.env.P}}' }, { env_groups: ['shared'] })
    expect(port()).toBeNull()
    for (const value of ['http', '0', '65536'])
      expect(() => replaceVariables(findService('api'), listed({ PORT: value }))).toThrow(/PORT is /)
    replaceVariables(findService('api'), listed({ PORT: '' }))
    expect(port()).toBeNull()
  })
})

describe('a restart requested by a change of variables', () => {
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

  it('is queued for none if nothing changed but the order, or if none was requested', () => {
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
      // A refusal is part of what is checked.
    }
    stop()
    return changes.map(({ kind, action }) => `${kind} ${action}`)
  }

  it('has one change per write and none for a refusal', () => {
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
