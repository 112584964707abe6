import { expect } from 'vitest'
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

/** A front end and a server of a workspace that Bun installs, which share a package that npm would not find. */
const workspace = (root: object): CorpusTree['files'] => ({
  'package.json': root,
  'bun.lock': '{ "lockfileVersion": 1, "workspaces": {}, "packages": {} }',
  'packages/ui/package.json': manifest({}, [], [], { name: '@shop/ui' }),
  'apps/web/package.json': manifest({ build: 'next build', start: 'next start' }, ['next'], [], {
    name: 'web',
    dependencies: { next: '*', '@shop/ui': 'workspace:*' },
  }),
  'apps/site/package.json': manifest({ build: 'vite build' }, [], ['vite'], { name: 'site' }),
  'apps/site/index.html': '<!doctype html>',
  'apps/api/package.json': manifest({ start: 'NODE_ENV=production bun run index.ts' }, ['hono'], [], {
    name: 'api',
  }),
})

/** What `create-next-app` writes. */
const next = (title: string, version: string, settings: string, keeps: boolean): CorpusTree => ({
  title,
  files: {
    'package.json': manifest(
      { build: 'next build', start: 'next start' },
      [`next@${version}`, 'react@19.1.0'],
      ['typescript@^5'],
    ),
    [settings]: 'export default {}\n',
    'app/page.tsx': '',
    ...NPM_LOCK,
  },
  plan: { runtime: 'node', framework: 'next', startCommand: 'next start' },
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
  next('Next 16.1 with settings in TypeScript', '16.1.6', 'next.config.ts', true),
  next('Next 16.2 with settings in TypeScript, which it reads by itself', '16.2.6', 'next.config.ts', false),
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
    title: 'SvelteKit with settings of its own, beside a configuration of Vite',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-node']),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\n",
      'vite.config.ts': plugged('adapter-static', "{ fallback: '200.html' }"),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node build', isSite: false },
  },
  {
    title: "SvelteKit with another's adapter in its own settings, and one in Vite's",
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', 'svelte-adapter-bun', '@sveltejs/adapter-static']),
      'svelte.config.js': "import adapter from 'svelte-adapter-bun'\n",
      'vite.config.ts': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node build', isSite: false },
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
      installCommand: expect.stringContaining('bun install') as string,
    },
    dockerfile: ['FROM node:24-bookworm AS tools\nRUN', ' bun@1.3.11\n'],
  },
  {
    title: "an application of Next.js in a workspace with Bun's lock file alone",
    files: workspace(BUN),
    folder: 'apps/web',
    plan: { runtime: 'node', packageManager: 'bun' },
    dockerfile: [' bun@latest\nFROM tools AS packages'],
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
    dockerfile: [' bun@latest\nFROM tools AS packages'],
  },
  {
    title: 'a server whose script starts it by Bun behind a variable, in a workspace of Bun',
    files: workspace(BUN),
    folder: 'apps/api',
    plan: { runtime: 'node', packageManager: 'bun', startCommand: 'bun run start' },
    dockerfile: [' bun@latest\nCOPY --from=production'],
  },
  {
    title: "a package of a workspace with npm's lock file beside that of Bun",
    files: { ...workspace(BUN), ...NPM_LOCK },
    folder: 'apps/site',
    plan: { runtime: 'node', packageManager: 'npm' },
    without: ['npm install --global'],
  },
]
