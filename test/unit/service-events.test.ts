import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recorded, type Attempt } from '#server/audit/recording.ts'
import { beginBackup, failBackup } from '#server/backups/operations.ts'
import { useDatabase } from '#server/context.ts'
import { cancelDeploy, makeLive, queueRollback, queueSourceDeploy } from '#server/deploys/operations.ts'
import { advance } from '#server/deploys/progress.ts'
import { getDeploy, updateDeploy, type DeployRow } from '#server/deploys/store.ts'
import { createEnvGroup, linkEnvGroup, replaceGroupVariables } from '#server/env-groups/operations.ts'
import { emitEvent } from '#server/notifications/events.ts'
import { putSecretFile } from '#server/secret-files/operations.ts'
import {
  deleteServiceEventsBefore,
  listServiceEvents,
  recordServiceEvent,
} from '#server/service-events/store.ts'
import { viewServiceEvent } from '#server/service-events/view.ts'
import { createService, patchService, scaleService, suspendService } from '#server/services/operations.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'
import { changeVariables } from '#server/services/variables.ts'
import { openContext } from '../support/context.ts'

const MOST = 2_000
const DAY_MS = 86_400_000

let service: ServiceRow
let close: () => Promise<void>
beforeEach(async () => {
  close = (await openContext()).close
  service = createService({ name: 'web', type: 'web_service', image: 'nginx:1', deploy: false } as never)
})
afterEach(() => close())

const now = () => getService(service.id)!
const events = (wanted: { type?: string; before?: number; limit?: number } = {}) =>
  listServiceEvents(service.id, { limit: 100, ...wanted }).map(viewServiceEvent)
const messages = () => events().map(({ message }) => message)
const crash = (instance: string, reason = 'the program ended: exit code 1') =>
  recordServiceEvent(service.id, 'service.crashed', { instance, details: { reason, exit_code: 1 } })

const attempt: Attempt = {
  actor: { kind: 'token', id: 'tok-0123456789abcdef0123', name: 'ci' },
  action: 'thing.done',
}
const byToken = <T>(work: () => T) =>
  recorded(
    useDatabase(),
    attempt,
    () => ({ resource: null, changes: [] }),
    work,
    () => null,
  )

function goLive(deploy: DeployRow): void {
  advance(deploy, 'building', { started_at: Date.now() })
  advance(deploy, 'deploying')
  updateDeploy(deploy.id, { image_id: 'sha256:1', snapshot: new Uint8Array(1) })
  makeLive(getDeploy(deploy.id)!)
}

describe('a deploy', () => {
  test('is told with what it deploys and who asked for it, until it is live', async () => {
    const deploy = await byToken(() => queueSourceDeploy(service, 'manual'))
    goLive(deploy)
    expect(events({ type: 'deploy' })).toMatchObject([
      { type: 'deploy.succeeded', deploy_id: deploy.id, message: 'Deploy is live: nginx:1', count: 1 },
      { type: 'deploy.started', deploy_id: deploy.id, actor: attempt.actor, details: { trigger: 'manual' } },
    ])
    goLive(queueRollback(now(), deploy.id))
    expect(events({ type: 'deploy' })[0]).toMatchObject({
      message: `Rollback to ${deploy.id} is live: nginx:1`,
      actor: null,
      details: { trigger: 'rollback', rollback_of: deploy.id },
    })
  })

  test('that failed or was canceled is told with the reason, after it is no longer kept too', async () => {
    const failing = queueSourceDeploy(service, 'manual')
    advance(failing, 'building')
    advance(failing, 'build_failed', { error: 'no such file\nsecond line' })
    const canceled = queueSourceDeploy(service, 'manual')
    await byToken(() => cancelDeploy(canceled))
    const older = queueSourceDeploy(service, 'manual')
    const newer = queueSourceDeploy(service, 'manual')
    useDatabase().run('DELETE FROM deploys')
    expect(events({ type: 'deploy' })).toMatchObject([
      { type: 'deploy.canceled', deploy_id: older.id, message: `Deploy canceled: superseded by ${newer.id}` },
      { type: 'deploy.canceled', deploy_id: canceled.id, message: 'Deploy canceled', actor: attempt.actor },
      { type: 'deploy.failed', deploy_id: failing.id, message: 'Deploy failed: no such file', actor: null },
      { type: 'deploy.started', deploy_id: failing.id },
    ])
  })

  test('whose transaction fails is not told', () => {
    const deploy = queueSourceDeploy(service, 'manual')
    const before = messages()
    expect(() =>
      useDatabase().transaction(() => {
        cancelDeploy(deploy)
        throw new Error('full')
      }),
    ).toThrow('full')
    expect(messages()).toEqual(before)
  })
})

describe('what somebody changes', () => {
  test('is told by names, without any value', async () => {
    const group = createEnvGroup({ name: 'shared', vars: [] })
    await byToken(() => {
      patchService(now(), { port: 8081, start_command: 'run --password=hidden' })
      patchService(now(), { port: 8081 })
      changeVariables(now(), [{ key: 'KEY', value: 'hidden' }], [])
      changeVariables(now(), [{ key: 'KEY', value: 'hidden' }], [])
      putSecretFile(now(), 'key.pem', { content: 'hidden', mode: '0400', secret: true })
      linkEnvGroup(now(), 'shared')
      replaceGroupVariables(group, [{ key: 'LEVEL', value: 'hidden' }])
      scaleService(now(), 3)
      suspendService(now())
      patchService(now(), { suspended: false, repo_url: null, canonical_domain: null })
    })
    expect(messages()).toEqual([
      'Resumed',
      'Suspended',
      'Scaled from 1 to 3 instances',
      'Variables saved in the env group shared: LEVEL',
      'Settings saved: env_groups',
      'Secret files saved: key.pem',
      'Variables saved: KEY',
      'Settings saved: port, start_command',
      'Service created',
    ])
    expect(
      events()
        .slice(0, -1)
        .every(({ actor }) => actor?.name === 'ci'),
    ).toBe(true)
    expect(JSON.stringify(useDatabase().all('SELECT * FROM service_events'))).not.toContain('hidden')
  })

  test('is listed up to a number of names', () => {
    const many = Array.from({ length: 60 }, (_, index) => ({ key: `K${index}`, value: 'x' }))
    changeVariables(now(), many, [])
    expect(events()[0]!.details).toMatchObject({ names: { length: 50 }, more: 10 })
    expect(events()[0]!.message).toMatch(/K49, 10 more$/)
  })
})

describe('trouble', () => {
  test('that repeats is counted in one event, which stays the newest', () => {
    for (let times = 0; times < 40; times++) crash(`${service.id}-a000${times % 2}`)
    crash(`${service.id}-a0001`, 'its container was removed externally')
    scaleService(now(), 2)
    crash(`${service.id}-a0001`, 'its container was removed externally')
    const found = events()
    expect(found.map(({ type, count }) => [type, count])).toEqual([
      ['service.crashed', 1],
      ['service.scaled', 1],
      ['service.crashed', 1],
      ['service.crashed', 40],
      ['service.created', 1],
    ])
    expect(found[3]).toMatchObject({
      instance: `${service.id}-a0001`,
      message: 'Instance a0001 ended: exit code 1',
    })
    expect(found[3]!.first_at <= found[3]!.at).toBe(true)
  })

  test('that is reported by notifications is told by what they are told by', () => {
    emitEvent('service.out_of_memory', service.id, `${service.id}-a0001`)
    emitEvent('service.down', service.id, 'its port does not answer')
    emitEvent('service.recovered', service.id)
    emitEvent('server.disk_low', '/var/lib', '{}')
    const backup = beginBackup(
      { id: patchService(now(), { disk_mount_path: '/data' }).id, disk: 'disk' },
      'manual',
    )
    failBackup(backup, 'no room')
    expect(events().slice(0, -2)).toMatchObject([
      { type: 'backup.failed', message: 'Backup of the disk disk failed: no room' },
      { type: 'service.updated', details: { names: ['disks'] } },
      { type: 'service.recovered', details: {} },
      { type: 'service.down', message: 'Down: its port does not answer' },
    ])
    expect(events().at(-2)).toMatchObject({
      type: 'service.out_of_memory',
      instance: `${service.id}-a0001`,
    })
  })
})

test('of each service the newest are kept, and none that are too old', () => {
  const other = createService({ name: 'other', type: 'web_service', deploy: false } as never)
  useDatabase().transaction(() => {
    for (let times = 0; times < MOST + 10; times++)
      recordServiceEvent(service.id, 'service.scaled', { details: { from: times, to: times + 1 } })
  })
  const kept = events({ limit: MOST * 2 })
  expect(kept).toHaveLength(MOST)
  expect(kept[0]!.details.from).toBe(MOST + 9)
  expect(listServiceEvents(other.id, { limit: 10 })).toHaveLength(1)
  useDatabase().run('UPDATE service_events SET at = at - ? WHERE service_id = ?', DAY_MS, service.id)
  expect(deleteServiceEventsBefore(Date.now() - DAY_MS / 2, MOST * 2)).toBe(MOST)
  expect(listServiceEvents(other.id, { limit: 10 })).toHaveLength(1)
})
