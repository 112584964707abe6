import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

/** Trees with one file to start, which manifests alone do not name. */
export const PROGRAMS: CorpusTree[] = [
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
    title: 'a bot in Python that is a package which python runs',
    files: {
      'pyproject.toml': '[project]\nname = "bot"\ndependencies = ["aiogram", "fastapi"]\n',
      'bot/__init__.py': '',
      'bot/__main__.py': 'from .core import main\n\nmain()\n',
      'tests/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: 'python -m bot', obstacle: null },
  },
  {
    title: 'a bot in Python with two packages that python runs',
    files: {
      'requirements.txt': 'aiogram\n',
      'bot/__main__.py': '',
      'importer/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'a library in Python that python runs as a command',
    files: {
      'pyproject.toml': '[project]\nname = "tidy"\ndependencies = ["click"]\n',
      'tidy/__init__.py': '',
      'tidy/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
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
