import { expect } from 'vitest'
import { manifest, type CorpusTree } from './tree.ts'

const NODE = { 'package.json': manifest({ start: 'node x.js' }) }
const node = (version: string) => ({ runtime: 'node', version })

const withManifest = (more: object): CorpusTree['files'] => ({
  'package.json': manifest({ start: 'node x.js' }, [], [], more),
})

/** Versions as people pin them, the stronger place before the weaker. */
export const PINS: CorpusTree[] = [
  { title: 'node by nothing', files: NODE, plan: node('24') },
  {
    title: 'node by .node-version',
    files: { ...NODE, '.node-version': 'v20.11.1\n', '.nvmrc': '18' },
    plan: node('20'),
  },
  {
    title: 'node by .nvmrc with a comment',
    files: { ...NODE, '.nvmrc': '# ours\nlts/jod\n' },
    plan: node('22'),
  },
  {
    title: 'node by .tool-versions',
    files: {
      ...withManifest({ engines: { node: '18' } }),
      '.tool-versions': 'python 3.12\nnodejs 20.1.0 # ours\n',
    },
    plan: node('20'),
  },
  {
    title: 'node by mise.toml',
    files: { ...NODE, 'mise.toml': '[env]\nnode = "16"\n[tools]\nnode = ["22", "20"]\n' },
    plan: node('22'),
  },
  {
    title: 'node by mise.toml as a table',
    files: { ...NODE, '.mise.toml': '[tools]\n"node" = { version = "20.5" }\n' },
    plan: node('20'),
  },
  {
    title: 'node by Volta',
    files: withManifest({ volta: { node: '18.20.2' }, engines: { node: '22' } }),
    plan: node('18'),
  },
  {
    title: 'node by devEngines',
    files: withManifest({
      devEngines: { runtime: { name: 'node', version: '^22.0.0' } },
      engines: { node: '18' },
    }),
    plan: node('22'),
  },
  { title: 'node by engines', files: withManifest({ engines: { node: '>=18 <21' } }), plan: node('20') },
  { title: 'node by wide engines', files: withManifest({ engines: { node: '>=12' } }), plan: node('24') },
  {
    title: 'a node that has no image',
    files: { ...NODE, '.nvmrc': '14' },
    plan: {
      ...node('16'),
      notes: expect.arrayContaining([
        expect.stringContaining('node 14 of .nvmrc has no base image: using the nearest, 16'),
      ]) as string[],
    },
  },
  {
    title: 'pnpm by engines',
    files: { ...withManifest({ engines: { pnpm: '>=9 <10' } }), 'pnpm-lock.yaml': '' },
    plan: node('24'),
    dockerfile: ['pnpm@9'],
  },
  {
    title: 'yarn by Volta',
    files: { ...withManifest({ volta: { node: '22.1.0', yarn: '1.22.19' } }), 'yarn.lock': '' },
    plan: node('22'),
    dockerfile: ['yarn@1.22.19'],
  },
  {
    title: 'npm by devEngines',
    files: withManifest({ devEngines: { packageManager: { name: 'pnpm', version: '^10' } } }),
    plan: node('24'),
    dockerfile: ['pnpm@10'],
  },
  {
    title: 'python by .python-version',
    files: { 'main.py': '', '.python-version': '3.11.4\n', 'runtime.txt': 'python-3.9' },
    plan: { runtime: 'python', version: '3.11' },
  },
  {
    title: 'python by runtime.txt',
    files: { 'main.py': '', 'runtime.txt': 'python-3.12.1' },
    plan: { runtime: 'python', version: '3.12' },
  },
  {
    title: 'python by .tool-versions',
    files: {
      'main.py': '',
      '.tool-versions': 'python 3.10.14\n',
      'pyproject.toml': '[project]\nrequires-python = ">=3.12"\n',
    },
    plan: { runtime: 'python', version: '3.10' },
  },
  {
    title: 'python by requires-python',
    files: { 'pyproject.toml': '[project]\nrequires-python = ">=3.9,<3.12"\n', 'main.py': '' },
    plan: { runtime: 'python', version: '3.11' },
  },
  {
    title: 'a python that has no image',
    files: { 'main.py': '', 'runtime.txt': 'python-3.6.9' },
    plan: { runtime: 'python', version: '3.7' },
  },
  {
    title: 'ruby by its lock file before the Gemfile',
    files: {
      Gemfile: 'ruby "~> 3.1"\n',
      'Gemfile.lock': 'RUBY VERSION\n   ruby 3.2.4p170\n',
      'config.ru': '',
    },
    plan: { runtime: 'ruby', version: '3.2.4' },
  },
  {
    title: 'ruby by the Gemfile',
    files: { Gemfile: "ruby '3.3.5'\n", 'config.ru': '' },
    plan: { runtime: 'ruby', version: '3.3.5' },
  },
  {
    title: 'ruby by a range',
    files: { Gemfile: 'ruby "~> 3.2.0"\n', 'config.ru': '' },
    plan: { runtime: 'ruby', version: '3.2' },
  },
  {
    title: 'a ruby that has no image',
    files: { Gemfile: '', '.ruby-version': '2.5.9\n', 'config.ru': '' },
    plan: { runtime: 'ruby', version: '2.6' },
  },
  {
    title: 'go by its toolchain',
    files: { 'go.mod': 'module x\n\ngo 1.21\n\ntoolchain go1.24.1\n', 'main.go': 'package main' },
    plan: { runtime: 'go', version: '1.24' },
  },
  {
    title: 'an old go',
    files: { 'go.mod': 'module x\n\ngo 1.13\n', 'main.go': 'package main' },
    plan: { runtime: 'go', version: '1.25' },
  },
  {
    title: 'java by .sdkmanrc',
    files: { 'pom.xml': '<java.version>17</java.version>', '.sdkmanrc': '# x\njava=21.0.5-tem\n' },
    plan: { runtime: 'java', version: '21' },
  },
  {
    title: 'java as it was written once',
    files: { 'pom.xml': '<java.version>1.8</java.version>' },
    plan: { runtime: 'java', version: '8' },
  },
  {
    title: 'php by composer.json',
    files: { 'composer.json': { require: { php: '~8.2.0 || ~8.3.0' } }, 'index.php': '' },
    plan: { runtime: 'php', version: '8.3' },
  },
  {
    title: 'bun by .bun-version',
    files: { ...NODE, 'bun.lock': '', '.bun-version': '1.1.38\n' },
    plan: { runtime: 'bun', version: '1.1.38' },
  },
  {
    title: 'deno by .dvmrc',
    files: { 'deno.json': '{}', 'main.ts': '', '.dvmrc': '2.1.4' },
    plan: { runtime: 'deno', version: '2.1.4' },
  },
  {
    title: 'elixir by mise.toml',
    files: { 'mix.exs': 'app: :x', 'mise.toml': '[tools]\nelixir = "1.16.3-otp-26"\n' },
    plan: { runtime: 'elixir', version: '1.16-otp-26' },
  },
  {
    title: 'rust by its plain file',
    files: { 'Cargo.toml': '[package]\nname = "x"\n', 'rust-toolchain': '1.80\n' },
    plan: { runtime: 'rust', version: '1.80' },
  },
]

/** Versions that are not available, with the text of the refusal. */
export const REFUSED_PINS: [title: string, files: CorpusTree['files'], said: string][] = [
  [
    'no version of node',
    { ...NODE, '.nvmrc': 'banana' },
    '.nvmrc says "banana", which is not a version of node: write one such as 24',
  ],
  [
    'a node long gone',
    { ...NODE, '.node-version': '0.10' },
    '.node-version says "0.10", and there is no base image near node 0: write one of 16, 18',
  ],
  ['engines that are no range', withManifest({ engines: { node: '??' } }), 'engines.node of package.json'],
  [
    'Python 2',
    { 'main.py': '', 'runtime.txt': 'python-2.7.18' },
    'runtime.txt says "python-2.7.18", which is not a version of Python 3',
  ],
  [
    'an old Ruby',
    { Gemfile: '', 'config.ru': '', '.ruby-version': '2.3.1' },
    '.ruby-version says "2.3.1", and there is no base image near that Ruby: write one of 2.6',
  ],
  [
    'a Ruby that Bundler takes no other for',
    { Gemfile: 'ruby "2.7.2"\n', 'config.ru': '' },
    'there is no base image of it: write one of 2.7.4, 2.7.5',
  ],
  [
    'an old PHP',
    { 'composer.json': { require: { php: '~7.1.0' } }, 'index.php': '' },
    'composer.json asks for php "~7.1.0", and there is no base image near it: write one of 7.4',
  ],
  [
    'an old .NET',
    {
      'x.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net3.1</TargetFramework></Project>',
    },
    'x.csproj says "3"',
  ],
]
