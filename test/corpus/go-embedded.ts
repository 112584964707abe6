import { manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

const PROGRAM = {
  'go.mod': 'module example.com/inbox\n\ngo 1.25\n',
  'main.go': 'package main\n\nfunc main() {}\n',
}

const BUILT = { build: 'vite build' }

const embedding = (pattern: string, head = ''): string =>
  `${head}package ui\n\nimport "embed"\n\n//go:embed ${pattern}\nvar files embed.FS\n`

/** A program whose folder `ui` has a front end, and the package that embeds it. */
const withFrontEnd = (source: string, more: CorpusTree['files'] = {}): CorpusTree['files'] => ({
  ...PROGRAM,
  'ui/serve.go': source,
  'ui/package.json': manifest(BUILT, [], ['vite']),
  'ui/package-lock.json': NPM_LOCK['package-lock.json'],
  ...more,
})

const FRONT_END = '(cd ui && npm ci --include=dev && npm run build && rm -rf node_modules) && go build'

/** Go programs that embed what npm builds, as many small servers do with their pages. */
export const GO_EMBEDDED: CorpusTree[] = [
  {
    title: 'Go that embeds the pages of a folder with a package.json, which git ignores',
    files: withFrontEnd(embedding('build/*')),
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/server .',
      notes: noted('ui/serve.go embeds ui/build, which the source does not have: building ui before it'),
    },
    dockerfile: ['FROM node:24-bookworm AS packages', FRONT_END],
  },
  {
    title: 'Go whose root embeds the pages of a front end two folders down, kept in git by a hidden file',
    files: {
      ...PROGRAM,
      'main.go': 'package main\n\n//go:embed all:web/app/dist\nvar files embed.FS\n\nfunc main() {}\n',
      'web/app/package.json': { ...manifest(BUILT), packageManager: 'pnpm@10.2.1' },
      'web/app/pnpm-lock.yaml': "lockfileVersion: '9.0'\n",
      'web/app/dist/.gitkeep': '',
    },
    plan: { runtime: 'go' },
    dockerfile: ['pnpm@10.2.1', '(cd web/app && pnpm install', '&& pnpm run build && rm -rf node_modules)'],
  },
  {
    title: 'Go that embeds pages in all builds but those for developers',
    files: withFrontEnd(embedding('all:dist', '//go:build !dev\n\n')),
    plan: { runtime: 'go' },
    dockerfile: [FRONT_END],
  },
  {
    title: 'Go with embedded pages that were built and committed',
    files: withFrontEnd(embedding('build/*'), { 'ui/build/index.html': '' }),
    plan: { runtime: 'go' },
    dockerfile: ['\n    go build -trimpath'],
    without: ['node:'],
  },
  {
    title: 'Go that embeds pages only with a tag',
    files: withFrontEnd(embedding('dist', '//go:build embed\n\n')),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go with embedded pages whose build is the service’s own',
    files: withFrontEnd(embedding('dist')),
    settings: { buildCommand: 'make server', startCommand: './server' },
    plan: { runtime: 'go', buildCommand: 'make server' },
    without: ['node:'],
  },
  {
    title: 'Go that embeds one file of a folder whose package.json builds nothing',
    files: withFrontEnd(embedding('index.html'), { 'ui/package.json': manifest({ lint: 'eslint .' }) }),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go that embeds a file without an ending beside a front end',
    files: withFrontEnd('package ui\n', {
      'main.go': 'package main\n\n//go:embed ui/VERSION\nvar version string\n\nfunc main() {}\n',
      'ui/VERSION': '1',
    }),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go beside a program for the desktop, which is not built here and embeds pages',
    files: {
      'go.mod': PROGRAM['go.mod'],
      'cmd/server/main.go': PROGRAM['main.go'],
      'desktop/main.go':
        'package main\n\n//go:embed all:frontend/dist\nvar files embed.FS\n\nfunc main() {}\n',
      'desktop/frontend/package.json': manifest(BUILT, [], ['vite']),
    },
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go beside a module of its own that embeds pages',
    files: {
      ...PROGRAM,
      'ui/go.mod': 'module example.com/ui\n',
      'ui/serve.go': embedding('dist'),
      'ui/package.json': manifest(BUILT, [], ['vite']),
    },
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go that embeds pages on Windows alone',
    files: {
      ...PROGRAM,
      'ui/tray_windows.go': embedding('dist'),
      'ui/package.json': manifest(BUILT, [], ['vite']),
    },
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go that embeds the pages of a front end below a folder whose package.json is for its authors',
    files: {
      ...PROGRAM,
      'main.go': 'package main\n\n//go:embed web/app/dist\nvar files embed.FS\n\nfunc main() {}\n',
      'web/package.json': manifest({ format: 'prettier .' }),
      'web/app/package.json': manifest(BUILT, [], ['vite']),
      'web/app/package-lock.json': NPM_LOCK['package-lock.json'],
    },
    plan: { runtime: 'go' },
    dockerfile: ['(cd web/app && npm ci'],
  },
  {
    title: 'Go that embeds templates beside a front end of its own',
    files: {
      ...PROGRAM,
      'pages/pages.go': embedding('templates/*.html static'),
      'pages/templates/index.html': '',
      'pages/static/site.css': '',
      'frontend/package.json': manifest(BUILT, [], ['vite']),
    },
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go that embeds pages in a group of variables',
    files: withFrontEnd(
      'package ui\n\nimport "embed"\n\nvar (\n\t//go:embed all:dist\n\tfiles embed.FS\n\n\t//go:embed dist/index.html\n\tindex embed.FS\n)\n',
    ),
    plan: { runtime: 'go' },
    dockerfile: [FRONT_END],
  },
  {
    title: 'Go that embeds pages which Vite writes beside the package that does it',
    files: withFrontEnd('package ui\n', {
      'internal/web/web.go': embedding('all:dist').replace('package ui', 'package web'),
      'ui/vite.config.ts':
        "import { defineConfig } from 'vite'\nexport default defineConfig({\n  build: {\n    outDir: '../internal/web/dist',\n    emptyOutDir: true,\n  },\n})\n",
    }),
    plan: {
      runtime: 'go',
      notes: noted(
        'internal/web/web.go embeds internal/web/dist, which the source does not have: building ui before it',
      ),
    },
    dockerfile: [FRONT_END],
  },
  {
    title: 'Go that embeds a part of pages which Vite writes to another folder by its own path',
    files: withFrontEnd('package ui\n', {
      'cmd/server/main.go':
        'package main\n\nimport "embed"\n\n//go:embed static/app/*\nvar files embed.FS\n\nfunc main() {}\n',
      'main.go': 'package inbox\n',
      'ui/vite.config.ts':
        "export default defineConfig({ build: { outDir: path.resolve(__dirname, '../cmd/server/static') } })\n",
    }),
    plan: { runtime: 'go' },
    dockerfile: ['(cd ui && npm ci'],
  },
  {
    title: 'Go that embeds pages which the command line of Vite puts below its root',
    files: withFrontEnd('package ui\n', {
      'internal/web/web.go': embedding('dist').replace('package ui', 'package web'),
      'ui/package.json': manifest(
        { build: 'tsc -b && vite build --outDir ../../internal/web/dist' },
        [],
        ['vite'],
      ),
      'ui/vite.config.ts': "export default { root: 'src' }\n",
    }),
    plan: { runtime: 'go' },
    dockerfile: ['(cd ui && npm ci'],
  },
  {
    title: 'Go with pages that Vite wrote to another folder and somebody committed',
    files: withFrontEnd('package ui\n', {
      'internal/web/web.go': embedding('all:dist').replace('package ui', 'package web'),
      'internal/web/dist/index.html': '',
      'ui/vite.config.ts': "export default { build: { outDir: '../internal/web/dist' } }\n",
    }),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go beside a front end that writes to another folder, of which nothing is embedded',
    files: withFrontEnd('package ui\n', {
      'internal/web/web.go': embedding('templates').replace('package ui', 'package web'),
      'ui/vite.config.ts': "export default { build: { outDir: '../internal/web/dist' } }\n",
    }),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
  {
    title: 'Go beside a front end that writes out of the source',
    files: withFrontEnd('package ui\n', {
      'internal/web/web.go': embedding('dist').replace('package ui', 'package web'),
      'ui/vite.config.ts': "export default { build: { outDir: '../../internal/web/dist' } }\n",
    }),
    plan: { runtime: 'go' },
    without: ['node:'],
  },
]
