import { expect, test } from 'vitest'
import { FULL } from '#server/access/access.ts'
import { asCaller } from '#server/access/caller.ts'
import { compareDeploys, viewUnlive } from '#server/deploys/comparison.ts'
import type { Comparison } from '#server/deploys/comparison-schema.ts'
import { linesOf } from '#server/deploys/difference-lines.ts'
import { makeLive } from '#server/deploys/operations.ts'
import { SETUP_FIELDS } from '#server/deploys/setup-fields.ts'
import { queuedSetup, recordSetup } from '#server/deploys/setup.ts'
import { deployMachine } from '#server/deploys/states.ts'
import {
  getDeploy,
  insertDeploy,
  releaseSetupSecrets,
  sealSnapshot,
  UNPLANNED,
  updateDeploy,
  type DeployRow,
} from '#server/deploys/store.ts'
import {
  changeGroupVariables,
  deleteEnvGroup,
  linkEnvGroup,
  unlinkEnvGroup,
} from '#server/env-groups/operations.ts'
import { newId } from '#server/ids.ts'
import { deleteSecretFile, putSecretFile } from '#server/secret-files/operations.ts'
import { discardChanges } from '#server/services/discard.ts'
import { ServicePatch } from '#server/services/input.ts'
import { findService, patchService } from '#server/services/operations.ts'
import { AT_ONCE } from '#server/services/store.ts'
import { changeVariables } from '#server/services/variables.ts'
import { tryMove } from '#server/state-machine.ts'
import { readVariables } from '#server/variables/store.ts'
import { environmentOf, group, live, service, useVariables } from './variables-context.ts'

useVariables()

const found = () => findService('api')
const file = (content: string, path?: string) => ({ content, mode: '0400', secret: true, path })

/** Deploys a service as the queue does, as far as its setup goes. */
function deploy(): DeployRow {
  const id = newId('deploy')
  const source = { kind: 'image' as const, repo_url: null, branch: null, commit: null }
  insertDeploy({ id, service_id: found().id, trigger: 'manual', source, ...queuedSetup(found()) })
  recordSetup(id, found(), 'build', 'run')
  tryMove(deployMachine, id, 'deploying', {})
  makeLive(getDeploy(id)!)
  return getDeploy(id)!
}

function lines(comparison: Comparison): string[] {
  return linesOf(comparison)
}

const saved = () => lines(viewUnlive(found()))

test('every setting either takes effect at once or is compared', () => {
  // The column of a node is `node_id`, that of a credential `registry_credential_id`, and both hold at once.
  const others = new Set([
    ...['name', 'env', 'env_groups', 'suspended', 'disk_mount_path'],
    ...['registry_credential', 'node'],
  ])
  const settings = Object.keys(ServicePatch.shape).filter(
    (field) => !AT_ONCE.has(field) && !others.has(field),
  )
  expect(settings.toSorted()).toEqual([...SETUP_FIELDS].toSorted())
})

test('nothing differs before the first deploy, after one, and after changes that hold at once', () => {
  service('api', { A: '1' })
  expect(viewUnlive(found())).toMatchObject({ from: null, to: null, count: 0, unknown: [] })
  const { id } = deploy()
  patchService(found(), {
    instances: 3,
    auto_deploy: false,
    headers: [{ path: '/*', name: 'x-a', value: 'b' }],
  })
  expect(viewUnlive(found())).toMatchObject({ from: { id }, to: null, count: 0, unknown: [] })
  expect(saved()).toEqual([])
})

test('settings are compared as the API shows them, and a repository also by credentials that it does not show', () => {
  service('api')
  patchService(found(), { repo_url: 'https://me:first@git.example.com/a.git' })
  deploy()
  patchService(found(), {
    repo_url: 'https://me:second@git.example.com/a.git',
    port: 8080,
    disks: [{ name: 'data', mount_path: '/data' }],
    build_command: 'make\nmake check',
  })
  const shown = viewUnlive(found())
  expect(lines(shown)).toEqual([
    'repo_url: changed',
    'build_command: none -> "make\\nmake check"',
    'port: none -> 8080',
    'disks: none -> [{"name":"data","mount_path":"/data"}]',
  ])
  expect(shown.count).toBe(4)
  expect(JSON.stringify(shown)).not.toMatch(/first|second/)
})

test('own variables and files, and what comes from groups, are told apart; values are nowhere', () => {
  service('db', { HOST: 'old-host' })
  const shared = group('shared', { LEVEL: 'info-value', COVERED: 'a' })
  group('late', { LATE: 'late-value' })
  service('api', { GONE: 'x', KEY: 'old-key', URL: '${{service.db.env.HOST}}', COVERED: 'b' })
  linkEnvGroup(found(), 'shared')
  putSecretFile(found(), 'tls.key', file('old-content'))
  deploy()
  changeVariables(
    found(),
    [
      { key: 'KEY', value: 'new-key' },
      { key: 'NEW', value: 'y' },
    ],
    ['GONE'],
  )
  changeVariables(findService('db'), [{ key: 'HOST', value: 'new-host' }], [])
  changeGroupVariables(
    shared,
    [
      { key: 'LEVEL', value: 'debug-value' },
      { key: 'COVERED', value: 'c' },
    ],
    [],
  )
  linkEnvGroup(found(), 'late')
  putSecretFile(found(), 'tls.key', file('new-content', '/etc/tls/key'))
  putSecretFile(shared, 'ca.pem', file('ca-content'))
  const shown = viewUnlive(found())
  expect(lines(shown)).toEqual([
    'env.KEY: changed',
    'env.URL: changed (what it refers to)',
    'env.NEW: added',
    'env.GONE: removed',
    'secret_files.tls.key: changed (content, path)',
    'env_groups.shared: changed',
    'env_groups.shared.env.LEVEL: changed',
    'env_groups.shared.secret_files.ca.pem: added',
    'env_groups.late: linked',
    'env_groups.late.env.LATE: added',
  ])
  expect(shown.count).toBe(7)
  expect(JSON.stringify(shown)).not.toMatch(/-value|-key"|-host|-content/)
})

test('a variable that covers one of a group is told as the service has it', () => {
  group('shared', { LEVEL: 'info' })
  service('api', {}, { env_groups: ['shared'] })
  deploy()
  changeVariables(found(), [{ key: 'LEVEL', value: 'debug' }], [])
  expect(saved()).toEqual(['env.LEVEL: added'])
  deploy()
  changeVariables(found(), [], ['LEVEL'])
  expect(saved()).toEqual(['env.LEVEL: removed'])
})

test('of a deploy without a record, its snapshot is compared, and what it lacks is named', () => {
  service('api', { A: '1', PORT: '3000' })
  live(found())
  expect(viewUnlive(found())).toMatchObject({
    count: 0,
    unknown: [...SETUP_FIELDS, 'env', 'env_groups', 'secret_files'],
  })
  const { id } = deploy()
  const snapshot = {
    image_id: 'sha256:0',
    start_command: null,
    env: { A: '0', GONE: '1', PORT: '3000' },
    secret_files: [{ name: 'f', path: '/etc/secrets/f', mode: '0400', content: 'MQ==' }],
    port: 3000,
    planned: UNPLANNED,
    is_port_chosen: true,
    health_check_path: null,
    pre_deploy_command: null,
    disks: [],
    memory_limit_mb: 64,
    cpu_limit: 0,
  }
  unrecord(id, snapshot)
  const shown = viewUnlive(found())
  expect(lines(shown)).toEqual([
    'memory_limit_mb: 64 -> 0',
    'env.A: changed',
    'env.GONE: removed',
    'secret_files.f: removed',
  ])
  expect(shown.unknown).toContain('build_command')
  expect(shown.unknown).not.toContain('env')
  const { discarded, kept } = discardChanges(found(), {})
  expect(discarded).toEqual(['memory_limit_mb: 0 -> 64'])
  expect(kept.map(({ change }) => change)).toEqual([
    'env.A: changed',
    'env.GONE: removed',
    'secret_files.f: removed',
  ])
})

test('a deploy is compared with the one that was live before it, or any other of its service', () => {
  service('api', { A: '1' })
  const first = deploy()
  changeVariables(found(), [{ key: 'A', value: '2' }], [])
  patchService(found(), { start_command: 'two' })
  const second = deploy()
  patchService(found(), { start_command: 'three' })
  expect(compareDeploys(first, undefined)).toMatchObject({ from: null, to: { id: first.id }, count: 0 })
  const shown = compareDeploys(getDeploy(second.id)!, undefined)
  expect(shown).toMatchObject({ from: { id: first.id }, to: { id: second.id } })
  expect(lines(shown)).toEqual(['start_command: none -> two', 'env.A: changed'])
  expect(lines(compareDeploys(first, second.id))).toEqual(['start_command: two -> none', 'env.A: changed'])
  expect(compareDeploys(second, second.id).count).toBe(0)
})

test('discarding puts everything back that the live deploy has, byte for byte', () => {
  group('shared', { LEVEL: 'info' })
  group('late', { LATE: '1' })
  service('api', { GONE: 'x', KEY: 'old' }, { env_groups: ['shared'] })
  patchService(found(), { repo_url: 'https://me:first@git.example.com/a.git', apt_packages: ['ffmpeg'] })
  putSecretFile(found(), 'gone', file('gone-content'))
  putSecretFile(found(), 'tls.key', file('old-content'))
  deploy()
  const before = [readVariables(found().id), environmentOf('api')]
  patchService(found(), { repo_url: 'https://me:second@git.example.com/b.git', apt_packages: [], port: 1 })
  changeVariables(
    found(),
    [
      { key: 'KEY', value: 'new' },
      { key: 'NEW', value: 'y' },
    ],
    ['GONE'],
  )
  unlinkEnvGroup(found(), 'shared')
  linkEnvGroup(found(), 'late')
  deleteSecretFile(found(), 'gone')
  putSecretFile(found(), 'tls.key', file('new-content'))
  putSecretFile(found(), 'new', file('new-content'))
  const { discarded, kept } = discardChanges(found(), {})
  expect(kept).toEqual([])
  expect(discarded).toContain(
    'repo_url: https://***@git.example.com/b.git -> https://***@git.example.com/a.git',
  )
  expect(discarded).toContain('secret_files.gone: added')
  expect(viewUnlive(found()).count).toBe(0)
  expect([readVariables(found().id), environmentOf('api')]).toEqual(before)
  expect(discardChanges(found(), {})).toEqual({ discarded: [], kept: [] })
})

test('discarding some changes leaves the others', () => {
  group('late', { LATE: '1' })
  service('api', { A: '1' })
  deploy()
  patchService(found(), { port: 1, start_command: 'run' })
  changeVariables(
    found(),
    [
      { key: 'A', value: '2' },
      { key: 'B', value: '1' },
    ],
    [],
  )
  linkEnvGroup(found(), 'late')
  discardChanges(found(), { settings: ['port', 'branch'], variables: ['B', 'NEVER'] })
  expect(saved()).toEqual([
    'start_command: none -> run',
    'env.A: changed',
    'env_groups.late: linked',
    'env_groups.late.env.LATE: added',
  ])
  const nothing = { settings: [], variables: [], secret_files: [], groups: [] }
  expect(discardChanges(found(), nothing)).toEqual({ discarded: [], kept: [] })
  discardChanges(found(), { groups: ['late'] })
  expect(saved()).toEqual(['start_command: none -> run', 'env.A: changed'])
})

test('what is not the service’s own stays when changes are discarded, with the reason', () => {
  const shared = group('shared', { LEVEL: 'info' })
  const gone = group('gone', { OLD: '1' })
  service('db', { HOST: 'a' })
  service('api', { URL: '${{service.db.env.HOST}}' }, { env_groups: ['shared', 'gone'] })
  deploy()
  changeGroupVariables(shared, [{ key: 'LEVEL', value: 'debug' }], [])
  changeVariables(findService('db'), [{ key: 'HOST', value: 'b' }], [])
  deleteEnvGroup(gone, true)
  const { discarded, kept } = discardChanges(found(), {})
  expect(discarded).toEqual([])
  expect(kept).toEqual([
    {
      change: 'env.URL: changed (what it refers to)',
      reason: 'what it refers to has changed, and not the variable',
    },
    {
      change: 'env_groups.shared: changed',
      reason: 'other services may share the env group: change it there',
    },
    {
      change: 'env_groups.gone: unlinked',
      reason: 'the env group was deleted',
    },
  ])
})

test('a token that is restricted to a service is not told the name of a group that it no longer reaches', () => {
  group('hidden-group', { OLD: '1' })
  group('late', { LATE: '1' })
  const { id } = service('api', {}, { env_groups: ['hidden-group'] })
  service('other', {}, { env_groups: ['hidden-group'] })
  deploy()
  unlinkEnvGroup(found(), 'hidden-group')
  linkEnvGroup(found(), 'late')
  asCaller({ ...FULL, services: [id] }, () => {
    expect(saved()).toEqual([
      'env_groups.late: linked',
      'env_groups.late.env.LATE: added',
      'env_groups.(another): unlinked',
      'env_groups.(another).env.OLD: removed',
    ])
    const { discarded, kept } = discardChanges(found(), {})
    expect(discarded).toEqual(['env_groups.late: unlinked', 'env_groups.late.env.LATE: removed'])
    expect(kept).toEqual([
      {
        change: 'env_groups.(another): unlinked',
        reason: 'this token does not reach the env group, or it was deleted',
      },
    ])
  })
  expect(discardChanges(found(), {}).kept).toEqual([])
})

test('a former state that breaks a rule by now is refused, and nothing is written', () => {
  service('db', { HOST: 'a' })
  service('api', { URL: '${{service.db.env.HOST}}' })
  deploy()
  patchService(found(), { port: 1 })
  changeVariables(found(), [], ['URL'])
  changeVariables(findService('db'), [], ['HOST'])
  expect(() => discardChanges(found(), {})).toThrow(/^env: URL of api: .* has no variable HOST/)
  expect(found().port).toBe(1)
})

test('secrets of a setup are forgotten with the image of their deploy, and those of the live one are not', () => {
  service('api', { A: '1' })
  const first = deploy()
  const second = deploy()
  releaseSetupSecrets()
  expect(getDeploy(first.id)!.setup_secrets).toBeNull()
  expect(getDeploy(first.id)!.setup).not.toBeNull()
  expect(getDeploy(second.id)!.setup_secrets).not.toBeNull()
})

function unrecord(id: string, snapshot: Parameters<typeof sealSnapshot>[0]): void {
  updateDeploy(id, { setup: null, setup_secrets: null, snapshot: sealSnapshot(snapshot) })
}
