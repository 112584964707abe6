import { expect, test } from 'vitest'
import type { ServiceInput, ServiceType } from '../../../dashboard/src/api/types.ts'
import { emptyForm, inputOf, type SourceKind } from '../../../dashboard/src/service/settings-form.ts'
import { creationLine, deployLine } from '../../../dashboard/src/service/terminal-line.ts'
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

test('so are the lines that pages show as they are', () => {
  const lines = sourcesOf('dashboard/src').flatMap(({ text }) =>
    [...text.matchAll(/'(deployer [^']+)'/g)].map(([, line]) => line!),
  )
  expect(lines.length).toBeGreaterThan(0)
  for (const line of lines) readLine(line)
})
