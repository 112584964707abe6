import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const FOREIGN = 'and it runs nowhere else'

/** Programs of node that are made for another host. */
export const NODE_FOR_OTHER_HOSTS: CorpusTree[] = [
  {
    title: 'TanStack Start for Cloudflare',
    files: {
      'package.json': manifest({ build: 'vite build' }, ['@tanstack/react-start', '@cloudflare/vite-plugin']),
      'wrangler.jsonc': '{ "main": "@tanstack/react-start/server-entry" }',
    },
    plan: {
      runtime: 'node',
      obstacle: containing(`@cloudflare/vite-plugin builds it for Cloudflare Workers, ${FOREIGN}`),
    },
  },
  {
    title: 'a program of Hono for Cloudflare Workers',
    files: {
      'package.json': manifest({ dev: 'wrangler dev', deploy: 'wrangler deploy' }, ['hono'], ['wrangler']),
      'wrangler.toml': 'name = "shop"\nmain = "src/index.ts"\n',
      'src/index.ts': '',
    },
    plan: {
      runtime: 'node',
      obstacle: containing(`wrangler.toml builds it for Cloudflare Workers, ${FOREIGN}`),
    },
  },
  {
    title: 'a site of Vite that wrangler deploys elsewhere',
    files: {
      'package.json': manifest(
        { build: 'vite build', deploy: 'wrangler pages deploy' },
        [],
        ['vite', 'wrangler'],
      ),
      'wrangler.toml': 'pages_build_output_dir = "dist"\n',
      'index.html': '',
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'dist', obstacle: null },
  },
  {
    title: "a worker of Cloudflare whose file of Wrangler is its developer's alone",
    files: {
      'package.json': {
        ...manifest({ build: 'node build.js', dev: 'wrangler dev dist/index.mjs' }, ['hono'], ['wrangler']),
        main: 'dist/index.mjs',
      },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', obstacle: containing('wrangler builds it for Cloudflare Workers') },
  },
  {
    title: 'a program for node that is a worker of Cloudflare as well',
    files: {
      'package.json': manifest({ dev: 'wrangler dev' }, ['hono', '@hono/node-server'], ['wrangler']),
      'server.js': "import { serve } from '@hono/node-server'\nserve(app)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
]
