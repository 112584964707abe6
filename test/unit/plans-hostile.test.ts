import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { NO_SETTINGS, planDirectory } from '#plans/index.ts'
import { PlannedTree } from '../support/planned-tree.ts'

let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

type Files = Record<string, string | object>

const startable = { scripts: { start: 'node x.js' } }
const MIB = 1024 * 1024

/** A manifest of every language at once. */
const ALL_MANIFESTS: Files = Object.fromEntries(
  [
    'go.mod mix.exs gleam.toml build.sbt pom.xml build.gradle project.clj deps.edn x.csproj Gemfile Gemfile.lock',
    'Cargo.toml deno.lock bun.lock pnpm-lock.yaml yarn.lock requirements.txt pyproject.toml Pipfile manage.py',
    'mkdocs.yml hugo.toml config.toml _config.yml config.ru index.php main.py main.ts server.js app.rb artisan',
    '.nvmrc .node-version .tool-versions mise.toml .python-version runtime.txt .ruby-version .java-version .sdkmanrc',
    'Procfile Aptfile turbo.json nx.json pnpm-workspace.yaml angular.json tsconfig.json poetry.lock uv.lock pdm.lock',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [name, '']),
)

test('handles fifty manifests at once', async () => {
  const files = {
    ...ALL_MANIFESTS,
    'main.go': 'package main\n',
    'package.json': startable,
    'composer.json': '{}',
  }
  expect(Object.keys(files).length).toBeGreaterThan(50)
  expect((await tree.plan(files)).name).toBe('go')
})

test.each<[string, Files, string]>([
  ['a package.json that is an array', { 'package.json': [] }, 'package.json is not a JSON object'],
  ['a package.json that is a text', { 'package.json': '"x"' }, 'package.json is not a JSON object'],
  [
    'a package.json in UTF-16',
    { 'package.json': Buffer.from('\ufeff{}', 'utf16le') },
    'package.json is written in UTF-16, which node does not read: save it as UTF-8',
  ],
  ['a package.json of invalid UTF-8', { 'package.json': '{"\u0000' }, 'package.json is not valid JSON'],
  ['a package.json of 5 MiB', { 'package.json': 'x'.repeat(5 * MIB) }, 'make it smaller'],
  ['a composer.json with a comma too many', { 'composer.json': '{"require": {},}' }, 'is not valid JSON ('],
  ['a composer.json that is a list', { 'composer.json': [] }, 'composer.json is not a valid JSON object'],
  [
    'a workspace of more packages than a person has',
    {
      'package.json': { workspaces: ['p/*'] },
      ...Object.fromEntries(Array.from({ length: 1_001 }, (_, at) => [`p/${at}/package.json`, '{}'])),
    },
    'more than 1000 packages',
  ],
  [
    'a broken package of a workspace',
    { 'package.json': { workspaces: ['p/*'] }, 'p/a/package.json': '[]' },
    'p/a/package.json is not a JSON object',
  ],
])('refuses %s in words', async (_title, files, said) => {
  await expect(tree.plan(files)).rejects.toMatchObject({
    name: 'BuildFailure',
    message: expect.stringContaining(said) as string,
  })
})

test.each<[string, Files]>([
  [
    'fields of other types than they should have',
    {
      'package.json': {
        name: 7,
        scripts: ['x'],
        dependencies: { a: {} },
        workspaces: { packages: 1 },
        engines: [],
        volta: null,
        devEngines: { runtime: [] },
        main: {},
        start: 1,
      },
      'server.js': '',
    },
  ],
  [
    'names that every object has',
    {
      'package.json': {
        scripts: { start: 'npm run constructor && npm run __proto__ && toString' },
        devDependencies: { constructor: '1', valueOf: '2' },
      },
      '.nvmrc': 'lts/constructor',
    },
  ],
  [
    'scripts that call each other',
    { 'package.json': { scripts: { start: 'npm run a', a: 'npm run start && npm run a' } } },
  ],
  [
    'scripts that multiply each other',
    {
      'package.json': {
        scripts: Object.fromEntries(
          ['start', 'b', 'c', 'd', 'e', 'f'].map((name, at, all) => [
            name,
            Array.from({ length: 5_000 }, () => `npm run ${all[at + 1] ?? 'g'}`).join(' && '),
          ]),
        ),
      },
    },
  ],
  [
    'imports that lead nowhere, in files that import each other',
    {
      'package.json': {
        scripts: { start: Array.from({ length: 500 }, (_, at) => `node ${at % 50}.js`).join(' && ') },
        devDependencies: { x: '1' },
      },
      ...Object.fromEntries(
        Array.from({ length: 50 }, (_, at) => [
          `${at}.js`,
          `import './${(at + 1) % 50}.js'\n${Array.from({ length: 2_000 }, (_each, line) => `import './no/${at}-${line}'`).join('\n')}`,
        ]),
      ),
    },
  ],
  [
    'more packages of Go than a line of a Dockerfile takes',
    {
      'go.mod': `module x\n// +heroku install ${'./a '.repeat(100_000)}\n`,
      'main.go': 'package main\n',
      Procfile: 'web: x\n',
    },
  ],
  ['an app.json that is nested deeply', { 'main.py': '', 'app.json': '['.repeat(30_000) }],
  ['a Staticfile that leads out of the tree', { Staticfile: 'root: ../../etc\n', 'main.py': '' }],
  [
    'open brackets where CMake has arguments',
    { 'CMakeLists.txt': `${'add_executable ( '.repeat(100_000)}\nproject${' '.repeat(1_000_000)}` },
  ],
  [
    'patterns with only stars',
    {
      'package.json': {
        ...startable,
        workspaces: ['**', `!${'**/'.repeat(500)}x`, `!${'**/*/'.repeat(500)}x`],
      },
      'a/b/c/d/e/package.json': {},
    },
  ],
  [
    'a thousand local dependencies',
    {
      'package.json': {
        ...startable,
        dependencies: Object.fromEntries(
          Array.from({ length: 1_000 }, (_, at) => [`p${at}`, `file:./p${at}`]),
        ),
      },
    },
  ],
  ['a lock file of 10 MiB', { 'package.json': startable, 'pnpm-lock.yaml': 'x: y\n'.repeat(2 * MIB) }],
  [
    'packages that need each other',
    {
      'package.json': { workspaces: ['p/*'], scripts: { start: 'node x' } },
      'p/a/package.json': { name: 'a', dependencies: { b: '*' } },
      'p/b/package.json': { name: 'b', dependencies: { a: '*' } },
    },
  ],
  [
    'requirements that include each other',
    {
      'requirements.txt': '-r a.txt\n',
      'a.txt': '-r requirements.txt\n-r ../../etc/passwd\n',
      'main.py': '',
    },
  ],
  [
    'a thousand folders that could be meant',
    Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`p${at}/package.json`, startable])),
  ],
  [
    'a folder below whose file cannot be read',
    { 'a/package.json': 'x'.repeat(5 * MIB), 'b/requirements.txt': '-r ../../../etc/passwd' },
  ],
  [
    'folders in folders',
    { 'package.json': { ...startable, workspaces: ['**'] }, [`${'a/'.repeat(500)}package.json`]: {} },
  ],
  [
    'a workspace of Cargo that leads out and around',
    {
      'Cargo.toml': '[workspace]\nmembers = ["../*", "/etc", "**", "a", "a/../a"]\n',
      'a/Cargo.toml': '[workspace]\n',
    },
  ],
  [
    'a thousand programs of a crate whose manifest has megabytes',
    {
      'Cargo.toml': `[package]\nname = "x"\n[dependencies]\n${'# axum\n'.repeat(MIB / 2)}`,
      ...Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`src/bin/p${at}.rs`, ''])),
    },
  ],
  [
    'a manifest of Rust that is nested deeply',
    { 'Cargo.toml': `x = ${'['.repeat(MIB)}`, 'src/bin/a.rs': '', 'src/bin/b.rs': '' },
  ],
  [
    'a workspace of Go that leads out',
    { 'go.work': 'use (\n../x\n./a/../../b\n/etc\n./a\n)\n', 'a/main.go': 'package main' },
  ],
  ...[
    `numpy${' '.repeat(MIB)}x`,
    `numpy==${'1.'.repeat(MIB / 2)}`,
    `numpy==1${','.repeat(MIB)}`,
    `numpy${'['.repeat(MIB)}==1`,
    `numpy==1;${' python_version'.repeat(MIB / 16)}`,
    `numpy==1; python_version${' '.repeat(MIB)}<`,
    `${'a'.repeat(MIB)}==1`,
    'numpy==1.0,<2,<3,<4\n'.repeat(MIB / 20),
  ].map((requirements): [string, Files] => [
    `a requirement such as ${requirements.split('\n', 1)[0]!.slice(0, 24).trim()}, of a megabyte`,
    { 'requirements.txt': `${requirements}\n`, 'main.py': '' },
  ]),
  ...['>'.repeat(MIB), '~8.'.repeat(MIB / 4), '8||'.repeat(MIB / 4), `8${' '.repeat(MIB)}`].map(
    (php): [string, Files] => [
      `a constraint of PHP such as ${php.slice(0, 12).trim()}, of a megabyte`,
      { 'composer.json': { require: { php, 'laravel/framework': php } }, 'index.php': '' },
    ],
  ),
  ...[
    `${' '.repeat(MIB)}a${' '.repeat(MIB)}`,
    `    app: ${'a'.repeat(MIB)}`,
    `    app${' = Quart'.repeat(MIB / 8)}`,
  ].map((line): [string, Files] => [
    `a factory of Python with a line such as ${line.trim().slice(0, 16).trim()}, of a megabyte`,
    { 'requirements.txt': 'quart\n', 'app.py': `def create_app():\n${line}\n` },
  ]),
  ...[
    `'${'a.'.repeat(MIB)}`,
    `'${'a'.repeat(MIB)}.settings`,
    `'a.settings${'.a'.repeat(MIB)}`,
    `'a${'.settings'.repeat(MIB / 16)}`,
    "'".repeat(MIB),
  ].map((text): [string, Files] => [
    `a manage.py with a name such as ${text.slice(0, 14)}, of a megabyte`,
    { 'requirements.txt': 'django\n', 'manage.py': `DJANGO_SETTINGS_MODULE = ${text}\n`, 'main.py': '' },
  ]),
  [
    'PHP packages that each require different versions',
    {
      'composer.json': { require: { php: '>=5' } },
      'composer.lock': {
        packages: Array.from({ length: 60_000 }, (_, at) => ({
          name: `p/${at}`,
          version: '1.0.0',
          require: {
            php: `7.${at}${Array.from({ length: 20 }, (_each, minor) => `|| ^8.${minor}`).join(' ')}`,
          },
        })),
      },
      'index.php': '',
    },
  ],
  ...[
    '{a,b}'.repeat(100_000),
    '{'.repeat(MIB),
    `${'{'.repeat(MIB / 4)}a,b${'}'.repeat(MIB / 4)}`,
    `${'{a,b}/'.repeat(7)}*`,
    `*/${'*a'.repeat(2_000)}`,
    `*/${'[a-'.repeat(MIB / 4)}`,
    `*/[${'!a-'.repeat(1_000)}]`,
    `!${'!'.repeat(MIB)}`,
    `packages/\u0000`,
  ].map((pattern): [string, Files] => [
    `a pattern of packages such as ${pattern.slice(0, 12)}, ${pattern.length} characters long`,
    {
      'package.json': { ...startable, workspaces: ['**', pattern, `!${pattern}`] },
      [`p/${'a'.repeat(200)}/package.json`]: {},
    },
  ]),
  [
    'exceptions that match a deep folder in many ways',
    {
      'package.json': {
        ...startable,
        workspaces: ['a/'.repeat(100), `!${'**/a/'.repeat(40)}x`, `!${'**/a*a*/'.repeat(40)}x`],
      },
      [`${'a/'.repeat(100)}package.json`]: {},
    },
  ],
  [
    'more patterns than a person writes',
    { 'package.json': { workspaces: Array.from({ length: 5_000 }, (_, at) => `p${at}`) } },
  ],
  [
    'a list of pnpm whose anchors multiply each other',
    {
      'package.json': startable,
      'pnpm-workspace.yaml': `a0: &a0 [p, p]\n${Array.from({ length: 60 }, (_, at) => `a${at + 1}: &a${at + 1} [*a${at}, *a${at}]\n`).join('')}packages: *a60\n`,
    },
  ],
  [
    'a list of pnpm that contains itself',
    { 'package.json': startable, 'pnpm-workspace.yaml': 'packages: &a [*a, p]\n' },
  ],
  [
    'a list of pnpm of a megabyte',
    { 'package.json': startable, 'pnpm-workspace.yaml': 'packages: [a]\n'.repeat(MIB / 14) },
  ],
  ...['[a,', '\na', '{', '? - ', '|\n ', '*a ', '&a '].map((run): [string, Files] => [
    `a list of pnpm with many of ${JSON.stringify(run)}`,
    { 'package.json': startable, 'pnpm-workspace.yaml': `packages:\n  - &a x\n  - ${run.repeat(10_000)}` },
  ]),
  [
    'keys of pnpm that are all compared',
    {
      'package.json': startable,
      'pnpm-workspace.yaml': Array.from({ length: 10_000 }, (_, at) => `k${at}: 1\n`).join(''),
    },
  ],
  [
    'packages that all need each other',
    {
      'package.json': { ...startable, workspaces: ['p/*'] },
      ...Object.fromEntries(
        Array.from({ length: 100 }, (_, at) => [
          `p/${at}/package.json`,
          {
            name: `p${at}`,
            dependencies: Object.fromEntries(Array.from({ length: 100 }, (_each, to) => [`p${to}`, '*'])),
          },
        ]),
      ),
    },
  ],
  [
    'exports of many names, each of which is imported',
    {
      'package.json': { ...startable, workspaces: ['p'], devDependencies: { x: '1' } },
      'x.js': Array.from({ length: 2_000 }, (_, at) => `import 'p/${at}'\n`).join(''),
      'p/package.json': {
        name: 'p',
        exports: Object.fromEntries(Array.from({ length: 20_000 }, (_, at) => [`./no${at}/*`, './*'])),
      },
      ...Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`p/${at}.js`, ''])),
    },
  ],
  [
    'a package whose exports are nested deep',
    {
      'package.json': { ...startable, workspaces: ['p'], devDependencies: { x: '1' } },
      'x.js': "import 'p'",
      'p/package.json': `{"name":"p","exports":${'{"import":'.repeat(5_000)}"./x"${'}'.repeat(5_000)}}`,
    },
  ],
  ['patterns that lead out', { 'package.json': { ...startable, workspaces: ['../*', '/etc', '**/**/**'] } }],
])('handles a tree with %s', async (_title, files) => {
  const answer = await tree.plan(files).catch((error: unknown) => error)
  if (answer instanceof Error) expect(answer.name).toBe('BuildFailure')
  else expect(answer).toHaveProperty('dockerfile')
})

test.each<[string, Files]>([
  ['a main', { 'package.json': { main: 'x.js\nRUN evil' }, 'server.js': '' }],
  ['a name', { 'package.json': { ...startable, name: 'x\nRUN evil' } }],
  [
    'a package of a workspace',
    {
      'package.json': { ...startable, workspaces: ['p/*'] },
      'p/a b\nRUN evil/package.json': { name: 'x\nRUN evil' },
      'p/a\u2028RUN evil/package.json': {},
      'p/a"\\/package.json': {},
    },
  ],
  ['a local dependency', { 'package.json': { ...startable, dependencies: { x: 'file:./x\nRUN evil' } } }],
  ['a line of the Aptfile', { 'package.json': startable, Aptfile: 'x;evil\ny && evil\n' }],
  [
    'the outDir of Vite',
    {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '1' } },
      'vite.config.js': "outDir: 'x\\nRUN evil'",
    },
  ],
  [
    "a folder of composer's",
    { 'composer.json': { extra: { 'public-dir': 'x>\nRUN evil' } }, 'index.php': '' },
  ],
  [
    'a version',
    {
      'package.json': { ...startable, packageManager: 'pnpm@9.1.0-x' },
      'mise.toml': '[tools]\nnode = "22\nRUN evil"',
    },
  ],
  ['a theme of Jekyll', { '_config.yml': 'theme: "x && evil"\nplugins:\n  - --evil\n', '_posts/x.md': '' }],
  [
    'a project of .NET',
    {
      'a b;evil.csproj': '',
      'x.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"><AssemblyName>x;evil</AssemblyName>',
    },
  ],
])('lets %s write nothing into the Dockerfile', async (_title, files) => {
  const { dockerfile } = await tree.plan(files)
  const lines = dockerfile.split('\n').filter((line) => !line.startsWith('CMD '))
  expect(lines.filter((line) => /^\s*RUN evil|; *evil|&& *evil|--evil/.test(line))).toEqual([])
})

test('names the folders that could be meant, and of many the first', async () => {
  const files = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`p${at}/package.json`, startable]))
  const refused = await tree.plan(files).catch((error: unknown) => error)
  expect(refused).toMatchObject({
    name: 'BuildFailure',
    message: expect.stringMatching(
      /set root_dir to one of p0 \(node\), p1 \(node\).*p17 \(node\)$/,
    ) as string,
  })
})

test('does not treat a folder that leads out of the project as a site', async () => {
  const options = { outputPath: { base: 'dist/x', browser: '../../..' } }
  const planned = await tree.plan({
    'package.json': { dependencies: { '@angular/core': '20' } },
    'angular.json': { projects: { x: { architect: { build: { builder: 'x:application', options } } } } },
  })
  expect(planned.publishDirectory).toBeNull()
})

test('does not treat a link that leads out of the tree, or around in it, as a file', async () => {
  await tree.plan({
    'package.json': { ...startable, workspaces: ['p/**'] },
    'p/a/package.json': { name: 'a' },
  })
  await symlink('..', join(tree.directory, 'p/a/around'))
  await symlink('/etc/hostname', join(tree.directory, '.nvmrc'))
  await mkdir(join(tree.directory, 'q'))
  await symlink('/', join(tree.directory, 'p/root'))
  await writeFile(join(tree.directory, 'q/x'), '')
  const planned = await planDirectory('auto', tree.directory, NO_SETTINGS)
  expect(planned.version).toBe('24')
  expect(Object.keys(planned.manifests)).toEqual(['package.json', 'p/a/package.json'])
})

test('handles scripts that each refer to all others', async () => {
  const scripts = Object.fromEntries(
    Array.from({ length: 2_000 }, (_, index) => [`s${index}`, 'run-p * * *']),
  )
  const planned = await tree.plan({ 'package.json': { scripts: { ...scripts, start: 'run-p *' } } })
  expect(planned.startCommand).toBe('run-p *')
})

test.each([
  ['package-lock.json', '['.repeat(MIB)],
  ['package-lock.json', '{"packages": {"__proto__": {"version": "1"}, "": []}}'],
  ['yarn.lock', `a${',b@1 '.repeat(MIB / 8)}:`],
  ['pnpm-lock.yaml', `importers:\n  .:\n    dependencies:\n${"      '".repeat(MIB / 8)}`],
  ['bun.lock', ', '.repeat(MIB / 2)],
])('handles a %s that is made to confuse', async (name, text) => {
  const files = { 'package.json': { ...startable, dependencies: { constructor: '1' } }, [name]: text }
  expect((await tree.plan(files)).startCommand).toMatch(/^(node x\.js|bun run start)$/)
})

test('writes nothing into the Dockerfile from a confusing Nx workspace', async () => {
  const application = (more: object) => ({ projectType: 'application', ...more })
  const planned = await tree.plan({
    'package.json': { dependencies: { nx: '21' } },
    'nx.json': {},
    'apps/a/project.json': application({ name: 'a; rm -rf /' }),
    'apps/b/project.json': application({ targets: { build: { options: { outputPath: '../x\nRUN y' } } } }),
  })
  expect(planned.publishDirectory).toBeNull()
  expect(planned.dockerfile).not.toMatch(/rm -rf \/|RUN y/)
})

test.each<[string, folder: string, more: object, file: Files]>([
  ['a folder', 'apps/a $(id)', { name: 'a' }, { 'next.config.js': '' }],
  ['a name that is an option', 'apps/a', { name: '--version' }, {}],
  [
    'an output that is an option',
    'apps/a',
    { targets: { build: { outputs: ['-x/y'] } } },
    { 'webpack.config.js': "target: 'node'" },
  ],
])('keeps %s of an Nx workspace out of commands', async (_title, folder, more, others) => {
  const planned = await tree.plan({
    'package.json': { dependencies: { nx: '21', next: '15' } },
    'nx.json': {},
    [`${folder}/project.json`]: { projectType: 'application', ...more },
    ...Object.fromEntries(Object.entries(others).map(([name, text]) => [`${folder}/${name}`, text])),
  })
  const commands = `${planned.buildCommand} ${planned.startCommand} ${planned.dockerfile}`
  expect(commands).not.toMatch(/\$\(id\)|--version|-x\/y/)
})

test('handles many packages that a deep path of a lock file sees above it', async () => {
  const names = Array.from({ length: 10_000 }, (_, at) => `p${at}`)
  const deep = `${'a/'.repeat(2_000)}node_modules/x`
  const planned = await tree.plan({
    'package.json': startable,
    'package-lock.json': {
      packages: {
        ...Object.fromEntries(names.map((name) => [`node_modules/${name}`, { version: '1.0.0' }])),
        [deep]: { dependencies: Object.fromEntries(names.map((name) => [name, '1'])) },
      },
    },
  })
  expect(planned.installCommand).toBe('npm ci --include=dev')
})

test('ignores a path of a lock file that no disk has', async () => {
  const deep = `${'a/'.repeat(100_000)}node_modules/x`
  const planned = await tree.plan({
    'package.json': startable,
    'package-lock.json': {
      packages: { '': {}, [deep]: { version: '1.0.0', dependencies: { missing: '1' } } },
    },
  })
  expect(planned.installCommand).toBe('npm ci --include=dev')
})
