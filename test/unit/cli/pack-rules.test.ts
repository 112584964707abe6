import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DockerRules } from '../../../cli/client/pack/docker-rules.ts'
import { IgnoreRules } from '../../../daemon/builds/dockerignore.ts'
import { runs } from '../../support/runs.ts'
import { filesOf, folderOf, write } from './pack-folder.ts'

/** Git of this machine without settings of its user. */
const GIT = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }

/** The files of a folder that git would add. */
function byGit(folder: string): string[] {
  const listed = execFileSync('git', ['ls-files', '-z', '--others', '--exclude-standard'], {
    cwd: folder,
    env: GIT,
  })
  return listed.toString().split('\0').slice(0, -1).toSorted()
}

function initialize(folder: string): void {
  execFileSync('git', ['init', '--quiet'], { cwd: folder, env: GIT })
}

const NAMES = ['a', 'b', 'ab', 'c.x', 'dist', 'é']
const anyPath = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 })
  .map((names) => names.join('/'))
/** The files of a tree: a path that is a folder for another is left out. */
const anyTree = fc
  .uniqueArray(anyPath, { minLength: 1, maxLength: 12 })
  .map((paths) => paths.filter((path) => !paths.some((other) => other.startsWith(`${path}/`))))
const anyName = fc.constantFrom(...NAMES, '*', '**', '?', 'a*', '*b', '[ab]', '[!a]', '*.x', '\\a', 'd?st')
const anyPattern = fc
  .tuple(
    fc.constantFrom('', '', '!', '#', '\\!'),
    fc.constantFrom('', '', '/'),
    fc.array(anyName, { minLength: 1, maxLength: 3 }),
    fc.constantFrom('', '', '/', ' ', '\\ '),
  )
  .map(([mark, start, names, end]) => `${mark}${start}${names.join('/')}${end}`)
const anyPatterns = fc.array(anyPattern, { minLength: 1, maxLength: 5 }).map((lines) => lines.join('\n'))

describe('.gitignore', () => {
  test('leaves out what git leaves out, whatever its rules', async () => {
    const anyPlace = fc.constantFrom('.gitignore', 'a/.gitignore', 'a/b/.gitignore', 'dist/.gitignore')
    const anyRules = fc.dictionary(anyPlace, anyPatterns, { minKeys: 1, maxKeys: 3 })
    await fc.assert(
      fc.asyncProperty(anyTree, anyRules, anyPatterns, async (tree, rules, exclude) => {
        using folder = folderOf({})
        initialize(folder.path)
        const places = Object.keys(rules).filter(
          (place) => !tree.some((path) => place.startsWith(`${path}/`)),
        )
        for (const path of tree) write(folder.path, path, '')
        for (const place of places) write(folder.path, place, rules[place]!)
        write(folder.path, '.git/info/exclude', exclude)
        expect((await filesOf(folder.path)).toSorted()).toEqual(byGit(folder.path))
      }),
      { numRuns: runs(40) },
    )
  })

  test('counts together with those of the repository around the folder', async () => {
    using folder = folderOf({
      '.gitignore': '*.log\n/apps/web/cache\nbuilt\n/web',
      'apps/.gitignore': 'web/own',
      ...Object.fromEntries(
        ['x.log', 'cache', 'own', 'web', 'y', 'sub/cache', 'built/z', 'sub/.gitignore'].map((name) => [
          `apps/web/${name}`,
          'y',
        ]),
      ),
    })
    initialize(folder.path)
    const web = join(folder.path, 'apps/web')
    expect(await filesOf(web)).toEqual(['sub/.gitignore', 'sub/cache', 'web', 'y'])
    expect(await filesOf(web)).toEqual(byGit(web))
    // A folder that git leaves out as a whole can still be deployed by its name.
    expect(await filesOf(join(web, 'built'))).toEqual(['z'])
  })

  test('counts in a further working tree of a repository, with what that leaves out for itself', async () => {
    using folder = folderOf({ 'main/x': '' })
    const main = join(folder.path, 'main')
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', main, ...words], { env: GIT, stdio: 'pipe' })
    initialize(main)
    git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--quiet', '--allow-empty', '-m', 'first')
    git('worktree', 'add', '--quiet', '../other')
    write(main, '.git/info/exclude', 'secret')
    write(folder.path, 'other/secret', '')
    write(folder.path, 'other/open', '')
    const other = join(folder.path, 'other')
    expect(await filesOf(other)).toEqual(['open'])
    expect(byGit(other)).toEqual(['open'])
  })

  test('counts without a repository, and not at all if it is not wanted', async () => {
    using folder = folderOf({ '.gitignore': 'a', a: '', b: '', 'c/a': '', '.git/info/exclude': 'b' })
    expect(await filesOf(folder.path)).toEqual(['.gitignore'])
    expect(await filesOf(folder.path, { withGit: false })).toEqual(['.gitignore', 'a', 'b', 'c/a'])
    rmSync(join(folder.path, '.git'), { recursive: true })
    expect(await filesOf(folder.path)).toEqual(['.gitignore', 'b'])
  })
})

describe('.deployerignore', () => {
  test('is the end of the same list: git says the same of both in one file', async () => {
    await fc.assert(
      fc.asyncProperty(anyTree, anyPatterns, anyPatterns, async (tree, first, last) => {
        using folder = folderOf({ '.gitignore': first, '.deployerignore': last })
        for (const path of tree) write(folder.path, path, '')
        const own = (await filesOf(folder.path)).filter((path) => !path.endsWith('ignore'))
        initialize(folder.path)
        write(folder.path, '.gitignore', `${first}\n${last}`)
        expect(own.toSorted()).toEqual(byGit(folder.path).filter((path) => !path.endsWith('ignore')))
      }),
      { numRuns: runs(40) },
    )
  })

  test.each<[string, Record<string, string>, string[]]>([
    [
      'brings back a folder with all that is in it',
      {
        '.gitignore': 'dist/\n*.map',
        '.deployerignore': '!dist/',
        'dist/a': '',
        'dist/b/c': '',
        'dist/d.map': '',
      },
      ['dist/a', 'dist/b/c'],
    ],
    [
      'brings back what is left out by default',
      {
        '.deployerignore': '!node_modules\n!.env',
        'node_modules/a/index.js': '',
        '.env': '',
        '.env.local': '',
      },
      ['.env', 'node_modules/a/index.js'],
    ],
    [
      'of the top comes after the .gitignore of a folder',
      { 'a/.gitignore': '*', '.deployerignore': '!a/*', 'a/b': '' },
      ['a/.gitignore', 'a/b'],
    ],
    [
      'of a folder comes after that of the top',
      { '.deployerignore': 'b', 'a/.deployerignore': '!b', 'a/b': '', b: '' },
      ['a/b'],
    ],
    [
      'brings back nothing of a folder that stays left out',
      { '.gitignore': 'a', '.deployerignore': '!a/b', 'a/b': '' },
      [],
    ],
    [
      'never brings back what is never packed',
      { '.deployerignore': '!.git\n!.deployer.json', '.git/config': '', 'a/.deployer.json': '' },
      [],
    ],
  ])('%s', async (_title, files, expected) => {
    using folder = folderOf(files)
    const found = (await filesOf(folder.path)).filter(
      (path) => !/^\.(git|deployer)ignore$|^a\/\.deployerignore$/.test(path),
    )
    expect(found).toEqual(expected)
  })
})

test('what is made again and what holds secrets is left out by default', async () => {
  using folder = folderOf(
    Object.fromEntries(
      [
        '.env',
        '.env.local',
        '.env.example',
        'a/.env',
        'node_modules/x',
        'a/node_modules/x',
        '.venv/x',
        'a/__pycache__/x',
        '.DS_Store',
        '.hg/x',
        'a/.svn/x',
        '.envrc',
        'x',
      ].map((name) => [name, '']),
    ),
  )
  expect(await filesOf(folder.path)).toEqual(['.env.example', '.envrc', 'x'])
})

describe('.dockerignore', () => {
  const anyDockerName = fc.constantFrom(...NAMES, '*', '**', '?', 'a*', '*b', '[ab]', '[^a]', '\\a', '[a-c]')
  const anyDockerPattern = fc
    .tuple(
      fc.constantFrom('', '', '!', ' ', '#'),
      fc.constantFrom('', '', '/', './', 'a/../'),
      fc.array(anyDockerName, { minLength: 1, maxLength: 3 }),
      fc.constantFrom('', '', '/', ' '),
    )
    .map(([mark, start, names, end]) => `${mark}${start}${names.join('/')}${end}`)
  const anyDockerPatterns = fc.array(anyDockerPattern, { maxLength: 6 }).map((lines) => lines.join('\n'))

  test('leaves out what the server leaves out of a build', () => {
    fc.assert(
      fc.property(
        anyDockerPatterns,
        fc.uniqueArray(anyPath, { minLength: 1, maxLength: 12 }),
        (text, paths) => {
          const server = new IgnoreRules(text, '.dockerignore')
          const rules = new DockerRules(text, [], '.dockerignore')
          const isOut = (path: string): boolean => {
            const names = path.split('/')
            const last = names.reduce(
              (last, _, index) => rules.judge(names.slice(0, index + 1).join('/'), last).last,
              -1,
            )
            return rules.judge(path, last).isOut
          }
          expect(paths.filter(isOut)).toEqual(paths.filter((path) => server.leavesOut(path)))
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  test('finds the files of folders that it leaves out', async () => {
    await fc.assert(
      fc.asyncProperty(anyDockerPatterns, anyTree, async (text, tree) => {
        using folder = folderOf({ Dockerfile: 'FROM x', '.dockerignore': text })
        for (const path of tree) write(folder.path, path, '')
        const server = new IgnoreRules(text, '.dockerignore')
        const found = (await filesOf(folder.path)).filter(
          (path) => path !== 'Dockerfile' && path !== '.dockerignore',
        )
        expect(found.toSorted()).toEqual(tree.filter((path) => !server.leavesOut(path)).toSorted())
      }),
      { numRuns: runs(100) },
    )
  })

  test.each<[string, Record<string, string>, string[]]>([
    ['keeps the Dockerfile and itself', { '.dockerignore': '*', a: '' }, ['.dockerignore', 'Dockerfile']],
    [
      'brings back what .gitignore leaves out',
      {
        '.dockerignore': '*\n!dist\n!build/libs/*.jar',
        '.gitignore': 'dist/\nbuild/\n*.map',
        'dist/a': '',
        'dist/a.map': '',
        'build/libs/a.jar': '',
        'build/x': '',
      },
      ['.dockerignore', 'Dockerfile', 'build/libs/a.jar', 'dist/a'],
    ],
    [
      'brings back a folder in a folder that .gitignore leaves out',
      { '.dockerignore': '!x/y/z', '.gitignore': 'x', 'x/y/z/a': '', 'x/y/b': '' },
      ['.dockerignore', '.gitignore', 'Dockerfile', 'x/y/z/a'],
    ],
    [
      'does not bring back what is left out by default below a folder that it names',
      {
        '.dockerignore': '*\n!app\n!**/*.js',
        'app/node_modules/x.js': '',
        'app/.env': '',
        'app/a': '',
        'node_modules/y.js': '',
      },
      ['.dockerignore', 'Dockerfile', 'app/a'],
    ],
    [
      'gives way to .deployerignore',
      { '.dockerignore': 'docs\n!a', '.deployerignore': '!docs\n/a', 'docs/x': '', a: '' },
      ['.deployerignore', '.dockerignore', 'Dockerfile', 'docs/x'],
    ],
    [
      'gives way to .deployerignore in a folder that it leaves out',
      { '.dockerignore': 'docs', '.deployerignore': '!docs/x', 'docs/x': '', 'docs/y': '' },
      ['.deployerignore', '.dockerignore', 'Dockerfile', 'docs/x'],
    ],
    [
      "gives way to the Dockerfile's own",
      { '.dockerignore': 'a', 'Dockerfile.dockerignore': 'b', a: '', b: '' },
      ['.dockerignore', 'Dockerfile', 'Dockerfile.dockerignore', 'a'],
    ],
  ])('%s', async (_title, files, expected) => {
    using folder = folderOf({ Dockerfile: 'FROM x', ...files })
    expect(await filesOf(folder.path)).toEqual(expected)
  })

  test('counts only where a Dockerfile builds the service', async () => {
    using folder = folderOf({
      '.dockerignore': 'a',
      a: '',
      'app/.dockerignore': 'b',
      'app/b': '',
      'app/Dockerfile': '',
    })
    expect(await filesOf(folder.path)).toContain('a')
    expect(await filesOf(folder.path, { runtime: 'docker' })).toContain('a')
    expect(
      await filesOf(folder.path, { runtime: 'docker', dockerfile_path: 'app/Dockerfile' }),
    ).not.toContain('a')
    expect(await filesOf(folder.path, { root_dir: 'app' })).toEqual([
      '.dockerignore',
      'a',
      'app/.dockerignore',
      'app/Dockerfile',
    ])
    expect(await filesOf(folder.path, { root_dir: './app/', runtime: 'node' })).toContain('app/b')
    expect(await filesOf(folder.path, { root_dir: 'app', type: 'static_site' })).toContain('app/b')
  })

  test('that cannot be read is a fault with its pattern', async () => {
    using folder = folderOf({ Dockerfile: '', '.dockerignore': 'ok\na[' })
    await expect(filesOf(folder.path)).rejects.toMatchObject({
      exitCode: 2,
      message: '.dockerignore has the pattern "a[", which is invalid; correct it',
    })
  })
})

test('an empty folder is packed as such', async () => {
  using folder = folderOf({})
  mkdirSync(join(folder.path, 'empty'))
  expect(await filesOf(folder.path)).toEqual([])
})
