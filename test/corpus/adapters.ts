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
    title: 'Astro on demand for Vercel, with the adapter for node left among its packages',
    files: astro('vercel', "output: 'server'", {}, ['@astrojs/node']),
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: 'Astro is set up with vercel, whose output no server here runs: use @astrojs/node',
    },
  },
  {
    title: 'Astro for Vercel with a page on demand',
    files: astro('vercel', '', ON_DEMAND),
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('src/pages/api/contact.ts is made on demand (prerender = false)'),
    },
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
    title: 'Remix for Cloudflare Pages, whose start is for developers',
    files: {
      'package.json': manifest(
        { build: 'remix vite:build', start: 'wrangler pages dev ./build/client' },
        ['@remix-run/cloudflare', '@remix-run/react'],
        ['@remix-run/dev', 'wrangler'],
      ),
      ...NPM_LOCK,
      'vite.config.ts': "import { vitePlugin } from '@remix-run/dev'\n",
    },
    plan: {
      runtime: 'node',
      obstacle: 'Remix is set up with cloudflare, whose output no server here runs: use @remix-run/serve',
    },
  },
  {
    title: 'functions for AWS Lambda that serverless starts for developers',
    files: {
      'package.json': manifest(
        { start: 'sls offline start --stage local', deploy: 'sls deploy' },
        ['telegraf'],
        ['serverless', 'serverless-offline'],
      ),
      ...NPM_LOCK,
      'serverless.yml': 'service: bot\n',
      'src/index.js': "const { Telegraf } = require('telegraf')\nexports.handler = async () => {}\n",
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('serverless builds it for AWS Lambda'),
    },
  },
  {
    title: 'a server that serverless deploys for its authors, and that starts itself',
    files: {
      'package.json': manifest(
        { start: 'node server.js', deploy: 'serverless deploy' },
        ['express'],
        ['serverless'],
      ),
      ...NPM_LOCK,
      'server.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
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
