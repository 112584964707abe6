import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string

const HUGO_SITE = {
  'config/_default/params.toml': 'colorScheme = "blue"\n',
  'content/_index.md': '# Hello\n',
  'themes/blowfish/go.mod': 'module github.com/nunocoracao/blowfish/v2\n',
}

/** The webpack template of Vue's own tool before version 3. */
const VUE_TEMPLATE = {
  'package.json': manifest(
    {
      dev: 'webpack-dev-server --inline --progress --config build/webpack.dev.conf.js',
      start: 'npm run dev',
      build: 'node build/build.js',
    },
    ['vue', 'vue-router', 'express'],
    ['vue-loader', 'webpack@^3.6.0', 'webpack-dev-server'],
  ),
  'index.html': '<div id="app"></div>\n',
  'src/main.js':
    "import Vue from 'vue'\nimport App from './App'\nnew Vue({ el: '#app', render: h => h(App) })\n",
  'server/index.js': '',
  ...NPM_LOCK,
}
const ASSETS_ROOT =
  "module.exports = {\n  build: {\n    index: path.resolve(__dirname, '../dist/index.html'),\n    assetsRoot: path.resolve(__dirname, '../dist'),\n  },\n}\n"

const PAGE = '<html><body><script src="./main.js"></script></body></html>\n'
const SCRIPT_OF_PAGE = "document.querySelector('button').addEventListener('click', () => axios.get('/api'))\n"

const EJECTED = manifest({ start: 'node scripts/start.js', build: 'node scripts/build.js' }, [
  'react',
  'react-dom',
  'react-dev-utils',
  'webpack',
  'webpack-dev-server',
])
const DEVELOPMENT_START = "'use strict';\nconst WebpackDevServer = require('webpack-dev-server');\n"

/** A Bundler lock file. */
const locked = (gems: string[], bundler?: string): string =>
  `GEM\n  remote: https://rubygems.org/\n  specs:\n${gems.map((gem) => `    ${gem}\n`).join('')}\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rack\n${bundler === undefined ? '' : `\nBUNDLED WITH\n   ${bundler}\n`}`

const RACK = { Gemfile: "gem 'sinatra'\n", 'config.ru': 'run App\n' }
const RAILS = { Gemfile: "gem 'rails'\n", 'config.ru': '', 'config/application.rb': '' }

/** Trees in the shape of repositories that the plans were not written for. */
export const STRANGERS: CorpusTree[] = [
  {
    title: 'a site of Hugo whose configuration is a folder, with a script for its developer',
    files: {
      ...HUGO_SITE,
      'package.json': manifest({ dev: 'hugo server --minify -D -E -F' }),
      'config/_default/hugo.toml': 'theme = "blowfish"\nbaseUrl = "https://example.com"\n',
    },
    plan: { runtime: 'static', framework: 'hugo', isSite: true, publishDirectory: 'public' },
  },
  {
    title: 'a site of Hugo whose folder of configuration names its own output, in a module of Go',
    files: {
      ...HUGO_SITE,
      'go.mod': 'module example.com/site\n',
      'config/_default/config.yaml': 'baseURL: https://example.com/\npublishDir: docs\n',
    },
    plan: { runtime: 'static', framework: 'hugo', publishDirectory: 'docs' },
  },
  {
    title: 'a folder config/_default of a program in node',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'config/_default/config.yaml': 'port: 3000\n',
      'server.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a program of Go that lies in cmd/ itself',
    files: {
      'go.mod': 'module gojo\n',
      'cmd/main.go': 'package main\n',
      'internal/app/app.go': 'package app\n',
    },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/server ./cmd',
      startCommand: '/app/bin/server',
    },
  },
  {
    title: 'a program of Go in the only folder that has one',
    files: {
      'go.mod': 'module shop\n',
      'src/main.go': 'package main\n',
      'examples/main.go': 'package main\n',
      'store/store.go': 'package store\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/server ./src' },
  },
  {
    title: 'a library of Go with a tool that is a module of its own',
    files: {
      'go.mod': 'module lib\n',
      'lib.go': 'package lib\n',
      'generate/go.mod': 'module lib/generate\n',
      'generate/main.go': 'package main\n',
    },
    plan: { runtime: 'go', startCommand: null, obstacle: containing('there is no package main') },
  },
  {
    title: "the template of webpack of Vue's older tool, with a package that serves",
    files: { ...VUE_TEMPLATE, 'config/index.js': ASSETS_ROOT },
    plan: {
      runtime: 'node',
      framework: 'vue-cli',
      isSite: true,
      singlePage: true,
      publishDirectory: 'dist',
      startCommand: null,
      buildCommand: 'npm run build',
    },
  },
  {
    title: 'the same template with an output of its own',
    files: { ...VUE_TEMPLATE, 'config/index.js': ASSETS_ROOT.replaceAll('../dist', '../docs') },
    plan: { runtime: 'node', framework: 'vue-cli', isSite: true, publishDirectory: 'docs' },
  },
  {
    title: 'an application of React that names a package that serves, and has no server',
    files: {
      'package.json': manifest({ start: 'react-scripts start', build: 'react-scripts build' }, [
        'react',
        'react-scripts',
        'express',
      ]),
      'public/index.html': '',
      'src/index.js': "import ReactDOM from 'react-dom/client'\nimport './index.css'\n",
    },
    plan: { runtime: 'node', framework: 'create-react-app', isSite: true, publishDirectory: 'build' },
  },
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
    title: 'an application of React that was ejected',
    files: {
      'package.json': EJECTED,
      'public/index.html': '',
      'src/index.js': "import ReactDOM from 'react-dom'\n",
      'scripts/start.js': DEVELOPMENT_START,
    },
    plan: {
      runtime: 'node',
      framework: 'create-react-app',
      isSite: true,
      publishDirectory: 'build',
      startCommand: null,
      buildCommand: 'npm run build',
    },
  },
  {
    title: 'a theme whose start script runs a server for its developer',
    files: {
      'package.json': manifest(
        { build: 'node scripts/build.js', start: 'npm run build && node scripts/start.js' },
        ['bootstrap'],
        ['browser-sync', 'concurrently'],
      ),
      'scripts/start.js': 'concurrently([{ command: `node_modules/.bin/browser-sync dist -w` }])\n',
      'dist/index.html': '<h1>Resume</h1>',
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      isSite: true,
      publishDirectory: 'dist',
      buildCommand: 'npm run build',
    },
  },
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
    title: 'a site of Astro whose start script names its configuration first',
    files: {
      'package.json': manifest(
        { start: 'npm run dev', dev: 'astro --config src/config/astro.config.mjs dev', build: 'astro build' },
        [],
        ['astro'],
      ),
    },
    plan: { runtime: 'node', framework: 'astro', isSite: true, startCommand: null },
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
    title: 'a bot of Python whose requirements name what its packages want',
    files: {
      'requirements.txt': 'aiohttp==3.9.1\ndiscord.py==2.3.2\nmultidict==6.0.4\n',
      'bot.py': 'import discord\nclient.run(TOKEN)\n',
    },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot of Python that answers with a package that other packages want too',
    files: {
      'requirements.txt': 'aiohttp==3.9.1\naiogram==3.4.1\n',
      'bot.py': 'from web import serve\n',
      'web/__init__.py': 'from aiohttp import web\n\ndef serve(app):\n    web.run_app(app)\n',
    },
    plan: { runtime: 'python', isWorker: false, startCommand: 'python bot.py' },
  },
  {
    title: 'a bot of Python to which its messages are sent',
    files: {
      'requirements.txt': 'python-telegram-bot==13.1\ntornado==6.1\n',
      'bot.py': "updater.start_webhook(listen='0.0.0.0', port=PORT)\n",
    },
    plan: { runtime: 'python', isWorker: false },
  },
  {
    title: 'a project of Django whose settings come from a variable, with its documentation',
    files: {
      Pipfile: '[packages]\ndjango = "*"\ngunicorn = "*"\n\n[dev-packages]\nmkdocs = "*"\n',
      'mkdocs.yml': 'site_name: docs\n',
      'manage.py': 'load_dotenv()\nexecute_from_command_line(sys.argv)\n',
      Procfile: 'web: gunicorn project.wsgi\n',
    },
    plan: {
      runtime: 'python',
      framework: null,
      startCommand: 'gunicorn project.wsgi',
      publishDirectory: null,
    },
    without: ['pip install mkdocs'],
  },
  {
    title: 'a program of Rack from the time of Ruby 2, without a server of its own',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.0.4)', 'sinatra (2.0.1)'], '1.17.3') },
    plan: { runtime: 'ruby', version: '2.7', startCommand: containing('rackup'), obstacle: null },
    dockerfile: ['gem install bundler:1.17.3'],
  },
  {
    title: 'a program of Rack without a server of its own',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.2.9)', 'sinatra (3.1.0)'], '2.5.6') },
    plan: { runtime: 'ruby', startCommand: null, obstacle: containing('bundle add puma') },
  },
  {
    title: 'a program of Rack with the server that Ruby had',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.2.9)', 'webrick (1.8.1)'], '2.5.6') },
    plan: { runtime: 'ruby', version: '3.4', startCommand: containing('rackup'), obstacle: null },
    without: ['gem install bundler'],
  },
  {
    title: 'an application of Rails 5 that names no Ruby',
    files: { ...RAILS, 'Gemfile.lock': locked(['rails (5.2.4)'], '2.1.4') },
    plan: { runtime: 'ruby', framework: 'rails', version: '2.7' },
    without: ['gem install bundler'],
  },
  {
    title: 'an application of Rails 7.0 that names no Ruby',
    files: { ...RAILS, 'Gemfile.lock': locked(['rails (7.0.8)'], '2.4.19') },
    plan: { runtime: 'ruby', version: '3.2' },
  },
  {
    title: 'an older application of Rails whose lock file a newer Ruby wrote',
    files: { ...RAILS, 'Gemfile.lock': locked(['rails (5.2.8)'], '2.5.6') },
    plan: { runtime: 'ruby', version: '3.4' },
  },
  {
    title: 'an application of Ruby 2.6 whose lock file its own Bundler does not take',
    files: {
      ...RAILS,
      Gemfile: "ruby '2.6.10'\ngem 'rails'\n",
      'Gemfile.lock': locked(['rails (5.2.8)'], '2.4.1'),
    },
    plan: { runtime: 'ruby', version: '2.6.10' },
    dockerfile: ['gem install bundler:2.3.27'],
  },
  {
    title: 'an application of Meteor',
    files: {
      'package.json': manifest({ start: 'meteor run' }, ['meteor-node-stubs']),
      '.meteor/release': 'METEOR@3.1\n',
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('add a Dockerfile') },
  },
  {
    title: 'a program for the desktop in .NET',
    files: {
      'Paint.csproj':
        '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>WinExe</OutputType><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: { runtime: 'dotnet', startCommand: null, obstacle: containing('a program for desktops') },
  },
  {
    title: 'a workspace of two languages with folders of libraries',
    files: {
      'pyproject.toml': '[project]\nname = "saas"\n\n[tool.uv.workspace]\nmembers = ["apps/api"]\n',
      'apps/web/package.json': manifest({ start: 'next start' }, ['next']),
      'libs/eslint-config/package.json': manifest({}),
    },
    plan: { runtime: 'python', rootDirectories: ['apps/web'] },
  },
]
