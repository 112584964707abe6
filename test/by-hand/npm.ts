import { answering, BUILT, evaluating, program, WITH_NPM, writing, type ByHandCase } from './case.ts'

const BOTH = 'npm install && npm run build'
const HAS_FOLDER = answering(`require('fs').existsSync('dist')`)
const MKDIRP = { devDependencies: { mkdirp: '3.0.1' } }

const MKDIRP_LOCK = {
  name: 'app',
  version: '1.0.0',
  lockfileVersion: 3,
  requires: true,
  packages: {
    '': { name: 'app', version: '1.0.0', ...MKDIRP },
    'node_modules/mkdirp': {
      version: '3.0.1',
      integrity:
        'sha512-+NsyUUAZDmo6YVHzL/stxSu3t9YS1iljliy3BSDrXJ/dkn1KYdmtZODGGjLcc9XLgVVpH4KshHB8XmZgMhaBXg==',
      dev: true,
      bin: { mkdirp: 'dist/cjs/src/bin.js' },
    },
  },
}

/** A dependency in the tree itself, whose installation script does this. */
const dependency = (postinstall: string): Record<string, object> => ({
  'local/package.json': { name: 'local', version: '1.0.0', scripts: { postinstall } },
})
const NEEDS_LOCAL = { dependencies: { local: 'file:./local' } }

type Draft = Omit<ByHandCase, 'place' | 'start'>
const withNpm = (cases: Draft[]): ByHandCase[] =>
  cases.map((each) => ({ ...each, place: WITH_NPM, start: 'npm start' }))

const INSTALLING_BUILDS = withNpm([
  {
    title: 'a build installs what only a build needs with npm install',
    files: {
      'package.json': program({ build: 'npm install && mkdirp dist' }, MKDIRP),
      'index.js': HAS_FOLDER,
    },
    commands: BOTH,
  },
  {
    title: 'a build removes and installs all packages with npm ci',
    files: {
      'package.json': program({ build: 'npm ci && mkdirp dist' }, MKDIRP),
      'package-lock.json': MKDIRP_LOCK,
      'index.js': HAS_FOLDER,
    },
    commands: 'npm ci && npm run build',
  },
  {
    title: 'a build installs a package that no package.json names',
    files: {
      'package.json': program({ build: 'npm install --no-save is-number@7.0.0' }),
      'index.js': answering(`require('is-number')('5')`),
    },
    commands: BOTH,
  },
  {
    title: 'a build installs and builds the client in a folder',
    files: {
      'package.json': program({ build: 'npm install --prefix client && npm run build --prefix client' }),
      'client/package.json': { name: 'client', scripts: { build: 'mkdirp dist' }, ...MKDIRP },
      'index.js': answering(`require('fs').existsSync('client/dist')`),
    },
    commands: BOTH,
  },
  {
    title: 'a build goes into a folder and installs there',
    files: {
      'package.json': program({ build: 'cd client && npm install && npm run build' }),
      'client/package.json': { name: 'client', scripts: { build: 'mkdirp dist' }, ...MKDIRP },
      'index.js': answering(`require('fs').existsSync('client/dist')`),
    },
    commands: BOTH,
  },
])

const WRITTEN_FILES = withNpm([
  {
    title: 'what a build writes into the installed packages is there when the program runs',
    files: {
      'package.json': program({ build: 'node build.js' }, { dependencies: { 'is-number': '7.0.0' } }),
      'build.js': `require('fs').mkdirSync('node_modules/.acme', { recursive: true })
${writing(`'module.exports = "generated"'`, 'node_modules/.acme/client.js')}`,
      'index.js': answering(`require('.acme/client.js')`),
    },
    commands: BOTH,
    isFirst: true,
  },
  {
    title: 'what a build writes where there are no packages at all is there when the program runs',
    files: {
      'package.json': program({
        build: 'mkdir -p node_modules/made && echo module.exports=1 >node_modules/made/index.js',
      }),
      'index.js': answering(`require('made')`),
    },
    commands: BOTH,
  },
  {
    title: "what a dependency's installation writes into the project is there for the build",
    files: {
      'package.json': program({ build: `cat public/worker.js` }, NEEDS_LOCAL),
      ...dependency('mkdir -p $INIT_CWD/public && echo worker >$INIT_CWD/public/worker.js'),
      'index.js': answering(`require('fs').readFileSync('public/worker.js')`),
    },
    commands: BOTH,
  },
  {
    title:
      "what a dependency's installation writes next to the project's packages is there when the program runs",
    files: {
      'package.json': program({}, NEEDS_LOCAL),
      ...dependency('mkdir -p $INIT_CWD/.downloads && echo browser >$INIT_CWD/.downloads/browser'),
      'index.js': answering(`require('fs').readFileSync('.downloads/browser')`),
    },
    commands: 'npm install',
  },
  {
    title: "what a dependency's installation writes into the home folder is there for the build",
    files: {
      'package.json': program(
        { build: evaluating(writing(`require('fs').readFileSync(require('os').homedir() + '/.downloads')`)) },
        NEEDS_LOCAL,
      ),
      ...dependency(
        evaluating(`require('fs').writeFileSync(require('os').homedir() + '/.downloads', 'kept')`),
      ),
      'index.js': answering(BUILT),
    },
    commands: BOTH,
  },
  {
    title: "what a dependency's installation writes into the home folder is there when the program runs",
    files: {
      'package.json': program({}, NEEDS_LOCAL),
      ...dependency(
        evaluating(`require('fs').writeFileSync(require('os').homedir() + '/.downloads', 'kept')`),
      ),
      'index.js': answering(`require('fs').readFileSync(require('os').homedir() + '/.downloads')`),
    },
    commands: 'npm install',
  },
  {
    title: "the project's own installation generates code that the program loads",
    files: {
      'package.json': program({ postinstall: 'node generate.js' }),
      'generate.js': `require('fs').mkdirSync('generated')\n${writing("'module.exports = 5'", 'generated/schema.js')}`,
      'index.js': answering(`require('./generated/schema.js')`),
    },
    commands: 'npm install',
  },
  {
    title: "the project's own installation changes an installed package",
    files: {
      'package.json': program({ postinstall: 'node patch.js' }, { dependencies: { 'is-number': '7.0.0' } }),
      'patch.js': writing(`'module.exports = () => "patched"'`, 'node_modules/is-number/index.js'),
      'index.js': answering(`require('is-number')()`),
    },
    commands: 'npm install',
  },
])

const LOCAL_PACKAGES = withNpm([
  {
    title: 'the program of a package in the tree runs although its file is not executable',
    files: {
      'package.json': program(
        { build: 'acmebuild' },
        { devDependencies: { '@acme/tool': 'file:./tools/tool' } },
      ),
      'tools/tool/package.json': { name: '@acme/tool', version: '1.0.0', bin: { acmebuild: 'cli.js' } },
      'tools/tool/cli.js': `#!/usr/bin/env node\n${writing("'built by its own tool'")}`,
      'index.js': answering(BUILT),
    },
    commands: BOTH,
  },
  {
    title: 'a package in the tree has its own version of a dependency, which the project has in another',
    files: {
      'package.json': program(
        { build: evaluating(writing(`require('@acme/lib')`)) },
        { devDependencies: { '@acme/lib': 'file:./libs/lib', 'is-number': '6.0.0' } },
      ),
      'libs/lib/package.json': {
        name: '@acme/lib',
        version: '1.0.0',
        dependencies: { 'is-number': '7.0.0' },
      },
      'libs/lib/index.js': `module.exports = require('is-number/package.json').version\n`,
      'index.js': answering(BUILT),
    },
    commands: BOTH,
  },
  {
    title: 'packages that the tree has in a folder of its code are found',
    files: {
      'package.json': program({ start: 'node src/index.js' }),
      'src/index.js': answering(`require('util-own')`),
      'src/node_modules/util-own/index.js': `module.exports = 'own'\n`,
    },
    commands: 'npm install',
  },
])

const RUN_TIME = withNpm([
  {
    title: 'an installation script sees no NODE_ENV',
    files: {
      'package.json': program({ postinstall: evaluating(writing('process.env.NODE_ENV')) }),
      'index.js': answering(BUILT),
    },
    commands: 'npm install',
  },
  {
    title: 'a program loads a package by a name that it puts together, which only a build should need',
    files: {
      'package.json': program({}, { devDependencies: { 'is-number': '7.0.0' } }),
      'index.js': answering(`require(['is', 'number'].join('-') + '/package.json').version`),
    },
    commands: 'npm install',
  },
  {
    title: 'what runs before a start is run',
    files: {
      'package.json': program({ prestart: `echo before >/tmp/before.txt` }),
      'index.js': answering(`require('fs').readFileSync('/tmp/before.txt')`),
    },
    commands: 'npm install',
  },
  {
    title: 'what runs before and after a build is run',
    files: {
      'package.json': program({
        prebuild: 'printf before, >>built.txt',
        build: 'printf build, >>built.txt',
        postbuild: 'printf after >>built.txt',
      }),
      'index.js': answering(BUILT),
    },
    commands: BOTH,
  },
])

/** Programs of one package, with npm. */
export const NPM: ByHandCase[] = [...INSTALLING_BUILDS, ...WRITTEN_FILES, ...LOCAL_PACKAGES, ...RUN_TIME]
