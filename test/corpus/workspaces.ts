import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const ROOT = {
  'package.json': { name: 'root', private: true, workspaces: ['apps/*', 'packages/*'] },
  'package-lock.json': { lockfileVersion: 3 },
}
const UI = { 'packages/ui/package.json': { name: '@acme/ui', scripts: { build: 'tsc' } } }
const UNUSED = { 'packages/cli/package.json': { name: '@acme/cli', scripts: { build: 'tsc' } } }
const WEB = (name = 'web', more: object = {}) => ({
  'apps/web/package.json': {
    ...manifest({ dev: 'vite', build: 'vite build' }, ['@acme/ui'], ['vite']),
    name,
    ...more,
  },
  'apps/web/index.html': '',
})
const API = {
  'apps/api/package.json': {
    ...manifest({ build: 'tsc', start: 'node dist/index.js' }, ['@acme/ui', 'fastify']),
    name: 'api',
  },
}

/** Packages that are built from their workspace. */
export const WORKSPACES: CorpusTree[] = [
  {
    title: 'a package of npm workspaces with what it depends on',
    files: { ...ROOT, ...UI, ...UNUSED, ...WEB(), ...API },
    folder: 'apps/web',
    plan: {
      runtime: 'node',
      framework: 'vite',
      isSite: true,
      publishDirectory: 'dist',
      buildCommand: 'npm run build --workspace=@acme/ui && npm run build --workspace=web',
    },
    dockerfile: ['source=/app/packages/ui/node_modules', 'WORKDIR /app/apps/web'],
    without: ['@acme/cli'],
  },
  {
    title: 'a program of npm workspaces',
    files: { ...ROOT, ...UI, ...WEB(), ...API },
    folder: 'apps/api',
    plan: {
      runtime: 'node',
      startCommand: 'node dist/index.js',
      buildCommand: 'npm run build --workspace=@acme/ui && npm run build --workspace=api',
    },
    dockerfile: [
      'npm ci --omit=dev',
      'WORKDIR /app/apps/api',
      'PATH=/app/apps/api/node_modules/.bin:/app/node_modules/.bin',
    ],
  },
  {
    title: 'the only program of a workspace',
    files: { ...ROOT, ...UI, ...API },
    plan: { runtime: 'node', startCommand: 'node dist/index.js', obstacle: null },
    dockerfile: ['WORKDIR /app/apps/api'],
  },
  {
    title: 'a workspace with several programs',
    files: { ...ROOT, ...UI, ...WEB(), ...API },
    plan: {
      runtime: 'node',
      obstacle:
        'this is a workspace with several programs (apps/api, apps/web): set root_dir to the folder of one',
    },
  },
  {
    title: 'a workspace whose root starts',
    files: {
      ...ROOT,
      'package.json': { workspaces: ['packages/*'], scripts: { start: 'node server.js', build: 'tsc -b' } },
      ...UI,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', buildCommand: 'npm run build' },
  },
  {
    title: 'pnpm workspaces',
    files: {
      'package.json': { name: 'root', private: true, packageManager: 'pnpm@10.1.0' },
      'pnpm-workspace.yaml':
        "packages:\n  - 'apps/*'\n  - \"packages/**\"\n  - '!packages/cli'\n\nonlyBuiltDependencies:\n  - esbuild\n",
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      ...UI,
      ...UNUSED,
      ...API,
    },
    folder: 'apps/api',
    plan: {
      runtime: 'node',
      packageManager: 'pnpm',
      buildCommand: 'pnpm --filter @acme/ui run build && pnpm --filter api run build',
    },
    dockerfile: ['source/pnpm-workspace.yaml'],
  },
  {
    title: 'yarn 1 workspaces',
    files: {
      'package.json': { private: true, workspaces: { packages: ['apps/*', 'packages/ui'] } },
      'yarn.lock': '# yarn lockfile v1\n',
      ...UI,
      ...API,
    },
    folder: 'apps/api',
    plan: {
      runtime: 'node',
      packageManager: 'yarn',
      buildCommand: 'yarn workspace @acme/ui run build && yarn workspace api run build',
    },
  },
  {
    title: 'Turborepo',
    files: {
      ...ROOT,
      'package.json': {
        private: true,
        workspaces: ['apps/*', 'packages/*'],
        devDependencies: { turbo: '^2' },
      },
      'turbo.json': { tasks: { build: { dependsOn: ['^build'] } } },
      ...UI,
      ...API,
    },
    folder: 'apps/api',
    plan: { runtime: 'node', buildCommand: 'turbo run build --filter=api' },
    dockerfile: ['target=/app/apps/api/.turbo'],
  },
  {
    title: 'Nx with packages',
    files: {
      ...ROOT,
      'package.json': { private: true, workspaces: ['apps/*', 'packages/*'], devDependencies: { nx: '21' } },
      'nx.json': {},
      ...UI,
      ...API,
    },
    folder: 'apps/api',
    plan: { runtime: 'node', buildCommand: 'nx build api' },
  },
  {
    title: 'Next as a standalone server in a workspace',
    files: {
      ...ROOT,
      'apps/shop/package.json': {
        ...manifest({ build: 'next build', start: 'next start' }, ['next']),
        name: 'shop',
      },
      'apps/shop/next.config.js': "module.exports = { output: 'standalone' }\n",
    },
    folder: 'apps/shop',
    plan: { runtime: 'node', framework: 'next', startCommand: 'node server.js' },
    dockerfile: [
      '/app/apps/shop/.next/standalone/apps/shop/.next/',
      'COPY --from=build --chown=1000:1000 /app/apps/shop/.next/standalone /app',
      'WORKDIR /app/apps/shop',
    ],
  },
  {
    title: 'a folder that is no package of the workspace around it',
    files: {
      ...ROOT,
      ...UI,
      'tools/bot/package.json': manifest({ start: 'node bot.js' }, []),
      'tools/bot/bot.js': '',
    },
    folder: 'tools/bot',
    plan: { runtime: 'node', startCommand: 'node bot.js' },
    dockerfile: ['COPY source/ ./', 'WORKDIR /app\n'],
  },
  {
    title: "the only application of an Nx workspace whose packages are the root's",
    files: {
      'package.json': manifest({ start: 'nx serve', build: 'nx build' }, ['react'], ['nx', 'vite']),
      'nx.json': {},
      'apps/shop/project.json': {
        name: 'shop',
        projectType: 'application',
        targets: { build: { executor: '@nx/vite:build', options: { outputPath: 'dist/apps/shop' } } },
      },
      'apps/shop-e2e/project.json': { name: 'shop-e2e', projectType: 'application' },
      'libs/ui/project.json': { name: 'ui', projectType: 'library' },
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'nx',
      isSite: true,
      buildCommand: 'nx build shop',
      publishDirectory: 'dist/apps/shop',
      obstacle: null,
    },
  },
  {
    title: 'several applications of an Nx workspace',
    files: {
      'package.json': manifest({ start: 'nx serve' }, ['react'], ['nx']),
      'nx.json': {},
      'apps/api/project.json': { projectType: 'application' },
      'apps/web/project.json': { projectType: 'application' },
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      obstacle:
        'this is an Nx workspace with several applications (apps/api, apps/web): set root_dir to the folder of one',
    },
  },
  {
    title: 'a server of an Nx workspace that root_dir names',
    folder: 'apps/api',
    files: {
      'package.json': manifest({ start: 'nx serve' }, ['@nestjs/core'], ['nx']),
      'nx.json': {},
      'apps/api/project.json': {
        projectType: 'application',
        targets: { build: { executor: '@nx/webpack:webpack', options: { target: 'node' } } },
      },
      'apps/web/project.json': { projectType: 'application' },
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'nx',
      buildCommand: 'nx build api',
      startCommand: 'node dist/apps/api/main.js',
      obstacle: null,
    },
  },
  {
    title: 'a build in a folder whose packages nothing installs',
    files: {
      'package.json': manifest({ build: 'cd client && npm run build', start: 'node server.js' }, ['express']),
      ...NPM_LOCK,
      'server.js': '',
      'client/package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'client/package-lock.json': { lockfileVersion: 3, packages: {} },
    },
    plan: {
      runtime: 'node',
      buildCommand: '(cd client && npm install --include=dev) && npm run build && rm -rf client/node_modules',
      startCommand: 'node server.js',
    },
  },
  {
    title: 'a build in two folders, of which one is started',
    files: {
      'package.json': manifest({
        build: 'npm run build:web && npm run build --prefix server',
        'build:web': 'npm --prefix=web run build',
        start: 'npm start --prefix server',
      }),
      'server/package.json': manifest({ build: 'tsc', start: 'node dist/a.js' }, ['express'], ['typescript']),
      'web/package.json': manifest({ build: 'vite build' }, [], ['vite']),
    },
    plan: {
      runtime: 'node',
      buildCommand:
        '(cd web && npm install --include=dev) && (cd server && npm install --include=dev) && npm run build && rm -rf web/node_modules',
    },
  },
  {
    title: 'builds in two folders, each in brackets, with a script of the root behind them',
    files: {
      'package.json': manifest({
        build: '(cd client && npm run build) && (cd server && npm run build) && npm run pages',
        pages: 'npm run build --prefix=web',
        start: 'node server/a.js',
      }),
      'client/package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'server/package.json': manifest({ build: 'tsc' }, [], ['typescript']),
      'web/package.json': manifest({ build: 'vite build' }, [], ['vite']),
    },
    plan: {
      runtime: 'node',
      buildCommand: expect.stringMatching(
        /^\(cd client && npm install [^&]*\) && \(cd server && npm install [^&]*\) && \(cd web && npm install /,
      ) as string,
    },
  },
  {
    title: 'a build in a folder that only another host would install',
    files: {
      'package.json': manifest({
        'heroku-prebuild': 'npm install --prefix client',
        build: 'npm run build --prefix client',
        start: 'node server.js',
      }),
      'client/package.json': manifest({ build: 'vite build' }, [], ['vite']),
    },
    plan: {
      runtime: 'node',
      buildCommand: expect.stringContaining('(cd client && npm install --include=dev) && ') as string,
    },
  },
  {
    title: 'a build in a folder that a script may install in its own way',
    files: {
      'package.json': manifest({
        postinstall: 'sh install.sh',
        build: 'npm run build --prefix api',
        start: 'node server.js',
      }),
      'api/package.json': manifest({ build: 'tsc' }, ['express'], ['typescript']),
    },
    plan: {
      runtime: 'node',
      buildCommand: '(cd api && npm install --include=dev) && npm run build',
    },
  },
  {
    title: 'a build in a folder that a script installs',
    files: {
      'package.json': manifest(
        { 'heroku-postbuild': 'cd client && npm install && npm run build', start: 'node server.js' },
        ['express'],
      ),
      ...NPM_LOCK,
      'server.js': '',
      'client/package.json': manifest({ build: 'vite build' }, [], ['vite']),
    },
    plan: { runtime: 'node', buildCommand: 'npm run heroku-postbuild' },
  },
]
