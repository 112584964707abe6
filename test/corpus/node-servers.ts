import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

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

/** Node programs that serve. */
export const NODE_SERVERS: CorpusTree[] = [
  {
    title: 'Express',
    files: {
      'package.json': manifest({ start: 'node ./bin/www' }, ['express', 'debug']),
      'bin/www': '',
      ...NPM_LOCK,
    },
    plan: { ...server(null, 'node ./bin/www', null), version: '24' },
    dockerfile: [
      'FROM node:24-bookworm AS tools',
      'FROM node:24-bookworm-slim',
      'npm ci --omit=dev',
      'HOST=0.0.0.0 HOSTNAME=0.0.0.0',
    ],
    without: ['npm ci --include=dev', 'prune'],
  },
  {
    title: 'Express in TypeScript, compiled',
    files: {
      'package.json': manifest(
        { start: 'node dist/index.js', build: 'tsc', dev: 'tsx watch src/index.ts' },
        ['express'],
        ['typescript', 'tsx'],
      ),
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'node dist/index.js'),
    dockerfile: ['npm ci --include=dev', 'npm ci --omit=dev', 'COPY --from=production'],
  },
  {
    title: 'TypeScript run by tsx, a development dependency',
    files: {
      'package.json': manifest({ start: 'tsx src/index.ts' }, ['express'], ['tsx']),
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'tsx src/index.ts', null),
    dockerfile: ['COPY --from=packages'],
    without: ['--omit=dev'],
  },
  {
    title: 'TypeScript without a start script',
    files: { 'package.json': manifest({}, ['hono', '@hono/node-server']), 'src/index.ts': '' },
    plan: server(null, 'node src/index.ts', null),
  },
  {
    title: 'TypeScript whose compiler puts it into dist/',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['fastify'], ['typescript']),
      'tsconfig.json': { compilerOptions: { outDir: './dist' } },
      'src/server.ts': '',
    },
    plan: server(null, 'node dist/server.js'),
  },
  {
    title: 'a start script that restarts at changes',
    files: {
      'package.json': manifest({ start: 'nodemon server.js' }, ['express'], ['nodemon']),
      'server.js': '',
    },
    plan: server(null, 'node server.js', null),
    dockerfile: ['--omit=dev'],
  },
  {
    title: 'NestJS',
    files: {
      'package.json': manifest(
        {
          build: 'nest build',
          start: 'nest start',
          'start:dev': 'nest start --watch',
          'start:prod': 'node dist/main',
        },
        ['@nestjs/core', '@nestjs/common'],
        ['@nestjs/cli', 'typescript'],
      ),
      ...NPM_LOCK,
    },
    plan: server('nest', 'node dist/main'),
    dockerfile: ['npm ci --omit=dev'],
  },
  {
    title: 'NestJS with `nest start` alone',
    files: {
      'package.json': manifest(
        { build: 'nest build', start: 'nest start' },
        ['@nestjs/core'],
        ['@nestjs/cli'],
      ),
      ...NPM_LOCK,
    },
    plan: server('nest', 'nest start'),
    without: ['--omit=dev'],
  },
  {
    title: 'Next',
    files: {
      'package.json': manifest(
        { dev: 'next dev', build: 'next build', start: 'next start' },
        ['next', 'react', 'react-dom'],
        ['typescript'],
      ),
      'next.config.ts': 'export default {}\n',
      ...NPM_LOCK,
    },
    plan: server('next', 'next start'),
    dockerfile: ['target=/app/.next/cache', 'NEXT_TELEMETRY_DISABLED=1', 'npm ci --omit=dev'],
  },
  {
    title: 'Next without scripts, among the development dependencies',
    files: { 'package.json': manifest({}, ['react'], ['next']), 'pages/index.js': '' },
    plan: server('next', 'next start -H 0.0.0.0 -p $PORT', 'next build'),
    without: ['--omit=dev'],
  },
  {
    title: 'Next as a standalone server',
    files: {
      'package.json': manifest({ dev: 'next dev', build: 'next build', start: 'next start' }, ['next']),
      'next.config.mjs': "export default { output: 'standalone' }\n",
      ...NPM_LOCK,
    },
    plan: server('next', 'node server.js'),
    dockerfile: ['cp -r /app/.next/static /app/.next/standalone/.next/', '/app/.next/standalone /app'],
    without: ['--omit=dev', 'COPY --from=production'],
  },
  {
    title: 'Next as a standalone server that migrates before it goes live',
    files: {
      'package.json': manifest({ build: 'next build' }, ['next', 'drizzle-kit']),
      'next.config.mjs': "export default { output: 'standalone' }\n",
      Procfile: 'release: npx drizzle-kit migrate\n',
    },
    plan: {
      ...server('next', 'node .next/standalone/server.js'),
      preDeployCommand: 'npx drizzle-kit migrate',
    },
    dockerfile: ['COPY --from=production'],
  },
  {
    title: 'Nuxt',
    files: {
      'package.json': manifest({ build: 'nuxt build', dev: 'nuxt dev', postinstall: 'nuxt prepare' }, [
        'nuxt@^3.17.0',
      ]),
      ...NPM_LOCK,
    },
    plan: server('nuxt', 'node .output/server/index.mjs'),
    dockerfile: ['npm run postinstall && npm run build', '/app/.output /app/.output'],
    without: ['--omit=dev', 'COPY --from=packages'],
  },
  {
    title: 'SvelteKit for node',
    files: {
      'package.json': manifest(
        { dev: 'vite dev', build: 'vite build', prepare: "svelte-kit sync || echo ''" },
        [],
        ['@sveltejs/kit', '@sveltejs/adapter-node', 'vite'],
      ),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\n",
      ...NPM_LOCK,
    },
    plan: server('sveltekit', 'node build'),
  },
  {
    title: 'SvelteKit with the automatic adapter',
    files: {
      'package.json': manifest(
        { dev: 'vite dev', build: 'vite build', preview: 'vite preview' },
        [],
        ['@sveltejs/kit', '@sveltejs/adapter-auto', 'vite'],
      ),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-auto'\n",
    },
    plan: server('sveltekit', 'node build'),
    dockerfile: ['GCP_BUILDPACKS=true'],
  },
  {
    title: 'Astro with its server for node',
    files: {
      'package.json': manifest({ dev: 'astro dev', start: 'astro dev', build: 'astro build' }, [
        'astro',
        '@astrojs/node',
      ]),
      'astro.config.mjs':
        "import node from '@astrojs/node'\nexport default { output: 'server', adapter: node({ mode: 'standalone' }) }\n",
    },
    plan: server('astro', 'node dist/server/entry.mjs'),
  },
  {
    title: 'Remix with Vite',
    files: {
      'package.json': manifest(
        { build: 'remix vite:build', dev: 'remix vite:dev', start: 'remix-serve ./build/server/index.js' },
        ['@remix-run/node', '@remix-run/serve'],
        ['@remix-run/dev', 'vite'],
      ),
      'vite.config.ts': "import { vitePlugin as remix } from '@remix-run/dev'\n",
    },
    plan: server('remix', 'remix-serve ./build/server/index.js'),
    dockerfile: ['--omit=dev'],
  },
  {
    title: 'React Router with its server',
    files: {
      'package.json': manifest(
        { build: 'react-router build', start: 'react-router-serve ./build/server/index.js' },
        ['react-router', '@react-router/serve'],
        ['@react-router/dev', 'vite'],
      ),
      'react-router.config.ts': 'export default { ssr: true }\n',
    },
    plan: server('react-router', 'react-router-serve ./build/server/index.js'),
  },
  {
    title: 'TanStack Start with Nitro',
    files: {
      'package.json': manifest(
        { dev: 'vite dev', build: 'vite build', start: 'node .output/server/index.mjs' },
        ['@tanstack/react-start', 'nitro'],
        ['vite'],
      ),
    },
    plan: server('tanstack-start', 'node .output/server/index.mjs'),
    dockerfile: ['/app/.output /app/.output'],
  },
  {
    title: 'TanStack Start without a server',
    files: {
      'package.json': manifest({ dev: 'vite dev', build: 'vite build' }, ['@tanstack/react-start'], ['vite']),
    },
    plan: server('tanstack-start', 'srvx --prod -s ../client dist/server/server.js'),
  },
  {
    title: 'SolidStart',
    files: {
      'package.json': manifest({ dev: 'vinxi dev', build: 'vinxi build', start: 'vinxi start' }, [
        '@solidjs/start',
        'solid-js',
        'vinxi',
      ]),
    },
    plan: server('solidstart', 'vinxi start'),
  },
  {
    title: 'Nitro',
    files: { 'package.json': manifest({ build: 'nitro build', dev: 'nitro dev' }, [], ['nitropack']) },
    plan: server('nitro', 'node .output/server/index.mjs'),
  },
  {
    title: 'AdonisJS',
    files: {
      'package.json': manifest({ build: 'node ace build', dev: 'node ace serve --watch' }, [
        '@adonisjs/core',
      ]),
    },
    plan: server('adonis', 'node build/bin/server.js'),
  },
  {
    title: 'Strapi',
    files: {
      'package.json': manifest({ develop: 'strapi develop', start: 'strapi start', build: 'strapi build' }, [
        '@strapi/strapi',
      ]),
    },
    plan: server('strapi', 'strapi start'),
  },
  {
    title: 'Angular with its own server',
    files: {
      'package.json': manifest(
        { start: 'ng serve', build: 'ng build' },
        ['@angular/core', '@angular/ssr', 'express'],
        ['@angular/cli'],
      ),
      'angular.json': {
        projects: {
          shop: {
            architect: {
              build: {
                builder: '@angular/build:application',
                options: { outputMode: 'server', ssr: { entry: 'src/server.ts' } },
              },
            },
          },
        },
      },
    },
    plan: server('angular', 'node dist/shop/server/server.mjs'),
  },
  {
    title: 'a front end of Vite that Express serves',
    files: {
      'package.json': manifest(
        { build: 'vite build', start: 'NODE_ENV=production node server.js' },
        ['express'],
        ['vite'],
      ),
      'server.js': '',
    },
    plan: server('vite', 'NODE_ENV=production node server.js'),
  },
  {
    title: 'Prisma, whose client the build writes among the packages',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['@prisma/client', 'prisma', 'express']),
      'prisma/schema.prisma': '',
      'index.js': '',
      ...NPM_LOCK,
    },
    plan: server(null, 'node index.js', null),
    dockerfile: ['prisma generate', 'openssl', 'npm prune --omit=dev'],
  },
  {
    title: 'a migration that runs a development dependency',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['pg'], ['drizzle-kit']),
      'index.js': '',
      Procfile: 'release: npx drizzle-kit migrate\n',
    },
    plan: { ...server(null, 'node index.js', null), preDeployCommand: 'npx drizzle-kit migrate' },
    without: ['--omit=dev'],
  },
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
    title: 'the script of a host that builds before it starts',
    files: {
      'package.json': manifest(
        { start: 'node index.js', build: 'x', 'heroku-postbuild': 'cd client && npm i && npm run build' },
        ['express'],
      ),
    },
    plan: server(null, 'node index.js', 'npm run heroku-postbuild'),
  },
  {
    title: 'SvelteKit for another host',
    files: {
      'package.json': manifest(
        { build: 'vite build' },
        [],
        ['@sveltejs/kit', '@sveltejs/adapter-vercel', 'vite'],
      ),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-vercel'\n",
    },
    plan: {
      runtime: 'node',
      framework: 'sveltekit',
      startCommand: null,
      obstacle:
        'SvelteKit is set up with adapter-vercel, whose output no server here runs: use @sveltejs/adapter-node',
    },
  },
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
]
