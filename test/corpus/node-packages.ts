import { expect } from 'vitest'
import { manifest, NPM_LOCK, withNote, type CorpusTree } from './tree.ts'

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

const EXPRESS = manifest({ start: 'node server.js' }, ['express@^5.0.0'])

const npmLock = (packages: Record<string, object>): object => ({
  'package-lock.json': { lockfileVersion: 3, packages: { '': {}, ...packages } },
})

const REACT_17 = npmLock({
  'node_modules/react': { version: '17.0.2' },
  'node_modules/react-dom': { version: '18.2.0', peerDependencies: { react: '^18.2.0' } },
})

const pnpmLock = (range: string): string =>
  `lockfileVersion: '9.0'\n\nimporters:\n\n  .:\n    dependencies:\n      express:\n        specifier: ${range}\n        version: 5.0.0\n\npackages:\n`

const berryLock = (range: string, version = 8): string =>
  `__metadata:\n  version: ${version}\n\n"app@workspace:.":\n  version: 0.0.0-use.local\n  resolution: "app@workspace:."\n  dependencies:\n    express: "npm:${range}"\n  languageName: unknown\n  linkType: soft\n`

const bunLock = (range: string): string =>
  `{\n  "lockfileVersion": 1,\n  "workspaces": {\n    "": {\n      "name": "app",\n      "dependencies": {\n        "express": "${range}",\n      },\n    },\n  },\n}\n`

/** The older, binary form, which contains names and ranges. */
const bunBytes = (words: string): Buffer =>
  Buffer.concat([
    Buffer.from('#!/usr/bin/env bun\nbun-lockfile-format-v0\n'),
    Buffer.from([0, 0xe2, 0x9f]),
    Buffer.from(words),
  ])

/** One with the address of a package. */
const bunLockAt = (address: string): string =>
  bunLock('^5.0.0').replace(
    /\}\n$/,
    `  "packages": {\n    "express": ["express@5.1.0", "${address}", {}, "sha512-AA=="],\n  },\n}\n`,
  )

/** Lock files, package managers and what they install. */
export const NODE_PACKAGES: CorpusTree[] = [
  {
    title: 'git hooks set up at installation',
    files: {
      'package.json': manifest({ start: 'node index.js', prepare: 'husky' }, ['koa'], ['husky']),
      'index.js': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'node index.js', null),
    dockerfile: ['npm ci --omit=dev'],
    without: ['npm run prepare'],
  },
  {
    title: 'a pinned pnpm, and a script that pnpm has to run',
    files: {
      'package.json': manifest({ start: 'pnpm run serve', serve: 'node index.js' }, ['koa'], [], {
        packageManager: 'pnpm@9.15.4+sha512.abc',
      }),
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    },
    plan: { ...server(null, 'pnpm start', null), packageManager: 'pnpm' },
    dockerfile: ['pnpm@9.15.4'],
  },
  {
    title: 'yarn 4',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['koa'], [], { packageManager: 'yarn@4.5.0' }),
      'yarn.lock':
        '__metadata:\n  version: 8\n\n"app@workspace:.":\n  dependencies:\n    koa: "npm:*"\n  linkType: soft\n',
      '.yarnrc.yml': 'nodeLinker: pnp\n',
    },
    plan: {
      ...server(null, 'node index.js', null),
      packageManager: 'yarn',
      installCommand: 'yarn install --immutable',
    },
    dockerfile: ['@yarnpkg/cli-dist@4.5.0', 'yarn workspaces focus --all --production'],
  },
  {
    title: 'yarn 1, whose cache is not for two at once',
    files: {
      'package.json': manifest({ build: 'tsc', start: 'node dist/x.js' }, ['express'], ['typescript']),
      'yarn.lock': '# yarn lockfile v1\n',
    },
    plan: { runtime: 'node', packageManager: 'yarn' },
    dockerfile: ['id=/root/.yarn-cache,target=/root/.yarn-cache,sharing=locked'],
    without: ['target=/root/.yarn-cache \\'],
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
    title: 'a lock file of npm that holds what is asked for',
    files: {
      'package.json': EXPRESS,
      ...npmLock({
        'node_modules/express': { version: '5.1.0', dependencies: { send: '^1.0.0' } },
        'node_modules/express/node_modules/send': { version: '1.2.0' },
      }),
    },
    plan: { runtime: 'node', installCommand: 'npm ci --include=dev' },
  },
  {
    title: 'a package that package.json alone was given',
    files: { 'package.json': EXPRESS, ...npmLock({}) },
    plan: {
      runtime: 'node',
      installCommand: 'npm install --include=dev',
      notes: expect.arrayContaining([
        'package-lock.json is out of step with package.json: it lacks express. What it lacks is installed in the newest version that package.json allows; for the same packages in each build run npm install and commit package-lock.json',
      ]) as string[],
    },
    without: ['npm ci'],
  },
  {
    title: 'a version that package.json alone was given',
    files: { 'package.json': EXPRESS, ...npmLock({ 'node_modules/express': { version: '4.21.0' } }) },
    plan: { runtime: 'node', installCommand: 'npm install --include=dev' },
  },
  {
    title: 'a lock file that lost a package of a package',
    files: {
      'package.json': EXPRESS,
      ...npmLock({ 'node_modules/express': { version: '5.1.0', dependencies: { send: '^1.0.0' } } }),
    },
    plan: { runtime: 'node', installCommand: 'npm install --include=dev' },
  },
  {
    title: 'packages that a package brings along, and one for another system',
    files: {
      'package.json': EXPRESS,
      ...npmLock({
        'node_modules/express': { version: '5.1.0', optionalDependencies: { fsevents: '2' } },
        'node_modules/wasm': { dependencies: { core: '1' }, bundleDependencies: ['core'], optional: true },
      }),
    },
    plan: { runtime: 'node', installCommand: 'npm ci --include=dev' },
  },
  {
    title: 'a lock file that was written without peers',
    files: {
      'package.json': EXPRESS,
      ...npmLock({
        'node_modules/express': {
          version: '5.1.0',
          peerDependencies: { react: '18', vue: '3' },
          peerDependenciesMeta: { vue: { optional: true } },
        },
      }),
    },
    plan: { runtime: 'node', installCommand: 'npm ci --include=dev' },
    dockerfile: ['ENV npm_config_legacy_peer_deps=true'],
  },
  {
    title: 'a lock file without peers in a build that takes packages out again',
    files: {
      'package.json': manifest({ start: 'node server.js', postinstall: 'patch-package' }, [
        'express@^5.0.0',
        'patch-package',
      ]),
      ...npmLock({
        'node_modules/express': { version: '5.1.0', peerDependencies: { react: '18' } },
        'node_modules/patch-package': { version: '8.0.0' },
      }),
    },
    plan: { runtime: 'node' },
    // Given once for all commands: what is pruned is resolved like what was installed.
    dockerfile: ['ENV npm_config_legacy_peer_deps=true', 'npm ci --omit=dev'],
    without: ['--legacy-peer-deps'],
  },
  {
    title: 'a lock file with a peer in another version than is wanted',
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['react@^17.0.0', 'react-dom@^18.2.0']),
      ...REACT_17,
    },
    plan: { runtime: 'node' },
    dockerfile: ['ENV npm_config_legacy_peer_deps=true', 'npm ci --omit=dev'],
  },
  {
    title: 'a peer whose version the root says for all',
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['react@^17.0.0', 'react-dom@^18.2.0'], [], {
        overrides: { 'react-dom@18': { react: '$react' } },
      }),
      ...REACT_17,
    },
    plan: { runtime: 'node', installCommand: 'npm ci --include=dev' },
    without: ['legacy_peer_deps'],
  },
  {
    title: 'a lock file with a peer in another version, beside one that npm added itself',
    files: {
      'package.json': EXPRESS,
      ...npmLock({
        'node_modules/express': { version: '5.1.0', peerDependencies: { react: '^18.0.0', vue: '3' } },
        'node_modules/react': { version: '17.0.2' },
        'node_modules/vue': { version: '3.5.0', peer: true },
      }),
    },
    // It was written with peers, and would lose those without them.
    plan: { runtime: 'node' },
    without: ['legacy_peer_deps'],
  },
  {
    title: 'peers of what a package brings along',
    files: {
      'package.json': EXPRESS,
      ...npmLock({
        'node_modules/express': { version: '5.1.0', bundleDependencies: ['core'] },
        'node_modules/express/node_modules/core': {
          version: '1.0.0',
          inBundle: true,
          peerDependencies: { react: '18' },
        },
      }),
    },
    plan: { runtime: 'node' },
    without: ['legacy_peer_deps'],
  },
  {
    title: 'the lock file of a workspace of npm',
    files: {
      'package.json': { ...manifest({ start: 'node a/x.js' }), workspaces: ['a', 'b'] },
      'a/package.json': { name: 'a', dependencies: { b: '*', send: '1', tag: 'latest' } },
      'b/package.json': { name: 'b', version: '0.1.0' },
      ...npmLock({
        a: { dependencies: { b: '*', send: '1', tag: 'latest' } },
        b: { version: '0.1.0' },
        'node_modules/a': { resolved: 'a', link: true },
        'node_modules/b': { resolved: 'b', link: true },
        'a/node_modules/send': { version: '1.0.0' },
        'node_modules/tag': { version: '7.0.0' },
      }),
    },
    plan: { runtime: 'node', installCommand: 'npm ci --include=dev' },
  },
  {
    title: 'the lock file of npm 6',
    files: {
      'package.json': EXPRESS,
      'package-lock.json': { lockfileVersion: 1, dependencies: { express: { version: '4.0.0' } } },
    },
    plan: { runtime: 'node', installCommand: 'npm install --include=dev' },
  },
  {
    title: 'a lock file of pnpm in step',
    files: { 'package.json': EXPRESS, 'pnpm-lock.yaml': pnpmLock('^5.0.0') },
    plan: { runtime: 'node', installCommand: 'pnpm install --frozen-lockfile --prod=false' },
  },
  {
    title: 'a lock file of pnpm out of step',
    files: { 'package.json': EXPRESS, 'pnpm-lock.yaml': pnpmLock('^4.0.0') },
    plan: { runtime: 'node', installCommand: 'pnpm install --no-frozen-lockfile --prod=false' },
  },
  {
    title: 'a lock file of pnpm with a package more',
    files: {
      'package.json': manifest({ start: 'node x.js' }),
      'pnpm-lock.yaml': pnpmLock('^5.0.0'),
    },
    plan: { runtime: 'node', installCommand: 'pnpm install --no-frozen-lockfile --prod=false' },
  },
  {
    title: 'a lock file of pnpm with a version for all',
    files: {
      'package.json': EXPRESS,
      'pnpm-lock.yaml': `overrides:\n  express@^5: 5.0.1\n${pnpmLock('5.0.1')}`,
    },
    plan: { runtime: 'node', installCommand: 'pnpm install --frozen-lockfile --prod=false' },
  },
  {
    title: 'a lock file of yarn 1 in step',
    files: {
      'package.json': EXPRESS,
      'yarn.lock': '# yarn lockfile v1\n\nexpress@4, express@^5.0.0:\n  version "5.1.0"\n',
    },
    plan: { runtime: 'node' },
    dockerfile: ['yarn install --frozen-lockfile'],
  },
  {
    title: 'a lock file of yarn 1 out of step',
    files: { 'package.json': EXPRESS, 'yarn.lock': 'express@4:\n  version "4.21.0"\n' },
    plan: { runtime: 'node' },
    dockerfile: ['yarn install --pure-lockfile'],
  },
  {
    title: 'a lock file of yarn 4 in step',
    files: { 'package.json': EXPRESS, 'yarn.lock': berryLock('^5.0.0') },
    plan: { runtime: 'node', installCommand: 'yarn install --immutable' },
    dockerfile: ['@yarnpkg/cli-dist@4'],
  },
  {
    title: 'a lock file of yarn 4 out of step',
    files: { 'package.json': EXPRESS, 'yarn.lock': berryLock('^4.0.0') },
    plan: { runtime: 'node', installCommand: 'yarn install --no-immutable' },
  },
  {
    title: 'a lock file in the format of yarn 3',
    files: { 'package.json': EXPRESS, 'yarn.lock': berryLock('^5.0.0', 6) },
    plan: { runtime: 'node', installCommand: 'yarn install --immutable' },
    dockerfile: ['@yarnpkg/cli-dist@3'],
  },
  {
    title: 'a lock file of Bun in step',
    files: { 'package.json': EXPRESS, 'bun.lock': bunLock('^5.0.0') },
    plan: { runtime: 'bun', installCommand: 'bun install --frozen-lockfile' },
  },
  {
    title: 'a lock file of Bun with the mirror of an editor, which it alone can read',
    files: {
      'package.json': EXPRESS,
      'bun.lock': bunLockAt(
        'https://europe-west4-npm.pkg.dev/lovable-core-prod/sandbox-npm-cache/express/-/express-5.1.0.tgz',
      ),
      'bunfig.toml': '',
    },
    plan: {
      runtime: 'bun',
      notes: expect.arrayContaining([
        "bun.lock names a mirror of npm's registry that is Lovable's alone: its packages are taken from the registry",
      ]) as string[],
    },
    manifests: { 'bun.lock': bunLockAt('') },
    dockerfile: ['COPY source/bunfig.toml ./'],
    without: ['source/bun.lock'],
  },
  {
    title: 'a lock file of npm with such a mirror',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'package-lock.json':
        '{"lockfileVersion": 3, "packages": {"node_modules/a": {"resolved": "https://europe-west1-npm.pkg.dev/lovable-core-prod/sandbox-npm-cache/a/-/a-1.0.0.tgz", "integrity": "sha512-AA=="}}}',
    },
    plan: { runtime: 'node' },
    manifests: {
      'package-lock.json':
        '{"lockfileVersion": 3, "packages": {"node_modules/a": {"resolved": "https://registry.npmjs.org/a/-/a-1.0.0.tgz", "integrity": "sha512-AA=="}}}',
    },
    without: ['source/package-lock.json'],
  },
  {
    title: 'a lock file of Bun out of step',
    files: { 'package.json': EXPRESS, 'bun.lock': bunLock('^4.0.0') },
    plan: { runtime: 'bun', installCommand: 'bun install' },
  },
  {
    title: 'an older lock file of Bun in step',
    files: { 'package.json': EXPRESS, 'bun.lockb': bunBytes('express^5.0.0\0express-5.1.0.tgz') },
    plan: { runtime: 'bun', installCommand: 'bun install --frozen-lockfile' },
  },
  {
    title: 'an older lock file of Bun that was left behind by who installs with npm',
    files: {
      'package.json': EXPRESS,
      'bun.lockb': bunBytes('vaul^1.0.0'),
      ...npmLock({ 'node_modules/express': { version: '5.1.0' } }),
    },
    plan: {
      runtime: 'bun',
      installCommand: 'bun install',
      notes: expect.arrayContaining([
        expect.stringContaining('bun.lockb is out of step with package.json: it lacks express. '),
      ]) as string[],
    },
    without: ['--frozen-lockfile', '--production'],
  },
  {
    title: 'an older lock file of Bun for another range',
    files: { 'package.json': EXPRESS, 'bun.lockb': bunBytes('express^4.0.0') },
    plan: { runtime: 'bun', installCommand: 'bun install' },
  },
  {
    title: 'an older lock file of Bun for a range that is no version',
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['express@latest']),
      'bun.lockb': bunBytes('express^5.0.0'),
    },
    plan: { runtime: 'bun', installCommand: 'bun install --frozen-lockfile' },
  },
  {
    title: 'an older lock file of Bun with the mirror of an editor, which cannot be taken out of it',
    files: {
      'package.json': EXPRESS,
      'bun.lockb': bunBytes(
        'express^5.0.0https://europe-west4-npm.pkg.dev/lovable-core-prod/sandbox-npm-cache/express/-/express-5.1.0.tgz',
      ),
    },
    plan: {
      runtime: 'bun',
      installCommand: 'bun install',
      notes: expect.arrayContaining([expect.stringContaining('bun.lockb is not used')]) as string[],
    },
    without: ['source/bun.lockb'],
  },
  {
    title: 'commands of another package manager than that of the lock file',
    files: {
      'package.json': manifest(
        { 'build:prod': 'tsc', 'start:api': 'node dist/api.js', build: 'tsc' },
        [],
        ['typescript'],
      ),
      'railway.json': {
        build: { buildCommand: 'npm i -g pnpm && pnpm install && pnpm build:prod' },
        deploy: { startCommand: 'yarn run start:api' },
      },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', buildCommand: 'npm run build:prod', startCommand: 'npm run start:api' },
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
]
