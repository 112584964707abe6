import { describe, expect, test } from 'vitest'
import { base, failure, plan, startable, type Files } from './plan-of.ts'

describe('the node plan', () => {
  test.each<[string, Files, string]>([
    ['nothing', {}, '24'],
    ['.node-version', { '.node-version': 'v20.11.1\n' }, '20'],
    ['.nvmrc', { '.nvmrc': 'lts/jod' }, '22'],
    ['.nvmrc with a comment', { '.nvmrc': '# ours\n18.x\n' }, '18'],
    ['.nvmrc for the newest', { '.nvmrc': 'lts/*' }, '24'],
    ['engines', { 'package.json': { ...startable, engines: { node: '>=18 <21' } } }, '20'],
    ['wide engines', { 'package.json': { ...startable, engines: { node: '>=12' } } }, '24'],
    [
      'engines beyond the current line',
      { 'package.json': { ...startable, engines: { node: '>=26' } } },
      '26',
    ],
    [
      '.node-version before engines',
      { '.node-version': '22', 'package.json': { ...startable, engines: { node: '20' } } },
      '22',
    ],
  ])('reads the version from %s', async (_title, files, major) => {
    expect(base(await plan({ 'package.json': startable, ...files }))).toBe(`FROM node:${major}-bookworm-slim`)
  })

  test('says which version it cannot read', async () => {
    await expect(plan({ 'package.json': startable, '.nvmrc': 'banana' })).rejects.toMatchObject(
      failure('.nvmrc says "banana"'),
    )
    await expect(plan({ 'package.json': { ...startable, engines: { node: '??' } } })).rejects.toMatchObject(
      failure('engines.node'),
    )
  })

  test.each<[string, Files, string]>([
    ['npm without a lock file', {}, 'npm install --omit=dev'],
    ['npm', { 'package-lock.json': '{}' }, 'npm ci --omit=dev'],
    ['pnpm 10', { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" }, ' pnpm@10\n'],
    ['pnpm 8', { 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" }, ' pnpm@8\n'],
    ['yarn 1', { 'yarn.lock': '# yarn lockfile v1\n' }, ' yarn@1.22.22\n'],
    ['yarn 4', { 'yarn.lock': '__metadata:\n  version: 8\n' }, ' @yarnpkg/cli-dist@4\n'],
    [
      'the named one',
      {
        'package.json': { ...startable, packageManager: 'pnpm@9.1.0+sha512.abc' },
        'package-lock.json': '{}',
      },
      ' pnpm@9.1.0\n',
    ],
    [
      'a named yarn',
      { 'package.json': { ...startable, packageManager: 'yarn@3.6.0' } },
      ' @yarnpkg/cli-dist@3.6.0\n',
    ],
  ])('installs with %s', async (_title, files, said) => {
    expect((await plan({ 'package.json': startable, ...files })).dockerfile).toContain(said)
  })

  const firstInstall = (text: string): number => text.indexOf('npm ci')
  const lock = { 'package-lock.json': '{}', '.npmrc': 'a=b' }

  test('installs with only the manifests, before it copies the code', async () => {
    const made = await plan({ 'package.json': startable, ...lock })
    expect(made.dockerfile).toContain('COPY manifests/ ./\nCOPY source/package-lock.json source/.npmrc ./')
    expect(firstInstall(made.dockerfile)).toBeLessThan(made.dockerfile.indexOf('COPY source/ ./'))
    for (const manifest of [
      { ...startable, workspaces: ['a'] },
      { scripts: { ...startable.scripts, postinstall: 'patch-package' } },
      { ...startable, dependencies: { x: 'file:./x' } },
    ]) {
      const { dockerfile } = await plan({ 'package.json': manifest, 'x/package.json': {}, ...lock })
      expect(firstInstall(dockerfile)).toBeLessThan(dockerfile.indexOf('COPY source/ ./'))
    }
  })

  test("runs the project's own install scripts when the code is there", async () => {
    const manifest = { scripts: { ...startable.scripts, postinstall: 'patch-package', prepare: 'husky' } }
    const { dockerfile, manifests } = await plan({ 'package.json': manifest, ...lock })
    expect(JSON.parse(manifests['package.json']!)).toEqual(startable)
    const install = dockerfile.lastIndexOf('npm install --include=dev')
    expect(install).toBeGreaterThan(dockerfile.indexOf('COPY source/ ./'))
    // What the manifests alone decide is not installed twice.
    const plain = await plan({ 'package.json': { ...startable, dependencies: { koa: '3' } }, ...lock })
    expect(plain.dockerfile).not.toContain('npm install --include')
  })

  test('says that a dependency outside of the source is not part of the build', async () => {
    const { notes } = await plan({ 'package.json': { ...startable, dependencies: { x: 'file:../../x' } } })
    expect(notes).toContain(
      'package.json depends on ../../x, which is outside of root_dir and so not part of the build',
    )
  })

  test.each<[string, Files]>([
    ['a script', { 'package.json': { ...startable, scripts: { ...startable.scripts, postinstall: 'x' } } }],
    ['a package in a folder', { 'package.json': { ...startable, dependencies: { x: 'file:./x' } } }],
    ['an archive', { 'package.json': { ...startable, dependencies: { x: 'x.tgz' } } }],
    ['a patch', { 'package.json': { ...startable, pnpm: { patchedDependencies: { x: 'p/x.patch' } } } }],
    ['an override', { 'package.json': { ...startable, overrides: { a: { b: 'file:b' } } } }],
    ['a hook', { 'package.json': startable, 'pnpm-lock.yaml': '', '.pnpmfile.cjs': '' }],
    ['a setting', { 'package.json': startable, '.npmrc': 'node-options=--require ./hook.cjs' }],
    ['an addon', { 'package.json': startable, 'binding.gyp': '{}' }],
  ])('installs over the source where there is %s', async (_title, files) => {
    const { dockerfile } = await plan(files)
    const installs = [...dockerfile.matchAll(/(?:npm|pnpm) (?:ci|install) --/g)].map(({ index }) => index)
    expect(installs.at(-1)).toBeGreaterThan(dockerfile.indexOf('COPY source/ ./'))
    // The first one may fail for want of the source.
    expect(dockerfile).toMatch(/install .* \|\| \{ echo .*; find \. -name node_modules/)
  })

  test('installs before the code is there, and keeps development packages out of the image', async () => {
    const manifest = {
      scripts: { ...startable.scripts, build: 'tsc' },
      devDependencies: { typescript: '5' },
      dependencies: { koa: '3' },
    }
    const { dockerfile } = await plan({ 'package.json': manifest, ...lock })
    const stage = (name: string): string =>
      dockerfile.split('\nFROM ').find((part) => part.split('\n', 1)[0]!.endsWith(` AS ${name}`)) ?? ''
    expect(stage('packages')).toContain('npm ci --include=dev')
    expect(stage('production')).toContain('npm ci --omit=dev')
    expect(stage('build')).not.toContain('npm ci')
    expect(stage('build')).toMatch(/^packages AS build[\s\S]*COPY source\/ [\s\S]*npm run build/)
    const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    expect(final).toMatch(/COPY --from=production .* \/app \/app\n[^]*COPY --from=build .* \/taken \/app\n/)
    expect(final).not.toContain('packages')
    expect((await plan({ 'package.json': manifest }, { buildCommand: 'make all' })).dockerfile).not.toContain(
      'npm run build',
    )
  })

  test('mounts caches that belong to one service', async () => {
    const manifest = { scripts: { build: 'next build' }, dependencies: { next: '15' } }
    const { dockerfile } = await plan({ 'package.json': manifest }, { cacheScope: 'svc-1' })
    const ids = [...dockerfile.matchAll(/type=cache,id=(\S+?),target=(\S+)/g)]
    expect(ids.map(([, id]) => id)).toContain('svc-1/app/.next/cache')
    for (const [, id] of ids) expect(id).toMatch(/^svc-1\//)
  })

  test.each<[string, Files, string]>([
    ['the script itself', { 'package.json': startable }, 'node server.js'],
    [
      'npm where the script needs it',
      { 'package.json': { scripts: { start: 'npm run serve' } } },
      'npm start',
    ],
    [
      'npm where there is a script before it',
      { 'package.json': { scripts: { start: 'node x', prestart: 'y' } } },
      'npm start',
    ],
    [
      'pnpm where the script needs it',
      { 'package.json': { scripts: { start: 'pnpm -r start' } }, 'pnpm-lock.yaml': '' },
      'pnpm start',
    ],
    [
      'the line of the Procfile',
      { 'package.json': startable, Procfile: 'release: x\r\nweb: node web.js $PORT\r\n' },
      'node web.js $PORT',
    ],
    [
      'the script when the Procfile has no line',
      { 'package.json': startable, Procfile: 'worker: x' },
      'node server.js',
    ],
    ['main', { 'package.json': { main: './lib/x.js' }, 'lib/x.js': '', 'server.js': '' }, 'node lib/x.js'],
    ['main without its ending', { 'package.json': { main: 'lib/x' }, 'lib/x.js': '' }, 'node lib/x.js'],
    ['server.js', { 'package.json': {}, 'server.js': '' }, 'node server.js'],
  ])('starts with %s', async (_title, files, command) => {
    expect((await plan(files)).startCommand).toBe(command)
  })

  test("starts a worker with its own line of the Procfile, and anything with the service's own command", async () => {
    const files = { 'package.json': startable, Procfile: 'web: a\nworker: node worker.js' }
    expect((await plan(files, { processType: 'worker' })).startCommand).toBe('node worker.js')
    expect((await plan(files, { startCommand: 'mine' })).startCommand).toBe('mine')
  })

  test('says how to name a start command when there is none', async () => {
    expect((await plan({ 'package.json': { main: 'missing.js' } })).obstacle).toContain(
      'add a script "start"',
    )
  })

  test.each<[string, Files, string]>([
    ['broken', { 'package.json': '{' }, 'package.json is not valid JSON'],
    ['no object', { 'package.json': '[]' }, 'not a JSON object'],
    [
      'with an unknown manager',
      { 'package.json': { ...startable, packageManager: 'cnpm@1.0.0' } },
      'write npm, pnpm, yarn or bun',
    ],
  ])('says that package.json is %s', async (_title, files, said) => {
    await expect(plan(files)).rejects.toMatchObject(failure(said))
  })

  test('lets no field of package.json write into the Dockerfile', async () => {
    const evil = 'x\nRUN evil'
    const manifest = {
      main: evil,
      scripts: { start: `node a\nUSER root`, build: evil },
      engines: { node: '24' },
    }
    const { dockerfile } = await plan({ 'package.json': manifest, [`server.js`]: '' })
    expect(dockerfile).not.toMatch(/^(RUN evil|USER root)/m)
    await expect(
      plan({ 'package.json': { ...startable, packageManager: 'pnpm@9.0.0\nRUN evil' } }),
    ).rejects.toMatchObject(failure('packageManager'))
  })
})
