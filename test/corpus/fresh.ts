import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const KIT = { dev: 'vite dev', build: 'vite build', prepare: "svelte-kit sync || echo ''" }

/** What `sv create` writes since SvelteKit is set up where Vite is. */
const plugged = (adapter: string, settings: string): string =>
  `import adapter from '@sveltejs/${adapter}'
import { sveltekit } from '@sveltejs/kit/vite'
export default defineConfig({
	plugins: [
		sveltekit({
			compilerOptions: { runes: ({ filename }) => filename.split(/[/\\\\]/).includes('node_modules') },
			// adapter-auto only supports some environments, see https://svelte.dev/docs/kit/adapter-auto
			adapter: adapter(${settings})
		})
	]
})
`

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

/** What `create-next-app` writes. */
const next = (
  title: string,
  version: string,
  settings: string,
  keeps: boolean,
  start = 'next start',
): CorpusTree => ({
  title,
  files: {
    'package.json': manifest(
      { build: 'next build', start },
      [`next@${version}`, 'react@19.1.0'],
      ['typescript@^5'],
    ),
    [settings]: 'export default {}\n',
    'app/page.tsx': '',
    ...NPM_LOCK,
  },
  plan: { runtime: 'node', framework: 'next', startCommand: start },
  ...(keeps ? { without: ['--omit=dev'] } : { dockerfile: ['--omit=dev'] }),
})

/** Trees as the newest tools leave them. */
export const FRESH: CorpusTree[] = [
  next(
    'Next 15 with settings in TypeScript, which it compiles when it starts',
    '^15.3.0',
    'next.config.ts',
    true,
  ),
  next('a canary of Next 15 with settings in TypeScript', '15.6.0-canary.59', 'next.config.ts', true),
  next('Next 15.4 with settings in TypeScript', '~15.4.0', 'next.config.ts', true),
  next('any Next 15 with settings in TypeScript', '15', 'next.config.ts', true),
  next(
    'Next 15.3 with settings in TypeScript, which it compiles by itself',
    '15.3.8',
    'next.config.ts',
    false,
  ),
  next('a candidate of Next 15.0 with settings in TypeScript', '15.0.0-rc.1', 'next.config.ts', false),
  next('Next 16.0 or a newer one with settings in TypeScript', '^16.0.1', 'next.config.ts', true),
  next('Next 16.1 with settings in TypeScript', '16.1.6', 'next.config.ts', true),
  next('Next 16.2 with settings in TypeScript, which it reads by itself', '16.2.6', 'next.config.ts', false),
  next(
    'Next 15.4 by its path, with settings in TypeScript',
    '15.4.1',
    'next.config.ts',
    true,
    'node_modules/.bin/next start',
  ),
  next('Next 15 with settings in JavaScript', '15.3.0', 'next.config.mjs', false),
  {
    title: 'SvelteKit as files alone that is set up where Vite is',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit@^3.2.0', '@sveltejs/adapter-static', 'vite']),
      'vite.config.ts': plugged('adapter-static', "{ pages: 'out', fallback: '200.html' }"),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'sveltekit',
      isSite: true,
      publishDirectory: 'out',
      singlePage: true,
      startCommand: null,
    },
  },
  {
    title: 'SvelteKit that is set up where Vite is, with the package of an adapter that it left',
    files: {
      'package.json': manifest(
        KIT,
        ['@sveltejs/adapter-node'],
        ['@sveltejs/kit', '@sveltejs/adapter-static'],
      ),
      'vite.config.js': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'build', singlePage: false },
  },
  {
    title: 'SvelteKit with an adapter in its own settings, which it ignores for the one in those of Vite',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-node']),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\n",
      'vite.config.ts': plugged('adapter-static', "{ fallback: '200.html' }"),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, singlePage: true },
  },
  {
    title: "SvelteKit with another's adapter in its own settings, and one in Vite's",
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', 'svelte-adapter-bun', '@sveltejs/adapter-static']),
      'svelte.config.js': "import adapter from 'svelte-adapter-bun'\n",
      'vite.config.ts': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, publishDirectory: 'build' },
  },
  {
    title: 'SvelteKit with settings of its own that name no adapter, beside the one of Vite',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-static']),
      'svelte.config.js': 'export default { preprocess: vitePreprocess() }\n',
      'vite.config.ts': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, publishDirectory: 'build' },
  },
  {
    title: 'SvelteKit with settings of its own, beside those of Vite that name a package of an adapter alone',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-node']),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\n",
      'vite.config.ts':
        "export default { plugins: [sveltekit(), other({ adapter: 1 })], ssr: { external: ['@sveltejs/adapter-static'] } }\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node build', isSite: false },
  },
  {
    title: "SvelteKit that is set up where Vite is, with pages and a fallback of another plugin's",
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-static']),
      'vite.config.ts': `${plugged('adapter-static', '{ strict: false }')}i18n({ fallback: 'en', pages: 'src/pages' })\n`,
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'build', singlePage: false },
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
    dockerfile: [' bun@1\nFROM tools AS packages'],
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
    dockerfile: [' bun@1\nFROM tools AS packages'],
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
  {
    title: 'Rails with assets by Bun, in the newest version whatever package.json says',
    files: {
      Gemfile: "source 'https://rubygems.org'\ngem 'rails'\n",
      'Gemfile.lock': 'GEM\n  specs:\n    rails (8.0.1)\n',
      'config/application.rb': '',
      'package.json': manifest({ build: 'bun bun.config.js' }, ['@hotwired/turbo-rails'], [], {
        packageManager: 'bun@1.1.0',
      }),
      'bun.lock': '',
    },
    plan: { runtime: 'ruby' },
    dockerfile: ['npm install --global --force --allow-scripts=bun bun\n'],
  },
]
