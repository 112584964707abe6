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

const NITRO_SERVER = 'node .output/server/index.mjs'

/** The configuration files that Lovable's template for TanStack Start leaves. */
const lovable = (options: string): Record<string, string | object> => ({
  'package.json': manifest(
    { dev: 'vite dev', build: 'vite build' },
    ['@tanstack/react-start'],
    ['vite', 'nitro', '@lovable.dev/vite-tanstack-config'],
  ),
  'vite.config.ts': `import { defineConfig } from "@lovable.dev/vite-tanstack-config"\nexport default defineConfig({ ${options} })\n`,
  ...NPM_LOCK,
})

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

const KIT = { dev: 'vite dev', build: 'vite build', prepare: "svelte-kit sync || echo ''" }

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

/** Frameworks of node with a server of their own. */
export const NODE_FRAMEWORKS: CorpusTree[] = [
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
    dockerfile: ['id=/app/.next/cache,target=', 'NEXT_TELEMETRY_DISABLED=1', 'npm ci --omit=dev'],
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
    dockerfile: ['npm install --include=dev --no-save --force && npm run build', '/app/.output /app/.output'],
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
        'SvelteKit is set up with adapter-vercel, whose output cannot run on this server: use @sveltejs/adapter-node',
    },
  },
  {
    title: 'Nest without its command line, compiled before it starts',
    files: {
      'package.json': manifest(
        { start: 'node index.js', 'prestart:prod': 'tsc', 'start:prod': 'node dist/main.js' },
        ['@nestjs/core'],
        ['typescript'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'nest',
      buildCommand: 'tsc',
      startCommand: 'npm run start:prod',
    },
    // The script before the start runs the compiler.
    dockerfile: ['COPY --from=packages'],
    without: ['--omit=dev'],
  },
  {
    title: 'Nuxt whose start script is its preview',
    files: {
      'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@latest']),
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'node .output/server/index.mjs' },
  },
  {
    title: 'Nuxt 2, built by an older webpack',
    files: {
      'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@^2.15.8']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'nuxt start' },
    dockerfile: ['ENV NODE_OPTIONS=--openssl-legacy-provider'],
  },
  {
    title: 'Next whose starter shows the export as a possibility',
    files: {
      'package.json': manifest({ build: 'next build', start: 'next start' }, ['next']),
      'next.config.mjs':
        "const site = 'https://example.com' // output: 'export'\nexport default {\n  // output: \"export\",\n  /* output: 'standalone', */\n  reactStrictMode: true,\n}\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'next', isSite: false, startCommand: 'next start' },
    without: ['standalone'],
  },
  {
    title: 'AdonisJS with the script that is meant for the folder of the build',
    files: {
      'package.json': manifest({ build: 'node ace build', start: 'node bin/server.js' }, ['@adonisjs/core']),
      'bin/server.ts': '',
    },
    plan: { runtime: 'node', framework: 'adonis', startCommand: 'node build/bin/server.js' },
  },
  {
    title: 'TanStack Start with a script that fetches its server',
    files: {
      'package.json': manifest(
        { build: 'vite build', start: 'pnpx srvx --prod -s ../client dist/server/server.js' },
        ['@tanstack/react-start', 'vite'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'tanstack-start',
      startCommand: 'srvx --prod -s ../client dist/server/server.js',
    },
    dockerfile: ['--no-update-notifier srvx\n'],
  },
  {
    title: 'Nuxt 2 with its own start',
    files: { 'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@^2.15.8']) },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'nuxt start' },
  },
  {
    title: 'Qwik with the adapter for Express',
    files: {
      'package.json': manifest(
        {
          build: 'qwik build',
          'build.server': 'vite build -c adapters/express/vite.config.ts',
          start: 'vite --mode ssr',
        },
        [],
        ['@builder.io/qwik-city', 'vite', 'express'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'qwik', startCommand: 'node server/entry.express', obstacle: null },
  },
  {
    title: 'Qwik without an adapter',
    files: {
      'package.json': manifest({ build: 'qwik build', start: 'vite' }, [], ['@qwik.dev/router', 'vite']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      obstacle:
        'no adapter says what Qwik builds for: add one for node with "qwik add express", or for files alone with "qwik add static"',
    },
  },
  {
    title: 'Remix for Netlify',
    files: {
      'package.json': manifest(
        { build: 'remix build', start: 'cross-env NODE_ENV=production netlify dev' },
        ['@netlify/remix-adapter', '@remix-run/react'],
        ['@remix-run/dev', '@remix-run/serve', 'cross-env'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      obstacle: 'Remix is set up with netlify, whose output cannot run on this server: use @remix-run/serve',
    },
  },
  {
    title: 'Sapper, whose start script is for development',
    files: {
      'package.json': manifest({ start: 'sapper dev', build: 'sapper build' }, ['polka'], ['sapper']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'sapper', isSite: false, startCommand: 'node __sapper__/build' },
  },
  {
    title: 'an application of Meteor',
    files: {
      'package.json': manifest({ start: 'meteor run' }, ['meteor-node-stubs']),
      '.meteor/release': 'METEOR@3.1\n',
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('add a Dockerfile') },
  },
  {
    title: 'TanStack Start as Lovable sets it up, which falls back on Cloudflare',
    files: lovable('tanstackStart: { server: { entry: "server" } }'),
    plan: { runtime: 'node', framework: 'tanstack-start', startCommand: NITRO_SERVER, obstacle: null },
    dockerfile: ['ENV NITRO_PRESET=node-server'],
  },
  {
    title: 'TanStack Start whose plugin has the preset of another host',
    files: lovable('nitro: { preset: "vercel" }'),
    plan: {
      runtime: 'node',
      obstacle:
        "TanStack Start is set up with Nitro's preset vercel, whose output cannot run on this server: use the preset node-server",
    },
  },
  {
    title: 'Nuxt with the preset of another host',
    files: {
      'package.json': manifest({ build: 'nuxt build' }, ['nuxt@^4.0.0']),
      'nuxt.config.ts': "export default defineNuxtConfig({ nitro: { preset: 'cloudflare-pages' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: NITRO_SERVER, obstacle: null },
    dockerfile: ['NITRO_PRESET=node-server'],
  },
  {
    title: 'SolidStart with the preset of another host',
    files: {
      'package.json': manifest({ build: 'vinxi build' }, ['@solidjs/start', 'vinxi']),
      'app.config.ts': "export default defineConfig({ server: { preset: 'netlify' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', obstacle: containing("SolidStart is set up with Nitro's preset netlify") },
  },
  {
    title: 'a server of Nitro by its plugin for Vite',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite', 'nitro']),
      'vite.config.ts': "import { nitro } from 'nitro/vite'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nitro', startCommand: NITRO_SERVER },
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
]
