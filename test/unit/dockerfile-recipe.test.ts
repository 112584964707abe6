import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { chooseRecipe } from '#daemon/builds/choose-recipe.ts'
import type { Recipe } from '#daemon/builds/recipe.ts'
import { NO_SETTINGS } from '#plans/index.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'recipe-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

async function recipe(
  files: Record<string, string>,
  secretNames: string[] = [],
  runtime = 'auto',
): Promise<Recipe> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  return await chooseRecipe({
    place: { directory, folder: '' },
    choice: {
      type: null,
      runtime,
      dockerfilePath: null,
      publishDirectory: null,
      settings: { ...NO_SETTINGS, secretNames },
    },
  })
}

const IMAGE = 'FROM scratch\nEXPOSE 3000\n'
const NODE = { 'package.json': '{"scripts": {"start": "node server.js"}}' }

describe('the Dockerfile of a tree', () => {
  test('may be outside the folder that is built, inside the source', async () => {
    await mkdir(join(directory, 'app'), { recursive: true })
    await mkdir(join(directory, 'docker'))
    await writeFile(join(directory, 'app/kept'), '')
    await writeFile(join(directory, 'docker/Dockerfile'), `# syntax=docker/dockerfile:1\n${IMAGE}`)
    await writeFile(join(directory, 'docker/Dockerfile.dockerignore'), 'left')
    const choice = {
      type: null,
      runtime: 'auto',
      publishDirectory: null,
      settings: NO_SETTINGS,
      frontend: 14,
    }
    const place = { directory, folder: 'app' }
    const found = await chooseRecipe({ place, choice: { ...choice, dockerfilePath: '../docker/Dockerfile' } })
    expect(found).toMatchObject({ runtime: 'docker', port: 3000, needsWhole: false })
    expect(found.file).toMatchObject({ kind: 'outside', path: 'docker/Dockerfile', ignore: 'left' })
    expect(found.notes).toEqual([
      'building with ../docker/Dockerfile',
      'using the engine\'s own Dockerfile frontend (1.14) instead of "# syntax=docker/dockerfile:1" in docker/Dockerfile',
      'leaving out the files that docker/Dockerfile.dockerignore lists',
    ])
    const elsewhere = { place, choice: { ...choice, dockerfilePath: '../../docker/Dockerfile' } }
    await expect(chooseRecipe(elsewhere)).rejects.toThrow(
      'there is no file ../docker/Dockerfile in the source',
    )
  })

  test.each(['Dockerfile', 'dockerfile', 'Containerfile'])('may be called %s', async (name) => {
    expect(await recipe({ 'README.md': '', [name]: IMAGE })).toMatchObject({
      runtime: 'docker',
      port: 3000,
      file: { kind: 'tree', path: name },
    })
  })

  test("is Docker's if there is one of Podman too", async () => {
    const { file } = await recipe({ Dockerfile: IMAGE, Containerfile: 'FROM fedora\n' })
    expect(file).toMatchObject({ path: 'Dockerfile' })
  })

  test.each(['dockerfile', 'Containerfile'])('named %s is not used next to a plan', async (name) => {
    expect(await recipe({ ...NODE, 'server.js': '', [name]: IMAGE })).toMatchObject({ runtime: 'node' })
  })

  test.each(['docker/Dockerfile', '.docker/dockerfile', 'scripts/Dockerfile'])(
    'in a folder for it is reported next to a plan: %s',
    async (path) => {
      const { runtime, notes } = await recipe({ ...NODE, 'server.js': '', [path]: IMAGE })
      expect(runtime).toBe('node')
      expect(notes).toContain(`${path} is not used: set dockerfile_path to build with it`)
    },
  )

  test.each<[what: string, path: string, files: Record<string, string>]>([
    ['copies what lies there', 'docker/Dockerfile', { 'src/main.hs': '', 'docker/run.sh': '' }],
    ['lies alone in it', '.docker/Dockerfile', { 'src/main.hs': '' }],
    [
      'copies files from its folder by their path from there',
      'deploy/Dockerfile',
      { 'deploy/src/x': '', 'src/x': '' },
    ],
  ])(
    'in a folder for it builds the source around it if nothing else can and it %s',
    async (_what, path, files) => {
      const Dockerfile = 'FROM x\nCOPY src /src\nCOPY . /all\nEXPOSE 3000\n'
      const found = await recipe({ 'README.md': '', ...files, [path]: Dockerfile })
      expect(found).toMatchObject({
        runtime: 'docker',
        file: { path },
        port: 3000,
        obstacle: null,
        rootDirectories: [],
      })
    },
  )

  test.each<[what: string, files: Record<string, string>, found: Partial<Recipe>]>([
    [
      'copies only files from its folder',
      { 'docker/Dockerfile': 'FROM x\nCOPY nginx.conf /etc\n', 'docker/nginx.conf': '' },
      { runtime: null, rootDirectories: ['docker'] },
    ],
    [
      'copies all of a folder with more',
      { 'docker/Dockerfile': 'FROM x\nCOPY . .\n', 'docker/main.pl': '' },
      { runtime: null, rootDirectories: ['docker'] },
    ],
    [
      'is next to a folder that can be built',
      { 'docker/Dockerfile': IMAGE, 'web/index.html': '' },
      { runtime: null, rootDirectories: ['docker', 'web'] },
    ],
    [
      'copies nothing',
      { 'docker/Dockerfile': 'FROM nginx\nCOPY --from=a /x /y\n', 'k8s.yaml': '' },
      { runtime: null, rootDirectories: ['docker'] },
    ],
    ['is empty', { 'docker/Dockerfile': '' }, { runtime: null, rootDirectories: ['docker'] }],
    ['is no text', { 'docker/Dockerfile': 'a\0b' }, { runtime: null, rootDirectories: ['docker'] }],
  ])('in a folder for it is not used if it %s', async (_what, files, found) => {
    expect(await recipe({ 'README.md': '', ...files })).toMatchObject(found)
  })

  test('in a folder for it is not used next to a site or one in the usual place', async () => {
    const trees: Record<string, string>[] = [{ 'index.html': '' }, { Dockerfile: IMAGE }]
    for (const files of trees) {
      const { notes } = await recipe({ ...files, 'docker/Dockerfile': IMAGE })
      expect(notes.join('\n')).not.toContain('docker/Dockerfile')
    }
  })

  test.each([
    ['Dockerfile.prod', 'Dockerfile.prod is a Dockerfile: set dockerfile_path to Dockerfile.prod'],
    ['web.Dockerfile', 'web.Dockerfile is a Dockerfile: set dockerfile_path to web.Dockerfile'],
    ['DOCKERFILE', 'DOCKERFILE is not read: on Linux its name is Dockerfile, so rename it'],
    ['Package.json', 'Package.json is not read: on Linux its name is package.json, so rename it'],
  ])('named only %s is reported', async (name, said) => {
    const { runtime, notes } = await recipe({ 'README.md': '', [name]: IMAGE })
    expect(runtime).toBeNull()
    expect(notes.join('\n')).toContain(said)
  })

  test('is not a file that only leaves files out of one', async () => {
    const { notes } = await recipe({ 'README.md': '', 'Dockerfile.dockerignore': 'x' })
    expect(notes.join('\n')).not.toContain('set dockerfile_path')
  })

  test('is not used if two other hosts name different ones', async () => {
    const files = {
      'fly.toml': '[build]\ndockerfile = "fly.Dockerfile"\n',
      'captain-definition': '{"dockerfilePath": "./web.Dockerfile"}',
      'fly.Dockerfile': IMAGE,
      'web.Dockerfile': IMAGE,
    }
    expect(await recipe({ ...NODE, 'server.js': '', ...files })).toMatchObject({ runtime: 'node' })
  })

  test('reports a folder that can be built, whichever name it has', async () => {
    const { rootDirectories } = await recipe({ 'README.md': '', 'api/Containerfile': IMAGE })
    expect(rootDirectories).toEqual(['api'])
  })

  test('is the one that CapRover builds with, if there is none in the usual place', async () => {
    const captain = '{"schemaVersion": 2, "dockerfilePath": "./deploy/web.Dockerfile"}'
    const files = { ...NODE, 'captain-definition': captain, 'deploy/web.Dockerfile': IMAGE }
    expect(await recipe(files)).toMatchObject({
      runtime: 'docker',
      file: { path: 'deploy/web.Dockerfile' },
    })
  })

  test('that CapRover names next to the usual one is reported', async () => {
    const captain = '{"dockerfilePath": "./web.Dockerfile"}'
    const { file, notes } = await recipe({ Dockerfile: IMAGE, 'captain-definition': captain })
    expect(file).toMatchObject({ path: 'Dockerfile' })
    expect(notes).toContain(
      'a file for another host builds with web.Dockerfile: to use that, set dockerfile_path',
    )
  })
})

const MAVEN = {
  'pom.xml':
    '<project><artifactId>shop</artifactId><dependencies><dependency><artifactId>spring-boot-starter-web</artifactId></dependency></dependencies></project>',
  'src/main/java/Shop.java': '',
}

describe('a Dockerfile that copies the result of an earlier build', () => {
  test.each([
    'COPY target/shop-1.0.jar app.jar',
    'COPY ./target/*.jar /app.jar',
    'ARG JAR_FILE=target/*.jar\nCOPY ${JAR_FILE} app.jar',
    'ADD --chown=app:app \\\n  target/shop.jar \\\n  /app.jar',
  ])('gives way to the plan of the language: %s', async (line) => {
    const files = {
      ...MAVEN,
      Dockerfile: `FROM eclipse-temurin:21\n${line}\nCMD ["java", "-jar", "app.jar"]\n`,
    }
    const found = await recipe(files)
    expect(found).toMatchObject({ runtime: 'java', obstacle: null })
    expect(found.notes[0]).toMatch(
      /^Dockerfile copies target\/\S+, which is the output of a build and not in the source, so Dockerfile is not used: set runtime to docker to build with it$/,
    )
  })

  test.each<[what: string, lines: string, more?: Record<string, string>]>([
    [
      'it comes from another stage',
      'FROM maven AS build\nFROM scratch\nCOPY --from=build /app/target/a.jar /a.jar',
    ],
    ['the source has it', 'COPY target/*.jar /a.jar', { 'target/a.jar': '' }],
    ['the whole source is copied', 'COPY . .'],
    [
      'nothing uses the stage',
      'COPY target/a.jar /a.jar\nFROM maven AS build\nFROM scratch\nCOPY --from=build /a /a',
    ],
    ['it is in a text in the file', 'RUN <<EOF\nCOPY dist FROM STDIN\nEOF'],
    ['what is missing is no output', 'COPY configuration.yml ./'],
    ['its variable is not known', 'ARG JAR_FILE\nCOPY ${JAR_FILE} app.jar'],
    ['a service gives its variable', 'ARG GIVEN=target/a.jar\nCOPY ${GIVEN} app.jar'],
    ['it is a text in the file', 'COPY <<target/a.jar /a.jar\ntarget/a.jar'],
  ])('is kept if %s', async (_what, lines, more = {}) => {
    const files = { ...MAVEN, Dockerfile: `FROM scratch\n${lines}\n`, ...more }
    expect(await recipe(files, ['GIVEN'])).toMatchObject({ runtime: 'docker' })
  })

  test('is kept if it is requested, or no plan can replace it', async () => {
    const Dockerfile = 'FROM scratch\nCOPY build/shop /shop\n'
    expect(await recipe({ ...MAVEN, Dockerfile }, [], 'docker')).toMatchObject({ runtime: 'docker' })
    await rm(join(directory, 'pom.xml'))
    const { runtime, notes } = await recipe({ Dockerfile })
    expect(runtime).toBe('docker')
    expect(notes.at(-1)).toBe(
      'Dockerfile copies build/shop, which is the output of a build and not in the source: build it in an earlier stage and copy it from there',
    )
  })

  test("of a site gives way to the site's build", async () => {
    const files = {
      'package.json': '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "*"}}',
      'index.html': '',
      Dockerfile: 'FROM nginx\nCOPY dist /usr/share/nginx/html\n',
    }
    expect(await recipe(files)).toMatchObject({ type: 'static_site', publishDirectory: 'dist' })
  })
})

describe('a tree without a program', () => {
  test.each<[what: string, files: Record<string, string>, holds: string]>([
    ['is empty', {}, 'the empty folder'],
    ['has a README alone', { 'README.md': '' }, 'the folder with README.md'],
    [
      'has words and pictures',
      { LICENSE: '', 'docs/a.md': '', 'shop.png': '', '.gitignore': '' },
      'the folder with .gitignore, LICENSE, docs/, shop.png',
    ],
  ])('is reported as such if it %s', async (_what, files, holds) => {
    const { runtime, notes } = await recipe(files)
    expect(runtime).toBeNull()
    expect(notes).toEqual([
      `no way to build this source was found: there is no program in ${holds}: push one, name the branch that has it, or set root_dir to its folder`,
    ])
  })

  test.each<Record<string, string>>([{ 'main.cob': '' }, { Makefile: '' }, { 'src/main.f90': '' }])(
    'is not the same as one in an unsupported language: %o',
    async (files) => {
      const { notes } = await recipe({ 'README.md': '', ...files })
      expect(notes.join('\n')).toContain('there is no Dockerfile')
    },
  )
})
