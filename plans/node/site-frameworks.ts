import { posix } from 'node:path'
import { isRecord } from '../source/json.ts'
import {
  folderOf,
  settingOf,
  site,
  variants,
  type Framework,
  type KnownFramework,
  type Project,
} from './frameworks.ts'

const SINGLE = { singlePage: true }

/** Frameworks that build sites, before the tools that they are based on. */
export const SITE_FRAMEWORKS: KnownFramework[] = [
  site('gatsby', ['gatsby'], 'gatsby build', 'public', { environment: { GATSBY_TELEMETRY_DISABLED: '1' } }),
  site('docusaurus', ['@docusaurus/core'], 'docusaurus build', 'build'),
  // Its first major version had another package name (v1.docusaurus.io, "Publishing your site").
  site('docusaurus', ['docusaurus'], 'docusaurus-build', null, {
    configuration: ['siteConfig.js'],
    refine: (project) =>
      whereBuilt(project) && {
        publishDirectory: folderOf(
          settingOf(project.configuration, /\bprojectName\s*:\s*["'`]([\w.-]+)["'`]/)?.replace(
            /^/,
            'build/',
          ) ?? null,
          null,
        ),
      },
  }),
  site('eleventy', ['@11ty/eleventy'], 'eleventy', '_site', {
    configuration: ['.eleventy.js', ...variants('eleventy.config')],
    refine: ({ configuration, manifest }) => ({
      publishDirectory: folderOf(
        settingOf(manifest.scripts.build ?? '', /--output[= ]([^\s'"]+)/) ??
          settingOf(configuration, /\boutput\s*:\s*["'`]([^"'`\n]+)["'`]/),
        '_site',
      ),
    }),
  }),
  site('vitepress', ['vitepress'], 'vitepress build', '.vitepress/dist', {
    refine: (project) => inDocumentation(project, '.vitepress/dist'),
  }),
  site('vuepress', ['vuepress'], 'vuepress build', '.vuepress/dist', {
    refine: (project) => inDocumentation(project, '.vuepress/dist'),
  }),
  site('iles', ['iles'], 'iles build', 'dist'),
  site('hexo', ['hexo'], 'hexo generate', 'public'),
  site('gridsome', ['gridsome'], 'gridsome build', 'dist'),
  site('saber', ['saber'], 'saber build', 'public'),
  site('phenomic', ['@phenomic/core'], 'phenomic build', 'public'),
  site('react-static', ['react-static'], 'react-static build', 'dist'),
  site('metalsmith', ['metalsmith'], null, 'build'),
  site('angular', ['@angular/core', '@angular/cli'], 'ng build', null, {
    ...SINGLE,
    configuration: ['angular.json'],
    caches: ['.angular/cache'],
    environment: { NG_CLI_ANALYTICS: 'false' },
    refine: angular,
  }),
  site('ember', ['ember-cli', 'ember-source'], 'ember build --environment=production', 'dist', SINGLE),
  site(
    'create-react-app',
    ['react-scripts', '@craco/craco', 'react-app-rewired'],
    'react-scripts build',
    'build',
    {
      ...SINGLE,
      refine: ({ manifest }) => ({
        publishDirectory: folderOf(
          settingOf(manifest.scripts.build ?? '', /\bBUILD_PATH=["']?([\w./-]+)/),
          'build',
        ),
      }),
    },
  ),
  // Files that `react-scripts eject` leaves.
  site('create-react-app', ['react-dev-utils'], null, 'build', {
    ...SINGLE,
    isLeftBehind: true,
    refine: ({ manifest }) => (/\bnode scripts\/build\.js\b/.test(manifest.scripts.build ?? '') ? {} : null),
  }),
  site('vue-cli', ['@vue/cli-service'], 'vue-cli-service build', 'dist', {
    ...SINGLE,
    configuration: variants('vue.config'),
    refine: ({ configuration }) => ({
      publishDirectory: folderOf(settingOf(configuration, /\boutputDir\s*:\s*["'`]([^"'`\n]+)["'`]/), 'dist'),
    }),
  }),
  // Before version 3 the tool copied a webpack template into the project (vuejs-templates/webpack).
  site('vue-cli', ['vue'], null, 'dist', {
    ...SINGLE,
    isLeftBehind: true,
    configuration: ['config/index.js'],
    refine: ({ configuration, manifest }) =>
      /\bnode build\/build\.js\b/.test(manifest.scripts.build ?? '')
        ? {
            publishDirectory: folderOf(
              settingOf(
                configuration,
                /\bassetsRoot\s*:\s*path\.resolve\(__dirname,\s*["'`]\.\.\/([\w./-]+)["'`]\)/,
              ),
              'dist',
            ),
          }
        : null,
  }),
  site('preact', ['preact-cli'], 'preact build', 'build', SINGLE),
  site('umi', ['umi', '@umijs/max'], 'umi build', 'dist', SINGLE),
  site('stencil', ['@stencil/core'], 'stencil build', 'www', SINGLE),
  site(
    'quasar',
    ['@quasar/app-vite', '@quasar/app-webpack', '@quasar/app'],
    'quasar build',
    'dist/spa',
    SINGLE,
  ),
  site('redwood', ['@redwoodjs/core'], 'rw build web', 'web/dist', SINGLE),
  site('dojo', ['@dojo/framework', '@dojo/cli'], 'dojo build', 'output/dist', SINGLE),
  site('polymer', ['polymer-cli'], 'polymer build', 'build/default', SINGLE),
  site('sanity', ['sanity'], 'sanity build', 'dist', SINGLE),
  site('sanity', ['@sanity/core'], 'sanity build', 'dist', { ...SINGLE, refine: whereBuilt }),
  site('evidence', ['@evidence-dev/evidence'], 'evidence sources && evidence build', 'build', {
    fetching: 'sources',
    refine: whereBuilt,
  }),
  site('observable', ['@observablehq/framework'], 'observable build', 'dist', {
    configuration: variants('observablehq.config'),
    refine: (project) =>
      whereBuilt(project) && {
        publishDirectory: folderOf(
          settingOf(project.configuration, /\boutput\s*:\s*["'`]([\w./-]+)["'`]/),
          'dist',
        ),
      },
  }),
  site('expo', ['expo'], 'expo export --platform web', 'dist', SINGLE),
  site('snowpack', ['snowpack'], 'snowpack build', 'build', SINGLE),
  site('rsbuild', ['@rsbuild/core'], 'rsbuild build', 'dist', SINGLE),
  site('wmr', ['wmr'], 'wmr build', 'dist', SINGLE),
  site('vite', ['vite', 'rolldown-vite'], 'vite build', 'dist', {
    ...SINGLE,
    configuration: variants('vite.config'),
    page: 'index.html',
    refine: vite,
  }),
  site('parcel', ['parcel', 'parcel-bundler'], null, 'dist', {
    ...SINGLE,
    caches: ['.parcel-cache'],
    refine: ({ manifest }) => ({
      publishDirectory: folderOf(
        settingOf(manifest.scripts.build ?? '', /(?:--dist-dir|--out-dir|-d)[= ]([^\s'"]+)/),
        'dist',
      ),
    }),
  }),
  site('brunch', ['brunch'], 'brunch build --production', 'public', SINGLE),
  site('rspack', ['@rspack/cli'], 'rspack build', 'dist', SINGLE),
  site('storybook', ['storybook'], null, 'storybook-static', {
    // Many programs have it as a tool for their developers.
    refine: ({ manifest }) =>
      /\bstorybook build\b|\bbuild-storybook\b/.test(manifest.scripts.build ?? '') ? {} : null,
  }),
  site('webpack', ['webpack-cli'], null, 'dist', {
    ...SINGLE,
    configuration: variants('webpack.config'),
    refine: webpack,
  }),
  // Pages that the project's own scripts generate and that are committed (themes of startbootstrap.com).
  site('browser-sync', ['browser-sync'], null, 'dist', {
    isLeftBehind: true,
    configuration: ['dist/index.html'],
    refine: ({ configuration, manifest }) =>
      configuration !== '' && manifest.scripts.build !== undefined ? {} : null,
  }),
  site('svelte', ['svelte'], null, 'public', SINGLE),
  // For pages in the source; it also builds libraries and programs.
  site('rollup', ['rollup'], null, 'public', {
    ...SINGLE,
    isLeftBehind: true,
    configuration: [...variants('rollup.config'), 'public/index.html'],
    refine: rollup,
  }),
]

/** Accepts a framework only if there is a build script: without one, its package may have nothing to do with the pages. */
function whereBuilt({ manifest }: Project): Partial<Framework> | null {
  return manifest.scripts.build === undefined ? null : {}
}

/** Returns webpack's output folder, where its configuration gives it relative to its own place (webpack, "output.path"). */
function webpack({ configuration, manifest }: Project): Partial<Framework> | null {
  if (!/\bwebpack\b/.test(manifest.scripts.build ?? '')) return null
  const place = /\bpath ?: ?path\.(resolve|join)\(__dirname(?:, ?["'`]([\w./-]+)["'`])?\)/.exec(configuration)
  if (place === null) return {}
  const [, call, folder] = place
  // The joined path is below it, even with a leading slash.
  const below = call === 'join' ? folder?.replace(/^\/+/, '') : folder
  return { publishDirectory: below === undefined ? '.' : folderOf(below, null) }
}

/** Rollup's output next to a page that the script "start" serves to developers. */
function rollup({ configuration, manifest: { scripts } }: Project): Partial<Framework> | null {
  const makes =
    /<(?:html|body|script)\b/i.test(configuration) &&
    /\b(?:dir|file) ?: ?["'`](?:\.\/)?public\b/.test(configuration)
  return makes && /\brollup\b/.test(scripts.build ?? '') && /\brollup\b/.test(scripts.start ?? '') ? {} : null
}

/** The output is in the folder of the documentation, which the build script names. */
function inDocumentation({ manifest: { scripts } }: Project, folder: string): Partial<Framework> {
  const script = scripts.build ?? scripts['docs:build'] ?? ''
  const own = folderOf(
    settingOf(script, /\bvuepress build\b[^&|;]{0,200}?\s(?:-d|--dest)[ =]([\w./-]+)/),
    null,
  )
  const named = folderOf(settingOf(script, /\b(?:vitepress|vuepress) build ([\w./-]+)/), null)
  return {
    publishDirectory: own ?? (named === null || named === '.' ? folder : `${named}/${folder}`),
    // The name that `vuepress init` and `vitepress init` give it.
    ...(scripts.build === undefined && scripts['docs:build'] !== undefined
      ? { build: scripts['docs:build'] }
      : {}),
  }
}

function vite({ configuration, manifest }: Project): Partial<Framework> {
  return { publishDirectory: viteFolder(configuration, manifest.scripts.build ?? '') }
}

/** Vite's output folder is below its `root` (vite.dev, "build.outDir"); the command line overrides the file. */
export function viteFolder(configuration: string, build: string): string | null {
  const root = settingOf(configuration, /\broot\s*:\s*["'`]([\w./-]+)["'`]/) ?? '.'
  const folder =
    settingOf(build, /--outDir[= ]["']?([\w./-]+)/) ??
    settingOf(configuration, /\boutDir\s*:\s*["'`]([\w./-]+)["'`]/) ??
    'dist'
  return folderOf(posix.join(root, folder), null)
}

/** angular.json states it per project (angular.dev, "Workspace configuration"); the newer builder appends `browser/`. */
function angular({ configuration }: Project): Partial<Framework> {
  let workspace: unknown
  try {
    workspace = JSON.parse(configuration)
  } catch {
    return {}
  }
  const projects = isRecord(workspace) && isRecord(workspace.projects) ? workspace.projects : {}
  for (const [name, project] of Object.entries(projects)) {
    if (!isRecord(project) || project.projectType === 'library') continue
    const targets = [project.architect, project.targets].find(isRecord)
    const build = isRecord(targets?.build) ? targets.build : {}
    const options = isRecord(build.options) ? build.options : {}
    const { outputPath } = options
    const base = isRecord(outputPath) ? outputPath.base : outputPath
    const folder = folderOf(typeof base === 'string' ? base : `dist/${name}`, null)
    if (folder === null || !/^[\w./@-]+$/.test(folder)) return {}
    const { builder } = build
    const isNewer =
      (typeof builder === 'string' && builder.endsWith(':application')) || options.browser !== undefined
    const below =
      isRecord(outputPath) && typeof outputPath.browser === 'string' ? outputPath.browser : 'browser'
    const files = folderOf(posix.join(folder, below), null)
    // There is a server in addition to the site (angular.dev, "Server-side and hybrid-rendering").
    if (isRecord(options.ssr) || options.ssr === true) {
      return options.outputMode === 'static'
        ? { publishDirectory: files }
        : { start: `node ${folder}/server/server.mjs`, publishDirectory: files }
    }
    return { publishDirectory: isNewer ? files : folder }
  }
  return {}
}
