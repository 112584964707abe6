import {
  answering,
  BUILT,
  evaluating,
  IN_WEB,
  root,
  TOOL,
  web,
  WITH_NPM,
  writing,
  type ByHandCase,
} from './case.ts'

const INSTALL = 'npm install'
const BOTH = 'npm install && npm run build -w web'
const USES_TOOL = web({ build: 'acmebuild' }, { devDependencies: { '@acme/tool': '*' } })
const USES_LIB = { dependencies: { '@acme/lib': '*' } }
const LIB_PROGRAM = answering(`require('@acme/lib')`)

/** A library whose entry the script of this name makes. */
const madeLib = (script: string): object => ({
  name: '@acme/lib',
  version: '1.0.0',
  main: 'dist/entry.js',
  scripts: { [script]: `mkdir -p dist && echo "module.exports='made'" >dist/entry.js` },
})

type Draft = Omit<ByHandCase, 'place' | 'start'>
const withNpm = (cases: Draft[]): ByHandCase[] =>
  cases.map((each) => ({ fields: IN_WEB, ...each, place: WITH_NPM, start: 'npm start -w web' }))

const TOOLS = withNpm([
  {
    title: "a workspace's own tool is found",
    files: {
      'package.json': root(),
      'apps/web/package.json': USES_TOOL,
      'apps/web/index.js': answering(BUILT),
      ...TOOL,
    },
    commands: BOTH,
    isFirst: true,
  },
  {
    title: "a workspace's own tool is found when a lock file names it",
    files: {
      'package.json': root(),
      'package-lock.json': {
        name: 'mono',
        lockfileVersion: 3,
        requires: true,
        packages: {
          '': { name: 'mono', workspaces: ['apps/*', 'packages/*'] },
          'apps/web': { version: '1.0.0', devDependencies: { '@acme/tool': '*' } },
          'node_modules/@acme/tool': { resolved: 'packages/tool', link: true },
          'node_modules/web': { resolved: 'apps/web', link: true },
          'packages/tool': { name: '@acme/tool', version: '1.0.0', bin: { acmebuild: 'cli.js' } },
        },
      },
      'apps/web/package.json': USES_TOOL,
      'apps/web/index.js': answering(BUILT),
      ...TOOL,
    },
    executable: ['packages/tool/cli.js'],
    commands: 'npm ci && npm run build -w web',
  },
  {
    title: "a workspace's own tools are found in the folder that a package names for them",
    files: {
      'package.json': root(),
      'apps/web/package.json': USES_TOOL,
      'apps/web/index.js': answering(BUILT),
      'packages/tool/package.json': {
        name: '@acme/tool',
        version: '1.0.0',
        directories: { bin: './programs' },
      },
      'packages/tool/programs/acmebuild': `#!/usr/bin/env node\n${writing("'built by a tool in a folder'")}`,
    },
    commands: BOTH,
  },
  {
    title: 'a given build command goes to the root, installs there and builds',
    files: {
      'package.json': root({
        scripts: { build: 'npm run build -w web' },
        devDependencies: { mkdirp: '3.0.1' },
      }),
      'apps/web/package.json': web({ build: 'mkdirp dist' }),
      'apps/web/index.js': answering(`require('fs').existsSync('dist')`),
    },
    fields: { ...IN_WEB, build_command: 'cd ../.. && npm install && npm run build' },
    commands: 'npm install && npm run build',
  },
])

const INSTALL_SCRIPTS = withNpm([
  {
    title: "the root's postinstall runs after that of the packages",
    files: {
      'package.json': root({ scripts: { postinstall: `node -e "require('@acme/lib')"` } }),
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': madeLib('postinstall'),
    },
    commands: INSTALL,
  },
  {
    title: "a package's prepare runs at installation",
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': madeLib('prepare'),
    },
    commands: INSTALL,
  },
  {
    title: 'the postinstall of a package without a name runs',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}),
      'apps/web/index.js': answering(`require('fs').readFileSync('../../packages/gen/out.txt')`),
      'packages/gen/package.json': {
        version: '1.0.0',
        private: true,
        scripts: { postinstall: 'echo made >out.txt' },
      },
    },
    commands: INSTALL,
  },
  {
    title: 'the postinstall of a package that nothing depends on runs',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({ build: 'cp ../../packages/data/out.txt built.txt' }),
      'apps/web/index.js': answering(BUILT),
      'packages/data/package.json': {
        name: '@acme/data',
        version: '1.0.0',
        scripts: { postinstall: 'echo made >out.txt' },
      },
    },
    commands: BOTH,
  },
])

const FOLDERS = withNpm([
  {
    title: 'a package is found in a folder with a space in its name',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/my lib/package.json': { name: '@acme/lib', version: '1.0.0' },
      'packages/my lib/index.js': `module.exports = 'in a folder with a space'\n`,
    },
    commands: INSTALL,
  },
  {
    title: 'the packages of a workspace are found by a pattern with braces',
    files: {
      'package.json': root({}, ['{apps,packages}/*']),
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': { name: '@acme/lib', version: '1.0.0' },
      'packages/lib/index.js': `module.exports = 'in braces'\n`,
    },
    commands: INSTALL,
  },
  {
    title: "a package is found inside another one's folder",
    files: {
      'package.json': root({}, { packages: ['apps/*', 'apps/*/plugins/*'] }),
      'apps/web/package.json': web({}, { dependencies: { '@acme/plugin': '1.0.0' } }),
      'apps/web/index.js': answering(`require('@acme/plugin')`),
      'apps/web/plugins/one/package.json': { name: '@acme/plugin', version: '1.0.0' },
      'apps/web/plugins/one/index.js': `module.exports = 'a plugin'\n`,
    },
    commands: INSTALL,
  },
])

const version = (from: string): string => `require('${from}').version`
const NUMBER = 'is-number/package.json'

const RUN_TIME = withNpm([
  {
    title: 'a program needs what its library calls a development dependency',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}, USES_LIB),
      'apps/web/index.js': LIB_PROGRAM,
      'packages/lib/package.json': {
        name: '@acme/lib',
        version: '1.0.0',
        devDependencies: { 'is-number': '7.0.0' },
      },
      'packages/lib/index.js': `module.exports = ${version(NUMBER)}\n`,
    },
    commands: INSTALL,
  },
  {
    title: 'a program loads a package by a name that it puts together, which only a build should need',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}, { devDependencies: { 'is-number': '7.0.0' } }),
      'apps/web/index.js': answering(`require(['is', 'number'].join('-') + '/package.json').version`),
    },
    commands: INSTALL,
  },
  {
    title: 'each package of a workspace gets its own version of a dependency',
    files: {
      'package.json': root(),
      'apps/web/package.json': web({}, { dependencies: { '@acme/lib': '*', 'is-number': '6.0.0' } }),
      'apps/web/index.js': answering(`${version(NUMBER)} + ' and ' + require('@acme/lib')`),
      'packages/lib/package.json': {
        name: '@acme/lib',
        version: '1.0.0',
        dependencies: { 'is-number': '7.0.0' },
      },
      'packages/lib/index.js': `module.exports = ${version(NUMBER)}\n`,
    },
    commands: INSTALL,
  },
  {
    title: "what a build writes into its package's own installed packages is there when the program runs",
    files: {
      'package.json': root({ dependencies: { 'is-number': '7.0.0' } }),
      'apps/web/package.json': web({
        build: `mkdir -p node_modules/made && ${evaluating(writing("'module.exports = 5'", 'node_modules/made/index.js'))}`,
      }),
      'apps/web/index.js': answering(`require('made')`),
    },
    commands: BOTH,
  },
])

/** Programs in a workspace, with npm. */
export const NPM_WORKSPACES: ByHandCase[] = [...TOOLS, ...INSTALL_SCRIPTS, ...FOLDERS, ...RUN_TIME]
