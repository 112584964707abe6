import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

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

const DENO_VITE = {
  'index.html': '<div id="root"></div><script type="module" src="/src/main.tsx"></script>\n',
  'src/main.tsx': '',
}

/** Programs for Deno and Bun. */
export const DENO_AND_BUN: CorpusTree[] = [
  {
    title: 'Bun with Elysia',
    files: {
      'package.json': manifest({ dev: 'bun run --watch src/index.ts' }, ['elysia']),
      'bun.lock': '',
      'src/index.ts': '',
    },
    plan: {
      ...server(null, 'bun run src/index.ts', null),
      runtime: 'bun',
      packageManager: 'bun',
      installCommand: 'bun install --frozen-lockfile',
    },
    dockerfile: ['COPY --from=oven/bun:1 /usr/local/bin/bun', 'FROM oven/bun:1\n'],
  },
  {
    title: 'Bun with a front end of Vite',
    files: {
      'package.json': manifest({ dev: 'vite', build: 'vite build' }, ['react'], ['vite'], {
        packageManager: 'bun@1.2.3',
      }),
      'index.html': '',
    },
    plan: {
      runtime: 'bun',
      version: '1.2.3',
      framework: 'vite',
      isSite: true,
      publishDirectory: 'dist',
      buildCommand: 'bun run build',
    },
  },
  {
    title: 'Deno by main.ts alone',
    files: { 'main.ts': "Deno.serve(() => new Response('hello'))\n" },
    plan: { runtime: 'deno', startCommand: 'deno run --allow-all main.ts', isSite: false, obstacle: null },
  },
  {
    title: 'Deno with Fresh',
    files: {
      'deno.json': {
        tasks: { build: 'deno run -A dev.ts build', start: 'deno serve -A _fresh/server.js' },
        imports: { fresh: 'jsr:@fresh/core@^2' },
      },
      'deno.lock': '{}',
      'main.ts': '',
    },
    plan: {
      runtime: 'deno',
      framework: 'fresh',
      buildCommand: 'deno task build',
      startCommand: 'deno task start',
    },
    dockerfile: ['COPY source/deno.json source/deno.lock ./'],
  },
  {
    title: 'Deno of an older standard library, below src/',
    files: {
      'src/index.ts':
        'import { serve } from "https://deno.land/std@0.176.0/http/server.ts"\nserve(() => new Response("x"), { port: Number(Deno.env.get("PORT")) })\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno run --allow-all src/index.ts' },
  },
  {
    title: 'Bun with a range of versions',
    files: {
      'package.json': { ...manifest({ start: 'bun index.ts' }), engines: { bun: '>=1.1' } },
      'bun.lock': '',
      'index.ts': '',
    },
    plan: { runtime: 'bun', version: null, notes: ['bun with bun', 'starting with: bun run start'] },
  },
  {
    title: 'a starter for Bun without a lock file',
    files: {
      'package.json': manifest({ dev: 'bun run --hot src/index.ts' }, ['hono'], ['@types/bun']),
      'src/index.ts': '',
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/index.ts' },
  },
  {
    title: 'types of Bun in a project of npm',
    files: { 'package.json': manifest({ start: 'node x.js' }, [], ['@types/bun']), ...NPM_LOCK },
    plan: { runtime: 'node' },
  },
  {
    title: 'a program of Bun that `module` names',
    files: {
      'package.json': {
        name: 'http',
        module: 'http.ts',
        type: 'module',
        devDependencies: { '@types/bun': '*' },
      },
      'http.ts': 'Bun.serve({})\n',
    },
    plan: { runtime: 'bun', startCommand: 'bun run http.ts' },
  },
  {
    title: 'an application that is exported for Bun, which serves it',
    files: {
      'package.json': manifest({}, ['hono'], ['@types/bun']),
      'src/index.ts': "import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n",
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/index.ts', obstacle: null },
  },
  {
    title: 'a program for Deno with its lock file alone, beside its packages of npm',
    files: {
      'package.json': manifest({}),
      'deno.lock': '{}',
      'main.ts': 'Deno.serve(() => new Response())\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno run --allow-all main.ts' },
  },
  {
    title: 'a front end of Vite for Deno',
    files: {
      ...DENO_VITE,
      'deno.json':
        '{ "tasks": { "dev": "deno run -A npm:vite", "build": "deno run -A npm:vite@^5.0 build", "serve": "deno run -A jsr:@std/http/file-server dist/" } }',
    },
    plan: {
      runtime: 'deno',
      framework: 'vite',
      isSite: true,
      buildCommand: 'deno task build',
      publishDirectory: 'dist',
      singlePage: true,
    },
  },
  {
    title: 'a server for Deno that brings its pages along, by Vite',
    files: {
      ...DENO_VITE,
      'deno.json': '{ "tasks": { "build": "vite build", "start": "deno run -A main.ts" } }',
      'main.ts': 'Deno.serve(() => new Response("x"))\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno task start', isSite: false, obstacle: null },
  },
  {
    title: 'a page of Vite beside a server for Deno that nothing names',
    files: {
      ...DENO_VITE,
      'deno.json': '{ "imports": {} }',
      'package.json': manifest({ build: 'vite build', serve: 'deno task build && deno run -A api/main.ts' }, [
        'vite',
      ]),
    },
    plan: {
      runtime: 'deno',
      framework: 'vite',
      isSite: false,
      obstacle: containing('nothing says how to start'),
    },
  },
  {
    title: 'a server of Elysia that only its developers have a script for',
    files: {
      'package.json': manifest({ dev: 'bun run --watch src/backend/server.ts' }, ['elysia'], ['bun-types']),
      'bun.lock': '',
      'src/backend/server.ts': 'new Elysia().get("/", () => 1).listen(process.env.PORT)\n',
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/backend/server.ts', obstacle: null },
  },
]
