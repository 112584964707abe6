import { findSource } from '../source/listening.ts'
import type { Tree } from '../source/tree.ts'
import { foreign } from './foreign.ts'
import {
  folderOf,
  readConfiguration,
  server,
  settingOf,
  variants,
  type Framework,
  type KnownFramework,
  type Project,
} from './frameworks.ts'
import { FOR_NODE, NITRO, nitro, nuxt, solidStart, tanstack } from './nitro.ts'

/** Frameworks that build a server, unless their settings say otherwise. */
export const SERVER_FRAMEWORKS: KnownFramework[] = [
  server('next', ['next'], 'next build', 'next start -H 0.0.0.0 -p $PORT', {
    configuration: variants('next.config'),
    folders: ['app', 'pages', 'src/app', 'src/pages'],
    caches: ['.next/cache'],
    environment: { NEXT_TELEMETRY_DISABLED: '1' },
    refine: next,
  }),
  server('nuxt', ['nuxt', 'nuxt3', 'nuxt-nightly', 'nuxt-edge'], 'nuxt build', NITRO.start, {
    output: NITRO.output,
    siteBuild: 'nuxt generate',
    configuration: variants('nuxt.config'),
    publishDirectory: '.output/public',
    caches: ['node_modules/.cache'],
    environment: { NUXT_TELEMETRY_DISABLED: '1' },
    refine: nuxt,
  }),
  server('sveltekit', ['@sveltejs/kit'], 'vite build', 'node build', {
    configuration: variants('svelte.config'),
    publishDirectory: 'build',
    refine: sveltekit,
  }),
  server('astro', ['astro'], 'astro build', 'node dist/server/entry.mjs', {
    configuration: variants('astro.config'),
    caches: ['node_modules/.astro'],
    environment: { ASTRO_TELEMETRY_DISABLED: '1' },
    refine: astro,
  }),
  server(
    'react-router',
    ['@react-router/dev', '@react-router/serve'],
    'react-router build',
    'react-router-serve ./build/server/index.js',
    {
      configuration: variants('react-router.config'),
      publishDirectory: 'build/client',
      refine: reactRouter,
    },
  ),
  server(
    'remix',
    ['@remix-run/dev', '@remix-run/serve', '@remix-run/react'],
    'remix build',
    'remix-serve ./build/server/index.js',
    {
      configuration: [...variants('remix.config'), ...variants('vite.config')],
      publishDirectory: 'build/client',
      refine: remix,
    },
  ),
  server(
    'tanstack-start',
    ['@tanstack/react-start', '@tanstack/solid-start', '@tanstack/start'],
    'vite build',
    NITRO.start,
    { output: NITRO.output, configuration: variants('vite.config'), refine: tanstack },
  ),
  server('solidstart', ['@solidjs/start'], 'vinxi build', NITRO.start, {
    output: NITRO.output,
    configuration: variants('app.config'),
    refine: solidStart,
  }),
  server('solidstart', ['solid-start'], 'solid-start build', 'solid-start start'),
  server('hydrogen', ['@shopify/hydrogen'], null, '', {
    start: null,
    obstacle:
      "Hydrogen builds for Shopify's own hosting: give it a server for node and set start_command, such as node server.js",
  }),
  server('blitz', ['blitz'], 'blitz build', 'blitz start -p $PORT', { caches: ['.next/cache'] }),
  server('analog', ['@analogjs/platform'], 'vite build', 'node dist/analog/server/index.mjs', {
    output: 'dist/analog',
    configuration: variants('vite.config'),
    publishDirectory: 'dist/analog/public',
    // (analogjs.org, "Static Site Generation")
    refine: ({ configuration }) =>
      /\bstatic\s*:\s*true\b/.test(configuration) ? { start: null, output: null } : {},
  }),
  server('qwik', ['@builder.io/qwik-city', '@qwik.dev/router'], 'qwik build', 'node server/entry.express', {
    refine: qwik,
  }),
  server('sapper', ['sapper'], 'sapper build', 'node __sapper__/build', {
    refine: ({ manifest }) =>
      /\bsapper export\b/.test(manifest.scripts.build ?? '')
        ? { start: null, publishDirectory: '__sapper__/export' }
        : {},
  }),
  server('adonis', ['@adonisjs/core'], 'node ace build', 'node build/bin/server.js'),
  server('directus', ['directus'], null, 'directus start'),
  server('strapi', ['@strapi/strapi'], 'strapi build', 'strapi start'),
  server('nest', ['@nestjs/core'], 'nest build', 'node dist/main', {
    // Its command line is a separate package, which not every project has.
    refine: ({ manifest: { dependencies } }) =>
      '@nestjs/cli' in dependencies ? {} : { build: 'typescript' in dependencies ? 'tsc' : null },
  }),
  server('nitro', ['nitropack', 'nitro'], 'nitro build', NITRO.start, {
    output: NITRO.output,
    configuration: [...variants('nitro.config'), ...variants('vite.config')],
    environment: FOR_NODE,
    refine: nitro,
  }),
]

function next({ configuration, manifest }: Project): Partial<Framework> {
  const folder = folderOf(settingOf(configuration, /\bdistDir\s*:\s*["'`]([^"'`\n]+)["'`]/), null)
  const caches = [`${folder ?? '.next'}/cache`]
  const isExport = /\boutput\s*:\s*["'`]export["'`]/.test(configuration)
  const exports = /\bnext export\b/.test(manifest.scripts.build ?? '')
  if (isExport || exports) return { caches, start: null, publishDirectory: (isExport && folder) || 'out' }
  if (folder === null && /\boutput\s*:\s*["'`]standalone["'`]/.test(configuration)) {
    return { caches, start: 'node server.js', output: '.next/standalone' }
  }
  return { caches }
}

/** SvelteKit's adapter determines what is built (svelte.dev, "Adapters"). */
async function sveltekit({ tree, configuration: own, manifest }: Project): Promise<Partial<Framework>> {
  const ofVite = await adapterOfVite(tree)
  const configuration = ofVite || own
  const uses = (name: string): boolean => {
    const adapter = `@sveltejs/adapter-${name}`
    return configuration === '' ? adapter in manifest.dependencies : configuration.includes(adapter)
  }
  if (uses('node')) return { publishDirectory: null }
  if (uses('static')) {
    const settings = ofVite === '' ? own : (settingOf(ofVite, /\badapter\s*:([^)]*)/) ?? '')
    const folder = settingOf(settings, /\bpages\s*:\s*["'`]([^"'`\n]+)["'`]/)
    const singlePage = /\bfallback\s*:\s*["'`]/.test(settings)
    return { start: null, publishDirectory: folderOf(folder, 'build'), singlePage }
  }
  for (const name of ['vercel', 'netlify', 'cloudflare', 'cloudflare-workers']) {
    if (uses(name))
      return {
        start: null,
        publishDirectory: null,
        obstacle: foreign('SvelteKit', `adapter-${name}`, '@sveltejs/adapter-node'),
      }
  }
  // The variable that makes the automatic adapter use the one for node (@sveltejs/adapter-auto, adapters.js).
  return { environment: { GCP_BUILDPACKS: 'true' }, publishDirectory: null }
}

/**
 * Vite's configuration if it sets an adapter; SvelteKit then ignores its own configuration since 2.62 (svelte.dev,
 * "Configuration").
 */
async function adapterOfVite(tree: Tree): Promise<string> {
  const text = await readConfiguration(tree, variants('vite.config'))
  const setsAdapter = /\bfrom\s*['"]@sveltejs\/adapter-/.test(text) && /\badapter\s*[:,}]/.test(text)
  return setsAdapter ? text : ''
}

/** For adapters that are not by Astro's authors. */
const OTHER_ADAPTER =
  'Astro is set up with an adapter that is not known here: set start_command to what starts its server, such as node dist/server/entry.mjs, or use @astrojs/node'

/** Adapters of Astro for hosts whose output runs nowhere else. */
const ASTRO_HOSTS = ['vercel', 'netlify', 'cloudflare']

async function astro({ tree, configuration, manifest, notes }: Project): Promise<Partial<Framework>> {
  const folder = folderOf(settingOf(configuration, /\boutDir\s*:\s*["'`]([^"'`\n]+)["'`]/), 'dist')
  const host = ASTRO_HOSTS.find((name) => configuration.includes(`@astrojs/${name}`))
  const usesNode = configuration.includes('@astrojs/node') || '@astrojs/node' in manifest.dependencies
  if (usesNode && /\bmode\s*:\s*["'`]middleware["'`]/.test(configuration)) return { start: null }
  if (usesNode) return { start: `node ${folder ?? 'dist'}/server/entry.mjs` }
  const isServer = /\boutput\s*:\s*["'`](?:server|hybrid)["'`]/.test(configuration)
  if (isServer) {
    const isOther = host === undefined && /\badapter\s*:/.test(configuration)
    const obstacle = isOther ? OTHER_ADAPTER : foreign('Astro', host ?? 'no adapter', '@astrojs/node')
    return { start: null, publishDirectory: null, obstacle }
  }
  const page = host === undefined ? null : await findSource(tree, OF_ASTRO, ON_DEMAND, 'src/pages')
  if (page)
    notes.push(
      `${page} is made on demand (prerender = false), by a server that @astrojs/${host} makes for its host alone: use @astrojs/node, or there are only the other pages`,
    )
  return { start: null, publishDirectory: folder }
}

const OF_ASTRO = /\.(?:astro|[cm]?[jt]s)$/
/** What excludes a page from prerendering (docs.astro.build, "On-demand rendering"). */
const ON_DEMAND = /^\s*export const prerender ?= ?false\b/

function reactRouter({ configuration, manifest }: Project): Partial<Framework> {
  const named = settingOf(configuration, /\bbuildDirectory\s*:\s*["'`]([^"'`\n]+)["'`]/)
  const folder = folderOf(named, 'build')
  const publishDirectory = folder === null ? null : `${folder}/client`
  if (/\bssr["']?\s*:\s*false\b/.test(configuration))
    return { start: null, publishDirectory, singlePage: true }
  // Without Remix's own server the project has one that a script starts.
  if (!('@react-router/serve' in manifest.dependencies)) return { start: null, publishDirectory: null }
  return { start: `react-router-serve ./${folder ?? 'build'}/server/index.js`, publishDirectory }
}

/** Vite puts a server below build/; the older compiler makes a single file (Remix, "Vite"). */
function remix({ configuration, manifest: { dependencies } }: Project): Partial<Framework> {
  const host = ['netlify', 'architect', 'vercel', 'cloudflare', 'cloudflare-workers', 'deno'].find((name) =>
    [`@remix-run/${name}`, `@${name}/remix-adapter`, `@${name}/remix`].some((each) => each in dependencies),
  )
  const isVite = configuration.includes('@remix-run/dev')
  if (isVite && /\bssr\s*:\s*false\b/.test(configuration)) return { start: null, singlePage: true }
  if (host !== undefined) {
    return { publishDirectory: null, obstacle: foreign('Remix', host, '@remix-run/serve') }
  }
  return isVite ? {} : { start: 'remix-serve build/index.js', publishDirectory: null }
}

/** Its build script names the adapter, whose server is below server/ (qwik.dev, "Deployments"). */
function qwik({ manifest: { scripts } }: Project): Partial<Framework> {
  const adapter = /\badapters\/([\w-]+)\//.exec(scripts['build.server'] ?? '')?.[1]
  if (adapter === 'static') return { start: null, publishDirectory: 'dist' }
  const isServer = adapter === 'express' || adapter === 'fastify' || adapter === 'node-server'
  if (isServer) return { start: `node server/entry.${adapter}` }
  return adapter === undefined
    ? {
        start: null,
        obstacle:
          'no adapter says what Qwik builds for: add one for node with "qwik add express", or for files alone with "qwik add static"',
      }
    : { start: null, obstacle: foreign('Qwik', adapter, 'the adapter express') }
}
