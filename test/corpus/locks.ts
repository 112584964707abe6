import { expect } from 'vitest'
import { manifest, type CorpusTree } from './tree.ts'

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

/** Lock files that match package.json, which are followed, and others, which are used as far as they go. */
export const LOCKS: CorpusTree[] = [
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
    dockerfile: ['ENV npm_config_legacy_peer_deps=true', 'npm prune --omit=dev'],
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
]
