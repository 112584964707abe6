import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const server = (
  framework: string | null,
  startCommand: string,
  buildCommand: string | null = 'npm run build',
) => ({
  runtime: 'node',
  framework,
  buildCommand,
  startCommand,
  isSite: false,
  obstacle: null,
})

const EXPRESS = "const app = require('express')()\napp.listen(process.env.PORT)\n"
const HTTP = "require('http').createServer(answer).listen(process.env.PORT)\n"

const node = (title: string, files: CorpusTree['files'], startCommand: string): CorpusTree => ({
  title,
  files: { ...files, ...NPM_LOCK },
  plan: { runtime: 'node', startCommand, obstacle: null, isSite: false },
})

const PAGE = '<html><body><script src="./main.js"></script></body></html>\n'
const SCRIPT_OF_PAGE = "document.querySelector('button').addEventListener('click', () => axios.get('/api'))\n"
const CRYSTAL = { 'shard.yml': 'name: shop\n', 'src/shop.cr': '' }

const UNPLANNED =
  'there is no plan for Crystal (shard.yml): add a Dockerfile, or a script "start", or set start_command'

const MODULE_PAGE = '<html><body><script src="index.js" type="module"></script></body></html>\n'

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

/** Programs of node, found by their scripts, their manifest or their files. */
export const NODE_PROGRAMS: CorpusTree[] = [
  {
    title: 'Express',
    files: {
      'package.json': manifest({ start: 'node ./bin/www' }, ['express', 'debug']),
      'bin/www': '',
      ...NPM_LOCK,
    },
    plan: { ...server(null, 'node ./bin/www', null), version: '24' },
    dockerfile: [
      'FROM node:24-bookworm AS tools',
      'FROM node:24-bookworm-slim',
      'npm ci --omit=dev',
      'HOST=0.0.0.0 HOSTNAME=0.0.0.0',
    ],
    without: ['npm ci --include=dev', 'prune'],
  },
  {
    title: 'Express in TypeScript, compiled',
    files: {
      'package.json': manifest(
        { start: 'node dist/index.js', build: 'tsc', dev: 'tsx watch src/index.ts' },
        ['express'],
        ['typescript', 'tsx'],
      ),
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'node dist/index.js'),
    dockerfile: ['npm ci --include=dev', 'npm ci --omit=dev', 'COPY --from=production'],
  },
  {
    title: 'TypeScript run by tsx, a development dependency',
    files: {
      'package.json': manifest({ start: 'tsx src/index.ts' }, ['express'], ['tsx']),
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'tsx src/index.ts', null),
    dockerfile: ['COPY --from=packages'],
    without: ['--omit=dev'],
  },
  {
    title: 'TypeScript without a start script',
    files: { 'package.json': manifest({}, ['hono', '@hono/node-server']), 'src/index.ts': '' },
    plan: server(null, 'node src/index.ts', null),
  },
  {
    title: 'TypeScript whose compiler puts it into dist/',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['fastify'], ['typescript']),
      'tsconfig.json': { compilerOptions: { outDir: './dist' } },
      'src/server.ts': '',
    },
    plan: server(null, 'node dist/server.js'),
  },
  {
    title: 'a start script that restarts at changes',
    files: {
      'package.json': manifest({ start: 'nodemon server.js' }, ['express'], ['nodemon']),
      'server.js': '',
    },
    plan: server(null, 'node server.js', null),
    dockerfile: ['--omit=dev'],
  },
  {
    title: 'a front end of Vite that Express serves',
    files: {
      'package.json': manifest(
        { build: 'vite build', start: 'NODE_ENV=production node server.js' },
        ['express'],
        ['vite'],
      ),
      'server.js': '',
    },
    plan: server('vite', 'NODE_ENV=production node server.js'),
  },
  {
    title: 'Prisma, whose client the build writes among the packages',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['@prisma/client', 'prisma', 'express']),
      'prisma/schema.prisma': '',
      'index.js': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'node index.js', null),
    dockerfile: ['prisma generate', 'openssl', 'npm ci --omit=dev'],
  },
  {
    title: 'a migration that runs a development dependency',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['pg'], ['drizzle-kit']),
      'index.js': '',
      Procfile: 'release: npx drizzle-kit migrate\n',
    },
    plan: { ...server(null, 'node index.js', null), preDeployCommand: 'npx drizzle-kit migrate' },
    without: ['--omit=dev'],
  },
  {
    title: 'an older webpack on a node that has the older algorithms itself',
    files: {
      'package.json': manifest({ build: 'react-scripts build' }, ['react-scripts@4.0.3']),
      '.nvmrc': '16',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', version: '16' },
    without: ['NODE_OPTIONS'],
  },
  {
    title: 'Puppeteer, which drives a browser',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express', 'puppeteer']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
    dockerfile: [
      'PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium',
      'PUPPETEER_SKIP_DOWNLOAD=true',
      'chromium fonts-liberation',
    ],
  },
  {
    title: 'Puppeteer for tests alone',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express'], ['puppeteer']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
    without: ['fonts-liberation'],
  },
  {
    title: 'TypeScript whose compiler is set up with a folder in a comment',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['express'], ['typescript']),
      'tsconfig.json': '{\n  "compilerOptions": {\n    // "outDir": "./dist",\n    "strict": true\n  }\n}\n',
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node src/index.ts' },
  },
  {
    title: 'Vite among the packages of files that it does not build',
    files: { 'package.json': manifest({}, ['vite']), 'site/index.html': '', ...NPM_LOCK },
    plan: { runtime: 'node', framework: null, isSite: false, buildCommand: null },
  },
  {
    title: 'a bot for Discord in node',
    files: { 'package.json': manifest({ start: 'node index.js' }, ['discord.js']), 'index.js': '' },
    plan: { runtime: 'node', startCommand: 'node index.js', isWorker: true },
  },
  {
    title: 'a bot that a web server keeps awake',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['discord.js', 'express']),
      'index.js': '',
    },
    plan: { runtime: 'node', isWorker: false },
  },
  {
    title: 'a program that drives a browser of Playwright',
    files: { 'package.json': manifest({ start: 'node index.js' }, ['express', 'playwright']), ...NPM_LOCK },
    plan: { runtime: 'node', startCommand: 'node index.js' },
    dockerfile: [
      'ENV PLAYWRIGHT_BROWSERS_PATH=/opt/playwright\nRUN node_modules/.bin/playwright install --with-deps chromium',
    ],
  },
  {
    title: 'a program that is tested by Playwright',
    files: { 'package.json': manifest({ start: 'node index.js' }, ['express'], ['playwright']), ...NPM_LOCK },
    plan: { runtime: 'node' },
    without: ['/opt/playwright'],
  },
  {
    title: 'lessons for Next, which are no project themselves',
    files: {
      'package.json': manifest({ start: 'next start' }, ['next']),
      'basics/package.json': manifest({ build: 'next build' }, ['next']),
      'seo/package.json': manifest({ build: 'next build' }, ['next']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: null,
      obstacle:
        'nothing says how to start this service: add a script "start" to package.json, or a Procfile with a line "web:", or set start_command; or set root_dir to one of basics (node), seo (node)',
    },
  },
  {
    title: "a theme whose main is its tools'",
    files: { 'package.json': { ...manifest({}, [], ['gulp']), main: 'gulpfile.js' }, 'gulpfile.js': '' },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a library whose `module` is what its build makes',
    files: {
      'package.json': { name: 'library', module: 'dist/index.mjs', scripts: { build: 'tsc' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('nothing says how to start') },
  },
  {
    title: 'an application that is exported for functions, and listens nowhere',
    files: {
      'package.json': manifest({}, ['hono']),
      'src/index.ts': "import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n",
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('src/index.ts exports its application'),
    },
  },
  {
    title: 'an application that is exported, and listens',
    files: {
      'package.json': manifest({}, ['express']),
      'index.js':
        "import express from 'express'\nconst app = express()\napp.listen(process.env.PORT)\nexport default app\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js', obstacle: null },
  },
  {
    title: 'a server whose `module` is for those that import it',
    files: {
      'package.json': { name: 'x', module: 'lib/index.mjs' },
      'lib/index.mjs': '',
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  node(
    'a server of hapi that draws with Vue',
    {
      'package.json': manifest({}, ['@hapi/hapi', 'vue'], [], { type: 'module' }),
      'server.js':
        "import Hapi from '@hapi/hapi'\nimport { createSSRApp } from 'vue'\nconst server = Hapi.server({ port: process.env.PORT })\nawait server.start()\n",
    },
    'node server.js',
  ),
  node(
    'a server of Koa with Vue that listens in another file',
    {
      'package.json': manifest({}, ['koa', 'vue'], [], { type: 'module' }),
      'app.js':
        "import Koa from 'koa'\nimport Vue from 'vue'\nimport { start } from './lib/start.js'\nstart(new Koa(), Vue)\n",
    },
    'node app.js',
  ),
  node(
    'a program that reads the pages of others in a browser',
    {
      'package.json': manifest({}, ['puppeteer'], [], { type: 'module' }),
      'index.mjs':
        "import { open } from './browser.js'\nconst page = await open()\nawait page.evaluate(() => document.querySelector('a').click())\n",
    },
    'node index.mjs',
  ),
  node(
    'a server with an expression that looks like a comment',
    {
      'package.json': manifest({}, ['connect']),
      'index.js': "import vue from 'vue'\napp.use(/\\/*/, answer)\napp.listen(1)\n/* the end */\n",
    },
    'node index.js',
  ),
  node(
    'a server that was bundled before it came here',
    {
      'package.json': manifest({}, ['express'], [], { main: 'dist/index.mjs' }),
      'dist/index.mjs': `import { h } from "vue";\n${'const a = 1;\n'.repeat(6_000)}app.listen(3000)\n`,
    },
    'node dist/index.mjs',
  ),
  node(
    'a server of node alone beside what react-scripts left',
    {
      'package.json': manifest({ start: 'node scripts/start.js', build: 'node scripts/build.js' }, [
        'react-dev-utils',
      ]),
      'scripts/start.js':
        "process.env.NODE_ENV = 'development';\nconst Server = require('webpack-dev-server');\nconst isLive = mode === 'production';\n",
      'src/index.js': "import { render } from 'react-dom'\n",
      'server.js': HTTP,
    },
    'node server.js',
  ),
  node(
    'a server of node alone in a folder of its own beside a template of Vue 2',
    {
      'package.json': manifest(
        { start: 'npm run dev', dev: 'node build/dev-server.js', build: 'node build/build.js' },
        ['vue'],
      ),
      'config/index.js': '',
      'build/dev-server.js': "const webpack = require('webpack')\nrequire('express')().listen(8080)\n",
      'server/index.js': HTTP,
    },
    'node server/index.js',
  ),
  node(
    'a server of node alone beside pages that browser-sync shows',
    {
      'package.json': manifest({ build: 'gulp' }, ['ws'], ['browser-sync', 'gulp']),
      'server.js': HTTP,
      'dist/index.html': '',
    },
    'node server.js',
  ),
  node(
    'a server whose bundler has a configuration with a name',
    {
      'package.json': manifest({ start: 'rspack -c rspack.prod.js && node server.js' }, [
        'express',
        '@rspack/cli',
      ]),
      'server.js': EXPRESS,
    },
    'rspack -c rspack.prod.js && node server.js',
  ),
  node(
    'a server with its configuration where Hugo has its own',
    {
      'package.json': manifest({ start: 'node server.js' }, ['express']),
      'server.js': EXPRESS,
      'config/_default/config.yaml': 'baseURL: /\n',
      'layouts/page.ejs': '',
    },
    'node server.js',
  ),
  node(
    'a server without a script and with its configuration where Hugo has its own',
    {
      'package.json': manifest({}, ['express']),
      'server.js': EXPRESS,
      'config/_default/config.yaml': 'port: 1\n',
      'content/page.md': '',
    },
    'node server.js',
  ),
  {
    title: 'a page with its script beside a server in a folder, which nothing names',
    files: {
      'package.json': manifest({}, ['express', 'cors']),
      'index.html': PAGE,
      'main.js': SCRIPT_OF_PAGE,
      'server/index.js': "const express = require('express')\n",
    },
    plan: { runtime: 'node', startCommand: 'node server/index.js' },
  },
  {
    title: 'a page whose script package.json takes for a program',
    files: {
      'package.json': { ...manifest({ test: 'exit 1' }), main: 'main.js' },
      'index.html': PAGE,
      'main.js': SCRIPT_OF_PAGE,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a program that serves a page of its own name',
    files: {
      'package.json': manifest({}, ['express']),
      'index.html': '<script src="/index.js"></script>\n',
      'index.js': "const express = require('express')\n// window.location tells the page\n",
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
  },
  {
    title: 'a program of Crystal with a package.json for its assets',
    files: {
      'package.json': manifest({ 'heroku-postbuild': 'yarn prod', prod: 'webpack' }, ['laravel-mix']),
      Procfile: 'web: ./app\n',
      ...CRYSTAL,
    },
    plan: { runtime: 'node', obstacle: UNPLANNED },
  },
  {
    title: 'a program of node beside a manifest of a language without a plan',
    files: { 'package.json': manifest({ start: 'node server.js' }), 'server.js': '', ...CRYSTAL },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a program of node that no script starts, beside such a manifest',
    files: { 'package.json': manifest({}, ['express']), 'server.js': 'app.listen(80)\n', ...CRYSTAL },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a program of node that was tried with Deno',
    files: { 'package.json': manifest({ start: 'node server.js' }), 'deno.lock': '{}', ...NPM_LOCK },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a program of node beside a worker of Python',
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['express']),
      'requirements.txt': 'celery\n',
      Procfile: 'web: npm start\nworker: celery -A tasks worker\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm start' },
  },
  {
    title: 'a program that Rollup makes',
    files: {
      'package.json': manifest({ start: 'node dist/server.js', build: 'rollup -c' }, ['express'], ['rollup']),
      'rollup.config.js': "export default { input: 'src/server.js', output: { file: 'dist/server.js' } }\n",
      'public/index.html': MODULE_PAGE,
    },
    plan: { runtime: 'node', startCommand: 'node dist/server.js', isSite: false },
  },
  {
    title: 'a server whose page has scripts of Rollup',
    files: {
      ...ROLLED,
      'package.json': manifest({ start: 'node server.js', build: 'rollup -c' }, ['express'], ['rollup']),
      'server.js': "require('express')().listen(process.env.PORT)\n",
      'public/index.html': MODULE_PAGE,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', isSite: false },
  },
  {
    title: 'TypeScript compiled to dist, whose main npm init wrote',
    files: {
      'package.json': manifest({ build: 'tsc', dev: 'nodemon dist/index.js' }, ['telegraf'], ['typescript'], {
        main: 'index.js',
      }),
      ...NPM_LOCK,
      'tsconfig.json':
        '{ "compilerOptions": { "rootDir": "./src", "outDir": "./dist" /* all emitted files */ } }',
      'src/index.ts': "import { Telegraf } from 'telegraf'\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/index.js' },
  },
  {
    title: 'TypeScript compiled beside its sources, whose main npm init wrote',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['express'], ['typescript'], { main: 'index.js' }),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "strict": true } }',
      'index.ts': "import express from 'express'\n",
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
  },
  {
    title: 'TypeScript compiled to a folder, from which its build takes the main',
    files: {
      'package.json': manifest({ build: 'tsc && cp dist/index.js .' }, ['express'], ['typescript'], {
        main: 'index.js',
      }),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/index.ts': "import express from 'express'\n",
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
  },
  {
    title: 'TypeScript compiled to a folder, of which a script of npm’s takes the main',
    files: {
      'package.json': manifest(
        { build: 'tsc', postbuild: 'cp dist/run.js server.js' },
        ['express'],
        ['typescript'],
        {
          main: 'server.js',
        },
      ),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/run.ts': "import express from 'express'\n",
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a bot of Discordeno',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['@discordeno/bot']),
      ...NPM_LOCK,
      'index.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node index.js', isWorker: true },
  },
]
