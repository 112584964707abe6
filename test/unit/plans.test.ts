import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { NO_SETTINGS, planDirectory } from '#plans/index.ts'
import { failure, plan, startable, tree, type Files } from './plan-of.ts'

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
  ])('recognizes a tree with %s', async (_title, files, name) => {
    expect((await plan(files)).name).toBe(name)
  })

  test('leaves out the PHP packages that Composer installs again, and no others', async () => {
    const files = { 'index.php': '', 'vendor/autoload.php': '' }
    expect((await plan(files)).ignore).not.toContain('vendor')
    expect((await plan({ ...files, 'composer.json': '{}' })).ignore).toContain('vendor')
  })

  test('says what was looked for if nothing fits', async () => {
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
    ['shard.yml', 'there is no plan for Crystal (shard.yml): add a Dockerfile'],
    ['index.ts', 'index.ts is for node: add a package.json'],
  ])('says what a tree with only %s lacks', async (name, said) => {
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

  test('does not follow a link out of the tree', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'outside-'))
    await writeFile(join(outside, 'package.json'), JSON.stringify(startable))
    try {
      await symlink(join(outside, 'package.json'), join(tree.directory, 'package.json'))
      await expect(planDirectory('auto', tree.directory, NO_SETTINGS)).rejects.toMatchObject(
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
    'mounts the variables and secret files as secrets for the commands that build, and puts none into the image: %j',
    async (files) => {
      const { dockerfile } = await plan(files, {
        secretNames: ['A', 'TOKEN'],
        secretFiles: ['npm.rc'],
        buildCommand: 'make',
        startCommand: 'run',
      })
      const steps = dockerfile
        .replaceAll(/\\\n\s*/g, '')
        .split('\n')
        .filter((line) => line.startsWith('RUN --mount=type=cache'))
      expect(steps.length).toBeGreaterThan(0)
      for (const line of steps)
        expect(line).toContain(
          '--mount=type=secret,id=A --mount=type=secret,id=TOKEN --mount=type=secret,id=npm.rc,target=/etc/secrets/npm.rc',
        )
      expect(dockerfile.slice(dockerfile.lastIndexOf('FROM'))).not.toMatch(/secret|TOKEN|npm\.rc/)
    },
  )

  test.each(trees)('runs as its own user and with a shell that steps aside: %j', async (files) => {
    const { dockerfile } = await plan(files, { startCommand: 'serve --port $PORT', buildCommand: 'make' })
    expect(dockerfile).toMatch(/\nUSER 1000:1000\nCMD \["\/bin\/sh","-c","exec serve --port \$PORT"\]\n$/)
  })

  test.each(trees)('takes its base images from the named registry: %j', async (files) => {
    const { dockerfile } = await plan(files, { baseImageRegistry: 'mirror.test/hub/' })
    const stages = [...dockerfile.matchAll(/ AS (\w+)$/gm)].map((match) => match[1])
    const bases = [...dockerfile.matchAll(/^(?:FROM |COPY --from=)(\S+)/gm)]
      .map((match) => match[1])
      .filter((name) => !stages.includes(name))
    for (const name of bases) expect(name).toMatch(/^mirror\.test\/hub\/[a-z/]+:/)
  })

  test.each(trees)('only uses what the frontend of Docker 20.10 can read: %j', async (files) => {
    const { dockerfile } = await plan(files, {
      buildCommand: 'cat <<EOF\nx\nEOF',
      secretNames: ['A'],
      startCommand: 'x',
    })
    expect(dockerfile).not.toMatch(/<<EOF\n|--link|,env=|# syntax/)
    expect(dockerfile).toContain('["/bin/sh","/usr/local/bin/build-step","cat <<EOF\\nx\\nEOF"]')
  })

  test.each(trees)('runs the build command again if the variables changed: %j', async (files) => {
    const settings = { buildCommand: 'make', startCommand: 'x', secretNames: ['A'] }
    const [one, two] = [
      await plan(files, { ...settings, secretsDigest: '1' }),
      await plan(files, { ...settings, secretsDigest: '2' }),
    ]
    expect(one.dockerfile).not.toBe(two.dockerfile)
    expect(one.dockerfile.indexOf('ARG DEPLOYER_VARIABLES=1')).toBeLessThan(one.dockerfile.indexOf('make'))
  })
})

test.each<[string, Files]>([
  ['Rails', { Gemfile: 'gem "rails"\n', 'config.ru': '', 'config/application.rb': '' }],
  ['PHP', { 'index.php': '' }],
  ['Next', { 'package.json': { scripts: { build: 'x' }, dependencies: { next: '15' } } }],
  ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app = FastAPI()' }],
])('a job in a tree of %s needs a command', async (_title, files) => {
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

test('Debian packages are installed for the build and at run time', async () => {
  const { dockerfile, aptPackages } = await plan(
    { 'package.json': startable, Aptfile: 'ffmpeg\n' },
    { aptPackages: ['libvips42'] },
  )
  expect(aptPackages).toEqual(['libvips42', 'ffmpeg'])
  expect(dockerfile.match(/ libvips42 ffmpeg /g)).toHaveLength(2)
})
