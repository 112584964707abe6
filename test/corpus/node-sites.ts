import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

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

/** Front ends, whose builds are files for browsers. */
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
    dockerfile: ['--mount=type=bind,from=packages,source=/app/node_modules,target=/app/node_modules,rw'],
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
    dockerfile: ['target=/app/.angular/cache', 'NG_CLI_ANALYTICS=false'],
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
    dockerfile: ['target=/app/.parcel-cache'],
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
    dockerfile: ['target=/app/node_modules/.astro'],
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
    dockerfile: ['target=/app/.next/cache'],
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
]
