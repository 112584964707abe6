import { describe, expect, test } from 'vitest'
import { manifest, noted, unnoted } from '../corpus/tree.ts'
import { failure, plan, startable, tree, type Files } from './plan-of.ts'

const FOLDERS = ['apps/web', 'packages/a', 'packages/b', 'packages/c/deep', 'my libs/x y', '.hidden/h']

/** A package in each of the folders, whose root starts. */
const members = (patterns: unknown): Files => ({
  'package.json': { ...startable, ...(typeof patterns === 'string' ? {} : { workspaces: patterns }) },
  ...(typeof patterns === 'string' ? { 'pnpm-workspace.yaml': patterns } : {}),
  ...Object.fromEntries(
    [...FOLDERS, 'packages/a/node_modules/n'].map((path) => [`${path}/package.json`, {}]),
  ),
})

const found = (manifests: Record<string, string>): string[] =>
  Object.keys(manifests)
    .filter((path) => path !== 'package.json')
    .map((path) => path.replace('/package.json', ''))

describe('the packages of a workspace', () => {
  test.each<[string, unknown, string[]]>([
    ['braces', ['{apps,packages}/*'], ['apps/web', 'packages/a', 'packages/b']],
    ['braces in braces', ['{apps/{web,no},packages/a}'], ['apps/web', 'packages/a']],
    ['braces without a choice', ['packages/{a}'], []],
    ['any depth', ['packages/**'], ['packages/a', 'packages/b', 'packages/c/deep']],
    ['any depth in the middle', ['**/deep'], ['packages/c/deep']],
    ['exceptions in any place', ['!packages/b', 'packages/*'], ['packages/a']],
    ['exceptions of any depth', ['**', '!**/packages/**', '!my*/**'], ['apps/web']],
    ['exceptions with braces', ['packages/*', '!packages/{a,c}'], ['packages/b']],
    [
      'a slash at the end, and a dot before it',
      ['./packages/a/', '/packages/b//'],
      ['packages/a', 'packages/b'],
    ],
    ['one character', ['packages/?', 'apps/w?b'], ['apps/web', 'packages/a', 'packages/b']],
    ['some characters', ['packages/[a-a]', 'a[!x]ps/*'], ['apps/web', 'packages/a']],
    ['several stars', ['a*p*/*e*'], ['apps/web']],
    ['spaces', ['my libs/*'], ['my libs/x y']],
    [
      'hidden folders',
      ['*/*', '.hid*/*'],
      ['.hidden/h', 'apps/web', 'my libs/x y', 'packages/a', 'packages/b'],
    ],
    ['an object', { packages: ['apps/*'] }, ['apps/web']],
    ['an object without packages', { packages: [] }, []],
    ['installed packages', ['packages/a/node_modules/*', 'packages/*/node_modules/n'], []],
  ])('are found by %s', async (_title, patterns, folders) => {
    expect(found((await plan(members(patterns))).manifests)).toEqual(folders)
  })

  test.each<[string, string, string[]]>([
    ['comments', 'packages: # all\n  # the apps\n  - apps/* # these\n', ['apps/web']],
    ['quotes', 'packages:\n- "packages/a"\n- \'my libs/*\'\n', ['my libs/x y', 'packages/a']],
    [
      'a list in several lines',
      'packages: [\n  apps/*, # these\n  "packages/b",\n]\n',
      ['apps/web', 'packages/b'],
    ],
    ['anchors', 'x: &x apps/*\npackages: &all\n  - *x\ny: *all\n', ['apps/web']],
    ['a key in quotes', '"packages":\n  - apps/*\ncatalog:\n  a: 1\n', ['apps/web']],
    ['only settings', 'onlyBuiltDependencies: [x]\n', []],
    ['no list', 'packages: apps/*\n', []],
    ['another type in the list', 'packages:\n  - 1\n  - {a: b}\n  - apps/*\n', ['apps/web']],
  ])('are found in a file of pnpm with %s', async (_title, text, folders) => {
    expect(found((await plan(members(text))).manifests)).toEqual(folders)
  })

  test('are those of pnpm where it installs, and those of package.json elsewhere', async () => {
    const both = { ...members(['apps/*']), 'pnpm-workspace.yaml': 'packages: [packages/*]\n' }
    expect(found((await plan({ ...both, 'package-lock.json': '{}' })).manifests)).toEqual(['apps/web'])
    const byPnpm = await plan({ ...both, 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" })
    expect(found(byPnpm.manifests)).toEqual(['packages/a', 'packages/b'])
  })

  test('are asked for in words where the file of pnpm cannot be read', async () => {
    await expect(plan(members('packages: [a\nb: "'))).rejects.toMatchObject(
      failure('pnpm-workspace.yaml is not valid YAML ('),
    )
  })
})

/** A workspace whose package `apps/web` is built, with more fields of its package.json, and other packages. */
const workspace = (web: object, others: Files = {}, root: object = {}): Files => ({
  'package.json': { private: true, workspaces: ['apps/*', 'packages/*', 'my libs/*'], ...root },
  'apps/web/package.json': { name: 'web', scripts: { start: 'node index.js', build: 'b' }, ...web },
  ...others,
})

/** A package that is built. */
const library = (name: string | null, more: object = {}): object => ({
  ...(name === null ? {} : { name }),
  scripts: { build: 'tsc' },
  ...more,
})

const build = async (files: Files): Promise<string | null> =>
  (await tree.plan(files, {}, 'apps/web')).buildCommand

describe('the build of a package in a workspace', () => {
  const npm = (...names: string[]): string =>
    names.map((name) => `npm run build --workspace=${name}`).join(' && ')

  test.each<[string, object]>([
    ['a dependency', { dependencies: { a: '*' } }],
    ['a development dependency', { devDependencies: { a: 'workspace:*' } }],
    ['an optional dependency', { optionalDependencies: { a: '*' } }],
    ['a peer dependency', { peerDependencies: { a: '*' } }],
    ['a dependency by its path', { dependencies: { x: 'file:../../packages/a' } }],
    ['a dependency under another name', { dependencies: { x: 'workspace:a@*' } }],
  ])('begins with %s', async (_title, web) => {
    const others = { 'packages/a/package.json': library('a'), 'packages/b/package.json': library('b') }
    expect(await build(workspace(web, others))).toBe(npm('a', 'web'))
  })

  test('begins with what the root depends on, except what depends on the package', async () => {
    const others = {
      'packages/config/package.json': library('config', { peerDependencies: { base: '*' } }),
      'packages/base/package.json': library('base', { devDependencies: { config: '*' } }),
      'packages/e2e/package.json': library('e2e', { dependencies: { pages: '*' } }),
      'packages/pages/package.json': library('pages', { dependencies: { web: '*' } }),
      'packages/ui/package.json': library('ui'),
    }
    const root = { devDependencies: { e2e: '*', web: '*', config: '*' } }
    const files = workspace({ dependencies: { ui: '*' } }, others, root)
    expect(await build(files)).toBe(npm('base', 'config', 'ui', 'web'))
    const byTool = (tool: string, settings = `${tool}.json`): Files => ({
      ...workspace({ dependencies: { ui: '*' } }, others, {
        devDependencies: { ...root.devDependencies, [tool]: '*' },
      }),
      [settings]: {},
    })
    expect(await build(byTool('nx'))).toBe('nx build base && nx build config && nx build web')
    for (const settings of ['turbo.json', 'turbo.jsonc']) {
      const files = byTool('turbo', settings)
      expect(await build(files)).toMatch(/--filter=base && .*--filter=config && .*--filter=web$/)
    }
  })

  const named = { 'packages/a/package.json': library(null), 'my libs/b c/package.json': library('b; c') }
  const byPaths = { dependencies: { a: 'file:../../packages/a', 'b; c': '*' } }

  test.each<[string, object, Files, string]>([
    [
      'npm',
      {},
      {},
      "npm run build --workspace=packages/a && npm run build --workspace='my libs/b c' && npm run build --workspace=web",
    ],
    [
      'pnpm',
      { packageManager: 'pnpm@10.0.0' },
      { 'pnpm-workspace.yaml': 'packages: ["*/*"]' },
      "pnpm --filter ./packages/a run build && pnpm --filter './my libs/b c' run build && pnpm --filter web run build",
    ],
    [
      'yarn',
      { packageManager: 'yarn@4.0.0' },
      {},
      "(cd packages/a && yarn run build) && (cd 'my libs/b c' && yarn run build) && yarn workspace web run build",
    ],
  ])('names packages by their folders where it must: %s', async (_title, root, files, command) => {
    expect(await build({ ...workspace(byPaths, named, root), ...files })).toBe(command)
  })

  test('enters folders whose names are patterns', async () => {
    const others = { "packages/[it's]/package.json": library(null) }
    const files = workspace({ dependencies: { a: "file:../../packages/[it's]" } }, others)
    expect(await build(files)).toBe(String.raw`(cd 'packages/[it'\''s]' && npm run build) && ${npm('web')}`)
  })
})

describe('the development dependencies of a workspace', () => {
  const lib = (more: object = {}): object => ({ name: '@acme/lib', devDependencies: { tool: '1' }, ...more })
  const web = { dependencies: { koa: '3', '@acme/lib': '*' } }
  const notesOf = async (files: Files): Promise<string[]> => (await tree.plan(files, {}, 'apps/web')).notes
  const kept = (why: string): string[] => noted(`keeping the development dependencies: ${why}`)
  const isTool = 'the program imports tool, which is one of them'

  test.each<[string, string, object, Files]>([
    ['its main', "require('@acme/lib')", { main: 'x.js' }, { 'x.js': "require('tool/part')" }],
    ['its index', "import '@acme/lib'", {}, { 'index.ts': "import x from 'tool'" }],
    ['its source', "import '@acme/lib'", { main: './dist/a.mjs' }, { 'src/a.ts': "export * from 'tool'" }],
    [
      'its exports',
      "import '@acme/lib'",
      { exports: { '.': { types: './a.d.ts', import: [{ node: './dist/esm/a.js' }] } } },
      { 'src/a.tsx': "import 'tool'" },
    ],
    [
      'a part of its exports',
      "await import(/* now */ '@acme/lib/parts/x')",
      { exports: { './*': './no/*.js', './parts/*': './lib/*/y.js', './parts/*.css': './*' } },
      { 'lib/x/y.js': "import 'tool'" },
    ],
    ['a file of it', "require('@acme/lib/a')", {}, { 'a.js': "require('tool')" }],
    ['a relative path', "require('../../packages/lib/a')", {}, { 'a.js': "require('tool')" }],
    [
      'a name of its own',
      "require('@acme/lib')",
      { imports: { '#own/*': { default: './own/*.js' } } },
      { 'index.js': "import '#own/x'", 'own/x.js': "const a = require(\n  'tool',\n)" },
    ],
    [
      'its own name, and the settings of its compiler',
      "require('@acme/lib')",
      {},
      {
        'index.js': "import '@acme/lib/a'",
        'a.js': "import '@/b'",
        'src/b.ts': "a();import{c}from'koa';import{e}from'tool'",
      },
    ],
  ])('are kept where the program imports one through %s', async (_title, entry, more, files) => {
    const others = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [`packages/lib/${name}`, text]),
    )
    const all = { 'packages/lib/package.json': lib(more), 'apps/web/index.js': entry, ...others }
    expect(await notesOf(workspace(web, all))).toEqual(kept(isTool))
  })

  test.each<[string, string, object]>([
    ['does not reach them', "require('koa'); require('@acme/lib')", { main: 'x.js' }],
    ['imports what it lists itself, as another package does for its tests', "require('tool')", {}],
    ['imports only types', "import type { A } from 'other'\nexport type { B } from 'other'", {}],
    ['mentions calls', "// require(any)\n/**\n * import(any) or {import('other').A}\n */\na.require(x)", {}],
  ])('go where the program %s', async (_title, entry, more) => {
    const files = workspace(
      { dependencies: { ...web.dependencies, tool: '1' } },
      {
        'packages/lib/package.json': lib({ ...more, devDependencies: { tool: '1', other: '1' } }),
        'packages/lib/x.js': "require('node:fs'); require('koa/part')",
        'apps/web/index.js': entry,
      },
    )
    expect(await notesOf(files)).toEqual(unnoted('keeping'))
  })

  test.each<[string, Files, string]>([
    [
      'loads what it computes',
      { 'apps/web/index.js': 'require(`./a/${b}`)' },
      'apps/web/index.js loads what it',
    ],
    [
      'imports what it computes',
      { 'apps/web/index.js': 'x = await import(y)' },
      'apps/web/index.js loads what it',
    ],
    ['joins a name', { 'apps/web/index.js': "require('./a' + b)" }, 'apps/web/index.js loads what it'],
    [
      'imports a file that only a build makes',
      {
        'apps/web/index.js': "require('@acme/lib')",
        'packages/lib/package.json': lib({ main: 'made/x.js' }),
      },
      'nothing shows which file of packages/lib it imports',
    ],
    ['is large', { 'apps/web/index.js': ' '.repeat(600_000) }, 'apps/web/index.js is too large'],
    [
      'imports what no list names',
      { 'apps/web/index.js': "require('stray')" },
      'the program imports stray, which package.json does not name',
    ],
  ])('are kept where the program %s', async (_title, files, why) => {
    const all = { 'packages/lib/package.json': lib(), ...files }
    expect(await notesOf(workspace(web, all))).toEqual(kept(why))
  })

  test('are kept where what is loaded before the program imports one', async () => {
    const files = {
      'package.json': manifest({ start: 'node -r ./before.js .' }, ['koa'], ['dotenv'], { main: 'x.js' }),
      'x.js': '',
      'before.js': "require('dotenv').config()",
    }
    expect((await plan(files)).notes).toEqual(kept('the program imports dotenv, which is one of them'))
  })
})
