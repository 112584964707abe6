import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string

const EXPRESS = "const app = require('express')()\napp.listen(process.env.PORT)\n"
const HTTP = "require('http').createServer(answer).listen(process.env.PORT)\n"
const MAIN = 'package main\n\nfunc main() {}\n'

const node = (title: string, files: CorpusTree['files'], startCommand: string): CorpusTree => ({
  title,
  files: { ...files, ...NPM_LOCK },
  plan: { runtime: 'node', startCommand, obstacle: null, isSite: false },
})

const go = (title: string, files: CorpusTree['files'], built: string | null): CorpusTree => ({
  title,
  files,
  plan: { runtime: 'go', buildCommand: built === null ? null : containing(` ${built}`) },
})

const bot = (title: string, packages: string[], program: string, isWorker = false): CorpusTree => ({
  title,
  files: { 'requirements.txt': `${packages.join('\n')}\n`, 'bot.py': program },
  plan: { runtime: 'python', startCommand: 'python bot.py', isWorker },
})

const locked = (gems: string[], bundler: string): string =>
  `GEM\n  specs:\n${gems.map((gem) => `    ${gem}\n`).join('')}\nBUNDLED WITH\n   ${bundler}\n`

/** Files next to a page that a line of a Procfile serves with Python. */
const SERVED_BY_PYTHON: [beside: string, files: CorpusTree['files'], settings?: CorpusTree['settings']][] = [
  ['nothing', {}],
  ['a program', { 'main.py': '' }],
  ['a program with a build', { 'main.py': '' }, { buildCommand: 'python main.py' }],
  ['Flask', { 'requirements.txt': 'flask\n', 'app.py': 'app = Flask(__name__)\n' }],
]

const programs = (names: string[]): CorpusTree['files'] =>
  Object.fromEntries(names.map((name) => [`cmd/${name}/main.go`, MAIN]))
const TWELVE = [...'abcdefghijk', 'server']

/** A module that names tools for its developers, and has its program deeper than where one is looked for. */
const TOOLED = {
  'go.mod': 'module example.com/shop\n\ngo 1.24\n\ntool (\n\texample.com/gen\n)\n',
  'services/api/main.go': MAIN,
}

const symfony = (files: CorpusTree['files']): CorpusTree['files'] => ({
  'composer.json': { require: { 'symfony/framework-bundle': '^7' } },
  'public/index.php': '<?php\n',
  ...files,
})
const ENCORE = ['@symfony/webpack-encore']

/** Trees that look like those of a newer rule, but are started as before that rule. */
export const KEPT: CorpusTree[] = [
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
    title: 'documentation that a Procfile serves by its own generator',
    files: { 'mkdocs.yml': 'site_name: x\n', Procfile: 'web: mkdocs serve -a 0.0.0.0:$PORT\n' },
    plan: { runtime: 'python', startCommand: containing('mkdocs serve') },
    dockerfile: ['pip install mkdocs'],
  },
  {
    title: 'documentation whose own command builds it, and another serves it',
    files: { 'docs/conf.py': "project = 'x'\n", 'requirements.txt': '' },
    settings: { buildCommand: 'sphinx-build docs out', startCommand: 'python -m http.server $PORT -d out' },
    plan: { runtime: 'python', buildCommand: 'sphinx-build docs out' },
    dockerfile: ['pip install sphinx'],
  },
  go(
    'programs of a workspace of Go in folders of one name',
    {
      'go.work': 'go 1.24\nuse ./api\nuse ./worker\n',
      'api/cmd/main.go': MAIN,
      'worker/cmd/main.go': MAIN,
    },
    './api/cmd',
  ),
  go(
    'programs of a workspace of Go of which none stands out',
    {
      'go.work': 'go 1.24\nuse ./front\nuse ./back\n',
      'front/cmd/server/main.go': MAIN,
      'back/cmd/server/main.go': MAIN,
    },
    null,
  ),
  go(
    'a server in Go beside the folder of a tool',
    { 'go.work': 'go 1.24\nuse ./backend\nuse ./cli\n', 'backend/main.go': MAIN, 'cli/cmd/main.go': MAIN },
    './backend',
  ),
  go(
    'a program in Go beside a file that generates others',
    {
      'go.mod': 'module example.com/shop\n',
      'cmd/foo/main.go': MAIN,
      'cmd/gen.go': `// +build ignore\n\n${MAIN}`,
    },
    './cmd/foo',
  ),
  go(
    'a module of Go with nothing but the program of its migrations',
    { 'go.mod': 'module example.com/shop\n', 'migrations/main.go': MAIN, 'wasm/main.go': MAIN },
    null,
  ),
  go(
    'twelve programs of Go, one of which is the server',
    { 'go.mod': 'module shop\n', ...programs(TWELVE) },
    './cmd/server',
  ),
  {
    title: 'twelve programs of Go, whose server is named',
    files: { 'go.mod': 'module shop\n', ...programs(TWELVE) },
    settings: { startCommand: '/app/bin/server' },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/server ./cmd/server' },
  },
  {
    title: 'a workspace of Rust with many programs, one of which is the server',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["*"]\n',
      ...Object.fromEntries(
        TWELVE.flatMap((name) => [
          [`${name}/Cargo.toml`, `[package]\nname = "${name}"\n`],
          [`${name}/src/main.rs`, ''],
        ]),
      ),
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/server' },
  },
  {
    title: 'programs of Go that a comment names, started by the usual name',
    files: {
      'go.mod': '// +heroku install ./services/...\nmodule shop\n',
      'services/server/main.go': MAIN,
      Procfile: 'web: bin/server\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/ ./services/...' },
  },
  {
    title: 'a module of Go with tools whose own command builds a program deeper in it',
    files: { ...TOOLED, 'start.sh': '#!/bin/sh\n' },
    settings: { buildCommand: 'go build -o bin/api ./services/api', startCommand: 'bin/api' },
    plan: { runtime: 'go', startCommand: 'bin/api', obstacle: null },
  },
  {
    title: 'a module of Go with tools and packages of its own, beside styles',
    files: {
      ...TOOLED,
      'go.mod': `${TOOLED['go.mod']}\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.1.0\n)\n`,
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    settings: { buildCommand: 'go build -o bin/api ./services/api', startCommand: 'bin/api' },
    plan: { runtime: 'go', startCommand: 'bin/api', obstacle: null },
  },
  {
    title: 'a workspace of Go whose root has tools, beside styles',
    files: {
      'go.work': 'go 1.24\nuse ./api\n',
      'go.mod': TOOLED['go.mod'],
      'api/main.go': MAIN,
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a module of Go with tools whose comment names its programs, beside styles',
    files: {
      ...TOOLED,
      'go.mod': `// +heroku install ./services/...\n${TOOLED['go.mod']}`,
      Procfile: 'web: bin/api\n',
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'go', startCommand: 'bin/api', buildCommand: containing('./services/...') },
  },
  {
    title: 'Symfony whose .env has a secret',
    files: symfony({ '.env': 'APP_ENV=dev\nAPP_SECRET=0123456789abcdef\n' }),
    plan: { runtime: 'php', framework: 'symfony', env: [] },
  },
  {
    title: 'Symfony whose secret is in its file for production',
    files: symfony({ '.env': 'APP_SECRET=\n', '.env.prod': 'APP_SECRET="0123456789abcdef"\n' }),
    plan: { runtime: 'php', env: [] },
  },
  {
    title: 'Symfony whose secrets are in its vault',
    files: symfony({ '.env': 'APP_SECRET=\n', 'config/secrets/prod/prod.list.php': '<?php return [];\n' }),
    plan: { runtime: 'php', env: [] },
  },
  {
    title: 'Symfony whose build is more than that of Encore',
    files: symfony({
      'package.json': manifest(
        {
          icons: 'node icons.js',
          'encore:prod': 'encore production',
          build: 'npm run icons && npm run encore:prod',
        },
        [],
        ENCORE,
      ),
      ...NPM_LOCK,
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
  {
    title: 'Symfony whose build is a program of its own beside Encore',
    files: symfony({
      'package.json': manifest({ build: 'gulp', 'encore:prod': 'encore production' }, ['gulp'], ENCORE),
      ...NPM_LOCK,
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
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
  bot(
    'a bot with a server of aiohttp behind a name of its own',
    ['aiogram', 'aiohttp'],
    'await web._run_app(app)\n',
  ),
  bot('a bot that answers by the server of Python', ['discord.py', 'aiohttp'], 'httpd.serve_forever()\n'),
  bot('a bot beside a server of streams', ['telethon', 'aiohttp'], 'await asyncio.start_server(answer)\n'),
  bot('a bot that messages are sent to', ['aiogram', 'aiohttp'], 'configure_webhook(app)\n'),
  bot('a bot with Waitress', ['discord.py', 'waitress'], ''),
  bot(
    'a bot that asks for its messages, and says so first',
    ['aiogram', 'aiohttp'],
    'await bot.delete_webhook(drop_pending_updates=True)\nawait dp.start_polling(bot)\n',
    true,
  ),
  {
    title: 'a program of .NET that is one for desktops on one system alone',
    files: {
      'Tray.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>WinExe</OutputType><OutputType Condition="\'$(OS)\' != \'Windows_NT\'">Exe</OutputType></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', startCommand: containing('dotnet Tray.dll'), obstacle: null },
  },
  {
    title: 'a program of Rack without a server whose Procfile has a console',
    files: {
      Gemfile: "gem 'sinatra'\n",
      'config.ru': 'run App\n',
      'Gemfile.lock': locked(['rack (2.2.9)'], '2.5.6'),
      Procfile: 'console: irb\n',
    },
    plan: { runtime: 'ruby', startCommand: null, obstacle: containing('bundle add puma') },
  },
  {
    title: 'an application of Rails 6.1 with an older Bundler',
    files: {
      Gemfile: "gem 'rails'\n",
      'config.ru': '',
      'config/application.rb': '',
      'Gemfile.lock': locked(['rails (6.1.7)'], '2.1.4'),
    },
    plan: { runtime: 'ruby', version: '3.1' },
    without: ['gem install bundler'],
  },
  {
    title: 'a program of Sinatra with an older Bundler',
    files: {
      Gemfile: "gem 'sinatra'\n",
      'config.ru': 'run App\n',
      'Gemfile.lock': locked(['puma (6.4.0)', 'rack (2.2.9)'], '2.1.4'),
    },
    plan: { runtime: 'ruby', version: '3.1', startCommand: containing('puma') },
    without: ['gem install bundler'],
  },
  node(
    'a server whose Procfile gives it a variable, beside an application of Dart',
    {
      'package.json': manifest({}, ['express']),
      'server.js': EXPRESS,
      'pubspec.yaml': 'name: shop\n',
      Procfile: 'web: NODE_ENV=production node server.js\n',
    },
    'NODE_ENV=production node server.js',
  ),
  {
    title: 'a bot of .NET that listens for those who watch it',
    files: {
      'Bot.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType></PropertyGroup><ItemGroup><PackageReference Include="Discord.Net" Version="3" /></ItemGroup></Project>',
      'Program.cs': 'var listener = new HttpListener();\n',
    },
    plan: { runtime: 'dotnet', isWorker: false },
  },
  {
    title: 'the documentation of a library for Django with a project for its tests',
    files: {
      'docs/conf.py': "project = 'shop'\nextensions = []\n",
      'requirements.txt': 'django\nsphinx\n',
      'testproject/manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings")\n',
      'testproject/testproject/settings.py': '',
    },
    plan: { runtime: 'python', framework: 'sphinx', isSite: true },
  },
  ...SERVED_BY_PYTHON.map(([beside, files, settings]): CorpusTree => ({
    title: `a page that Python serves by its Procfile, beside ${beside}`,
    files: { 'index.html': '', Procfile: 'web: python -m http.server $PORT\n', ...files },
    settings,
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT', obstacle: null },
  })),
  {
    title: 'a page that a Python of Debian serves by its Procfile, beside tools of node',
    files: {
      'index.html': '',
      Procfile: 'web: python3 -m http.server $PORT\n',
      Aptfile: 'python3\n',
      'package.json': manifest({}, [], ['grunt']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'python3 -m http.server $PORT' },
  },
  {
    title: 'a start of Railway that serves a folder of that name',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': HTTP,
      'railway.json': { deploy: { startCommand: 'node server.js --static /assets/' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js --static /assets/' },
  },
  {
    title: 'a build for Nixpacks that makes the folder of its assets itself',
    files: {
      'composer.json': { require: {} },
      'public/index.php': '',
      'nixpacks.toml': '[phases.build]\ncmds = ["mkdir -p /assets/ && cp -r x /assets/"]\n',
    },
    plan: { runtime: 'php', buildCommand: 'mkdir -p /assets/ && cp -r x /assets/' },
  },
  {
    title: 'a package of Flask that has an application beside the one of its own',
    files: {
      'requirements.txt': 'flask\n',
      'shop/__init__.py': 'app = Flask(__name__)\n',
      'shop/webapp.py': 'app = Flask(__name__)\n',
    },
    plan: { runtime: 'python', startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop:app' },
  },
  {
    title: 'a factory of Flask beside a helper that makes another application',
    files: {
      'requirements.txt': 'flask\nfastapi\n',
      'app.py':
        'def create_app(\n    config=None,\n):\n    return build(config)\n\ndef helper():\n    api = FastAPI()\n    return api\n',
    },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of FastAPI beside a helper that makes another application',
    files: {
      'requirements.txt': 'fastapi\n',
      'app.py':
        'def legacy():\n    old = Flask(__name__)\n    return old\n\ndef create_app():\n    return build()\n',
    },
    plan: { runtime: 'python', framework: 'fastapi', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'a program whose manage.py names settings for its tests alone',
    files: {
      'requirements.txt': 'django\n',
      'main.py': '',
      'manage.py':
        "if 'test' in sys.argv:\n    s = 'tests.settings'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', s)\n",
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'a workspace of Rust of which one program serves in its tests alone',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["*"]\n[workspace.dependencies]\naxum = "0.8"\n',
      'a/Cargo.toml': '[package]\nname = "a"\n[dependencies]\nclap = "4"\n[dev-dependencies]\naxum = "0.8"\n',
      'a/src/main.rs': '',
      'b/Cargo.toml': '[package]\nname = "b"\n[dependencies]\nclap = "4"\n',
      'b/src/main.rs': '',
    },
    plan: { runtime: 'rust', startCommand: null, obstacle: containing('there are several programs (a, b)') },
  },
]
