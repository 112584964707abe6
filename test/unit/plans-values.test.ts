import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { stringify } from 'yaml'
import type { BuildPlan } from '#plans/index.ts'
import { PlannedTree } from '../support/planned-tree.ts'
import { runs } from '../support/runs.ts'

let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

type Files = Record<string, string | object>

/** Values of every type, and texts that have a meaning where they are written. */
const VALUE = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    ...['', '.', '..', '../..', '/', '/etc', '*', '**', '-x', '$(evil)', '`evil`', '; evil', '__proto__'],
    ...['constructor', '1', '1.2.3', '>=1', 'x\nRUN evil', '"', "'", '\\', '\u0000', '\u2028', '#', '[', '='],
  ),
  fc.dictionary(fc.constantFrom('name', 'version', 'packages', 'x', 'base', 'toString'), fc.jsonValue()),
)
const RUNS = runs(30)

/** A plan's output has the declared types, and no line of its Dockerfile comes from elsewhere. */
function expectWhole(plan: BuildPlan): void {
  const text = expect.toSatisfy((value) => value === null || typeof value === 'string') as unknown
  expect(plan).toMatchObject({
    version: text,
    framework: text,
    packageManager: text,
    installCommand: text,
    buildCommand: text,
    startCommand: text,
    preDeployCommand: text,
    publishDirectory: text,
    obstacle: text,
  })
  expect(plan.publishDirectory ?? '').not.toMatch(/^\/|(^|\/)\.\.(\/|$)/)
  for (const note of plan.notes) expect(typeof note).toBe('string')
  for (const line of plan.dockerfile.trim().split('\n')) {
    expect(line).toMatch(/^(?:FROM|COPY|RUN|ENV|ARG|SHELL|WORKDIR|USER|CMD) \S| {4}\S/)
  }
}

async function answers(files: Files): Promise<void> {
  const planned = await tree.plan(files).catch((error: unknown) => error)
  if (planned instanceof Error) expect(planned).toMatchObject({ name: 'BuildFailure' })
  else expectWhole(planned as BuildPlan)
}

/** An object with a value at a path of keys, on top of its other content. */
function withValue(base: unknown, [key, ...rest]: string[], value: unknown): unknown {
  if (key === undefined) return value
  const object = typeof base === 'object' && base !== null ? base : {}
  return { ...object, [key]: withValue((object as Record<string, unknown>)[key], rest, value) }
}

const PACKAGE = {
  name: 'shop',
  scripts: { start: 'node server.js', build: 'vite build --outDir out' },
  dependencies: { next: '15', 'left-pad': '1' },
  devDependencies: { vite: '7' },
}

test.each<[file: string, base: object, others: Files, keys: string]>([
  ['package.json', PACKAGE, {}, 'name main packageManager type'],
  ['package.json', PACKAGE, {}, 'scripts scripts.start scripts.build scripts.postinstall scripts.start:prod'],
  [
    'package.json',
    PACKAGE,
    {},
    'engines engines.node engines.npm engines.pnpm engines.yarn engines.bun volta volta.node',
  ],
  [
    'package.json',
    PACKAGE,
    {},
    'devEngines devEngines.runtime devEngines.runtime.name devEngines.packageManager',
  ],
  [
    'package.json',
    PACKAGE,
    {},
    'dependencies dependencies.next dependencies.react-scripts dependencies.nuxt',
  ],
  ['package.json', PACKAGE, {}, 'devDependencies devDependencies.vite optionalDependencies dependencies.x'],
  ['package.json', PACKAGE, { 'packages/x/package.json': '{}' }, 'workspaces workspaces.packages'],
  [
    'packages/x/package.json',
    {},
    { 'package.json': { workspaces: ['packages/*'] } },
    'name scripts.start dependencies',
  ],
  [
    'composer.json',
    {},
    { 'public/index.php': '' },
    'require require.php require.ext-gd repositories repositories.x extra',
  ],
  ['composer.json', {}, { 'web/index.php': '' }, 'extra.public-dir extra.drupal-scaffold.locations.web-root'],
  ['composer.lock', {}, { 'composer.json': '{}', 'index.php': '' }, 'packages packages.x'],
  [
    'angular.json',
    {},
    { 'package.json': { dependencies: { '@angular/core': '20' } } },
    'projects projects.x projects.x.architect',
  ],
  [
    'angular.json',
    {},
    { 'package.json': { dependencies: { '@angular/core': '20' } } },
    'projects.x.architect.build projects.x.architect.build.options',
  ],
  [
    'angular.json',
    {},
    { 'package.json': { dependencies: { '@angular/core': '20' } } },
    'projects.x.architect.build.options.outputPath projects.x.architect.build.builder',
  ],
  ['deno.json', {}, { 'main.ts': '' }, 'tasks tasks.start tasks.build workspace imports'],
  [
    'tsconfig.json',
    {},
    { 'package.json': { scripts: { build: 'tsc' } }, 'src/index.ts': '' },
    'compilerOptions compilerOptions.outDir',
  ],
  ['global.json', {}, { 'x.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"/>' }, 'sdk sdk.version'],
  ['hugo.json', {}, {}, 'publishDir'],
  [
    'railway.json',
    {},
    { 'package.json': PACKAGE },
    'build build.buildCommand build.nixpacksPlan.variables.A build.watchPatterns deploy.startCommand deploy.preDeployCommand deploy.healthcheckPath deploy.cronSchedule',
  ],
  [
    'nixpacks.json',
    {},
    { 'main.py': '' },
    'phases phases.setup phases.setup.aptPkgs phases.setup.nixPkgs phases.x.cmds phases.build.cmds start.cmd variables variables.A variables.PORT',
  ],
  [
    'railpack.json',
    {},
    { 'package.json': PACKAGE },
    'packages packages.node steps steps.build steps.build.commands steps.x.commands deploy.startCommand deploy.variables buildAptPackages',
  ],
  [
    'heroku.yml',
    {},
    { 'main.py': '' },
    'build.packages run run.web run.web.command release.command build.docker.web',
  ],
])('%s handles any value for its keys (%#: %o)', async (file, base, others, keys) => {
  const paths = fc.constantFrom(...keys.split(' ')).map((key) => key.split('.'))
  await fc.assert(
    fc.asyncProperty(paths, VALUE, async (path, value) => {
      await answers({ ...others, [file]: JSON.stringify(withValue(base, path, value)) })
    }),
    { numRuns: RUNS },
  )
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** How people and tools write a value: in one line, or over several. */
const toml = (key: string, value: unknown): string[] => [
  `${key} = ${JSON.stringify(value)}`,
  `${key} = '''\n${textOf(value)}\n'''`,
  `${key} = [\n  ${JSON.stringify(value)},\n]`,
  `${key} = ${textOf(value)}`,
]
const yaml = (key: string, value: unknown): string[] => [
  `${key}: ${JSON.stringify(value)}`,
  stringify({ [key]: value }),
  stringify({ [key]: [value] }),
  `${key}: ${textOf(value)}`,
]

test.each<[file: string, write: typeof toml, table: string, keys: string, others: Files]>([
  ['pyproject.toml', toml, '[project]', 'requires-python name scripts dependencies', { 'main.py': '' }],
  ['pyproject.toml', toml, '[project.scripts]', 'serve', {}],
  ['pyproject.toml', toml, '[tool.poetry.dependencies]', 'python fastapi', { 'main.py': '' }],
  ['Pipfile', toml, '[requires]', 'python_version python_full_version', { 'main.py': '' }],
  ['Cargo.toml', toml, '[package]\nname = "x"', 'name default-run rust-version', { 'src/main.rs': '' }],
  [
    'Cargo.toml',
    toml,
    '[workspace]',
    'members exclude',
    { 'a/Cargo.toml': '[package]\nname = "a"\n', 'a/src/main.rs': '' },
  ],
  ['Cargo.toml', toml, '[[bin]]', 'name path', { 'src/main.rs': '' }],
  ['rust-toolchain.toml', toml, '[toolchain]', 'channel', { 'Cargo.toml': '[package]\nname = "x"\n' }],
  ['gleam.toml', toml, '', 'name gleam version', {}],
  ['mise.toml', toml, '[tools]', 'node python go', { 'package.json': PACKAGE }],
  ['hugo.toml', toml, '', 'publishDir baseURL', {}],
  ['config.toml', toml, 'base_url = "x"', 'output_dir', { 'content/x.md': '' }],
  ['netlify.toml', toml, '[build.environment]', 'HUGO_VERSION', { 'hugo.toml': '' }],
  ['mkdocs.yml', yaml, '', 'site_dir theme docs_dir', {}],
  ['_config.yml', yaml, '', 'theme plugins gems destination', { '_posts/x.md': '' }],
  ['pnpm-workspace.yaml', yaml, '', 'packages catalog', { 'package.json': PACKAGE, 'a/package.json': '{}' }],
  ['pnpm-lock.yaml', yaml, '', 'lockfileVersion', { 'package.json': PACKAGE }],
  ['hugo.yaml', yaml, '', 'publishDir', {}],
])('%s handles any value for its keys (%#)', async (file, write, table, keys, others) => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...keys.split(' ')), VALUE, fc.nat(3), async (key, value, way) => {
      await answers({ ...others, [file]: `${table}\n${write(key, value)[way]}\n` })
    }),
    { numRuns: RUNS },
  )
})

/** Files whose every line is a value, and texts that are read as one. */
test.each<[file: string, others: Files]>([
  ['.node-version', { 'package.json': PACKAGE }],
  ['.tool-versions', { 'package.json': PACKAGE }],
  ['.python-version', { 'main.py': '' }],
  ['runtime.txt', { 'main.py': '' }],
  ['requirements.txt', { 'main.py': '' }],
  ['.ruby-version', { Gemfile: '', 'config.ru': '' }],
  ['Gemfile', { 'config.ru': '' }],
  ['go.mod', { 'main.go': 'package main' }],
  ['go.work', { 'a/main.go': 'package main' }],
  ['mix.exs', {}],
  ['build.sbt', { 'project/plugins.sbt': 'sbt-native-packager' }],
  ['pom.xml', {}],
  ['build.gradle', { 'gradle/wrapper/gradle-wrapper.properties': 'distributionUrl=x/gradle-9.9' }],
  ['gradle/wrapper/gradle-wrapper.properties', { 'build.gradle': '', gradlew: '' }],
  ['system.properties', { 'pom.xml': '' }],
  ['deps.edn', {}],
  ['x.csproj', {}],
  ['Procfile', { 'package.json': PACKAGE }],
  ['Aptfile', { 'package.json': PACKAGE }],
])('%s handles any text', async (file, others) => {
  const words = [
    'go 1.24',
    'use ./a',
    'module x',
    'elixir ',
    'nodejs ',
    'app: :x',
    'name := ',
    'web: ',
    'release: ',
  ]
  const more = [
    '-r ',
    'gem "x"',
    'ruby "',
    '<java.version>',
    '<Project Sdk="Microsoft.NET.Sdk.Web">',
    'java ',
    '3.',
  ]
  const word = fc.oneof(fc.constantFrom(...words, ...more, '\n', '"', ' '), fc.string(), VALUE.map(textOf))
  await fc.assert(
    fc.asyncProperty(fc.array(word, { maxLength: 6 }), async (parts) => {
      await answers({ ...others, [file]: parts.join('') })
    }),
    { numRuns: RUNS },
  )
})
