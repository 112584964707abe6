import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { choosePlan, type ChosenPlan } from '../../daemon/builds/plans/index.ts'
import { NO_SETTINGS, type PlanSettings } from '../../daemon/builds/plans/plan.ts'
import { PlannedTree } from '../support/planned-tree.ts'

let tree: PlannedTree
beforeEach(async () => void (tree = await PlannedTree.make()))
afterEach(() => tree.remove())

type Files = Record<string, string | object>

const plan = (files: Files, settings: Partial<PlanSettings> = {}, runtime = 'auto'): Promise<ChosenPlan> =>
  tree.plan(files, settings, undefined, runtime)

const failure = (said: string) => ({ name: 'BuildFailure', message: expect.stringContaining(said) })
const startable = { scripts: { start: 'node server.js' } }
const base = ({ dockerfile }: ChosenPlan): string =>
  dockerfile.split('\n').findLast((line) => line.startsWith('FROM '))!

describe('choosing a plan', () => {
  test.each<[string, Files, string]>([
    ['a package.json', { 'package.json': startable }, 'node'],
    ['requirements', { 'requirements.txt': 'flask', 'main.py': '' }, 'python'],
    ['a plain Python file', { 'main.py': '' }, 'python'],
    ['a Go module', { 'go.mod': 'module x\n', 'main.go': 'package main\n' }, 'go'],
    [
      'a Django project with assets',
      { 'requirements.txt': '', 'main.py': '', 'package.json': { scripts: { build: 'x' } } },
      'python',
    ],
    [
      'a node program with a Python script',
      { 'package.json': startable, 'tool.py': '', 'requirements.txt': 'x' },
      'node',
    ],
    [
      'a Go program with assets',
      { 'go.mod': 'module x\n', 'main.go': 'package main\n', 'package.json': startable },
      'go',
    ],
    [
      'a Rails application with assets',
      { Gemfile: '', 'config.ru': '', 'package.json': { scripts: { start: 'x' } } },
      'ruby',
    ],
    ['a node program with a Gemfile for its tools', { Gemfile: '', 'package.json': startable }, 'node'],
    [
      'a Laravel application with assets',
      { 'composer.json': {}, 'public/index.php': '', 'package.json': {} },
      'php',
    ],
    ['a plain index.php', { 'index.php': '' }, 'php'],
    ['a crate', { 'Cargo.toml': '[package]\nname = "x"\n' }, 'rust'],
    [
      'a Python package with an extension',
      { 'Cargo.toml': '', 'pyproject.toml': '', 'main.py': '' },
      'python',
    ],
    ['a Maven project', { 'pom.xml': '' }, 'java'],
    ['a Gradle project with assets', { 'build.gradle.kts': '', 'package.json': startable }, 'java'],
    ['a Mix project', { 'mix.exs': 'app: :x' }, 'elixir'],
    [
      'a Deno program with a package.json',
      { 'deno.json': '{}', 'main.ts': '', 'package.json': startable },
      'deno',
    ],
    ['the lock file of Bun', { 'bun.lock': '', 'package.json': startable }, 'bun'],
  ])('takes a tree with %s for what it is', async (_title, files, name) => {
    expect((await plan(files)).name).toBe(name)
  })

  test('leaves out the packages of PHP that Composer installs anew, and no others', async () => {
    const files = { 'index.php': '', 'vendor/autoload.php': '' }
    expect((await plan(files)).ignore).not.toContain('vendor')
    expect((await plan({ ...files, 'composer.json': '{}' })).ignore).toContain('vendor')
  })

  test('says what was looked for when nothing fits', async () => {
    await expect(plan({ 'README.md': 'x', 'src/x': '' })).rejects.toMatchObject(
      failure(
        'there is no Dockerfile, go.mod (go), mix.exs (elixir), gleam.toml (gleam), build.sbt (scala), pom.xml or build.gradle (java), project.clj or deps.edn (clojure), *.csproj (dotnet), Gemfile (ruby), composer.json or index.php (php), Cargo.toml (rust), deno.json (deno), bun.lock with a package.json (bun), requirements.txt, pyproject.toml, Pipfile, environment.yml or main.py (python), hugo.toml or config.toml (static), package.json (node), CMakeLists.txt or meson.build (cpp), start.sh (shell), book.toml (static) in the folder with README.md, src/',
      ),
    )
    await expect(plan({})).rejects.toMatchObject(failure('the empty folder'))
  })

  test.each([
    ['config.ru', 'config.ru is Ruby: add a Gemfile'],
    ['streamlit_app.py', 'streamlit_app.py is Python: add a requirements.txt'],
    ['list.html', 'list.html is a page, but there is no index.html'],
    ['compose.yml', 'compose.yml describes services: convert it to a blueprint'],
    ['shard.yml', 'there is no plan for Crystal: add a Dockerfile'],
    ['index.ts', 'index.ts is for node: add a package.json'],
  ])('says what a tree with %s alone lacks', async (name, said) => {
    await expect(plan({ 'README.md': '', [name]: '' })).rejects.toMatchObject(failure(said))
  })

  test('says what a named runtime lacks, and which there are', async () => {
    await expect(plan({ a: '' }, {}, 'node')).rejects.toMatchObject(
      failure('the runtime is node, but there is no package.json'),
    )
    await expect(plan({ a: '' }, {}, 'cobol')).rejects.toMatchObject(
      failure(
        'set runtime to one of go, elixir, gleam, scala, java, clojure, dotnet, ruby, php, rust, deno, bun, python, static, node',
      ),
    )
  })

  test('follows no link out of the tree', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    await writeFile(join(outside, 'package.json'), JSON.stringify(startable))
    try {
      await symlink(join(outside, 'package.json'), join(tree.directory, 'package.json'))
      await expect(choosePlan('auto', tree.directory, NO_SETTINGS)).rejects.toMatchObject(
        failure('no way to build'),
      )
    } finally {
      await rm(outside, { recursive: true })
    }
  })
})

describe('every plan', () => {
  const trees: Files[] = [
    { 'package.json': startable },
    { 'requirements.txt': 'flask', 'main.py': '' },
    { 'go.mod': 'module x\n', 'main.go': 'package main\n' },
    { Gemfile: '', 'config.ru': '', 'package.json': {} },
    { 'composer.json': {}, 'index.php': '' },
    { 'Cargo.toml': '[package]\nname = "x"\n' },
    { 'bun.lock': '', 'package.json': startable },
  ]

  test.each(trees)(
    'mounts the variables as secrets of the commands that build, and none is in the image: %j',
    async (files) => {
      const { dockerfile } = await plan(files, {
        secretNames: ['A', 'TOKEN'],
        buildCommand: 'make',
        startCommand: 'run',
      })
      const steps = dockerfile
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .filter((line) => line.startsWith('RUN --mount=type=cache'))
      expect(steps.length).toBeGreaterThan(0)
      for (const line of steps)
        expect(line).toContain('--mount=type=secret,id=A --mount=type=secret,id=TOKEN')
      expect(dockerfile.slice(dockerfile.lastIndexOf('FROM'))).not.toMatch(/secret|TOKEN/)
    },
  )

  test.each(trees)('runs as a user of its own and by a shell that steps aside: %j', async (files) => {
    const { dockerfile } = await plan(files, { startCommand: 'serve --port $PORT', buildCommand: 'make' })
    expect(dockerfile).toMatch(/\nUSER 1000:1000\nCMD \["\/bin\/sh","-c","exec serve --port \$PORT"\]\n$/)
  })

  test.each(trees)('takes its base images from the registry that was named: %j', async (files) => {
    const { dockerfile } = await plan(files, { baseImageRegistry: 'mirror.test/hub/' })
    const stages = [...dockerfile.matchAll(/ AS (\w+)$/gm)].map((match) => match[1])
    const bases = [...dockerfile.matchAll(/^(?:FROM |COPY --from=)(\S+)/gm)]
      .map((match) => match[1])
      .filter((name) => !stages.includes(name))
    for (const name of bases) expect(name).toMatch(/^mirror\.test\/hub\/[a-z/]+:/)
  })

  test.each(trees)('keeps to what the frontend of Docker 20.10 reads: %j', async (files) => {
    const { dockerfile } = await plan(files, {
      buildCommand: 'cat <<EOF\nx\nEOF',
      secretNames: ['A'],
      startCommand: 'x',
    })
    expect(dockerfile).not.toMatch(/<<EOF\n|--link|,env=|# syntax/)
    expect(dockerfile).toContain('["/bin/sh","/usr/local/bin/build-step","cat <<EOF\\nx\\nEOF"]')
  })

  test.each(trees)('runs the build command again when the variables changed: %j', async (files) => {
    const settings = { buildCommand: 'make', startCommand: 'x', secretNames: ['A'] }
    const [one, two] = [
      await plan(files, { ...settings, secretsDigest: '1' }),
      await plan(files, { ...settings, secretsDigest: '2' }),
    ]
    expect(one.dockerfile).not.toBe(two.dockerfile)
    expect(one.dockerfile.indexOf('ARG DEPLOYER_VARIABLES=1')).toBeLessThan(one.dockerfile.indexOf('make'))
  })
})

describe('the node plan', () => {
  test.each<[string, Files, string]>([
    ['nothing', {}, '24'],
    ['.node-version', { '.node-version': 'v20.11.1\n' }, '20'],
    ['.nvmrc', { '.nvmrc': 'lts/jod' }, '22'],
    ['.nvmrc with a comment', { '.nvmrc': '# ours\n18.x\n' }, '18'],
    ['.nvmrc for the newest', { '.nvmrc': 'lts/*' }, '24'],
    ['engines', { 'package.json': { ...startable, engines: { node: '>=18 <21' } } }, '20'],
    ['wide engines', { 'package.json': { ...startable, engines: { node: '>=12' } } }, '24'],
    [
      'engines beyond the current line',
      { 'package.json': { ...startable, engines: { node: '>=26' } } },
      '26',
    ],
    [
      '.node-version before engines',
      { '.node-version': '22', 'package.json': { ...startable, engines: { node: '20' } } },
      '22',
    ],
  ])('takes the version by %s', async (_title, files, major) => {
    expect(base(await plan({ 'package.json': startable, ...files }))).toBe(`FROM node:${major}-bookworm-slim`)
  })

  test('says which version it cannot read', async () => {
    await expect(plan({ 'package.json': startable, '.nvmrc': 'banana' })).rejects.toMatchObject(
      failure('.nvmrc says "banana"'),
    )
    await expect(plan({ 'package.json': { ...startable, engines: { node: '??' } } })).rejects.toMatchObject(
      failure('engines.node'),
    )
  })

  test.each<[string, Files, string]>([
    ['npm without a lock file', {}, 'npm install --omit=dev'],
    ['npm', { 'package-lock.json': '{}' }, 'npm ci --omit=dev'],
    ['pnpm 10', { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" }, ' pnpm@10\n'],
    ['pnpm 8', { 'pnpm-lock.yaml': "lockfileVersion: '6.0'\n" }, ' pnpm@8\n'],
    ['yarn 1', { 'yarn.lock': '# yarn lockfile v1\n' }, ' yarn@1.22.22\n'],
    ['yarn 4', { 'yarn.lock': '__metadata:\n  version: 8\n' }, ' @yarnpkg/cli-dist@4\n'],
    [
      'the named one',
      {
        'package.json': { ...startable, packageManager: 'pnpm@9.1.0+sha512.abc' },
        'package-lock.json': '{}',
      },
      ' pnpm@9.1.0\n',
    ],
    [
      'a named yarn',
      { 'package.json': { ...startable, packageManager: 'yarn@3.6.0' } },
      ' @yarnpkg/cli-dist@3.6.0\n',
    ],
  ])('installs with %s', async (_title, files, said) => {
    expect((await plan({ 'package.json': startable, ...files })).dockerfile).toContain(said)
  })

  const firstInstall = (text: string): number => text.indexOf('npm ci')
  const lock = { 'package-lock.json': '{}', '.npmrc': 'a=b' }

  test('installs by the manifests alone, before it copies the code', async () => {
    const made = await plan({ 'package.json': startable, ...lock })
    expect(made.dockerfile).toContain('COPY manifests/ ./\nCOPY source/package-lock.json source/.npmrc ./')
    expect(firstInstall(made.dockerfile)).toBeLessThan(made.dockerfile.indexOf('COPY source/ ./'))
    for (const manifest of [
      { ...startable, workspaces: ['a'] },
      { scripts: { ...startable.scripts, postinstall: 'patch-package' } },
      { ...startable, dependencies: { x: 'file:./x' } },
    ]) {
      const { dockerfile } = await plan({ 'package.json': manifest, 'x/package.json': {}, ...lock })
      expect(firstInstall(dockerfile)).toBeLessThan(dockerfile.indexOf('COPY source/ ./'))
    }
  })

  test("runs the project's own scripts for installation when the code is there", async () => {
    const manifest = { scripts: { ...startable.scripts, postinstall: 'patch-package', prepare: 'husky' } }
    const { dockerfile, manifests } = await plan({ 'package.json': manifest, ...lock })
    expect(JSON.parse(manifests['package.json']!)).toEqual(startable)
    const run = dockerfile.indexOf('npm run postinstall')
    expect(run).toBeGreaterThan(dockerfile.indexOf('COPY source/ ./'))
    expect(dockerfile).not.toContain('npm run prepare')
  })

  test('keeps packages out of the stage of the build, and those for development out of the image', async () => {
    const manifest = {
      scripts: { ...startable.scripts, build: 'tsc' },
      devDependencies: { typescript: '5' },
      dependencies: { koa: '3' },
    }
    const { dockerfile } = await plan({ 'package.json': manifest, ...lock })
    const stage = (name: string): string =>
      dockerfile.split('\nFROM ').find((part) => part.split('\n', 1)[0]!.endsWith(` AS ${name}`)) ?? ''
    expect(stage('packages')).toContain('npm ci --include=dev')
    expect(stage('production')).toContain('npm ci --omit=dev')
    expect(stage('build')).not.toContain('npm ci')
    expect(stage('build')).toMatch(/from=packages,source=\/app\/node_modules,[\s\S]*npm run build/)
    const final = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '))
    expect(final).toMatch(/COPY --from=production .* \/app \/app\nCOPY --from=build .* \/app \/app\n/)
    expect(final).not.toContain('packages')
    expect((await plan({ 'package.json': manifest }, { buildCommand: 'make all' })).dockerfile).not.toContain(
      'npm run build',
    )
  })

  test("mounts caches that are a service's own", async () => {
    const manifest = { scripts: { build: 'next build' }, dependencies: { next: '15' } }
    const { dockerfile } = await plan({ 'package.json': manifest }, { cacheScope: 'svc-1' })
    const ids = [...dockerfile.matchAll(/type=cache,id=(\S+?),target=(\S+)/g)]
    expect(ids.map(([, , target]) => target)).toContain('/app/.next/cache')
    for (const [, id, target] of ids) expect(id).toBe(`svc-1${target}`)
  })

  test.each<[string, Files, string]>([
    ['the script itself', { 'package.json': startable }, 'node server.js'],
    [
      'npm where the script needs it',
      { 'package.json': { scripts: { start: 'npm run serve' } } },
      'npm start',
    ],
    [
      'npm where there is a script before it',
      { 'package.json': { scripts: { start: 'node x', prestart: 'y' } } },
      'npm start',
    ],
    [
      'pnpm where the script needs it',
      { 'package.json': { scripts: { start: 'pnpm -r start' } }, 'pnpm-lock.yaml': '' },
      'pnpm start',
    ],
    [
      'the line of the Procfile',
      { 'package.json': startable, Procfile: 'release: x\r\nweb: node web.js $PORT\r\n' },
      'node web.js $PORT',
    ],
    [
      'the script when the Procfile has no line',
      { 'package.json': startable, Procfile: 'worker: x' },
      'node server.js',
    ],
    ['main', { 'package.json': { main: './lib/x.js' }, 'lib/x.js': '', 'server.js': '' }, 'node lib/x.js'],
    ['main without its ending', { 'package.json': { main: 'lib/x' }, 'lib/x.js': '' }, 'node lib/x.js'],
    ['server.js', { 'package.json': {}, 'server.js': '' }, 'node server.js'],
  ])('starts with %s', async (_title, files, command) => {
    expect((await plan(files)).startCommand).toBe(command)
  })

  test("starts a worker with its own line of the Procfile, and anything with the service's own command", async () => {
    const files = { 'package.json': startable, Procfile: 'web: a\nworker: node worker.js' }
    expect((await plan(files, { processType: 'worker' })).startCommand).toBe('node worker.js')
    expect((await plan(files, { startCommand: 'mine' })).startCommand).toBe('mine')
  })

  test('says how to name a start command when there is none', async () => {
    expect((await plan({ 'package.json': { main: 'missing.js' } })).obstacle).toContain(
      'add a script "start"',
    )
  })

  test.each<[string, Files, string]>([
    ['broken', { 'package.json': '{' }, 'package.json is not valid JSON'],
    ['no object', { 'package.json': '[]' }, 'not a JSON object'],
    [
      'with an unknown manager',
      { 'package.json': { ...startable, packageManager: 'cnpm@1.0.0' } },
      'write npm, pnpm, yarn or bun',
    ],
  ])('says that package.json is %s', async (_title, files, said) => {
    await expect(plan(files)).rejects.toMatchObject(failure(said))
  })

  test('lets no field of package.json write into the Dockerfile', async () => {
    const evil = 'x\nRUN evil'
    const manifest = {
      main: evil,
      scripts: { start: `node a\nUSER root`, build: evil },
      engines: { node: '24' },
    }
    const { dockerfile } = await plan({ 'package.json': manifest, [`server.js`]: '' })
    expect(dockerfile).not.toMatch(/^(RUN evil|USER root)/m)
    await expect(
      plan({ 'package.json': { ...startable, packageManager: 'pnpm@9.0.0\nRUN evil' } }),
    ).rejects.toMatchObject(failure('packageManager'))
  })
})

describe('the python plan', () => {
  test.each<[string, Files, string]>([
    ['nothing', {}, '3.13'],
    ['.python-version', { '.python-version': '3.11.4\n' }, '3.11'],
    ['runtime.txt', { 'runtime.txt': 'python-3.12.1' }, '3.12'],
    ['requires-python', { 'pyproject.toml': '[project]\nrequires-python = ">=3.9,<3.12"\n' }, '3.11'],
    ['a compatible release', { 'pyproject.toml': '[project]\nrequires-python = "~=3.10"\n' }, '3.13'],
    ["Poetry's caret", { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.10"\n' }, '3.13'],
    ['an exact minor version', { 'pyproject.toml': '[project]\nrequires-python = "==3.12.*"\n' }, '3.12'],
    ['Pipfile', { Pipfile: '[requires]\npython_version = "3.10"\n' }, '3.10'],
  ])('takes the version by %s', async (_title, files, version) => {
    expect(base(await plan({ 'main.py': '', ...files }))).toBe(`FROM python:${version}-slim-bookworm`)
  })

  test('says which version it cannot read', async () => {
    await expect(plan({ 'main.py': '', 'runtime.txt': 'python-2.7' })).rejects.toMatchObject(
      failure('runtime.txt says "python-2.7"'),
    )
  })

  test.each<[string, Files, string]>([
    ['pip', { 'requirements.txt': 'flask==3\n' }, 'pip install -r requirements.txt'],
    [
      'uv',
      { 'uv.lock': '', 'pyproject.toml': '[project]\n' },
      'uv sync --frozen --no-dev --no-install-project',
    ],
    [
      'Poetry',
      { 'poetry.lock': '', 'pyproject.toml': '[tool.poetry]\n' },
      'poetry install --only main --no-root',
    ],
    ['Pipenv', { Pipfile: '', 'Pipfile.lock': '{}' }, 'pipenv sync'],
    ['pip from the project itself', { 'setup.py': '' }, 'pip install .'],
  ])('installs with %s', async (_title, files, said) => {
    expect((await plan({ 'main.py': '', ...files })).dockerfile).toContain(said)
  })

  test('copies the code first when the requirements name other files', async () => {
    const order = async (text: string): Promise<boolean> => {
      const { dockerfile } = await plan({ 'main.py': '', 'requirements.txt': text })
      return dockerfile.indexOf('COPY source/ ./') < dockerfile.indexOf('pip install -r')
    }
    expect(await order('flask\n')).toBe(false)
    expect(await order('-r base.txt\n')).toBe(false)
    expect(await order('flask\n./lib\n')).toBe(true)
  })

  test.each<[string, Files, string]>([
    [
      'Flask with gunicorn',
      { 'requirements.txt': 'Flask\ngunicorn==22', 'app.py': 'server = Flask(__name__)' },
      'gunicorn --bind 0.0.0.0:$PORT app:server',
    ],
    [
      'Flask alone',
      { 'requirements.txt': 'Flask', 'app.py': 'app = Flask(__name__)' },
      'gunicorn --bind 0.0.0.0:$PORT app:app',
    ],
    [
      'a Flask factory',
      { 'requirements.txt': 'gunicorn', 'wsgi.py': 'def create_app():' },
      'gunicorn --bind 0.0.0.0:$PORT "wsgi:create_app()"',
    ],
    [
      'FastAPI',
      { 'requirements.txt': 'fastapi', 'app/main.py': 'api: FastAPI = FastAPI()' },
      'uvicorn --host 0.0.0.0 --port $PORT app.main:api',
    ],
    [
      'Django',
      {
        'requirements.txt': 'django\ngunicorn',
        'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')",
      },
      'gunicorn --bind 0.0.0.0:$PORT site1.wsgi',
    ],
    ['a plain file', { 'requirements.txt': '', 'main.py': 'print()' }, 'python main.py'],
    ['a Procfile', { 'requirements.txt': '', Procfile: 'web: python x.py' }, 'python x.py'],
  ])('starts %s', async (_title, files, command) => {
    expect((await plan(files)).startCommand).toBe(command)
  })

  test('says how to name a start command when there is none', async () => {
    expect((await plan({ 'requirements.txt': 'x' })).obstacle).toContain('add a Procfile')
  })
})

describe('the go plan', () => {
  const main = 'package main\n'

  test.each<[string, string, string]>([
    ['its line', 'module x\n\ngo 1.22\n', '1.22'],
    ['its line with a patch', 'module x\n\ngo 1.23.4\n', '1.23'],
    ['the toolchain', 'module x\n\ngo 1.21\n\ntoolchain go1.24.1\n', '1.24'],
    ['the current one for old modules', 'module x\n\ngo 1.13\n', '1.25'],
    ['the current one without a line', 'module x\n', '1.25'],
  ])('takes the version by %s', async (_title, module, version) => {
    expect((await plan({ 'go.mod': module, 'main.go': main })).dockerfile).toContain(
      `FROM golang:${version}-bookworm AS build`,
    )
  })

  test.each<[string, Files, string]>([
    ['in the root', { 'x.go': main, 'cmd/a/main.go': main }, ' .\n'],
    ['below cmd/', { 'lib.go': 'package lib', 'cmd/a/main.go': main }, ' ./cmd/a\n'],
    ['with the name of the module', { 'cmd/a/main.go': main, 'cmd/hello/main.go': main }, ' ./cmd/hello\n'],
    ['with a usual name', { 'cmd/a/main.go': main, 'cmd/server/main.go': main }, ' ./cmd/server\n'],
  ])('builds the program %s', async (_title, files, said) => {
    const { dockerfile, startCommand } = await plan({ 'go.mod': 'module example.com/hello/v2\n', ...files })
    expect(dockerfile).toContain(`go build -trimpath -o /app/bin/server${said}`)
    expect(startCommand).toBe('/app/bin/server')
  })

  test('says which programs there are when it cannot choose, and that there is none', async () => {
    const several = await plan({ 'go.mod': 'module x\n', 'cmd/a/m.go': main, 'cmd/b/m.go': main })
    expect(several.obstacle).toContain('(./cmd/a, ./cmd/b)')
    const none = await plan({ 'go.mod': 'module x\n', 'lib.go': 'package lib', 'lib_test.go': main })
    expect(none.obstacle).toContain('no package main')
  })

  test('leaves out the download for what is vendored or lies beside', async () => {
    expect((await plan({ 'go.mod': 'module x\n', 'main.go': main })).dockerfile).toContain('go mod download')
    expect(
      (await plan({ 'go.mod': 'module x\n', 'main.go': main, 'vendor/modules.txt': '' })).dockerfile,
    ).not.toContain('download')
    expect(
      (await plan({ 'go.mod': 'module x\nreplace y => ./y\n', 'main.go': main })).dockerfile,
    ).not.toContain('download')
  })

  test('wants a start command beside a build command', async () => {
    const { obstacle } = await plan({ 'go.mod': 'module x\n' }, { buildCommand: 'make' })
    expect(obstacle).toContain('set start_command')
  })
})

test.each<[string, Files]>([
  ['Rails', { Gemfile: 'gem "rails"\n', 'config.ru': '', 'config/application.rb': '' }],
  ['PHP', { 'index.php': '' }],
  ['Next', { 'package.json': { scripts: { build: 'x' }, dependencies: { next: '15' } } }],
  ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app = FastAPI()' }],
])('a job in a tree of %s wants to be told what to run', async (_title, files) => {
  expect((await plan(files, { processType: 'job' })).obstacle).toMatch(/set start_command$/)
  const told = await plan(files, { processType: 'job', startCommand: 'tidy up' })
  expect(told).toMatchObject({ startCommand: 'tidy up', obstacle: null })
})

test("a site's own start command makes it a program", async () => {
  const files = { 'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } } }
  expect(await plan(files)).toMatchObject({ isSite: true, startCommand: null })
  const started = await plan(files, { startCommand: 'vite preview --host' })
  expect(started).toMatchObject({ isSite: false, startCommand: 'vite preview --host' })
  expect(started.dockerfile).not.toContain('--omit=dev')
})

test('Debian packages are installed to build and to run', async () => {
  const { dockerfile, aptPackages } = await plan(
    { 'package.json': startable, Aptfile: 'ffmpeg\n' },
    { aptPackages: ['libvips42'] },
  )
  expect(aptPackages).toEqual(['libvips42', 'ffmpeg'])
  expect(dockerfile.match(/ libvips42 ffmpeg /g)).toHaveLength(2)
})
