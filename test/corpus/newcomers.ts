import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string

const NITRO_SERVER = 'node .output/server/index.mjs'

/** The configuration files that Lovable's template for TanStack Start leaves. */
const lovable = (options: string): Record<string, string | object> => ({
  'package.json': manifest(
    { dev: 'vite dev', build: 'vite build' },
    ['@tanstack/react-start'],
    ['vite', 'nitro', '@lovable.dev/vite-tanstack-config'],
  ),
  'vite.config.ts': `import { defineConfig } from "@lovable.dev/vite-tanstack-config"\nexport default defineConfig({ ${options} })\n`,
  ...NPM_LOCK,
})

/** An Angular application in an Nx workspace. */
const angular = (options: object): Record<string, string | object> => ({
  'package.json': manifest({ build: 'nx build shop' }, ['@angular/core'], ['nx']),
  'nx.json': {},
  'apps/shop/project.json': {
    name: 'shop',
    projectType: 'application',
    targets: { build: { executor: '@angular/build:application', options } },
  },
  ...NPM_LOCK,
})

const CRYSTAL = { 'shard.yml': 'name: shop\n', 'src/shop.cr': '' }
const UNPLANNED =
  'there is no plan for Crystal (shard.yml): add a Dockerfile, or a script "start", or set start_command'

const DOTNET_PROGRAM = (more: string): string =>
  `<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net9.0</TargetFramework>${more}</Project>`
const PACKAGE = (name: string): string =>
  `</PropertyGroup><ItemGroup><PackageReference Include="${name}" Version="1" /></ItemGroup>`

/** A Python program with its documentation. */
const DOCUMENTED = { 'mkdocs.yml': 'site_name: Shop\n', 'docs/index.md': '# Shop\n' }

/** Trees in the shape of the repositories that were inspected last. */
export const NEWCOMERS: CorpusTree[] = [
  {
    title: 'TanStack Start as Lovable sets it up, which falls back on Cloudflare',
    files: lovable('tanstackStart: { server: { entry: "server" } }'),
    plan: { runtime: 'node', framework: 'tanstack-start', startCommand: NITRO_SERVER, obstacle: null },
    dockerfile: ['ENV NITRO_PRESET=node-server'],
  },
  {
    title: 'TanStack Start whose plugin has the preset of another host',
    files: lovable('nitro: { preset: "vercel" }'),
    plan: {
      runtime: 'node',
      obstacle:
        "TanStack Start is set up with Nitro's preset vercel, whose output no server here runs: use the preset node-server",
    },
  },
  {
    title: 'Nuxt with the preset of another host',
    files: {
      'package.json': manifest({ build: 'nuxt build' }, ['nuxt@^4.0.0']),
      'nuxt.config.ts': "export default defineNuxtConfig({ nitro: { preset: 'cloudflare-pages' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: NITRO_SERVER, obstacle: null },
    dockerfile: ['NITRO_PRESET=node-server'],
  },
  {
    title: 'Nuxt with the preset for files alone',
    files: {
      'package.json': manifest({ build: 'nuxt build' }, ['nuxt@^4.0.0']),
      'nuxt.config.ts': "export default defineNuxtConfig({ nitro: { preset: 'github_pages' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', isSite: true, publishDirectory: '.output/public' },
  },
  {
    title: 'SolidStart with the preset of another host',
    files: {
      'package.json': manifest({ build: 'vinxi build' }, ['@solidjs/start', 'vinxi']),
      'app.config.ts': "export default defineConfig({ server: { preset: 'netlify' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', obstacle: containing("SolidStart is set up with Nitro's preset netlify") },
  },
  {
    title: 'pages of Vite whose template brought Nitro along',
    files: {
      'package.json': manifest({ build: 'vite build' }, ['react'], ['vite', 'nitro']),
      'vite.config.ts': 'export default defineConfig({ plugins: [react()] })\n',
      'index.html': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'vite', isSite: true, publishDirectory: 'dist' },
  },
  {
    title: 'a server of Nitro by its plugin for Vite',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite', 'nitro']),
      'vite.config.ts': "import { nitro } from 'nitro/vite'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nitro', startCommand: NITRO_SERVER },
  },
  {
    title: 'an application of Angular in Nx that renders on a server',
    files: angular({
      outputPath: 'dist/shop',
      server: 'apps/shop/src/main.server.ts',
      ssr: { entry: 'apps/shop/src/server.ts' },
      outputMode: 'server',
    }),
    plan: { runtime: 'node', isSite: false, startCommand: 'node dist/shop/server/server.mjs' },
  },
  {
    title: 'an application of Angular in Nx, in the folder of its newer builder',
    files: angular({ outputPath: 'dist/shop', browser: 'apps/shop/src/main.ts' }),
    plan: { runtime: 'node', isSite: true, publishDirectory: 'dist/shop/browser' },
  },
  {
    title: 'an application of Angular in Nx whose pages are all written by its build',
    files: angular({ outputPath: { base: 'dist/shop' }, ssr: true, outputMode: 'static' }),
    plan: { runtime: 'node', isSite: true, publishDirectory: 'dist/shop/browser' },
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
    title: 'a program for Deno with its lock file alone, beside its packages of npm',
    files: {
      'package.json': manifest({}),
      'deno.lock': '{}',
      'main.ts': 'Deno.serve(() => new Response())\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno run --allow-all main.ts' },
  },
  {
    title: "a worker of Cloudflare whose file of Wrangler is its developer's alone",
    files: {
      'package.json': {
        ...manifest({ build: 'node build.js', dev: 'wrangler dev dist/index.mjs' }, ['hono'], ['wrangler']),
        main: 'dist/index.mjs',
      },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', obstacle: containing('wrangler builds it for Cloudflare Workers') },
  },
  {
    title: 'a program for node that is a worker of Cloudflare as well',
    files: {
      'package.json': manifest({ dev: 'wrangler dev' }, ['hono', '@hono/node-server'], ['wrangler']),
      'server.js': "import { serve } from '@hono/node-server'\nserve(app)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a bot of .NET',
    files: { 'Bot.csproj': DOTNET_PROGRAM(PACKAGE('DSharpPlus.Commands')), 'Program.cs': '' },
    plan: { runtime: 'dotnet', isWorker: true },
  },
  {
    title: 'a program of .NET that serves and is a bot',
    files: {
      'Bot.csproj': DOTNET_PROGRAM(
        '</PropertyGroup><ItemGroup><FrameworkReference Include="Microsoft.AspNetCore.App" /><PackageReference Include="Telegram.Bot" Version="1" /></ItemGroup>',
      ),
    },
    plan: { runtime: 'dotnet', isWorker: false },
  },
  {
    title: 'a worker service of .NET',
    files: {
      'Jobs.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Worker"><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', isWorker: true },
  },
  {
    title: 'functions for Azure',
    files: {
      'Api.csproj': DOTNET_PROGRAM('<AzureFunctionsVersion>v4</AzureFunctionsVersion></PropertyGroup>'),
      'host.json': '{}',
    },
    plan: { runtime: 'dotnet', obstacle: containing('Api.csproj is for Azure Functions') },
  },
  {
    title: 'a package of Python that serves, with its documentation',
    files: {
      ...DOCUMENTED,
      'requirements.txt': 'fastapi\nuvicorn\n',
      'shop/__init__.py': '',
      'shop/app.py': 'from fastapi import FastAPI\nfrom .config import settings\napp = FastAPI()\n',
    },
    plan: {
      runtime: 'python',
      framework: 'fastapi',
      isSite: false,
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT shop.app:app',
    },
  },
  {
    title: 'a server of Python whose Procfile says so, with pages whose script is for their developers',
    files: {
      'package.json': manifest({ start: 'vite', build: 'vite build' }, ['react'], ['vite']),
      'index.html': '',
      Pipfile:
        '[packages]\nflask = "*"\ngunicorn = "*"\n\n[scripts]\nupgrade="flask db upgrade"\nodd="sh -c \'x\'"\n',
      'src/wsgi.py': '',
      Procfile: 'release: pipenv run upgrade\nweb: gunicorn wsgi --chdir ./src/\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'python',
      buildCommand: 'npm run build',
      startCommand: 'gunicorn wsgi --chdir ./src/',
      preDeployCommand: 'pipenv run upgrade',
      isSite: false,
    },
    dockerfile: ['upgrade) shift; set -- flask db upgrade "$@";;', '> /opt/venv/bin/pipenv'],
    without: ['odd)'],
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
    title: 'a server that a tool of its packages is to run',
    files: {
      'pyproject.toml': '[project]\nname = "shop"\nversion = "1"\ndependencies = ["fastapi", "uvicorn"]\n',
      'uv.lock': '',
      'main.py': 'from fastapi import FastAPI\napp = FastAPI()\n',
      Procfile: 'web: uv run uvicorn main:app --host 0.0.0.0 --port $PORT\n',
    },
    plan: { runtime: 'python', startCommand: 'uv run uvicorn main:app --host 0.0.0.0 --port $PORT' },
    dockerfile: ['> /opt/venv/bin/uv'],
  },
  {
    title: 'the documentation of a library for servers of Python',
    files: { ...DOCUMENTED, 'requirements.txt': 'fastapi\n', 'shop/__init__.py': '', 'shop/core.py': '' },
    plan: { runtime: 'python', framework: 'mkdocs', isSite: true, publishDirectory: 'site' },
  },
  {
    title: 'a file of CapRover with the lines of a Dockerfile',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'captain-definition': { schemaVersion: 2, dockerfileLines: ['FROM node:16', 'CMD ["npm", "start"]'] },
    },
    plan: {
      runtime: 'node',
      startCommand: 'node server.js',
      notes: expect.arrayContaining([
        containing('captain-definition has the lines of a Dockerfile, which are left aside'),
      ]) as string[],
    },
  },
]
