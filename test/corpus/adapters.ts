import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

const astro = (
  adapter: string,
  settings: string,
  pages: CorpusTree['files'] = {},
  dependencies: string[] = [],
): CorpusTree['files'] => ({
  'package.json': manifest({ build: 'astro build' }, ['astro', `@astrojs/${adapter}`, ...dependencies]),
  ...NPM_LOCK,
  'astro.config.mjs': `import adapter from '@astrojs/${adapter}'\nexport default { adapter: adapter(), ${settings} }\n`,
  'src/pages/index.astro': '<h1>Home</h1>\n',
  ...pages,
})
const ON_DEMAND = { 'src/pages/api/contact.ts': 'export const prerender = false;\n' }
const SITE = { runtime: 'node', framework: 'astro', isSite: true, publishDirectory: 'dist', obstacle: null }

/** Sites and programs that are set up for another host, or that others start. */
export const ADAPTERS: CorpusTree[] = [
  {
    title: 'Astro for Vercel with a page on demand, whose others are files as before',
    files: astro('vercel', '', ON_DEMAND),
    plan: { ...SITE, notes: noted('src/pages/api/contact.ts is made on demand (prerender = false)') },
  },
  {
    title: 'Astro for Netlify with a page on demand, whose others are files as before',
    files: astro('netlify', '', ON_DEMAND),
    plan: { ...SITE, notes: noted('src/pages/api/contact.ts is made on demand') },
  },
  {
    title: 'Astro for Vercel whose pages are all made once',
    files: astro('vercel', '', { 'src/pages/feed.ts': 'export const prerender = true\n' }),
    plan: SITE,
  },
  {
    title: 'Astro that takes the adapter for node where it is not at Vercel',
    files: {
      ...astro('vercel', "output: 'server'", {}, ['@astrojs/node']),
      'astro.config.mjs':
        "import node from '@astrojs/node'\nimport vercel from '@astrojs/vercel'\nexport default { output: 'server', adapter: process.env.VERCEL ? vercel() : node({ mode: 'standalone' }) }\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/server/entry.mjs', obstacle: null },
  },
  {
    title: 'Astro on demand with an adapter that nobody knows here',
    files: {
      'package.json': manifest({ build: 'astro build' }, ['astro', 'astro-bun-adapter']),
      ...NPM_LOCK,
      'astro.config.mjs':
        "import bun from 'astro-bun-adapter'\nexport default { output: 'server', adapter: bun() }\n",
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('an adapter that is not known here') },
  },
  {
    title: 'Astro that is built for its users by another file of settings, with the adapter for node',
    files: {
      ...astro('netlify', "output: 'server'"),
      'package.json': manifest({ build: 'astro build --config astro.node.mjs' }, [
        'astro',
        '@astrojs/node',
        '@astrojs/netlify',
      ]),
    },
    plan: { runtime: 'node', startCommand: 'node dist/server/entry.mjs', obstacle: null },
  },
  {
    title: 'a server whose authors deploy something else by serverless',
    files: {
      'package.json': manifest({ deploy: 'cd functions && serverless deploy' }, ['@hapi/hapi'], [], {
        main: 'server.js',
      }),
      ...NPM_LOCK,
      'server.js': "require('@hapi/hapi').server({ port: process.env.PORT }).start()\n",
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a server whose script starts a database of the developer first',
    files: {
      'package.json': manifest({ start: 'docker compose up -d || true; node api/run.js' }, ['express']),
      ...NPM_LOCK,
      'api/run.js': '',
    },
    plan: { runtime: 'node', startCommand: 'docker compose up -d || true; node api/run.js' },
  },
  {
    title: 'a bot whose script starts its containers',
    files: {
      'package.json': manifest(
        { build: 'tsc', start: 'docker compose up -d', dev: 'tsx watch src/index.ts' },
        ['discord.js'],
        ['typescript', 'tsx'],
      ),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/index.ts': "import { Client } from 'discord.js'\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/index.js', isWorker: true },
  },
]
