import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

const PYTHON = { 'requirements.txt': 'flask\n', 'app.py': 'from flask import Flask\napp = Flask(__name__)\n' }

const symfony = (packages: string[], more: CorpusTree['files'] = {}): CorpusTree['files'] => ({
  'composer.json': { require: Object.fromEntries(packages.map((name) => [name, '*'])) },
  'public/index.php': '<?php\n',
  ...more,
})
const FRAMEWORK = 'symfony/framework-bundle'
const CONSOLE = { 'bin/console': '#!/usr/bin/env php\n' }
const SECRET = [
  { key: 'APP_SECRET', generate: 'hex', why: containing('Symfony') },
] as CorpusTree['plan']['env']

const encore = (scripts: Record<string, string>): CorpusTree['files'] =>
  symfony([FRAMEWORK], {
    'package.json': manifest(scripts, [], ['@symfony/webpack-encore']),
    ...NPM_LOCK,
  })

const django = (manage: string): CorpusTree['files'] => ({
  'requirements.txt': 'django\ngunicorn\n',
  'manage.py': manage,
  'shop/settings.py': "STATIC_ROOT = 'static'\nWSGI_APPLICATION = 'shop.wsgi.application'\n",
})

const factory = (requirements: string, app: string): CorpusTree['files'] => ({
  'requirements.txt': requirements,
  'app.py': app,
})

const PAGE = { 'index.html': '<script src="game.js"></script>' }

const crate = (name: string, dependencies = ''): CorpusTree['files'] => ({
  [`${name}/Cargo.toml`]: `[package]\nname = "${name}"\n[dependencies]\n${dependencies}`,
  [`${name}/src/main.rs`]: 'fn main() {}\n',
})
const WORKSPACE = { 'Cargo.toml': '[workspace]\nmembers = ["*"]\n' }

/** A workspace of a front end and a server, whose root has these scripts. */
const together = (scripts: Record<string, string>): CorpusTree['files'] => ({
  'package.json': manifest(scripts, [], ['concurrently'], { workspaces: ['packages/*'] }),
  'packages/api/package.json': {
    ...manifest({ dev: 'tsx watch src/main.ts', start: 'node dist/main.js' }, ['express']),
    name: 'api',
  },
  'packages/client/package.json': {
    ...manifest({ dev: 'vite', build: 'vite build' }, [], ['vite']),
    name: 'client',
  },
  ...NPM_LOCK,
})

/** Trees in the shape of people's own repositories, which were planned differently at first. */
export const VISITORS: CorpusTree[] = [
  {
    title: 'Symfony, whose .env is for its developers',
    files: symfony([FRAMEWORK], { '.env': 'APP_ENV=dev\nAPP_SECRET=\n' }),
    plan: { runtime: 'php', framework: 'symfony', buildCommand: null, env: SECRET },
    dockerfile: [
      'ENV APP_ENV=prod\n',
      // For its workers and commands as for its pages.
      'echo variables_order=EGPCS >>/usr/local/etc/php/php.ini',
    ],
  },
  {
    title: 'Symfony as one package',
    files: symfony(['symfony/symfony']),
    plan: { runtime: 'php', framework: 'symfony', env: SECRET },
    dockerfile: ['ENV APP_ENV=prod\n'],
  },
  {
    title: 'Symfony with AssetMapper',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper'], CONSOLE),
    plan: { runtime: 'php', buildCommand: 'php bin/console asset-map:compile' },
  },
  {
    title: 'Symfony with AssetMapper and Tailwind',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper', 'symfonycasts/tailwind-bundle'], CONSOLE),
    plan: {
      runtime: 'php',
      buildCommand: 'php bin/console tailwind:build --minify && php bin/console asset-map:compile',
    },
  },
  {
    title: 'Symfony with AssetMapper and Sass',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper', 'symfonycasts/sass-bundle'], CONSOLE),
    plan: {
      runtime: 'php',
      buildCommand: 'php bin/console sass:build && php bin/console asset-map:compile',
    },
  },
  {
    title: 'Encore by a script of another name',
    files: encore({ 'build:dev': 'encore dev', 'build:prod': 'encore production --progress' }),
    plan: { runtime: 'php', buildCommand: 'npm run build:prod' },
  },
  {
    title: 'Encore by a script for all among those for parts',
    files: encore({
      'build:admin': 'encore production --config-name admin',
      'build:prod': 'encore production',
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build:prod' },
  },
  {
    title: 'Encore by the usual script among others',
    files: encore({ prod: 'encore prod', build: 'encore production' }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
  {
    title: 'a file for Nixpacks whose build copies its static assets',
    files: {
      ...symfony(['laravel/framework'], { artisan: '' }),
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'nixpacks.toml':
        '[phases.build]\ncmds = ["mkdir -p /etc/conf.d", "cp /assets/worker.conf /etc/conf.d/", "..."]\n[start]\ncmd = "/assets/start.sh"\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'php',
      buildCommand: 'npm run build',
      startCommand: 'apache2-foreground',
      notes: noted('the image has no /assets'),
    },
  },
  {
    title: 'a program of Python whose developers have tools of Go',
    files: {
      ...PYTHON,
      'go.mod': 'module example.com/devtools\n\ngo 1.24\n\ntool mvdan.cc/sh/v3/cmd/shfmt\n',
      'go.sum': '',
    },
    plan: { runtime: 'python', startCommand: containing('gunicorn') },
  },
  {
    title: 'a package of Flask with its documentation',
    files: {
      'requirements.txt': 'flask\n',
      'shop/__init__.py': '',
      'shop/webapp.py': 'import flask\n\napp = flask.Flask(__name__, static_folder=folder)\n',
      'docs/conf.py': 'project = "shop"\n',
    },
    plan: { runtime: 'python', isSite: false, startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.webapp:app' },
  },
  {
    title: 'Django whose manage.py chooses its settings',
    files: django(
      "name = 'shop.production' if 'SITE' in os.environ else 'shop.settings'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', name)\n",
    ),
    plan: {
      runtime: 'python',
      framework: 'django',
      buildCommand: 'python manage.py collectstatic --noinput',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
    },
  },
  {
    title: 'a factory of Quart',
    files: factory(
      'quart\nuvicorn\ngunicorn\n',
      'def create_app():\n    app = Quart(__name__)\n    return app\n\napp = create_app()\n',
    ),
    plan: {
      runtime: 'python',
      framework: 'quart',
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT --factory app:create_app',
    },
  },
  {
    title: 'a factory of Starlette beside Flask',
    files: factory(
      'starlette\nflask\n',
      'def create_app() -> Starlette:\n    return Starlette(routes=routes)\n',
    ),
    plan: { runtime: 'python', framework: 'starlette', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'a game whose Procfile serves its files by Python 2',
    files: {
      ...PAGE,
      'package.json': manifest({}, [], ['grunt']),
      Procfile: 'web: python -m SimpleHTTPServer $PORT\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      isRefused: false,
      notes: noted('by a Python that the image does not have'),
    },
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
    title: 'a start script for the developers of several packages',
    files: together({ start: 'concurrently "npm run dev -w api" "npm run dev -w client"' }),
    plan: { runtime: 'node', startCommand: null, notes: noted('starts no server for users') },
  },
  {
    title: 'a server of Elysia that only its developers have a script for',
    files: {
      'package.json': manifest({ dev: 'bun run --watch src/backend/server.ts' }, ['elysia'], ['bun-types']),
      'bun.lock': '',
      'src/backend/server.ts': 'new Elysia().get("/", () => 1).listen(process.env.PORT)\n',
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/backend/server.ts', obstacle: null },
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
    title: 'a bot of Discord that names the intents it has',
    files: {
      'requirements.txt': 'aiohttp\ndiscord.py==2.7.1\n',
      'bot.py': 'import discord\n\nintents = discord.Intents.default()\nintents.webhooks = True\n',
    },
    plan: { runtime: 'python', startCommand: 'python bot.py', isWorker: true },
  },
  {
    title: 'a workspace of Rust of which one program serves',
    files: {
      ...WORKSPACE,
      ...crate('cli', 'clap = "4"\n'),
      ...crate('shop', 'axum = "0.8"\n'),
      ...crate('import'),
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/shop', obstacle: null },
  },
]
