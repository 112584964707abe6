import {
  answering,
  BUILT,
  evaluating,
  IN_WEB,
  PNPM_10,
  PNPM_9,
  program,
  root,
  TOOL,
  web,
  WITH_PNPM_10,
  WITH_PNPM_9,
  writing,
  type ByHandCase,
} from './case.ts'

const INSTALL = 'pnpm install'
const BOTH = 'pnpm install && pnpm --filter web build'
const WITH_ALL = 'pnpm install && pnpm -r build'
const FOLDERS = 'packages:\n  - apps/*\n  - packages/*\n'

const pnpmRoot = (more: object = {}, packageManager = PNPM_10): object =>
  root({ packageManager, ...more }, undefined)

/** A workspace with these folders, and further files. */
const workspace = (files: ByHandCase['files']): ByHandCase['files'] => ({
  'package.json': pnpmRoot(),
  'pnpm-workspace.yaml': FOLDERS,
  ...files,
})

const LIB = { name: '@acme/lib', version: '1.0.0' }
const USES_LIB = { dependencies: { '@acme/lib': 'workspace:*' } }
const USES_TOOL = web({ build: 'acmebuild' }, { devDependencies: { '@acme/tool': 'workspace:*' } })
const LIB_PROGRAM = answering(`require('@acme/lib')`)
const NUMBER_VERSION = `require('is-number/package.json').version`
const NUMBER = { 'is-number': '7.0.0' }

/** A package whose entry the script of this name makes. */
const made = (name: string, script: string): object => ({
  name,
  version: '1.0.0',
  main: 'dist/entry.js',
  scripts: { [script]: `mkdir -p dist && echo "module.exports='made'" >dist/entry.js` },
})

const PATCH = `diff --git a/extra.js b/extra.js
new file mode 100644
--- /dev/null
+++ b/extra.js
@@ -0,0 +1 @@
+module.exports = 'patched'
`

type Draft = Omit<ByHandCase, 'place' | 'start'> & { place?: ByHandCase['place'] }
const inWeb = (cases: Draft[]): ByHandCase[] =>
  cases.map((each) => ({ place: WITH_PNPM_10, fields: IN_WEB, ...each, start: 'pnpm --filter web start' }))
const inRoot = (cases: Draft[]): ByHandCase[] =>
  cases.map((each) => ({ place: WITH_PNPM_10, ...each, start: 'pnpm start' }))

const TOOLS = inWeb([
  {
    title: "a workspace's own tool is found",
    files: workspace({ 'apps/web/package.json': USES_TOOL, 'apps/web/index.js': answering(BUILT), ...TOOL }),
    commands: BOTH,
    isFirst: true,
  },
  {
    title: "a workspace's own tool is found by pnpm 9",
    files: workspace({
      'package.json': pnpmRoot({}, PNPM_9),
      'apps/web/package.json': USES_TOOL,
      'apps/web/index.js': answering(BUILT),
      ...TOOL,
    }),
    place: WITH_PNPM_9,
    commands: BOTH,
  },
  {
    title: 'a tool that the root depends on has its own dependencies',
    files: workspace({
      'package.json': pnpmRoot({ devDependencies: { '@acme/scripts': 'workspace:*' } }),
      'apps/web/package.json': web({ build: 'node ../../packages/scripts/build.js' }),
      'apps/web/index.js': answering(BUILT),
      'packages/scripts/package.json': { name: '@acme/scripts', version: '1.0.0', dependencies: NUMBER },
      'packages/scripts/build.js': writing(NUMBER_VERSION),
    }),
    commands: BOTH,
  },
])

const BUILT_PACKAGES = inWeb([
  {
    title: 'a package that the root depends on is built first',
    files: workspace({
      'package.json': pnpmRoot({ devDependencies: { '@acme/plugin': 'workspace:*' } }),
      'apps/web/package.json': web({ build: evaluating(writing(`require('@acme/plugin')`)) }),
      'apps/web/index.js': answering(BUILT),
      'packages/plugin/package.json': made('@acme/plugin', 'build'),
    }),
    commands: WITH_ALL,
  },
  {
    title: 'a package that is a peer dependency is built first',
    files: workspace({
      'apps/web/package.json': web(
        { build: evaluating(writing(`require('@acme/lib')`)) },
        { peerDependencies: { '@acme/lib': 'workspace:*' } },
      ),
      'apps/web/index.js': answering(BUILT),
      'packages/lib/package.json': made('@acme/lib', 'build'),
    }),
    commands: WITH_ALL,
  },
  {
    title: 'a package that is loaded by its path has its dependencies',
    files: workspace({
      'apps/web/package.json': web({ build: 'node build.js' }),
      'apps/web/build.js': writing(`require('../../packages/lib')`),
      'apps/web/index.js': answering(BUILT),
      'packages/lib/package.json': { ...LIB, dependencies: NUMBER },
      'packages/lib/index.js': `module.exports = ${NUMBER_VERSION}\n`,
    }),
    commands: BOTH,
  },
  {
    title: 'the postinstall of a library runs before that of the package that depends on it',
    files: workspace({
      'apps/web/package.json': web({ postinstall: evaluating(writing(`require('@acme/lib')`)) }, USES_LIB),
      'apps/web/index.js': answering(BUILT),
      'packages/lib/package.json': made('@acme/lib', 'postinstall'),
    }),
    commands: INSTALL,
  },
])

const WORKSPACES = inWeb([
  {
    title: 'comments stand behind the folders of a workspace',
    files: workspace({
      'pnpm-workspace.yaml': 'packages:\n  - "apps/*" # the apps\n  - "packages/*" # the libraries\n',
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': LIB,
      'packages/lib/index.js': `module.exports = 'behind a comment'\n`,
    }),
    commands: INSTALL,
  },
  {
    title: 'the folders of a workspace stand in brackets, and some are excluded',
    files: workspace({
      'pnpm-workspace.yaml': `# the packages\npackages: ['apps/*', "packages/**", '!**/old/**']\n`,
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/shared/lib/package.json': LIB,
      'packages/shared/lib/index.js': `module.exports = 'deep'\n`,
      'packages/old/lib/package.json': { ...LIB, dependencies: { 'no-such-package-at-all': 'workspace:*' } },
    }),
    commands: INSTALL,
  },
  {
    title: 'versions come from the catalog of a workspace',
    files: workspace({
      'pnpm-workspace.yaml': `${FOLDERS}catalog:\n  is-number: 6.0.0\n`,
      'apps/web/package.json': web({}, { dependencies: { 'is-number': 'catalog:' } }),
      'apps/web/index.js': answering(NUMBER_VERSION),
    }),
    commands: INSTALL,
  },
  {
    title: 'a program needs the root itself, which is built first',
    files: workspace({
      'package.json': pnpmRoot(made('mono', 'build')),
      'apps/web/package.json': web({}, { dependencies: { mono: 'workspace:*' } }),
      'apps/web/index.js': answering(`require('mono')`),
    }),
    commands: `${INSTALL} && pnpm build`,
  },
  {
    title: 'a program needs what its library calls a development dependency',
    files: workspace({
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': { ...LIB, devDependencies: NUMBER },
      'packages/lib/index.js': `module.exports = ${NUMBER_VERSION}\n`,
    }),
    commands: INSTALL,
  },
])

const SINGLE = inRoot([
  {
    title: 'patches are in any folder',
    files: {
      'package.json': program({}, { packageManager: PNPM_10, dependencies: NUMBER }),
      'pnpm-workspace.yaml': 'patchedDependencies:\n  is-number@7.0.0: config/patches/is-number.patch\n',
      'config/patches/is-number.patch': PATCH,
      'index.js': answering(`require('is-number/extra.js')`),
    },
    commands: 'pnpm install --no-frozen-lockfile',
  },
  {
    title: "the file with pnpm's hooks loads another one",
    files: {
      'package.json': program({}, { packageManager: PNPM_10, dependencies: NUMBER }),
      '.pnpmfile.cjs': `module.exports = require('./scripts/hooks.cjs')\n`,
      'scripts/hooks.cjs': 'module.exports = { hooks: { readPackage: (each) => each } }\n',
      'index.js': answering(NUMBER_VERSION),
    },
    commands: INSTALL,
  },
  {
    title: 'a build installs again, and what only a build needs is still there',
    files: {
      'package.json': program(
        { build: 'pnpm install && mkdirp dist' },
        { packageManager: PNPM_10, devDependencies: { mkdirp: '3.0.1' } },
      ),
      'index.js': answering(`require('fs').existsSync('dist')`),
    },
    commands: 'pnpm install && pnpm build',
  },
  {
    title: "a dependency's installation script runs if it is allowed to",
    files: {
      'package.json': program({}, { packageManager: PNPM_10, dependencies: { local: 'file:./local' } }),
      'pnpm-workspace.yaml': 'onlyBuiltDependencies:\n  - local@file:local\n',
      'local/package.json': {
        name: 'local',
        version: '1.0.0',
        scripts: { postinstall: 'echo made >made.txt' },
      },
      'index.js': answering(`require('fs').readFileSync('node_modules/local/made.txt')`),
    },
    commands: INSTALL,
  },
])

/** Programs and workspaces with pnpm. */
export const PNPM: ByHandCase[] = [...TOOLS, ...BUILT_PACKAGES, ...WORKSPACES, ...SINGLE]
