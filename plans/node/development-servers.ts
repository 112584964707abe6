import type { Call } from './scripts.ts'

type Judge = (argument: string | undefined, all: readonly string[]) => boolean

const first =
  (...names: (string | undefined)[]): Judge =>
  (argument) =>
    names.includes(argument)
const any: Judge = () => true
const option =
  (...names: string[]): Judge =>
  (_argument, all) =>
    all.some((word) => names.includes(word))

/** Dev servers, by the arguments that start them (each tool's own reference). */
const DEVELOPMENT_SERVERS: Record<string, Judge> = {
  ace: option('--watch', '--hmr'),
  'app-builder': any,
  arc: first('sandbox'),
  astro: first(undefined, 'dev', 'start', 'preview'),
  'browser-sync': any,
  brunch: first('watch', 'w'),
  craco: first('start'),
  docusaurus: first('start', 'serve'),
  'docusaurus-start': any,
  eleventy: option('--serve', '--watch'),
  '@11ty/eleventy': option('--serve', '--watch'),
  ember: first('serve', 'server', 's'),
  evidence: first('dev', 'preview'),
  expo: first('start', undefined),
  gatsby: first('develop', 'serve'),
  gridsome: first('develop'),
  hexo: first('server', 's'),
  ionic: first('serve'),
  hugo: (argument, all) => argument === 'server' || argument === 'serve' || all.includes('-w'),
  'live-server': any,
  max: first('dev'),
  meteor: any,
  netlify: first('dev', 'serve'),
  ntl: first('dev', 'serve'),
  next: first(undefined, 'dev'),
  ng: first('serve', 's', 'dev', 'start'),
  nuxi: first(undefined, 'dev', 'preview', 'start'),
  // It starts a preview since version 3; in version 2 the same command is the framework's own start.
  nuxt: first(undefined, 'dev', 'preview', 'start'),
  nx: first('serve', 'dev', 'preview', 'run'),
  observable: first('preview'),
  parcel: (argument) => argument !== 'build',
  polymer: first('serve'),
  preact: first('watch', 'serve'),
  quasar: first('dev', 'serve'),
  'react-app-rewired': first('start'),
  'react-router': first('dev'),
  'react-scripts': first('start'),
  'react-static': first('start'),
  remix: first('dev', 'watch'),
  rollup: option('-w', '--watch', '-cw'),
  rsbuild: first(undefined, 'dev', 'preview'),
  rspack: first(undefined, 'serve', 'dev', 'server', 's'),
  sanity: first('dev', 'start', 'preview'),
  sapper: first('dev'),
  'sirv-dev': any,
  snowpack: first('dev'),
  'solid-start': first('dev'),
  'start-storybook': any,
  stencil: option('--serve', '--dev', '--watch'),
  storybook: first('dev'),
  'svelte-kit': first('dev', 'preview'),
  tsc: option('-w', '--watch'),
  turbo: (argument, all) => argument === 'dev' || all[1] === 'dev',
  umi: first('dev'),
  vercel: first('dev', undefined),
  vinxi: first('dev'),
  vite: (argument) => argument !== 'build' && argument !== 'optimize',
  vitepress: first('dev', 'serve', 'preview'),
  'vue-cli-service': first('serve'),
  vuepress: first('dev', 'serve'),
  'vuepress-vite': first('dev'),
  webpack: (argument, all) => argument === 'serve' || argument === 'server' || all.includes('--watch'),
  'webpack-dev-server': any,
  wmr: first(undefined, 'serve', 'start'),
  wrangler: first('dev'),
}

/** Options that take a value, which is not an argument. */
const WITH_FILE = new Set(['--config', '-c'])

/** Whether a call starts a dev server. */
export function isDevelopmentServer([program, ...rest]: Call): boolean {
  if (program === undefined || !Object.hasOwn(DEVELOPMENT_SERVERS, program)) return false
  const words = rest.filter((word) => !word.startsWith('-'))
  const argument = words.find((word) => !WITH_FILE.has(rest[rest.indexOf(word) - 1] ?? '')) ?? words[0]
  return DEVELOPMENT_SERVERS[program]!(argument, rest)
}

/** Whether a call serves files to a developer, in whose browser it opens them. */
export function isPreview([program, ...rest]: Call): boolean {
  return program === 'http-server' && rest.includes('-o')
}
