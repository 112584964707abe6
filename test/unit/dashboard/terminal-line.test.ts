import { expect, test } from 'vitest'
import type { ServiceInput, ServiceType } from '../../../dashboard/src/api/types.ts'
import { emptyForm, inputOf, type SourceKind } from '../../../dashboard/src/service/settings-form.ts'
import {
  changesLine,
  creationLine,
  datastoreCreationLine,
  datastoreLogsLine,
  datastoreRestoreLine,
  datastoreShellLine,
  deployLine,
  deployLogsLine,
  diskRestoreLine,
  domainLine,
  logsAcrossLine,
  logsLine,
  moveLine,
  rollbackLine,
  runLine,
  sampleLine,
  shellLine,
  variableLines,
} from '../../../dashboard/src/service/terminal-line.ts'
import { sourcesOf } from '../../support/sources.ts'
import { readLine } from '../../support/terminal-lines.ts'

const REPOSITORY = { repo_url: 'https://git.example.com/team/shop.git' }

function lineOf(
  source: SourceKind,
  fields: Partial<ReturnType<typeof emptyForm>>,
  { type = 'web_service', ...more }: Partial<ServiceInput> & { type?: ServiceType } = {},
): string {
  const settings = inputOf({ ...emptyForm(), ...fields }, type, source)
  return creationLine({ name: 'shop', ...settings, environment: 'production', env: [], ...more }, source)
}

test.for([
  ['git', REPOSITORY, {}, 'deployer create shop --repo https://git.example.com/team/shop.git'],
  ['image', { image: 'nginx:1', port: '80' }, {}, 'deployer create shop --image nginx:1 port=80'],
  ['archive', {}, {}, 'deployer deploy . --service shop --create'],
  [
    'archive',
    {},
    { environment: 'staging' },
    'deployer deploy . --service shop --environment staging --create',
  ],
  [
    'archive',
    { publish_dir: 'dist' },
    { type: 'static_site' as const },
    'deployer create shop publish_dir=dist --type static_site\ndeployer deploy . --service shop',
  ],
  ['git', {}, { name: '' }, 'deployer create NAME --repo URL'],
  [
    'git',
    { repo_url: 'https://ada:hunter2@git.example.com/shop.git' },
    {},
    'deployer create shop --repo https://USER:PASSWORD@git.example.com/shop.git',
  ],
] as const)('a new service from %s with %j and %j is the line %s', ([source, fields, more, line]) => {
  expect(lineOf(source, fields, more)).toBe(line)
})

test('settings are words that the command takes, quoted for a shell, without the values of variables', () => {
  const fields = {
    ...REPOSITORY,
    branch: "ada's branch",
    build_command: 'npm ci && npm run build',
    apt_packages: 'ffmpeg poppler-utils',
    auto_deploy: false,
  }
  const line = lineOf('git', fields, {
    env: [{ key: 'PASSWORD', value: 'hunter2' }],
    env_groups: ['shared'],
  })
  expect(line).toContain(String.raw`--branch 'ada'\''s branch'`)
  expect(line).toContain("'build_command=npm ci && npm run build'")
  expect(line).not.toContain('hunter2')
  const call = readLine(line.replace(String.raw`'\''`, ''))!
  expect(call.command.name).toBe('create')
  expect(call.words).toEqual([
    'shop',
    'build_command=npm ci && npm run build',
    'auto_deploy=false',
    'apt_packages=["ffmpeg","poppler-utils"]',
  ])
  expect([call.text('repo'), call.text('env-file'), call.texts('group')]).toEqual([
    REPOSITORY.repo_url,
    '.env',
    ['shared'],
  ])
})

test('lines that deploy a service are read', () => {
  const service = { name: 'shop', environment: 'staging' }
  expect(readLine(deployLine(service, 'archive'))).toMatchObject({ words: ['.'] })
  expect(readLine(deployLine(service, 'git'))?.text('environment')).toBe('staging')
  expect(readLine(lineOf('archive', {}))?.has('create')).toBe(true)
})

const STAGED = { name: 'shop', environment: 'staging' }
const LIVE = { name: 'shop', environment: 'production' }

test.for([
  [sampleLine(STAGED, 'site'), 'deploy', []],
  [sampleLine({ name: '', environment: 'production' }, 'server'), 'deploy', []],
  [logsLine(STAGED), 'logs', ['shop.staging']],
  [logsAcrossLine(['shop', 'api'], 'staging'), 'logs', ['shop', 'api']],
  [logsAcrossLine([], 'production'), 'logs', []],
  [deployLogsLine('dep-1'), 'deploys logs', ['dep-1']],
  [datastoreLogsLine(STAGED), 'db logs', ['shop.staging']],
  [rollbackLine(STAGED, 'dep-1'), 'rollback', ['shop.staging']],
  [changesLine(LIVE), 'changes', ['shop']],
  [runLine(LIVE), 'run', ['shop']],
  [runLine(LIVE, ''), 'run', ['shop']],
  [runLine(LIVE, ' npm run migrate && date '), 'run', ['shop']],
  [shellLine(STAGED, {}), 'shell', ['shop.staging']],
  [shellLine(LIVE, { fresh: true }), 'shell', ['shop']],
  [datastoreShellLine(STAGED), 'db shell', ['shop.staging']],
  [domainLine(LIVE, ''), 'domains add', ['DOMAIN', 'shop']],
  [domainLine(STAGED, 'www.example.org'), 'domains add', ['www.example.org', 'shop.staging']],
  [moveLine('db', STAGED, 'worker-2', true), 'db move', ['shop.staging', 'worker-2']],
  [moveLine('disk', LIVE, '', false), 'disk move', ['shop', 'NODE']],
  [datastoreRestoreLine(LIVE, 'bak-1', 'copy'), 'db restore', ['shop', 'bak-1']],
  [datastoreRestoreLine(LIVE, 'bak-1', null), 'db restore', ['shop', 'bak-1']],
  [diskRestoreLine(STAGED, 'dbk-1', {}), 'disk restore', ['shop.staging', 'dbk-1']],
  [diskRestoreLine(LIVE, 'dbk-1', { into: STAGED, disk: 'data' }), 'disk restore', ['shop', 'dbk-1']],
] as const)('%s is read as %s of %j', ([line, name, words]) => {
  const call = readLine(line)!
  expect(call.command.name).toBe(name)
  expect(call.words).toEqual(words)
})

test('a new datastore is a line with what differs from a usual one', () => {
  const usual = {
    kind: 'keyvalue',
    name: '',
    memory_limit_mb: 0,
    cpu_limit: 0,
    backup_schedule: null,
  } as const
  expect(datastoreCreationLine(usual)).toBe('deployer db create NAME --kind keyvalue')
  const line = datastoreCreationLine({
    ...{ kind: 'relational', name: 'db', environment: 'staging', version: '17' },
    ...{ memory_limit_mb: 512, cpu_limit: 0, backup_schedule: '0 3 * * *' },
  })
  const call = readLine(line)!
  expect([call.command.name, call.text('kind'), call.text('environment')]).toEqual([
    'db create',
    'postgresql',
    'staging',
  ])
  expect(call.words).toEqual(['db', 'version=17', 'memory_limit_mb=512', 'backup_schedule=0 3 * * *'])
})

test('lines say what was chosen: the sample and its variables, the command as one word, where a shell opens or a backup goes', () => {
  const sample = readLine(sampleLine(STAGED, 'site'))!
  expect([sample.text('sample'), sample.text('service'), sample.has('create')]).toEqual([
    'site',
    'shop',
    true,
  ])
  const [creation, deployment] = sampleLine(
    { ...STAGED, type: 'static_site', env: [{ key: 'PASSWORD', value: 'hunter2' }], env_groups: ['shared'] },
    'site',
  ).split('\n')
  const created = readLine(creation!)!
  expect([created.words, created.text('type'), created.text('env-file'), created.texts('group')]).toEqual([
    ['shop'],
    'static_site',
    '.env',
    ['shared'],
  ])
  expect(readLine(deployment!)!.has('create')).toBe(false)
  expect(readLine(shellLine(LIVE, { instance: '1a2b3' }))!.text('instance')).toBe('1a2b3')
  expect(readLine(shellLine(LIVE, { fresh: true }))!.has('fresh')).toBe(true)
  expect(runLine(LIVE, ' npm run migrate && date ')).toBe("deployer run shop -- 'npm run migrate && date'")
  expect(readLine(datastoreRestoreLine(LIVE, 'bak-1', 'copy'))!.text('into')).toBe('copy')
  const disk = readLine(diskRestoreLine(LIVE, 'dbk-1', { into: STAGED, disk: 'data' }))!
  expect([disk.text('into'), disk.text('disk')]).toEqual(['shop.staging', 'data'])
  expect(readLine(moveLine('db', LIVE, 'worker-2', true))!.has('from-backup')).toBe(true)
  const [set, push] = variableLines(STAGED)
    .split('\n')
    .map((line) => readLine(line)!)
  expect([set!.command.name, set!.words, set!.text('service')]).toEqual([
    'env set',
    ['KEY=VALUE'],
    'shop.staging',
  ])
  expect([push!.command.name, push!.words]).toEqual(['env push', ['.env']])
})

test('so are the lines that pages show as they are', () => {
  const lines = sourcesOf('dashboard/src').flatMap(({ text }) =>
    [...text.matchAll(/'(deployer [^']+)'/g)].map(([, line]) => line!),
  )
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) readLine(line)
})
