import { answering, IN_WEB, program, root, web, WITH_NPM, type ByHandCase } from './case.ts'
import { withNpm } from './npm-installations.ts'

const BOTH = 'npm install && npm run build'
const DEVELOPMENT = { devDependencies: { mkdirp: '3.0.1' } }

/** Builds that change or remove what is installed, of which the image has a copy without what only development needs. */
export const NPM_CHANGES: ByHandCase[] = [
  {
    title: "a link to a workspace's package that a build replaces by a copy is the copy",
    files: {
      'package.json': root(),
      'packages/lib/package.json': { name: '@acme/lib', version: '1.0.0' },
      'packages/lib/index.js': 'module.exports = __filename\n',
      'apps/web/package.json': web(
        { build: 'rm ../../node_modules/@acme/lib && cp -r ../../packages/lib ../../node_modules/@acme/lib' },
        { dependencies: { '@acme/lib': '*' } },
      ),
      'apps/web/index.js': answering(`require('@acme/lib')`),
    },
    fields: IN_WEB,
    place: WITH_NPM,
    commands: 'npm install && npm run build --workspace=web',
    start: 'npm start --workspace=web',
  },
  ...withNpm([
    {
      title: 'another version that a build installs is loaded with its own dependencies',
      files: {
        'package.json': program(
          { build: 'npm install --no-save debug@4.3.4' },
          { dependencies: { debug: '2.6.9', ms: '2.1.2' } },
        ),
        'index.js': answering(
          `require('debug/package.json').version + ' ' + require('module').createRequire(require.resolve('debug'))('ms/package.json').version`,
        ),
      },
      commands: BOTH,
    },
    {
      title: 'a package that a build removes is gone when the program runs',
      files: {
        'package.json': program(
          { build: 'rm -r node_modules/ms' },
          { dependencies: { ms: '2.1.3' }, ...DEVELOPMENT },
        ),
        'index.js': answering(`require('fs').existsSync('node_modules/ms')`),
      },
      commands: BOTH,
    },
    {
      title: 'a package that a build replaces by a link to a folder is that folder',
      files: {
        'package.json': program(
          { build: 'rm -r node_modules/ms && ln -s ../vendor/ms node_modules/ms' },
          { dependencies: { ms: '2.1.3' }, ...DEVELOPMENT },
        ),
        'vendor/ms/package.json': { name: 'ms', version: '9.9.9' },
        'vendor/ms/index.js': "module.exports = 'from the folder'\n",
        'index.js': answering(`require('ms')`),
      },
      commands: BOTH,
    },
    {
      title: 'a build may install by the lock file that the installation wrote',
      files: {
        'package.json': program(
          { build: 'npm ci --omit=dev', postinstall: 'true' },
          { dependencies: { ms: '2.1.3' }, ...DEVELOPMENT },
        ),
        'index.js': answering(`require('ms')(1000)`),
      },
      commands: BOTH,
    },
    {
      title: 'a program of a package with the name of a system program serves the project alone',
      files: {
        'package.json': program({ build: 'mkdir -p dist' }, { dependencies: { local: 'file:./local' } }),
        'local/package.json': { name: 'local', version: '1.0.0', bin: { tar: 'fail.js', find: 'fail.js' } },
        'local/fail.js': '#!/usr/bin/env node\nprocess.exit(1)\n',
        'index.js': answering(`require('fs').existsSync('dist')`),
      },
      commands: BOTH,
    },
  ]),
]
