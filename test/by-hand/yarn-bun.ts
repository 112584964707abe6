import {
  answering,
  BUILT,
  BUN,
  IN_WEB,
  program,
  root,
  TOOL,
  web,
  WITH_BUN,
  WITH_NPM,
  WITH_YARN_1,
  WITH_YARN_4,
  writing,
  YARN_1,
  YARN_4,
  type ByHandCase,
} from './case.ts'

const YARN_4_FILES = { '.yarnrc.yml': 'nodeLinker: node-modules\n' }
const YARN_4_LOCK = `__metadata:
  version: 10
  cacheKey: 10c0

"app@workspace:.":
  version: 0.0.0-use.local
  resolution: "app@workspace:."
  languageName: unknown
  linkType: soft
`
const MKDIRP = { mkdirp: '3.0.1' }
const HAS_FOLDER = answering(`require('fs').existsSync('dist')`)
const LIB_PROGRAM = answering(`require('@acme/lib')`)
const CLIENT = { name: 'client', scripts: { build: 'mkdirp dist' }, devDependencies: MKDIRP }

/** A program in a workspace whose build is its own tool. */
const toolUser = (packageManager: string, version: string): ByHandCase['files'] => ({
  'package.json': root({ packageManager }),
  'apps/web/package.json': web({ build: 'acmebuild' }, { devDependencies: { '@acme/tool': version } }),
  'apps/web/index.js': answering(BUILT),
  ...TOOL,
})

/** A library that its installation makes, and a program that needs it. */
const libUser = (packageManager: string, version: string): ByHandCase['files'] => ({
  'package.json': root({ packageManager }),
  'apps/web/package.json': web({}, { dependencies: { '@acme/lib': version } }),
  'apps/web/index.js': LIB_PROGRAM,
  'packages/lib/package.json': {
    name: '@acme/lib',
    version: '1.0.0',
    main: 'dist/entry.js',
    scripts: { postinstall: `mkdir -p dist && echo "module.exports='made'" >dist/entry.js` },
  },
})

/** Programs and workspaces with yarn 1. */
export const YARN_CLASSIC: ByHandCase[] = [
  {
    title: "a workspace's own tool is found",
    files: toolUser(YARN_1, '1.0.0'),
    fields: IN_WEB,
    place: WITH_YARN_1,
    commands: 'yarn install && yarn workspace web build',
    start: 'yarn workspace web start',
    isFirst: true,
  },
  {
    title: 'the postinstall of a package runs',
    files: libUser(YARN_1, '1.0.0'),
    fields: IN_WEB,
    place: WITH_YARN_1,
    commands: 'yarn install',
    start: 'yarn workspace web start',
  },
  {
    title: 'a build installs again, and what only a build needs is still there',
    files: {
      'package.json': program(
        { build: 'yarn install && mkdirp dist' },
        { packageManager: YARN_1, devDependencies: MKDIRP },
      ),
      'index.js': HAS_FOLDER,
    },
    place: WITH_YARN_1,
    commands: 'yarn install && yarn build',
    start: 'yarn start',
  },
  {
    title: 'a build goes into a folder and installs there',
    files: {
      'package.json': program({ build: 'cd client && yarn && yarn build' }, { packageManager: YARN_1 }),
      'client/package.json': CLIENT,
      'index.js': answering(`require('fs').existsSync('client/dist')`),
    },
    place: WITH_YARN_1,
    commands: 'yarn install && yarn build',
    start: 'yarn start',
  },
  {
    title: 'a build of npm goes into a folder of yarn and installs there',
    files: {
      'package.json': program({ build: 'cd client && yarn && yarn build' }),
      'package-lock.json': {
        name: 'app',
        version: '1.0.0',
        lockfileVersion: 3,
        packages: { '': { name: 'app' } },
      },
      'client/package.json': CLIENT,
      'client/yarn.lock': '# yarn lockfile v1\n',
      'index.js': answering(`require('fs').existsSync('client/dist')`),
    },
    place: { ...WITH_NPM, packages: WITH_YARN_1.packages },
    commands: 'npm install && npm run build',
    start: 'npm start',
  },
]

/** Programs and workspaces with yarn 4. */
export const YARN_MODERN: ByHandCase[] = [
  {
    title: 'prepare does not run at installation',
    files: {
      'package.json': program({ prepare: 'node missing-on-purpose.js' }, { packageManager: YARN_4 }),
      ...YARN_4_FILES,
      'yarn.lock': YARN_4_LOCK,
      'index.js': answering(`'unprepared'`),
    },
    place: WITH_YARN_4,
    commands: 'yarn install',
    start: 'yarn start',
    isFirst: true,
  },
  {
    title: 'an empty lock file says as much as none',
    files: {
      'package.json': program({}, { packageManager: YARN_4, dependencies: { 'is-number': '7.0.0' } }),
      ...YARN_4_FILES,
      'yarn.lock': '',
      'index.js': answering(`require('is-number')('5')`),
    },
    place: WITH_YARN_4,
    commands: 'yarn install',
    start: 'yarn start',
  },
  {
    title: 'postinstall generates code that the program loads',
    files: {
      'package.json': program({ postinstall: 'node generate.js' }, { packageManager: YARN_4 }),
      ...YARN_4_FILES,
      'generate.js': writing(`'module.exports = 5'`, 'generated.js'),
      'index.js': answering(`require('./generated.js')`),
    },
    place: WITH_YARN_4,
    commands: 'yarn install',
    start: 'yarn start',
  },
  {
    title: "a workspace's own tool is found",
    files: { ...toolUser(YARN_4, 'workspace:*'), ...YARN_4_FILES },
    fields: IN_WEB,
    place: WITH_YARN_4,
    commands: 'yarn install && yarn workspace web build',
    start: 'yarn workspace web start',
  },
  {
    title: 'the postinstall of a package runs',
    files: { ...libUser(YARN_4, 'workspace:*'), ...YARN_4_FILES },
    fields: IN_WEB,
    place: WITH_YARN_4,
    commands: 'yarn install',
    start: 'yarn workspace web start',
  },
  {
    title: 'patches are in any folder',
    files: {
      'package.json': program(
        {},
        {
          packageManager: YARN_4,
          dependencies: { 'is-number': 'patch:is-number@npm%3A7.0.0#~/config/is-number.patch' },
        },
      ),
      ...YARN_4_FILES,
      'config/is-number.patch': `diff --git a/extra.js b/extra.js
new file mode 100644
--- /dev/null
+++ b/extra.js
@@ -0,0 +1,1 @@
+module.exports = 'patched'
`,
      'index.js': answering(`require('is-number/extra.js')`),
    },
    place: WITH_YARN_4,
    commands: 'yarn install',
    start: 'yarn start',
  },
]

/** Programs and workspaces whose packages Bun installs. */
export const BUN_PACKAGES: ByHandCase[] = [
  {
    title: "a workspace's own tool is found",
    files: toolUser(BUN, 'workspace:*'),
    fields: IN_WEB,
    place: WITH_BUN,
    commands: 'bun install && bun run --filter web build',
    start: 'cd apps/web && bun run start',
    isFirst: true,
  },
  {
    title: 'the postinstall of a package runs',
    files: libUser(BUN, 'workspace:*'),
    fields: IN_WEB,
    place: WITH_BUN,
    commands: 'bun install',
    start: 'cd apps/web && bun run start',
  },
  {
    title: 'a build installs again, and what only a build needs is still there',
    files: {
      'package.json': program(
        { build: 'bun install && mkdirp dist' },
        { packageManager: BUN, devDependencies: MKDIRP },
      ),
      'index.js': HAS_FOLDER,
    },
    place: WITH_BUN,
    commands: 'bun install && bun run build',
    start: 'bun run start',
  },
]
