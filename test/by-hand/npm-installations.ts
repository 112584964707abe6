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

type Draft = Omit<ByHandCase, 'place' | 'start'>
/** Cases that start with npm in the root. */
export const withNpm = (cases: Draft[]): ByHandCase[] =>
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

/** What programs of one package install, and their builds, with npm. */
export const NPM_INSTALLATIONS: ByHandCase[] = [...INSTALLING_BUILDS, ...LOCAL_PACKAGES]
