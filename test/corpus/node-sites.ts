import { manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

const site = (
  framework: string,
  publishDirectory: string,
  singlePage: boolean,
  buildCommand = 'npm run build',
) => ({
  runtime: 'node',
  framework,
  buildCommand,
  startCommand: null,
  publishDirectory,
  isSite: true,
  singlePage,
})

/** The webpack template of Vue's own tool before version 3. */
const VUE_TEMPLATE = {
  'package.json': manifest(
    {
      dev: 'webpack-dev-server --inline --progress --config build/webpack.dev.conf.js',
      start: 'npm run dev',
      build: 'node build/build.js',
    },
    ['vue', 'vue-router', 'express'],
    ['vue-loader', 'webpack@^3.6.0', 'webpack-dev-server'],
  ),
  'index.html': '<div id="app"></div>\n',
  'src/main.js':
    "import Vue from 'vue'\nimport App from './App'\nnew Vue({ el: '#app', render: h => h(App) })\n",
  'server/index.js': '',
  ...NPM_LOCK,
}

const ASSETS_ROOT =
  "module.exports = {\n  build: {\n    index: path.resolve(__dirname, '../dist/index.html'),\n    assetsRoot: path.resolve(__dirname, '../dist'),\n  },\n}\n"

const EJECTED = manifest({ start: 'node scripts/start.js', build: 'node scripts/build.js' }, [
  'react',
  'react-dom',
  'react-dev-utils',
  'webpack',
  'webpack-dev-server',
])

const DEVELOPMENT_START = "'use strict';\nconst WebpackDevServer = require('webpack-dev-server');\n"
const PAGE = '<html><body><script src="index.js" type="module"></script></body></html>\n'

const ROLLED = {
  'package.json': manifest(
    { start: 'serve public -s & rollup -w -c', build: 'rollup -c' },
    ['solid-js'],
    ['rollup', 'serve'],
    { main: 'public/index.js' },
  ),
  'rollup.config.js': "export default { input: 'src/index.js', output: { dir: 'public', format: 'esm' } }\n",
  'src/index.js': "import { render } from 'solid-js/web'\n",
  ...NPM_LOCK,
}

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

/** Front ends: sites that tools of node build. */
export const NODE_SITES: CorpusTree[] = [
  {
    title: 'Create React App',
    files: {
      'package.json': manifest(
        { start: 'react-scripts start', build: 'react-scripts build', test: 'react-scripts test' },
        ['react', 'react-dom', 'react-scripts@5.0.1'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      ...site('create-react-app', 'build', true),
      packageManager: 'npm',
      installCommand: 'npm ci --include=dev',
    },
    without: ['npm ci --omit=dev'],
  },
  {
    title: 'Create React App through craco',
    files: {
      'package.json': manifest({ start: 'craco start', build: 'craco build' }, [
        '@craco/craco',
        'react-scripts',
      ]),
    },
    plan: site('create-react-app', 'build', true),
  },
  {
    title: 'Vite with React',
    files: {
      'package.json': manifest(
        { dev: 'vite', build: 'tsc -b && vite build', lint: 'eslint .', preview: 'vite preview' },
        ['react', 'react-dom'],
        ['vite', '@vitejs/plugin-react', 'typescript'],
      ),
      'index.html': '<div id="root"></div>',
      'vite.config.ts':
        "import { defineConfig } from 'vite'\nexport default defineConfig({ plugins: [react()] })\n",
      ...NPM_LOCK,
    },
    plan: site('vite', 'dist', true),
    dockerfile: ['FROM packages AS build'],
  },
  {
    title: 'Vite whose start script is its development server',
    files: {
      'package.json': manifest({ start: 'vite', build: 'vite build' }, [], ['vite']),
      'index.html': '',
    },
    plan: site('vite', 'dist', true),
  },
  {
    title: 'Vite whose start script is its preview',
    files: {
      'package.json': manifest(
        { start: 'npm run build && npm run preview', build: 'vite build', preview: 'vite preview' },
        [],
        ['vite'],
      ),
      'index.html': '',
    },
    plan: site('vite', 'dist', true),
  },
  {
    title: 'Vite with an outDir of its own',
    files: {
      'package.json': manifest({ build: 'vite build' }, ['vue'], ['vite']),
      'vite.config.js': "export default { build: { outDir: './public_html' } }\n",
    },
    plan: site('vite', 'public_html', true),
  },
  {
    title: 'Vite with its root below the project',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'vite.config.ts': "export default defineConfig({ root: 'src', build: { outDir: '../dist' } })\n",
    },
    plan: site('vite', 'dist', true),
  },
  {
    title: 'Vite with a folder outside, which cannot be published',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'vite.config.ts': "export default { build: { outDir: '../web' } }\n",
    },
    settings: { processType: 'static' },
    plan: { runtime: 'node', isSite: true, publishDirectory: null },
  },
  {
    title: 'Preact made by Vite with pnpm',
    files: {
      'package.json': manifest(
        { dev: 'vite', build: 'vite build' },
        ['preact'],
        ['vite', '@preact/preset-vite'],
      ),
      'pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
    },
    plan: { ...site('vite', 'dist', true, 'pnpm run build'), packageManager: 'pnpm' },
    dockerfile: ['pnpm@10', 'pnpm install --frozen-lockfile --prod=false'],
  },
  {
    title: 'Preact by its older command line',
    files: {
      'package.json': manifest({ build: 'preact build', start: 'preact watch' }, ['preact'], ['preact-cli']),
    },
    plan: site('preact', 'build', true),
  },
  {
    title: 'Angular with the newer builder',
    files: {
      'package.json': manifest({ start: 'ng serve', build: 'ng build' }, ['@angular/core'], ['@angular/cli']),
      'angular.json': {
        projects: {
          shop: {
            projectType: 'application',
            architect: {
              build: { builder: '@angular/build:application', options: { browser: 'src/main.ts' } },
            },
          },
        },
      },
      ...NPM_LOCK,
    },
    plan: site('angular', 'dist/shop/browser', true),
    dockerfile: ['id=/app/.angular/cache,target=', 'NG_CLI_ANALYTICS=false'],
  },
  {
    title: 'Angular with the older builder',
    files: {
      'package.json': manifest({ start: 'ng serve', build: 'ng build' }, ['@angular/core'], ['@angular/cli']),
      'angular.json': {
        projects: {
          old: {
            architect: {
              build: {
                builder: '@angular-devkit/build-angular:browser',
                options: { outputPath: 'dist/old' },
              },
            },
          },
        },
      },
    },
    plan: site('angular', 'dist/old', true),
  },
  {
    title: 'Vue by its older command line',
    files: {
      'package.json': manifest(
        { serve: 'vue-cli-service serve', build: 'vue-cli-service build' },
        ['vue'],
        ['@vue/cli-service'],
      ),
    },
    plan: site('vue-cli', 'dist', true),
  },
  {
    title: 'Ember',
    files: {
      'package.json': manifest(
        { build: 'ember build --environment=production', start: 'ember serve' },
        [],
        ['ember-cli', 'ember-source'],
      ),
    },
    plan: site('ember', 'dist', true),
  },
  {
    title: 'Parcel',
    files: {
      'package.json': manifest(
        { start: 'parcel src/index.html', build: 'parcel build src/index.html' },
        [],
        ['parcel'],
      ),
      'src/index.html': '',
    },
    plan: site('parcel', 'dist', true),
    dockerfile: ['id=/app/.parcel-cache,target='],
  },
  {
    title: 'Umi',
    files: {
      'package.json': manifest({ dev: 'umi dev', build: 'umi build', start: 'npm run dev' }, ['umi']),
    },
    plan: site('umi', 'dist', true),
  },
  {
    title: 'Stencil',
    files: {
      'package.json': manifest({ build: 'stencil build', start: 'stencil build --dev --watch --serve' }, [
        '@stencil/core',
      ]),
    },
    plan: site('stencil', 'www', true),
  },
  {
    title: 'Quasar',
    files: {
      'package.json': manifest(
        { dev: 'quasar dev', build: 'quasar build' },
        ['quasar'],
        ['@quasar/app-vite'],
      ),
    },
    plan: site('quasar', 'dist/spa', true),
  },
  {
    title: 'Rsbuild',
    files: {
      'package.json': manifest(
        { dev: 'rsbuild dev', build: 'rsbuild build', preview: 'rsbuild preview' },
        [],
        ['@rsbuild/core'],
      ),
    },
    plan: site('rsbuild', 'dist', true),
  },
  {
    title: 'Expo for browsers',
    files: {
      'package.json': manifest({ start: 'expo start', web: 'expo start --web' }, [
        'expo',
        'react-native-web',
      ]),
      'app.json': { expo: { web: { output: 'single' } } },
    },
    plan: site('expo', 'dist', true, 'expo export --platform web'),
  },
  {
    title: 'Gatsby',
    files: {
      'package.json': manifest(
        { develop: 'gatsby develop', start: 'npm run develop', build: 'gatsby build', serve: 'gatsby serve' },
        ['gatsby'],
      ),
      'gatsby-config.js': 'module.exports = {}',
    },
    plan: site('gatsby', 'public', false),
  },
  {
    title: 'Docusaurus',
    files: {
      'package.json': manifest(
        { start: 'docusaurus start', build: 'docusaurus build', serve: 'docusaurus serve' },
        ['@docusaurus/core', 'react'],
      ),
    },
    plan: site('docusaurus', 'build', false),
  },
  {
    title: 'Astro without an adapter',
    files: {
      'package.json': manifest(
        { dev: 'astro dev', start: 'astro dev', build: 'astro build', preview: 'astro preview' },
        ['astro'],
      ),
      'astro.config.mjs': "import { defineConfig } from 'astro/config'\nexport default defineConfig({})\n",
    },
    plan: site('astro', 'dist', false),
    dockerfile: ['id=/app/node_modules/.astro,target='],
  },
  {
    title: 'Eleventy',
    files: {
      'package.json': manifest(
        { start: 'npx @11ty/eleventy --serve', build: 'npx @11ty/eleventy' },
        [],
        ['@11ty/eleventy'],
      ),
      'index.md': '# Hello',
    },
    plan: site('eleventy', '_site', false),
  },
  {
    title: 'Eleventy with a folder of its own and no script',
    files: {
      'package.json': manifest({}, [], ['@11ty/eleventy']),
      'eleventy.config.js': "export default () => ({ dir: { input: 'src', output: 'dist' } })\n",
    },
    plan: site('eleventy', 'dist', false, 'eleventy'),
  },
  {
    title: 'Hexo',
    files: {
      'package.json': manifest({ build: 'hexo generate', server: 'hexo server', start: 'hexo server' }, [
        'hexo',
      ]),
      '_config.yml': 'title: Hexo\n',
    },
    plan: site('hexo', 'public', false),
  },
  {
    title: 'VitePress in docs/',
    files: {
      'package.json': manifest(
        { 'docs:dev': 'vitepress dev docs', 'docs:build': 'vitepress build docs' },
        [],
        ['vitepress'],
      ),
      'docs/index.md': '',
    },
    plan: site('vitepress', 'docs/.vitepress/dist', false, 'vitepress build docs'),
  },
  {
    title: 'VuePress',
    files: { 'package.json': manifest({ build: 'vuepress build src' }, [], ['vuepress']) },
    plan: site('vuepress', 'src/.vuepress/dist', false),
  },
  {
    title: 'Next as files alone',
    files: {
      'package.json': manifest({ dev: 'next dev', build: 'next build', start: 'next dev' }, [
        'next',
        'react',
      ]),
      'next.config.js': "module.exports = { output: 'export' }\n",
    },
    plan: site('next', 'out', false),
    dockerfile: ['id=/app/.next/cache,target='],
  },
  {
    title: 'Nuxt as files alone',
    files: { 'package.json': manifest({ build: 'nuxt generate', dev: 'nuxt dev' }, ['nuxt@^3.12.0']) },
    plan: site('nuxt', '.output/public', false),
  },
  {
    title: 'a server of Nuxt that is wanted as a site',
    files: { 'package.json': manifest({ build: 'nuxt build', dev: 'nuxt dev' }, ['nuxt@^4.0.0']) },
    settings: { processType: 'static' },
    plan: site('nuxt', '.output/public', false, 'nuxt generate'),
  },
  {
    title: 'SvelteKit as files alone',
    files: {
      'package.json': manifest(
        { dev: 'vite dev', build: 'vite build', preview: 'vite preview' },
        [],
        ['@sveltejs/kit', '@sveltejs/adapter-static', 'svelte', 'vite'],
      ),
      'svelte.config.js':
        "import adapter from '@sveltejs/adapter-static'\nexport default { kit: { adapter: adapter({ fallback: '200.html' }) } }\n",
    },
    plan: site('sveltekit', 'build', true),
  },
  {
    title: 'React Router in the browser alone',
    files: {
      'package.json': manifest(
        { build: 'react-router build', dev: 'react-router dev', start: 'react-router dev' },
        ['react-router', '@react-router/node'],
        ['@react-router/dev'],
      ),
      'react-router.config.ts': 'export default {\n  ssr: false,\n}\n',
    },
    plan: site('react-router', 'build/client', true),
  },
  {
    title: 'React Router in the browser alone, with a script for the server that is not there',
    files: {
      'package.json': manifest(
        { build: 'react-router build', start: 'react-router-serve ./build/server/index.js' },
        ['react-router', '@react-router/serve'],
        ['@react-router/dev'],
      ),
      'react-router.config.ts': 'export default { ssr: false }\n',
    },
    plan: site('react-router', 'build/client', true),
  },
  {
    title: 'Next as files alone, with the script of its server',
    files: {
      'package.json': manifest({ build: 'next build', start: 'next start' }, ['next']),
      'next.config.ts': "const config = { output: 'export' }\nexport default config\n",
    },
    plan: site('next', 'out', false),
  },
  {
    title: 'Svelte with Rollup',
    files: {
      'package.json': manifest(
        { build: 'rollup -c', dev: 'rollup -c -w', start: 'rollup -c -w' },
        [],
        ['svelte', 'rollup'],
      ),
    },
    plan: site('svelte', 'public', true),
  },
  {
    title: 'webpack',
    files: {
      'package.json': manifest(
        { build: 'webpack --mode production', start: 'webpack serve' },
        [],
        ['webpack', 'webpack-cli'],
      ),
    },
    plan: site('webpack', 'dist', true),
  },
  {
    title: 'Create React App 4, built by an older webpack',
    files: {
      'package.json': manifest({ build: 'react-scripts build', start: 'react-scripts start' }, [
        'react-scripts@4.0.3',
      ]),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'create-react-app', isSite: true, publishDirectory: 'build' },
    dockerfile: ['ENV NODE_OPTIONS=--openssl-legacy-provider'],
  },
  {
    title: 'webpack to a folder of its own',
    files: {
      'package.json': manifest({ build: 'webpack --mode production' }, [], ['webpack', 'webpack-cli']),
      'webpack.config.js': "module.exports = { output: { path: path.resolve(__dirname, 'public/js') } }",
    },
    plan: { runtime: 'node', framework: 'webpack', publishDirectory: 'public/js', isSite: true },
  },
  {
    title: 'webpack beside the page that takes what it builds',
    files: {
      'package.json': manifest({ build: 'webpack' }, [], ['webpack-cli']),
      'webpack.config.js': 'module.exports = { output: { path: path.resolve(__dirname) } }',
      'index.html': '',
    },
    plan: { runtime: 'node', framework: 'webpack', publishDirectory: '.', isSite: true },
  },
  {
    title: 'îles',
    files: { 'package.json': manifest({ build: 'iles build' }, ['iles']), 'src/app.ts': '' },
    plan: { runtime: 'node', framework: 'iles', publishDirectory: 'dist', isSite: true },
  },
  {
    title: 'Qwik with the adapter for files alone',
    files: {
      'package.json': manifest(
        {
          build: 'qwik build',
          'build.server': 'vite build -c adapters/static/vite.config.ts',
          start: 'vite --open --mode ssr',
        },
        [],
        ['@builder.io/qwik-city', 'vite'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'qwik', isSite: true, publishDirectory: 'dist', singlePage: false },
  },
  {
    title: 'Analog for files alone',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['@analogjs/platform', '@angular/core', 'vite']),
      'vite.config.ts': 'export default { plugins: [analog({ static: true })] }\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'analog', isSite: true, publishDirectory: 'dist/analog/public' },
  },
  {
    title: 'Brunch, whose start script watches',
    files: {
      'package.json': manifest(
        { start: 'brunch watch --server', build: 'brunch build --production' },
        [],
        ['brunch'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'brunch',
      isSite: true,
      startCommand: null,
      publishDirectory: 'public',
    },
  },
  {
    title: 'Polymer, whose start script serves its sources',
    files: {
      'package.json': manifest({ start: 'polymer serve', build: 'polymer build' }, [], ['polymer-cli']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'polymer', isSite: true, startCommand: null },
  },
  {
    title: 'Sapper, exported as files',
    files: {
      'package.json': manifest({ start: 'sapper dev', build: 'sapper export' }, ['polka'], ['sapper']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'sapper',
      isSite: true,
      startCommand: null,
      publishDirectory: '__sapper__/export',
    },
  },
  {
    title: 'Docusaurus 1',
    files: {
      'package.json': manifest(
        { start: 'docusaurus-start', build: 'docusaurus-build' },
        [],
        ['docusaurus@^1.14.0'],
      ),
      'siteConfig.js': "const siteConfig = {\n  title: 'Site',\n  projectName: 'test-site',\n};\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'docusaurus', isSite: true, publishDirectory: 'build/test-site' },
  },
  {
    title: 'Sanity 2',
    files: {
      'package.json': manifest(
        { start: 'sanity start', build: 'sanity build' },
        ['@sanity/core'],
        ['@sanity/cli'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'sanity', isSite: true, publishDirectory: 'dist', singlePage: true },
  },
  {
    title: 'a report of Evidence',
    files: {
      'package.json': manifest(
        { build: 'evidence build', sources: 'evidence sources', dev: 'evidence dev' },
        ['@evidence-dev/evidence'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'evidence',
      isSite: true,
      buildCommand: 'npm run sources && npm run build',
      publishDirectory: 'build',
    },
  },
  {
    title: 'a dashboard of Observable Framework',
    files: {
      'package.json': manifest({ build: 'observable build', dev: 'observable preview' }, [
        '@observablehq/framework',
      ]),
      'observablehq.config.js': 'export default {\n  root: "src",\n  output: "site",\n};\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'observable', isSite: true, publishDirectory: 'site' },
  },
  {
    title: 'webpack that writes beside the page',
    files: {
      'package.json': manifest({ build: 'webpack' }, [], ['webpack-cli', 'svelte']),
      'webpack.config.js': "output: {\n  path: path.join(__dirname, '/public'),\n},\n",
      'src/main.js': '',
      'public/index.html': '',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'webpack',
      isSite: true,
      startCommand: null,
      publishDirectory: 'public',
    },
  },
  {
    title: 'VuePress that builds to a folder of its own',
    files: {
      'package.json': manifest({ build: 'vuepress build src -d docs' }, ['vuepress']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'vuepress', isSite: true, publishDirectory: 'docs' },
  },
  {
    title: "the template of webpack of Vue's older tool, with a package that serves",
    files: { ...VUE_TEMPLATE, 'config/index.js': ASSETS_ROOT },
    plan: {
      runtime: 'node',
      framework: 'vue-cli',
      isSite: true,
      singlePage: true,
      publishDirectory: 'dist',
      startCommand: null,
      buildCommand: 'npm run build',
    },
  },
  {
    title: 'the same template with an output of its own',
    files: { ...VUE_TEMPLATE, 'config/index.js': ASSETS_ROOT.replaceAll('../dist', '../docs') },
    plan: { runtime: 'node', framework: 'vue-cli', isSite: true, publishDirectory: 'docs' },
  },
  {
    title: 'an application of React that names a package that serves, and has no server',
    files: {
      'package.json': manifest({ start: 'react-scripts start', build: 'react-scripts build' }, [
        'react',
        'react-scripts',
        'express',
      ]),
      'public/index.html': '',
      'src/index.js': "import ReactDOM from 'react-dom/client'\nimport './index.css'\n",
    },
    plan: { runtime: 'node', framework: 'create-react-app', isSite: true, publishDirectory: 'build' },
  },
  {
    title: 'an application of React that was ejected',
    files: {
      'package.json': EJECTED,
      'public/index.html': '',
      'src/index.js': "import ReactDOM from 'react-dom'\n",
      'scripts/start.js': DEVELOPMENT_START,
    },
    plan: {
      runtime: 'node',
      framework: 'create-react-app',
      isSite: true,
      publishDirectory: 'build',
      startCommand: null,
      buildCommand: 'npm run build',
    },
  },
  {
    title: 'a theme whose start script runs a server for its developer',
    files: {
      'package.json': manifest(
        { build: 'node scripts/build.js', start: 'npm run build && node scripts/start.js' },
        ['bootstrap'],
        ['browser-sync', 'concurrently'],
      ),
      'scripts/start.js': 'concurrently([{ command: `node_modules/.bin/browser-sync dist -w` }])\n',
      'dist/index.html': '<h1>Resume</h1>',
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      isSite: true,
      publishDirectory: 'dist',
      buildCommand: 'npm run build',
    },
  },
  {
    title: 'a site of Astro whose start script names its configuration first',
    files: {
      'package.json': manifest(
        { start: 'npm run dev', dev: 'astro --config src/config/astro.config.mjs dev', build: 'astro build' },
        [],
        ['astro'],
      ),
    },
    plan: { runtime: 'node', framework: 'astro', isSite: true, startCommand: null },
  },
  {
    title: 'Nuxt with the preset for files alone',
    files: {
      'package.json': manifest({ build: 'nuxt build' }, ['nuxt@^4.0.0']),
      'nuxt.config.ts': "export default defineNuxtConfig({ nitro: { preset: 'github_pages' } })\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', isSite: true, publishDirectory: '.output/public' },
  },
  {
    title: 'pages of Vite whose template brought Nitro along',
    files: {
      'package.json': manifest({ build: 'vite build' }, ['react'], ['vite', 'nitro']),
      'vite.config.ts': 'export default defineConfig({ plugins: [react()] })\n',
      'index.html': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'vite', isSite: true, publishDirectory: 'dist' },
  },
  {
    title: 'a page that Rollup fills, with a server for its developer',
    files: { ...ROLLED, 'public/index.html': PAGE },
    plan: {
      runtime: 'node',
      framework: 'rollup',
      isSite: true,
      publishDirectory: 'public',
      singlePage: true,
    },
  },
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
    title: 'SvelteKit with an adapter in its own settings, which it ignores for the one in those of Vite',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-node']),
      'svelte.config.js': "import adapter from '@sveltejs/adapter-node'\n",
      'vite.config.ts': plugged('adapter-static', "{ fallback: '200.html' }"),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, singlePage: true },
  },
  {
    title: "SvelteKit with another's adapter in its own settings, and one in Vite's",
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', 'svelte-adapter-bun', '@sveltejs/adapter-static']),
      'svelte.config.js': "import adapter from 'svelte-adapter-bun'\n",
      'vite.config.ts': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, publishDirectory: 'build' },
  },
  {
    title: 'SvelteKit with settings of its own that name no adapter, beside the one of Vite',
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-static']),
      'svelte.config.js': 'export default { preprocess: vitePreprocess() }\n',
      'vite.config.ts': plugged('adapter-static', ''),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, isSite: true, publishDirectory: 'build' },
  },
  {
    title: "SvelteKit that is set up where Vite is, with pages and a fallback of another plugin's",
    files: {
      'package.json': manifest(KIT, [], ['@sveltejs/kit', '@sveltejs/adapter-static']),
      'vite.config.ts': `${plugged('adapter-static', '{ strict: false }')}i18n({ fallback: 'en', pages: 'src/pages' })\n`,
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'build', singlePage: false },
  },
]
