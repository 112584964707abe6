import { manifest, noted, NPM_LOCK, withNote, type CorpusTree } from './tree.ts'

const sass = (version: string): CorpusTree['files'] => ({
  'package.json': manifest({ start: 'node x.js' }, ['express'], [`node-sass@${version}`]),
})

const node = (version: string): CorpusTree['plan'] => ({ runtime: 'node', version })

/** Versions of node that packages, managers and old ranges ask for. */
export const NODE_VERSIONS: CorpusTree[] = [
  {
    title: 'a whole version of node under yarn, which takes no other by itself',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { node: '18.12.1' } }),
      'yarn.lock': '# yarn lockfile v1\n\nexpress@*:\n  version "5.1.0"\n',
    },
    plan: { runtime: 'node', version: '18', packageManager: 'yarn' },
    dockerfile: ['yarn install --frozen-lockfile --ignore-engines'],
  },
  {
    title: 'strict engines',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { node: '20.9.0' } }),
      '.npmrc': 'engine-strict=true\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', version: '20' },
    dockerfile: ['ENV npm_config_engine_strict=false'],
  },
  {
    title: 'a range of lines of pnpm, of which one wrote the lock file',
    files: {
      'package.json': manifest({ start: 'node x.js' }, ['express'], [], { engines: { pnpm: '>=8' } }),
      'pnpm-lock.yaml': "lockfileVersion: '6.1'\n",
    },
    plan: { runtime: 'node', packageManager: 'pnpm' },
    dockerfile: ['--no-update-notifier pnpm@8\n'],
  },
  {
    title: 'a node of ten years ago',
    files: {
      'package.json': manifest({ start: 'node x.js' }, [], [], { engines: { node: '8.x' } }),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      version: '16',
      notes: withNote(
        'node 8 of engines.node of package.json (8.x) has no base image: using the nearest, 16',
      ),
    },
  },
  {
    title: 'a range of old lines of node',
    files: {
      'package.json': manifest({ start: 'node x.js' }, [], [], { engines: { node: '>=10.16.0 <=14.x.x' } }),
    },
    plan: { runtime: 'node', version: '16' },
  },
  {
    title: 'an older compiler of Sass, which is for an older node',
    files: sass('^7.0.1'),
    plan: {
      ...node('16'),
      notes: noted('node 16 by node-sass ^7.0.1 of package.json, which supports none newer'),
    },
  },
  { title: 'the last of the older compilers of Sass', files: sass('9.0.0'), plan: node('20') },
  {
    title: 'a compiler of Sass that no image of node runs',
    files: sass('^4.14.1'),
    plan: { ...node('24'), notes: noted('use the package sass instead') },
  },
  {
    title: 'an older compiler of Sass beside a version that is pinned',
    files: { ...sass('^7.0.1'), '.nvmrc': '18' },
    plan: node('18'),
  },
]
