import { answering, BUILT, evaluating, program, writing, type ByHandCase } from './case.ts'
import { NPM_CHANGES } from './npm-changes.ts'
import { NPM_INSTALLATIONS, withNpm } from './npm-installations.ts'

const BOTH = 'npm install && npm run build'

/** A dependency in the tree itself, whose installation script does this. */
const dependency = (postinstall: string): Record<string, object> => ({
  'local/package.json': { name: 'local', version: '1.0.0', scripts: { postinstall } },
})
const NEEDS_LOCAL = { dependencies: { local: 'file:./local' } }

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

const RUN_TIME = withNpm([
  {
    title: 'a build and an installation see the NODE_ENV that the variables set',
    files: {
      'package.json': program({
        postinstall: evaluating(writing('process.env.NODE_ENV', 'installed.txt')),
        build: evaluating(writing('process.env.NODE_ENV')),
      }),
      'index.js': answering(`${BUILT} + ' and ' + require('fs').readFileSync('installed.txt')`),
    },
    fields: { env: [{ key: 'NODE_ENV', value: 'development' }] },
    commands: 'export NODE_ENV=development && npm install && npm run build',
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
export const NPM: ByHandCase[] = [...NPM_INSTALLATIONS, ...WRITTEN_FILES, ...NPM_CHANGES, ...RUN_TIME]
