import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

const unnoted = (text: string): string[] => expect.not.arrayContaining([containing(text)]) as string[]

const LEGACY = 'NODE_OPTIONS=--openssl-legacy-provider'

/** A server whose script builds the pages in a separate folder. */
const withClient = (scripts: string, build: string): CorpusTree['files'] => ({
  'package.json': manifest({ start: 'node server.js', build }, ['express']),
  'server.js': "require('express')().listen(process.env.PORT)\n",
  'client/package.json': manifest({ build: 'react-scripts build' }, [`react-scripts@${scripts}`]),
  ...NPM_LOCK,
})
const INSTALLED = 'npm install --prefix client && npm run build --prefix client'

const requiring = (requirements: string): CorpusTree['files'] => ({
  'requirements.txt': requirements,
  'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
})
const python = (version: string): CorpusTree['plan'] => ({ runtime: 'python', version })

/** A PHP program with the packages of its lock file, by the PHP versions that they require. */
const composed = (
  requires: object,
  locked: Record<string, string> = {},
  config = {},
): CorpusTree['files'] => ({
  'composer.json': { require: requires, config },
  'composer.lock': {
    packages: Object.entries(locked).map(([name, php]) => ({ name, version: 'v1.0.0', require: { php } })),
  },
  'public/index.php': '<?php\n',
})
const laravel = (version: string, php: string): CorpusTree['files'] => ({
  'composer.json': { require: { php, 'laravel/framework': '*' } },
  'composer.lock': { packages: [{ name: 'laravel/framework', version, require: { php } }] },
  'public/index.php': '<?php\n',
  artisan: '',
})
const php = (version: string): CorpusTree['plan'] => ({ runtime: 'php', version })

const MIX = {
  'composer.json': { require: { php: '^8.1' } },
  'public/index.php': '<?php\n',
  'package.json': manifest(
    { dev: 'npm run development', prod: 'npm run production', production: 'mix --production' },
    [],
    ['laravel-mix@^5.0.1'],
  ),
  'webpack.mix.js': "mix.js('resources/js/app.js', 'js')",
  ...NPM_LOCK,
}

const rails = (version: string): CorpusTree['files'] => ({
  Gemfile: "gem 'rails'\n",
  'Gemfile.lock': `GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (${version})\n    sprockets (3.7.2)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rails\n`,
  'config.ru': '',
  'config/application.rb': '',
})

const sass = (version: string): CorpusTree['files'] => ({
  'package.json': manifest({ start: 'node x.js' }, ['express'], [`node-sass@${version}`]),
})
const node = (version: string): CorpusTree['plan'] => ({ runtime: 'node', version })

const PAGE = '<html><body><script src="index.js" type="module"></script></body></html>\n'
const ROLLED = {
  'package.json': manifest(
    { start: 'serve public -s & rollup -w -c', build: 'rollup -c' },
    ['solid-js'],
    ['rollup', 'serve'],
    { main: 'public/index.js' },
  ),
  'rollup.config.js': "export default { input: 'src/index.js', output: { dir: 'public', format: 'esm' } }\n",
  'src/index.js': "import { render } from 'solid-js/web'\n",
  ...NPM_LOCK,
}

const DENO_VITE = {
  'index.html': '<div id="root"></div><script type="module" src="/src/main.tsx"></script>\n',
  'src/main.tsx': '',
}

/** Trees in the shape of repositories that a stranger would deploy, and others that are nearly like them. */
export const UNSEEN: CorpusTree[] = [
  {
    title: 'a server whose build makes the pages of a client with an older webpack',
    files: withClient('3.4.3', INSTALLED),
    plan: { runtime: 'node', notes: noted("react-scripts 3.4.3 builds with OpenSSL's older algorithms") },
    dockerfile: [LEGACY],
  },
  {
    title: 'the same, where nothing installs the packages of the client',
    files: withClient('^4.0.3', 'cd client && npm run build'),
    plan: { runtime: 'node' },
    dockerfile: [LEGACY, '(cd client && npm install'],
  },
  {
    title: 'a server whose client has a newer webpack',
    files: withClient('5.0.1', INSTALLED),
    plan: { runtime: 'node', buildCommand: 'npm run build' },
    without: [LEGACY],
  },
  {
    title: 'a server beside a client that its build leaves alone',
    files: withClient('3.4.3', 'tsc'),
    plan: { runtime: 'node', buildCommand: 'npm run build' },
    without: [LEGACY],
  },
  {
    title: 'Rails with a webpacker that has an older webpack',
    files: { ...rails('6.1.7'), 'package.json': manifest({}, ['@rails/webpacker@5.4.4']), ...NPM_LOCK },
    plan: { runtime: 'ruby', framework: 'rails' },
    dockerfile: [`ENV ${LEGACY}`, 'bundle exec rails assets:precompile'],
  },
  {
    title: 'Rails with a newer bundler of scripts',
    files: { ...rails('7.1.3'), 'package.json': manifest({ build: 'esbuild app' }, ['esbuild@0.20.0']) },
    plan: { runtime: 'ruby', framework: 'rails' },
    dockerfile: ['bundle exec rails assets:precompile'],
    without: [LEGACY],
  },
  {
    title: 'a Rails whose own command runs no tasks yet',
    files: rails('4.2.6'),
    plan: { runtime: 'ruby', framework: 'rails', version: '2.6' },
    dockerfile: ['bundle exec rake assets:precompile'],
  },
  {
    title: 'Laravel whose pages want what Mix makes',
    files: MIX,
    plan: { runtime: 'php', buildCommand: 'npm run production' },
    dockerfile: [`ENV ${LEGACY}`],
  },
  {
    title: 'Laravel with what Mix made in its source',
    files: { ...MIX, 'public/mix-manifest.json': '{}' },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Laravel with what Mix made in another folder of its source',
    files: {
      ...MIX,
      'webpack.mix.js': "mix.setPublicPath('public/build')",
      'public/build/mix-manifest.json': '{}',
    },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Laravel whose skeleton has scripts of Mix, and nothing for it',
    files: Object.fromEntries(Object.entries(MIX).filter(([name]) => name !== 'webpack.mix.js')),
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'a lock file of Composer whose packages ask for any 8',
    files: composed({ php: '^8.0' }, { old: '~7.4 || ~8.0', any: '~8.0' }),
    plan: { ...php('8.4'), notes: noted('php 8.4 by composer.json (^8.0)') },
  },
  {
    title: 'Laravel 8 whose packages were locked for a newer PHP',
    files: {
      ...laravel('v8.83.27', '^7.3|^8.0'),
      'composer.lock': {
        packages: [
          { name: 'laravel/framework', version: 'v8.83.27', require: { php: '^7.3|^8.0' } },
          { name: 'symfony/css-selector', version: 'v7.1.1', require: { php: '>=8.2' } },
        ],
      },
    },
    plan: {
      ...php('8.4'),
      notes: noted('php 8.4 by composer.lock, whose symfony/css-selector asks for >=8.2'),
    },
  },
  {
    title: 'Laravel 8 that is installed as if for a newer PHP',
    files: {
      ...laravel('v8.83.27', '^7.3|^8.0'),
      'composer.json': { require: { php: '^8.0' }, config: { platform: { php: '8.2.0' } } },
    },
    plan: php('8.4'),
  },
  ...['*', '>=5.5', '^8.0|^9.0|^10.0'].map((version) => ({
    title: `any Laravel (${version}) without a lock file`,
    files: {
      'composer.json': { require: { php: '>=7.2', 'laravel/framework': version } },
      'public/index.php': '',
    },
    plan: php('8.4'),
  })),
  {
    title: 'a lock file of Composer with a package that refuses newer ones',
    files: composed({ php: '^8.1' }, { 'lcobucci/jwt': '~8.1.0 || ~8.2.0 || ~8.3.0', 'psr/log': '>=8.0' }),
    plan: {
      ...php('8.3'),
      notes: noted('php 8.3 by composer.lock, whose lcobucci/jwt asks for ~8.1.0 || ~8.2.0 || ~8.3.0'),
    },
  },
  {
    title: 'a lock file of Composer whose packages are written in all ways, and take the newest',
    files: composed(
      { php: '^8.1' },
      { one: '8.1 - 8.4', two: '>=7.1 <9.0', three: '^7.2|^8.0', four: '>=7.1||>=8.0' },
    ),
    plan: { ...php('8.4'), notes: noted('php 8.4 by composer.json (^8.1)') },
  },
  {
    title: 'a lock file of Composer for a platform that it pretends',
    files: composed({ php: '^8.1' }, { schema: '8.1 - 8.3' }, { platform: { php: '8.1.0' } }),
    plan: php('8.4'),
  },
  {
    title: 'a lock file of Composer whose packages no one version suits',
    files: composed({ php: '^8.1' }, { old: '~8.1.0', new: '^8.3' }),
    plan: php('8.4'),
  },
  {
    title: 'a pin of PHP beside a lock file that refuses it',
    files: { ...composed({ php: '^8.1' }, { jwt: '~8.3.0' }), '.php-version': '8.2' },
    plan: php('8.2'),
  },
  {
    title: 'Laravel 5, whose composer.json takes any PHP',
    files: laravel('v5.5.50', '>=7.0.0'),
    plan: php('7.4'),
  },
  {
    title: 'Laravel 7, as its last skeleton asks',
    files: laravel('v7.30.4', '^7.2.5|^8.0'),
    plan: php('8.0'),
  },
  { title: 'Laravel 8', files: laravel('v8.83.27', '^7.3|^8.0'), plan: php('8.1') },
  { title: 'Laravel 10', files: laravel('v10.48.4', '^8.1'), plan: php('8.4') },
  {
    title: 'Laravel 5 without a lock file',
    files: {
      'composer.json': { require: { php: '>=5.6.4', 'laravel/framework': '5.4.*' } },
      'public/index.php': '',
    },
    plan: { ...php('7.4'), notes: noted('php 7.4 by laravel/framework 5.4.0, which is for none newer') },
  },
  {
    title: 'an older Django without a version of Python',
    files: requiring('Django==2.2.14\ngunicorn==20.1.0\n'),
    plan: {
      ...python('3.9'),
      notes: noted('python 3.9 by Django==2.2.14 of the requirements, which is for none newer'),
    },
  },
  {
    title: 'older packages of science, of which the oldest decides',
    files: requiring(
      'pandas>=0.19\nnumpy==1.19.5\nscikit-learn==0.23.1  # the model is of this\nscipy==1.5.4\n',
    ),
    plan: python('3.8'),
  },
  {
    title: 'requirements with an upper bound',
    files: requiring('django>=3.2,<4.0\n'),
    plan: python('3.10'),
  },
  {
    title: 'requirements that grow',
    files: requiring('Django~=4.1.0\nPyYAML == 6.0\n'),
    plan: python('3.11'),
  },
  {
    title: 'a driver of PostgreSQL from before the newest Python',
    files: requiring('psycopg2_binary==2.9.9 ; platform_system == "Linux"\nDjango==5.0.1\n'),
    plan: python('3.12'),
  },
  {
    title: 'requirements that let newer ones in',
    files: requiring(
      'Django>=2.2\nnumpy>=1.19.0\npandas~=2.2\nflask==1.1.2\npydantic==2.9.1\n# numpy==1.19.0\n',
    ),
    plan: python('3.13'),
  },
  {
    title: 'older requirements for older Pythons and other systems',
    files: requiring(
      [
        'numpy==1.19.5; python_version < "3.7"',
        "numpy==1.24.4 ; python_full_version < '3.9'",
        'pandas==1.1.5; sys_platform == "win32"',
        'numpy==2.2.4; python_version >= "3.7"',
      ].join('\n'),
    ),
    plan: python('3.13'),
  },
  {
    title: 'older requirements that were looked at and run under all',
    files: requiring('PyYAML==5.3.1\nSQLAlchemy<2\npydantic<2\nSQLAlchemy==1.4.54\n'),
    plan: python('3.13'),
  },
  {
    title: 'an older requirement for every Python, of another system than one',
    files: requiring('PyYAML==5.4.1; sys_platform != "win32"\n'),
    plan: python('3.9'),
  },
  {
    title: 'requirements with hashes',
    files: requiring(
      'django==2.2.28 \\\n    --hash=sha256:0200b657afbf1bc08003845ddda053c7641b9b24951e52acd51f6abda33a7413\n',
    ),
    plan: {
      ...python('3.9'),
      notes: noted('python 3.9 by django==2.2.28 of the requirements, which is for none newer'),
    },
  },
  {
    title: 'older requirements beside a version of Python that is pinned',
    files: { ...requiring('numpy==1.19.5\n'), '.python-version': '3.11\n' },
    plan: python('3.11'),
  },
  {
    title: 'an older compiler of Sass, which is for an older node',
    files: sass('^7.0.1'),
    plan: {
      ...node('16'),
      notes: noted('node 16 by node-sass ^7.0.1 of package.json, which is for none newer'),
    },
  },
  { title: 'the last of the older compilers of Sass', files: sass('9.0.0'), plan: node('20') },
  {
    title: 'a compiler of Sass that no image of node runs',
    files: sass('^4.14.1'),
    plan: { ...node('24'), notes: noted('put the package sass in its place') },
  },
  {
    title: 'an older compiler of Sass beside a version that is pinned',
    files: { ...sass('^7.0.1'), '.nvmrc': '18' },
    plan: node('18'),
  },
  {
    title: 'a manifest in the case of another system',
    files: {
      'Requirements.txt': 'flask\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: {
      runtime: 'python',
      notes: noted('Requirements.txt is not read: on Linux its name is requirements.txt'),
    },
  },
  {
    title: 'manifests in both cases',
    files: { ...requiring('flask\n'), 'Requirements.txt': 'flask\n' },
    plan: { runtime: 'python', notes: unnoted('is not read') },
  },
  {
    title: 'a registry of its own, whose token is a variable',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['@acme/shop']),
      '.npmrc':
        '# by ${OLD_TOKEN}\ncache=${HOME}/.npm\n@acme:registry=https://npm.acme.test\n//npm.acme.test/:_authToken=${ACME_TOKEN}\n',
    },
    plan: {
      runtime: 'node',
      env: [{ key: 'ACME_TOKEN', generate: null, why: '.npmrc names it for the registry of packages' }],
    },
  },
  {
    title: 'an index of packages whose password is a variable',
    files: requiring('--extra-index-url https://me:${INDEX_PASSWORD}@pypi.acme.test/simple\nflask\n'),
    plan: {
      runtime: 'python',
      env: [expect.objectContaining({ key: 'INDEX_PASSWORD', generate: null })] as never,
    },
  },
  {
    title: 'a page that Rollup fills, with a server for its developer',
    files: { ...ROLLED, 'public/index.html': PAGE },
    plan: {
      runtime: 'node',
      framework: 'rollup',
      isSite: true,
      publishDirectory: 'public',
      singlePage: true,
    },
  },
  {
    title: 'a program that Rollup makes',
    files: {
      'package.json': manifest({ start: 'node dist/server.js', build: 'rollup -c' }, ['express'], ['rollup']),
      'rollup.config.js': "export default { input: 'src/server.js', output: { file: 'dist/server.js' } }\n",
      'public/index.html': PAGE,
    },
    plan: { runtime: 'node', startCommand: 'node dist/server.js', isSite: false },
  },
  {
    title: 'a server whose page has scripts of Rollup',
    files: {
      ...ROLLED,
      'package.json': manifest({ start: 'node server.js', build: 'rollup -c' }, ['express'], ['rollup']),
      'server.js': "require('express')().listen(process.env.PORT)\n",
      'public/index.html': PAGE,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', isSite: false },
  },
  {
    title: 'a front end of Vite for Deno',
    files: {
      ...DENO_VITE,
      'deno.json':
        '{ "tasks": { "dev": "deno run -A npm:vite", "build": "deno run -A npm:vite@^5.0 build", "serve": "deno run -A jsr:@std/http/file-server dist/" } }',
    },
    plan: {
      runtime: 'deno',
      framework: 'vite',
      isSite: true,
      buildCommand: 'deno task build',
      publishDirectory: 'dist',
      singlePage: true,
    },
  },
  {
    title: 'a server for Deno that brings its pages along, by Vite',
    files: {
      ...DENO_VITE,
      'deno.json': '{ "tasks": { "build": "vite build", "start": "deno run -A main.ts" } }',
      'main.ts': 'Deno.serve(() => new Response("x"))\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno task start', isSite: false, obstacle: null },
  },
  {
    title: 'a page of Vite beside a server for Deno that nothing names',
    files: {
      ...DENO_VITE,
      'deno.json': '{ "imports": {} }',
      'package.json': manifest({ build: 'vite build', serve: 'deno task build && deno run -A api/main.ts' }, [
        'vite',
      ]),
    },
    plan: {
      runtime: 'deno',
      framework: 'vite',
      isSite: false,
      obstacle: containing('nothing says how to start'),
    },
  },
]
