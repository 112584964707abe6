import { expect } from 'vitest'
import { manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

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

const rootScripts = (scripts: Record<string, string>): CorpusTree['files'] => ({
  'package.json': manifest(scripts, [], ['concurrently']),
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

const LEGACY = 'NODE_OPTIONS=--openssl-legacy-provider'

/** A server whose script builds the pages in a separate folder. */
const withClient = (scripts: string, build: string): CorpusTree['files'] => ({
  'package.json': manifest({ start: 'node server.js', build }, ['express']),
  'server.js': "require('express')().listen(process.env.PORT)\n",
  'client/package.json': manifest({ build: 'react-scripts build' }, [`react-scripts@${scripts}`]),
  ...NPM_LOCK,
})

const INSTALLED = 'npm install --prefix client && npm run build --prefix client'

/** A front end and a server, whose root has these scripts. */
const together = (scripts: Record<string, string>, more: object): CorpusTree['files'] => ({
  'package.json': manifest(scripts, [], ['concurrently'], more),
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

const BUN = { name: 'shop', private: true, workspaces: ['apps/*', 'packages/*'] }

/** What `bun install` writes for it, as far as a plan reads it. */
const BUN_LOCK = {
  lockfileVersion: 1,
  workspaces: {
    '': { name: 'shop' },
    'packages/ui': { name: '@shop/ui' },
    'apps/web': { name: 'web', dependencies: { next: '*', '@shop/ui': 'workspace:*' } },
    'apps/site': { name: 'site', devDependencies: { vite: '*' } },
    'apps/api': { name: 'api', dependencies: { hono: '*' } },
  },
  packages: {},
}

/** A front end and a server of a workspace that Bun installs, which share a package that npm would not find. */
const workspace = (root: object): CorpusTree['files'] => ({
  'package.json': root,
  'bun.lock': BUN_LOCK,
  'packages/ui/package.json': manifest({}, [], [], { name: '@shop/ui' }),
  'apps/web/package.json': manifest({ build: 'next build', start: 'next start' }, ['next'], [], {
    name: 'web',
    dependencies: { next: '*', '@shop/ui': 'workspace:*' },
  }),
  'apps/site/package.json': manifest({ build: 'vite build' }, [], ['vite'], { name: 'site' }),
  'apps/site/index.html': '<!doctype html>',
  'apps/api/package.json': manifest(
    { start: 'NODE_ENV=production bun run index.ts', 'start:server': 'bun run index.ts' },
    ['hono'],
    [],
    { name: 'api' },
  ),
})

/** Packages that are built from their workspace, and programs in folders that a root installs. */
export const NODE_WORKSPACES: CorpusTree[] = [
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
    dockerfile: ['npm install --include=dev --no-save --force && npm run build', 'WORKDIR /app/apps/web'],
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
      'PATH="/app/apps/api/node_modules/.bin:/app/node_modules/.bin:$PATH"',
    ],
  },
  {
    title: 'the only program of a workspace',
    files: { ...ROOT, ...UI, ...API },
    plan: { runtime: 'node', startCommand: 'node dist/index.js', obstacle: null },
    dockerfile: ['WORKDIR /app/apps/api'],
  },
  {
    title: 'a site in a workspace whose root has its tools',
    files: {
      'package.json': manifest({}, [], ['@docusaurus/core', 'vite'], { workspaces: ['website'] }),
      'website/package.json': manifest({ start: 'docusaurus start', build: 'docusaurus build' }),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'docusaurus', isSite: true, publishDirectory: 'build' },
  },
  {
    title: 'pages in a workspace whose root has the tools of several packages',
    files: {
      'package.json': manifest({}, [], ['next', 'vite', '@sveltejs/kit'], { workspaces: ['apps/*'] }),
      'apps/web/package.json': manifest({ build: 'npm run pages', pages: 'cross-env A=1 vite build' }),
      'apps/web/vite.config.mts': "export default { build: { outDir: 'build' } }\n",
      'apps/web/index.html': '',
      ...NPM_LOCK,
    },
    folder: 'apps/web',
    plan: { runtime: 'node', framework: 'vite', isSite: true, publishDirectory: 'build' },
  },
  ...[
    'cd website && npm start',
    'npm --prefix website start',
    'yarn --cwd ./website start',
    'yarn workspace site start',
    'pnpm --filter site start',
  ].map((start) => ({
    title: `the only program of a workspace whose root starts its dev server with ${start}`,
    files: {
      'package.json': manifest({ start }, [], ['@docusaurus/core'], { workspaces: ['website'] }),
      'website/package.json': manifest({ start: 'docusaurus start', build: 'docusaurus build' }, [], [], {
        name: 'site',
      }),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'docusaurus', isSite: true, startCommand: null },
    dockerfile: ['WORKDIR /app/website'],
  })),
  {
    title: 'pages without a framework, which a script opens in a browser',
    files: {
      'package.json': manifest({ start: 'http-server -o' }, ['http-server']),
      'index.html': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'http-server -o' },
  },
  {
    title: 'a site of a workspace, which scripts open in a browser',
    files: {
      'package.json': manifest({ 'start:production': 'yarn --cwd ./app start:production' }, [], ['vite'], {
        workspaces: ['app'],
      }),
      'app/package.json': manifest({
        build: 'vite build',
        start: 'yarn && vite',
        'start:production': 'yarn build && yarn serve',
        serve: 'npx http-server dist -a localhost -p 5001 -o',
      }),
      'app/index.html': '',
      'yarn.lock': '# yarn lockfile v1\n',
    },
    plan: { runtime: 'node', framework: 'vite', isSite: true, startCommand: null },
    dockerfile: ['WORKDIR /app/app'],
  },
  {
    title: 'a workspace whose root starts its program, and the dev server of its pages with another script',
    files: {
      'package.json': manifest({ start: 'cd web && npm start', 'start:prod': 'node server.js' }, [], [], {
        workspaces: ['web'],
      }),
      'server.js': '',
      'web/package.json': manifest({ start: 'vite', build: 'vite build' }, [], ['vite']),
      'web/index.html': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'the only program of a workspace, beside a module for its framework',
    files: {
      ...ROOT,
      'apps/shop/package.json': { ...manifest({ build: 'nuxt build' }, ['nuxt']), name: 'shop' },
      'packages/module/package.json': {
        ...manifest({ build: 'nuxt-module-build build' }, [], ['nuxt'], { peerDependencies: { nuxt: '*' } }),
        name: 'module',
      },
    },
    plan: { runtime: 'node', framework: 'nuxt', obstacle: null },
    dockerfile: ['WORKDIR /app/apps/shop'],
  },
  ...[
    {
      scripts: { build: 'tsc', 'db:generate': 'prisma generate', 'db:push': 'prisma db push' },
      command: 'pnpm --filter @acme/db run db:generate',
    },
    {
      scripts: { build: 'tsc' },
      command: '(cd packages/db && PATH="node_modules/.bin:$PATH" prisma generate)',
    },
  ].map(({ scripts, command }) => ({
    title: `a server of a workspace whose client of Prisma another package has, by ${command}`,
    files: {
      ...ROOT,
      'package.json': { private: true, devDependencies: { turbo: '^2' } },
      'pnpm-workspace.yaml': 'packages: ["apps/*", "packages/*"]\n',
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'turbo.json': {},
      'packages/db/package.json': {
        ...manifest(scripts as Record<string, string>, ['@prisma/client'], ['prisma']),
        name: '@acme/db',
      },
      'packages/db/prisma/schema.prisma': '',
      'apps/api/package.json': {
        ...manifest({ build: 'tsc', start: 'node dist/index.js' }, ['@acme/db', 'fastify']),
        name: 'api',
      },
    },
    folder: 'apps/api',
    plan: { runtime: 'node', buildCommand: 'turbo run build --filter=api' },
    dockerfile: [`${command} && turbo run build --filter=api`],
  })),
  {
    title: 'the documentation of a library that is the root of its workspace',
    files: {
      'package.json': { ...manifest({ build: 'rollup -c' }, [], ['rollup']), name: 'widgets' },
      'pnpm-workspace.yaml': 'packages: ["docs"]\n',
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'docs/package.json': manifest({ build: 'vitepress build' }, [], ['vitepress'], {
        name: 'docs',
        dependencies: { widgets: 'workspace:*' },
      }),
    },
    folder: 'docs',
    plan: { runtime: 'node', isSite: true, buildCommand: 'pnpm run build && pnpm --filter docs run build' },
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
    dockerfile: ['id=/app/apps/api/.turbo,target='],
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
  {
    title: 'a workspace of pnpm whose patterns stand in one line',
    files: {
      'package.json': manifest({}),
      'pnpm-workspace.yaml': 'packages: ["apps/*", \'packages/*\']\n',
      'apps/web/package.json': { ...manifest({ start: 'node server.js' }), name: 'web' },
      'apps/web/server.js': '',
      'packages/words/package.json': { name: 'words' },
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
    dockerfile: ['WORKDIR /app/apps/web'],
  },
  {
    title: 'a start script for the developers of one package',
    files: rootScripts({ start: 'npm run dev -w api' }),
    plan: { runtime: 'node', startCommand: 'npm start', obstacle: null },
  },
  {
    title: 'a start script for several packages as they are for users',
    files: rootScripts({ start: 'concurrently "npm start -w api" "npm start -w client"' }),
    plan: { runtime: 'node', startCommand: 'npm start', obstacle: null },
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
    title: 'a server whose build makes the pages of a client with an older webpack',
    files: withClient('3.4.3', INSTALLED),
    plan: { runtime: 'node', notes: noted("react-scripts 3.4.3 builds with OpenSSL's older algorithms") },
    dockerfile: [LEGACY],
  },
  {
    title: 'the same, where nothing installs the packages of the client',
    files: withClient('^4.0.3', 'cd client && npm run build'),
    plan: { runtime: 'node' },
    dockerfile: [LEGACY, '(cd client && npm install'],
  },
  {
    title: 'a server whose client has a newer webpack',
    files: withClient('5.0.1', INSTALLED),
    plan: { runtime: 'node', buildCommand: 'npm run build' },
    without: [LEGACY],
  },
  {
    title: 'a server beside a client that its build leaves alone',
    files: withClient('3.4.3', 'tsc'),
    plan: { runtime: 'node', buildCommand: 'npm run build' },
    without: [LEGACY],
  },
  {
    title: 'a start script for the developers of several folders',
    files: together(
      { start: 'concurrently "npm run dev --prefix packages/api" "npm run dev --prefix packages/client"' },
      {},
    ),
    plan: { runtime: 'node', startCommand: null, notes: noted('starts no server for users') },
  },
  {
    title: 'a start script for the developers of several packages',
    files: together(
      { start: 'concurrently "npm run dev -w api" "npm run dev -w client"' },
      { workspaces: ['packages/*'] },
    ),
    plan: { runtime: 'node', startCommand: 'node dist/main.js', notes: noted('building packages/api') },
  },
  {
    title: "an application of Next.js in a workspace that says it is Bun's",
    files: workspace({ ...BUN, packageManager: 'bun@1.3.11' }),
    folder: 'apps/web',
    plan: {
      runtime: 'node',
      framework: 'next',
      packageManager: 'bun',
      startCommand: 'next start',
      installCommand: 'bun install --frozen-lockfile',
    },
    dockerfile: ['FROM node:24-bookworm AS tools\nRUN', ' --allow-scripts=bun bun@1.3.11\n'],
  },
  {
    title: "an application of Next.js in a workspace with Bun's lock file alone",
    files: workspace(BUN),
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@1\n', 'FROM tools AS packages'],
  },
  {
    title: "a front end in a workspace with Bun's lock file alone",
    files: workspace(BUN),
    folder: 'apps/site',
    plan: {
      runtime: 'node',
      framework: 'vite',
      isSite: true,
      packageManager: 'bun',
      publishDirectory: 'dist',
    },
    dockerfile: [' bun@1\n', 'FROM tools AS packages'],
  },
  {
    title: 'a server whose script starts it by Bun behind a variable, in a workspace of Bun',
    files: workspace(BUN),
    folder: 'apps/api',
    plan: { runtime: 'node', packageManager: 'bun', startCommand: 'bun run start' },
    dockerfile: [' bun@1\nCOPY --from=production'],
  },
  {
    title:
      'a workspace whose lock file of Bun lacks a package, which Bun adds only beside those of developers',
    files: { ...workspace(BUN), 'bun.lock': { lockfileVersion: 1, workspaces: {}, packages: {} } },
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun', installCommand: 'bun install' },
    without: ['--production', '--frozen-lockfile'],
  },
  {
    title: "a package of a workspace with npm's lock file beside that of Bun",
    files: { ...workspace(BUN), ...NPM_LOCK },
    folder: 'apps/site',
    plan: { runtime: 'node', packageManager: 'npm' },
    without: ['npm install --global'],
  },
  {
    title: 'a service of a workspace that npm installed, whose command of the build does so once more',
    files: workspace(BUN),
    folder: 'apps/web',
    settings: { buildCommand: 'npm install && npm run build' },
    plan: { runtime: 'node', packageManager: 'bun', buildCommand: 'npm run build' },
  },
  {
    title: 'a workspace with Bun in the version of its file',
    files: { ...workspace(BUN), '.bun-version': '1.2.20\n' },
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@1.2.20\n'],
  },
  {
    title: 'a workspace with Bun in the version of its tools',
    files: { ...workspace(BUN), '.tool-versions': 'bun 1.2.21\n' },
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@1.2.21\n'],
  },
  {
    title: 'a workspace with Bun in the version of its engines',
    files: workspace({ ...BUN, engines: { bun: '1.2.22' } }),
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@1.2.22\n'],
  },
  {
    title: 'a workspace with Bun in the version of the engines of its developers',
    files: workspace({ ...BUN, devEngines: { packageManager: { name: 'bun', version: '1.2.23' } } }),
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@1.2.23\n'],
  },
  {
    title: "a workspace whose engines name pnpm, with Bun's lock file of a trial",
    files: workspace({ ...BUN, engines: { pnpm: '^10' } }),
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'pnpm' },
  },
  {
    title: "a workspace whose developers use npm, with Bun's lock file of a trial",
    files: workspace({ ...BUN, devEngines: { packageManager: { name: 'npm' } } }),
    folder: 'apps/site',
    plan: { runtime: 'node', packageManager: 'npm' },
  },
  {
    title: 'a server that a script of a script starts by Bun, in a workspace of Bun',
    files: workspace(BUN),
    folder: 'apps/api',
    settings: { startCommand: 'run-s start:server' },
    plan: { runtime: 'node', packageManager: 'bun', startCommand: 'run-s start:server' },
    dockerfile: [' bun@1\nCOPY --from='],
  },
  {
    title: 'a front end in a folder that says it is of Bun, which the root has as a package',
    files: {
      'package.json': manifest({ build: 'cd client && npm run build', start: 'node server.js' }, [
        'express',
        'bun',
      ]),
      'server.js': "require('express')().listen(process.env.PORT)\n",
      'client/package.json': manifest({ build: 'vite build' }, [], ['vite'], {
        packageManager: 'bun@1.3.11',
      }),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      packageManager: 'npm',
      buildCommand: '(cd client && bun install) && npm run build && rm -rf client/node_modules',
    },
  },
]
