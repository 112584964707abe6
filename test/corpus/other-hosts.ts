import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'
const GRADLE = {
  gradlew: '',
  'gradle/wrapper/gradle-wrapper.properties':
    'distributionUrl=https\\://services.gradle.org/distributions/gradle-8.14-bin.zip\n',
}
const containing = (text: string): string => expect.stringContaining(text) as string
const withNote = (text: string): string[] => expect.arrayContaining([text]) as string[]
const FOREIGN = 'and nothing else runs that'

/** Trees as strangers have them for other hosts: Procfile lines in those hosts' style, bots, browsers, older pins. */
export const OTHER_HOSTS: CorpusTree[] = [
  {
    title: 'a line of a Procfile that names a program of Go by its module',
    files: {
      'go.mod': 'module example.com/team/shop/v2\n\ngo 1.25\n',
      'main.go': MAIN,
      Procfile: 'web: shop\n',
    },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/ .',
      startCommand: 'shop',
    },
    dockerfile: ['ENV PATH=/app/bin:$PATH'],
  },
  {
    title: 'lines of a Procfile for several programs of Go',
    files: {
      'go.mod': 'module example.com/shop\n',
      'cmd/web/main.go': MAIN,
      'cmd/worker/main.go': MAIN,
      Procfile: 'web: bin/web\nworker: bin/worker\n',
    },
    settings: { processType: 'worker' },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/ ./cmd/web ./cmd/worker',
      startCommand: 'bin/worker',
      obstacle: null,
    },
  },
  {
    title: 'packages of Go that a comment tells Heroku to install',
    files: {
      'go.mod': 'module example.com/shop\n\n// +heroku install ./tools/... ./cmd/web\n',
      'main.go': MAIN,
      Procfile: 'web: web\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/ ./tools/... ./cmd/web' },
  },
  {
    title: 'a program of Go without a module',
    files: { 'main.go': MAIN },
    plan: {
      runtime: 'go',
      buildCommand: 'go mod init app && go mod tidy && go build -trimpath -o /app/bin/server .',
      installCommand: null,
    },
  },
  {
    title: 'a generated file of Go that is too large to be read whole',
    files: { 'go.mod': 'module x\n', 'assets.go': `package main\n//${'x'.repeat(5 * 1024 * 1024)}\n` },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a line of a Procfile that runs mix',
    files: {
      'mix.exs': 'def project, do: [app: :shop]\ndefp deps, do: [\n  {:phoenix, "~> 1.7"}\n]\n',
      'mix.lock': '',
      Procfile: 'web: mix phx.server\n',
    },
    plan: { runtime: 'elixir', framework: 'phoenix', startCommand: 'mix phx.server' },
    dockerfile: [
      'COPY --from=build --chown=1000:1000 /opt/mix /opt/mix',
      'PHX_SERVER=true MIX_HOME=/opt/mix',
    ],
  },
  {
    title: 'AdonisJS with the script that is meant for the folder of the build',
    files: {
      'package.json': manifest({ build: 'node ace build', start: 'node bin/server.js' }, ['@adonisjs/core']),
      'bin/server.ts': '',
    },
    plan: { runtime: 'node', framework: 'adonis', startCommand: 'node build/bin/server.js' },
  },
  {
    title: 'TanStack Start with a script that fetches its server',
    files: {
      'package.json': manifest(
        { build: 'vite build', start: 'pnpx srvx --prod -s ../client dist/server/server.js' },
        ['@tanstack/react-start', 'vite'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'tanstack-start',
      startCommand: 'srvx --prod -s ../client dist/server/server.js',
    },
    dockerfile: ['--no-update-notifier srvx\n'],
  },
  {
    title: 'TanStack Start for Cloudflare',
    files: {
      'package.json': manifest({ build: 'vite build' }, ['@tanstack/react-start', '@cloudflare/vite-plugin']),
      'wrangler.jsonc': '{ "main": "@tanstack/react-start/server-entry" }',
    },
    plan: {
      runtime: 'node',
      obstacle: containing(`@cloudflare/vite-plugin builds it for Cloudflare Workers, ${FOREIGN}`),
    },
  },
  {
    title: 'a program of Hono for Cloudflare Workers',
    files: {
      'package.json': manifest({ dev: 'wrangler dev', deploy: 'wrangler deploy' }, ['hono'], ['wrangler']),
      'wrangler.toml': 'name = "shop"\nmain = "src/index.ts"\n',
      'src/index.ts': '',
    },
    plan: {
      runtime: 'node',
      obstacle: containing(`wrangler.toml builds it for Cloudflare Workers, ${FOREIGN}`),
    },
  },
  {
    title: 'a site of Vite that wrangler deploys elsewhere',
    files: {
      'package.json': manifest(
        { build: 'vite build', deploy: 'wrangler pages deploy' },
        [],
        ['vite', 'wrangler'],
      ),
      'wrangler.toml': 'pages_build_output_dir = "dist"\n',
      'index.html': '',
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'dist', obstacle: null },
  },
  {
    title: 'a starter for Bun without a lock file',
    files: {
      'package.json': manifest({ dev: 'bun run --hot src/index.ts' }, ['hono'], ['@types/bun']),
      'src/index.ts': '',
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/index.ts' },
  },
  {
    title: 'types of Bun in a project of npm',
    files: { 'package.json': manifest({ start: 'node x.js' }, [], ['@types/bun']), ...NPM_LOCK },
    plan: { runtime: 'node' },
  },
  {
    title: 'a program that imports a package for development',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express'], ['dotenv', 'nodemon']),
      'index.js': "import { app } from './src/app.js'\n",
      'src/app.js': "require('dotenv').config()\nconst express = require('express')\n",
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      notes: withNote(
        'keeping the development dependencies: the program imports dotenv, which is one of them',
      ),
    },
    without: ['--omit=dev'],
  },
  {
    title: 'a compiled program that imports a package for development',
    files: {
      'package.json': manifest(
        { start: 'node dist/main.js', build: 'tsc' },
        ['express'],
        ['dotenv', 'typescript'],
      ),
      'tsconfig.json': {},
      'src/main.ts':
        "import type { Options } from 'yargs'\nimport 'dotenv/config'\nimport { x } from '@/x'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node' },
    without: ['--omit=dev'],
  },
  {
    title: 'a program that imports a package which another one brings',
    files: {
      'package.json': manifest({ start: 'node .' }, ['express'], ['nodemon']),
      'index.js': "const yargs = require('yargs')\nimport { readFile } from 'fs/promises'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node' },
    without: ['--omit=dev'],
  },
  {
    title: 'a program that imports what it lists',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express'], ['nodemon']),
      'index.js':
        "import express from 'express'\nimport { x } from '#x'\nimport 'node:http'\nimport './x.js'\n",
      'x.js': "import '../index.js'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node' },
    dockerfile: ['npm ci --omit=dev'],
  },
  {
    title: 'Streamlit with a first page of any name',
    files: {
      'requirements.txt': 'streamlit\n',
      'Chat_bot.py': 'import streamlit as st\n',
      'helpers.py': '',
      'pages/1_More.py': 'import streamlit as st\n',
    },
    plan: {
      runtime: 'python',
      framework: 'streamlit',
      startCommand:
        'streamlit run Chat_bot.py --server.port $PORT --server.address 0.0.0.0 --server.headless true',
    },
  },
  {
    title: "variables that Heroku's app.json asks for",
    files: {
      'requirements.txt': 'flask\n',
      'app.py': 'app = Flask(__name__)\n',
      'app.json': {
        env: {
          SECRET: { generator: 'secret' },
          TOKEN: { description: 'of\nyour\u001b account' },
          COLOUR: { value: 'green' },
          MORE: { required: false },
          PLAIN: 'x',
          'not a name': {},
          DEPLOYER_TOKEN: { generator: 'secret' },
          PORT: { generator: 'secret' },
        },
      },
    },
    plan: {
      runtime: 'python',
      env: [
        { key: 'SECRET', generate: 'hex', why: 'app.json asks for it' },
        { key: 'TOKEN', generate: null, why: 'of your account' },
      ],
    },
  },
  {
    title: 'several web projects of .NET',
    files: {
      'Shop.sln': '',
      'src/PublicApi/PublicApi.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
      'src/Web/Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
    },
    plan: {
      runtime: 'dotnet',
      buildCommand: 'dotnet publish src/Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      notes: withNote(
        'taking src/Web/Web.csproj rather than src/PublicApi/PublicApi.csproj: build_command and start_command name another',
      ),
    },
  },
  {
    title: 'a whole version of node under yarn, which takes no other by itself',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { node: '18.12.1' } }),
      'yarn.lock': '# yarn lockfile v1\n\nexpress@*:\n  version "5.1.0"\n',
    },
    plan: { runtime: 'node', version: '18', packageManager: 'yarn' },
    dockerfile: ['yarn install --frozen-lockfile --ignore-engines'],
  },
  {
    title: 'strict engines',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { node: '20.9.0' } }),
      '.npmrc': 'engine-strict=true\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', version: '20' },
    dockerfile: ['ENV npm_config_engine_strict=false'],
  },
  {
    title: 'a whole version of Python under Poetry, which takes no other',
    files: {
      'pyproject.toml': '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "3.9.7"\n',
      'poetry.lock': '',
      'main.py': '',
    },
    plan: { runtime: 'python', version: '3.9.7' },
    dockerfile: ['FROM python:3.9.7-bullseye', 'FROM python:3.9.7-slim-bullseye'],
  },
  {
    title: 'a whole version of Python that has no image',
    files: { 'pyproject.toml': '[project]\nrequires-python = "==3.13.99"\n', 'main.py': '' },
    plan: { runtime: 'python', version: '3.13' },
  },
  {
    title: 'a range of lines of pnpm, of which one wrote the lock file',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { pnpm: '>=8' } }),
      'pnpm-lock.yaml': "lockfileVersion: '6.1'\n",
    },
    plan: { runtime: 'node', packageManager: 'pnpm' },
    dockerfile: ['--no-update-notifier pnpm@8\n'],
  },
  {
    title: 'webpack to a folder of its own',
    files: {
      'package.json': manifest({ build: 'webpack --mode production' }, [], ['webpack', 'webpack-cli']),
      'webpack.config.js': "module.exports = { output: { path: path.resolve(__dirname, 'public/js') } }",
    },
    plan: { runtime: 'node', framework: 'webpack', publishDirectory: 'public/js', isSite: true },
  },
  {
    title: 'webpack beside the page that takes what it builds',
    files: {
      'package.json': manifest({ build: 'webpack' }, [], ['webpack-cli']),
      'webpack.config.js': 'module.exports = { output: { path: path.resolve(__dirname) } }',
      'index.html': '',
    },
    plan: { runtime: 'node', framework: 'webpack', publishDirectory: '.', isSite: true },
  },
  {
    title: 'îles',
    files: { 'package.json': manifest({ build: 'iles build' }, ['iles']), 'src/app.ts': '' },
    plan: { runtime: 'node', framework: 'iles', publishDirectory: 'dist', isSite: true },
  },
  {
    title: 'Nuxt 2 with its own start',
    files: { 'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@^2.15.8']) },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'nuxt start' },
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
    title: 'a bot for Discord in Python',
    files: { 'requirements.txt': 'discord.py>=2.3\npython-dotenv\n', 'main.py': 'import discord\n' },
    plan: { runtime: 'python', startCommand: 'python main.py', isWorker: true },
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
    title: 'a program in Python that drives a browser of Playwright',
    files: { 'requirements.txt': 'flask\nplaywright==1.50\n', 'app.py': 'app = Flask(__name__)\n' },
    plan: { runtime: 'python', framework: 'flask' },
    dockerfile: ['RUN /opt/venv/bin/playwright install --with-deps chromium'],
  },
  {
    title: 'Reflex',
    files: { 'requirements.txt': 'reflex>=0.8\n', 'rxconfig.py': '', 'counter/counter.py': '' },
    plan: {
      runtime: 'python',
      framework: 'reflex',
      startCommand: 'reflex run --env prod --single-port --frontend-port $PORT --backend-port $PORT',
    },
  },
  {
    title: 'a program in Python that only a Procfile names',
    files: { 'web.py': '', Procfile: 'web: python3 web.py\n' },
    plan: { runtime: 'python', startCommand: 'python3 web.py' },
  },
  {
    title: "Gradle's plugin for applications",
    files: {
      'build.gradle.kts': 'plugins {\n    java\n    application\n}\n',
      ...GRADLE,
    },
    plan: {
      runtime: 'java',
      buildCommand: 'sh ./gradlew --no-daemon installDist -x test',
      startCommand: '/app/server',
    },
  },
  {
    title: "Gradle's plugin for applications beside one that packs a whole jar",
    files: {
      'build.gradle': "plugins {\n  id 'application'\n  id 'com.gradleup.shadow' version '9.0.0'\n}\n",
      ...GRADLE,
    },
    plan: { runtime: 'java', startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar' },
  },
  {
    title: 'a program in C++ with CMake',
    files: {
      'CMakeLists.txt':
        'cmake_minimum_required(VERSION 3.20)\nproject(shop LANGUAGES CXX)\n# add_executable(old x.cpp)\nadd_executable(${PROJECT_NAME} main.cpp)\nadd_executable(shop_test test.cpp)\n',
      'main.cpp': '',
    },
    plan: { runtime: 'cpp', packageManager: 'cmake', startCommand: '/app/bin/shop', obstacle: null },
    dockerfile: [
      'apt-get install -y -qq --no-install-recommends cmake ninja-build',
      'FROM debian:bookworm-slim',
    ],
  },
  {
    title: 'a program in C with Meson',
    files: { 'meson.build': "project('shop', 'c')\nexecutable('shopd', 'main.c')\n", 'main.c': '' },
    plan: { runtime: 'cpp', packageManager: 'meson', startCommand: '/app/bin/shopd' },
  },
  {
    title: 'several programs in C++',
    files: { 'CMakeLists.txt': 'project(shop)\nadd_executable(a a.c)\nadd_executable(b b.c)\n' },
    plan: {
      runtime: 'cpp',
      obstacle: containing(
        'there are several programs (a, b): add a Procfile with a line "web:", such as bin/a',
      ),
    },
  },
  {
    title: 'a shell script that starts it',
    files: { 'start.sh': '#!/usr/bin/env bash\nexec ./server\n', server: '' },
    plan: { runtime: 'shell', startCommand: 'bash start.sh' },
  },
  {
    title: 'Ruby on the release of Debian that its images end with',
    files: { Gemfile: 'ruby "3.0.6"\ngem "sinatra"\ngem "charlock_holmes"\n', 'config.ru': '' },
    plan: { runtime: 'ruby', version: '3.0.6' },
    dockerfile: ['FROM ruby:3.0.6-bullseye', 'FROM ruby:3.0.6-slim-bullseye', 'libicu67'],
    without: ['bookworm'],
  },
  {
    title: 'PHP on the release of Debian that its images end with',
    files: { 'composer.json': { require: { php: '^7.2.5' } }, 'index.php': '' },
    plan: { runtime: 'php', version: '7.4' },
    dockerfile: ['FROM php:7.4-apache-bullseye'],
  },
  {
    title: 'a node of ten years ago',
    files: {
      'package.json': manifest({ start: 'node x.js' }, [], [], { engines: { node: '8.x' } }),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      version: '16',
      notes: withNote(
        'node 8 of engines.node of package.json (8.x) has no base image: taking the nearest, 16',
      ),
    },
  },
  {
    title: 'a range of old lines of node',
    files: {
      'package.json': manifest({ start: 'node x.js' }, [], [], { engines: { node: '>=10.16.0 <=14.x.x' } }),
    },
    plan: { runtime: 'node', version: '16' },
  },
  {
    title: 'a range where a version of Python stands',
    files: { 'main.py': '', '.python-version': '>= 3.10\n' },
    plan: { runtime: 'python', version: '3.13' },
  },
]
