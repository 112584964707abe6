import { manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

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

const node = (title: string, files: CorpusTree['files'], startCommand: string): CorpusTree => ({
  title,
  files: { ...files, ...NPM_LOCK },
  plan: { runtime: 'node', startCommand, obstacle: null, isSite: false },
})

/** Scripts of a package.json: what of them starts a program, and what is for developers alone. */
export const NODE_SCRIPTS: CorpusTree[] = [
  {
    title: 'the script of a host that builds before it starts',
    files: {
      'package.json': manifest(
        { start: 'node index.js', build: 'x', 'heroku-postbuild': 'cd client && npm i && npm run build' },
        ['express'],
      ),
    },
    plan: server(null, 'node index.js', 'npm run heroku-postbuild'),
  },
  {
    title: 'a script that runs others beside each other, development servers',
    files: {
      'package.json': manifest(
        { start: 'run-p start:**', 'start:hugo': 'hugo server', 'start:assets': 'webpack --watch' },
        [],
        ['npm-run-all'],
      ),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a script that runs a server and the development server of its pages',
    files: {
      'package.json': manifest(
        {
          start: 'concurrently -k "npm:server" "npm run pages"',
          server: 'node server.js',
          pages: 'vite --host',
        },
        ['express'],
        ['concurrently', 'vite'],
      ),
      'server.js': "import 'express'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a script that runs two programs beside each other',
    files: {
      'package.json': manifest(
        { start: 'concurrently "node server.js" "cd worker && npm start"' },
        ['express'],
        ['concurrently'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm start' },
  },
  {
    title: 'a start script that says what it starts',
    files: {
      'package.json': manifest({ start: 'echo Starting && node server.js' }),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'echo Starting && node server.js' },
  },
  {
    title: 'a start script that runs one that says something',
    files: {
      'package.json': manifest({ prestart: 'echo Wait', start: 'node server.js' }),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm start' },
  },
  {
    title: 'a tool that its developers run again and again',
    files: {
      'package.json': manifest({ dev: 'nodemon tools/make.js' }, [], ['nodemon']),
      'tools/make.js': "require('fs').writeFileSync('out.html', '')\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server for developers that is run anew whenever it changes',
    files: {
      'package.json': manifest({ dev: 'node --watch tools/pages.js', build: 'node make.js' }, ['express']),
      'tools/pages.js': "const bs = require('browser-sync').create()\nbs.init()\nexpress().listen(1)\n",
      'make.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server for developers that has its name',
    files: {
      'package.json': manifest({ dev: 'nodemon tools/dev-server.js' }, ['express']),
      'tools/dev-server.js': "require('express')().listen(1)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a program that its developers start once',
    files: {
      'package.json': manifest({ dev: 'node tools/serve.js' }, ['express']),
      'tools/serve.js': "require('express')().listen(1)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server whose developers run more than that',
    files: {
      'package.json': manifest({ dev: 'node watch.js & nodemon tools/serve.js' }, ['express'], ['nodemon']),
      'tools/serve.js': '',
      'watch.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  node(
    'a server among the scripts whose comment names a server for developers',
    {
      'package.json': manifest({ start: 'node scripts/serve.js', build: 'webpack' }, ['express']),
      'scripts/serve.js': `// In development browser-sync stands before it.\n${EXPRESS}`,
    },
    'node scripts/serve.js',
  ),
  node(
    'a server among the scripts that is one for developers at times',
    {
      'package.json': manifest({ start: 'node scripts/start.js', build: 'webpack' }, ['express']),
      'scripts/start.js': `if (process.env.NODE_ENV !== 'production') require('webpack-dev-server')\nelse ${EXPRESS}`,
    },
    'node scripts/start.js',
  ),
  node(
    'a server of its own before Next.js',
    {
      'package.json': manifest({ start: 'node scripts/start.js', build: 'next build' }, ['next']),
      'scripts/start.js':
        "const next = require('next')\n// webpack-dev-server's options\nconst options = { 'webpack-dev-server': {} }\n",
    },
    'node scripts/start.js',
  ),
  node(
    'a server that a tool of developers goes before',
    {
      'package.json': manifest({ start: 'node scripts/prepare.js && node server.js', build: 'webpack' }, [
        'express',
      ]),
      'scripts/prepare.js': "if (dev) require('browser-sync')\n",
      'server.js': EXPRESS,
    },
    'node scripts/prepare.js && node server.js',
  ),
  node(
    'a server that is named like one for developers',
    { 'package.json': manifest({ start: 'node dev-server.js' }, ['express']), 'dev-server.js': EXPRESS },
    'node dev-server.js',
  ),
  node(
    'nodemon with a file that says by what it runs',
    {
      'package.json': manifest({ start: 'nodemon src/index' }, ['express', 'nodemon', '@babel/node']),
      'src/index.js': "import express from 'express'\nexpress().listen(1)\n",
      'nodemon.json': { exec: 'babel-node' },
    },
    'nodemon src/index',
  ),
  node(
    'nodemon with a part of package.json that says by what it runs',
    {
      'package.json': manifest({ start: 'nodemon src/index' }, ['express', 'nodemon', '@babel/node'], [], {
        nodemonConfig: { exec: 'babel-node' },
      }),
      'src/index.js': "import express from 'express'\nexpress().listen(1)\n",
    },
    'nodemon src/index',
  ),
  node(
    'servers of several packages that their developers start as they are',
    {
      'package.json': manifest(
        { start: 'concurrently "npm run dev --prefix api" "npm run dev --prefix bot"' },
        ['concurrently'],
      ),
      'api/package.json': manifest({ dev: 'node index.js' }, ['express']),
      'bot/package.json': manifest({ dev: 'node bot.js' }, ['discord.js']),
    },
    'npm start',
  ),
  node(
    'a server in the usual folder beside one for developers',
    {
      'package.json': manifest({ dev: 'nodemon server/local.js' }, ['express']),
      'server/index.js': EXPRESS,
      'server/local.js': EXPRESS,
    },
    'node server/index.js',
  ),
  node(
    'a server in TypeScript beside a program that watches',
    {
      'package.json': manifest({ dev: 'tsx --watch db/migrate.ts' }, ['express', 'tsx']),
      'server/index.ts': EXPRESS,
      'db/migrate.ts': '',
    },
    'tsx server/index.ts',
  ),
  node(
    'a server that looks like the script of a page beside one for developers',
    {
      'package.json': manifest({ dev: 'nodemon tools/local.js' }, ['express']),
      'index.js': "import './app.js'\nconst page = `<script>document.querySelector('a')</script>`\n",
      'tools/local.js': EXPRESS,
    },
    'node index.js',
  ),
  {
    title: 'a server whose own file takes a server for developers when it is not in production',
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['express', 'webpack-dev-middleware']),
      'server.js':
        "if (process.env.NODE_ENV !== 'production') require('webpack-dev-middleware')\napp.listen(process.env.PORT)\n",
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a server that is started anew after each change, by its name alone',
    files: { 'package.json': manifest({ start: 'nodemon index' }, ['express', 'nodemon']), 'index.js': '' },
    plan: { runtime: 'node', startCommand: 'node index' },
  },
  {
    title: 'a server that reads its variables from a file that is not in the repository',
    files: {
      'package.json': manifest({ start: 'nodemon --env-file=.env index.js' }, ['express', 'nodemon']),
      'index.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node --env-file-if-exists=.env index.js' },
  },
  {
    title: 'a server that reads its variables from a file of the repository',
    files: {
      'package.json': manifest({ start: 'node --env-file=.env.production index.js' }, ['express']),
      'index.js': '',
      '.env.production': 'LEVEL=info\n',
    },
    plan: { runtime: 'node', startCommand: 'node --env-file=.env.production index.js' },
  },
  {
    title: 'a start script that tells where else to start',
    files: {
      'package.json': manifest({ start: "echo 'Wrong folder; cd to api or web' && exit 1" }),
      'api/package.json': manifest({ start: 'node index.js' }, ['express']),
      'web/package.json': manifest({ build: 'vite build' }, [], ['vite']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      rootDirectories: ['api', 'web'],
      notes: noted('starts no server for users'),
    },
  },
  {
    title: 'a server of Express in TypeScript that nodemon watches',
    files: {
      'package.json': manifest({ dev: 'nodemon --exec ts-node source/start.ts' }, ['express', 'ts-node']),
      'source/start.ts': "import { app } from './app'\nstart(app)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'ts-node source/start.ts', obstacle: null },
  },
  {
    title: 'a server of Express that nodemon watches behind what it reads first',
    files: {
      'package.json': manifest({ dev: 'nodemon -r ./config/env.js ./source/start.js' }, ['express']),
      'config/env.js': 'process.env.MODE = 1\n',
      'source/start.js': "require('./app').start()\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node source/start.js', obstacle: null },
  },
  {
    title: 'a server whose authors deploy something else by serverless',
    files: {
      'package.json': manifest({ deploy: 'cd functions && serverless deploy' }, ['@hapi/hapi'], [], {
        main: 'server.js',
      }),
      ...NPM_LOCK,
      'server.js': "require('@hapi/hapi').server({ port: process.env.PORT }).start()\n",
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a server whose script starts a database of the developer first',
    files: {
      'package.json': manifest({ start: 'docker compose up -d || true; node api/run.js' }, ['express']),
      ...NPM_LOCK,
      'api/run.js': '',
    },
    plan: { runtime: 'node', startCommand: 'docker compose up -d || true; node api/run.js' },
  },
  {
    title: 'a bot whose script starts its containers',
    files: {
      'package.json': manifest(
        { build: 'tsc', start: 'docker compose up -d', dev: 'tsx watch src/index.ts' },
        ['discord.js'],
        ['typescript', 'tsx'],
      ),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/index.ts': "import { Client } from 'discord.js'\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/index.js', isWorker: true },
  },
  {
    title: 'a program of Express’s generator that restarts at changes',
    files: {
      'package.json': manifest({ start: 'nodemon ./bin/www ' }, ['express', 'nodemon']),
      ...NPM_LOCK,
      'bin/www': '#!/usr/bin/env node\n',
    },
    plan: { runtime: 'node', startCommand: 'node ./bin/www' },
  },
  {
    title: 'a program in another language that restarts at changes',
    files: {
      'package.json': manifest({ start: 'nodemon ./bin/serve' }, ['nodemon']),
      ...NPM_LOCK,
      'bin/serve': '#!/usr/bin/env python3\n',
    },
    plan: { runtime: 'node', startCommand: 'nodemon ./bin/serve' },
  },
]
