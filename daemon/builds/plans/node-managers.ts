import semver from 'semver'
import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import type { Manifest } from './node-manifest.ts'

/** How a package manager is used in a build. */
export interface PackageManager {
  name: string
  /** The npm package that brings it, with its version; null for npm, which node has. */
  globalPackage: string | null
  /** The folder that keeps downloads from one build to the next. */
  cache: string
  install: string
  /** Takes the development dependencies out again; null where that is not to be had. */
  prune: string | null
  run(script: string): string
  environment: Record<string, string>
  /** What installing reads beside package.json: files, and folders. */
  files: string[]
  folders: string[]
}

/** Used where the tree names no version; each still reads the lock files of its predecessors. */
const PNPM_BY_LOCK: [lockVersion: RegExp, version: string][] = [
  [/^lockfileVersion: '?5/m, '7'],
  [/^lockfileVersion: '?6/m, '8'],
]
const PNPM_VERSION = '10'
const YARN_CLASSIC_VERSION = '1.22.22'
const YARN_VERSION = '4'

/** The package manager by the field `packageManager` of package.json, else by the lock file, else npm. */
export async function choosePackageManager(
  tree: Tree,
  manifest: Manifest,
  notes: string[],
): Promise<PackageManager> {
  const named = manifest.packageManager === null ? null : readField(manifest.packageManager)
  const name = named?.name ?? (await nameByLock(tree))
  if (name === 'pnpm')
    return pnpm(named?.version ?? (await pnpmVersion(tree)), await tree.hasFile('pnpm-lock.yaml'))
  if (name === 'yarn') return await chooseYarn(tree, named?.version ?? null)
  const hasLock = (await tree.hasFile('package-lock.json')) || (await tree.hasFile('npm-shrinkwrap.json'))
  if (!hasLock)
    notes.push('there is no lock file: each build takes the newest packages that package.json allows')
  return npm(hasLock)
}

function readField(field: string): { name: string; version: string } {
  // Corepack's form: name@version, with a hash after a plus sign.
  const match = /^(npm|pnpm|yarn)@(\d+\.\d+\.\d+(?:-[\w.]+)?)(?:\+[\w.]+)?$/.exec(field)
  if (!match) {
    throw new BuildFailure(
      `packageManager of package.json says ${JSON.stringify(field.slice(0, 100))}: write npm, pnpm or yarn with a whole version, such as pnpm@10.0.0`,
    )
  }
  return { name: match[1]!, version: match[2]! }
}

async function nameByLock(tree: Tree): Promise<string> {
  if (await tree.hasFile('pnpm-lock.yaml')) return 'pnpm'
  if (await tree.hasFile('yarn.lock')) return 'yarn'
  return 'npm'
}

function npm(hasLock: boolean): PackageManager {
  const quiet = '--no-audit --no-fund --no-update-notifier'
  return {
    name: 'npm',
    globalPackage: null,
    cache: '/root/.npm',
    // The development dependencies are needed to build, whatever NODE_ENV the variables say.
    install: `npm ${hasLock ? 'ci' : 'install'} --include=dev ${quiet}`,
    prune: `npm prune --omit=dev --ignore-scripts ${quiet}`,
    run: (script) => (script === 'start' ? 'npm start' : `npm run ${script}`),
    environment: {},
    files: ['package-lock.json', 'npm-shrinkwrap.json', '.npmrc'],
    folders: [],
  }
}

async function pnpmVersion(tree: Tree): Promise<string> {
  const lock = (await tree.readText('pnpm-lock.yaml', MAX_LOCK_BYTES)) ?? ''
  return PNPM_BY_LOCK.find(([pattern]) => pattern.test(lock))?.[1] ?? PNPM_VERSION
}

/** Lock files of large workspaces have several megabytes. */
const MAX_LOCK_BYTES = 32 * 1024 * 1024

function pnpm(version: string, hasLock: boolean): PackageManager {
  return {
    name: 'pnpm',
    globalPackage: `pnpm@${version}`,
    cache: '/root/.pnpm-store',
    install: `pnpm install ${hasLock ? '--frozen-lockfile' : '--no-frozen-lockfile'} --prod=false`,
    prune: 'pnpm prune --prod --ignore-scripts',
    run: (script) => (script === 'start' ? 'pnpm start' : `pnpm run ${script}`),
    // Without a terminal pnpm asks before it removes node_modules, unless it is told not to.
    environment: { npm_config_store_dir: '/root/.pnpm-store', npm_config_confirm_modules_purge: 'false' },
    files: ['pnpm-lock.yaml', '.npmrc', '.pnpmfile.cjs', 'pnpmfile.cjs'],
    folders: ['patches'],
  }
}

async function chooseYarn(tree: Tree, named: string | null): Promise<PackageManager> {
  const lock = await tree.readText('yarn.lock', MAX_LOCK_BYTES)
  if (named !== null) return semver.major(named) === 1 ? yarnClassic(named, lock !== null) : yarn(named)
  // Yarn writes `__metadata` into its lock file since version 2.
  const isModern = (await tree.hasFile('.yarnrc.yml')) || /^__metadata:/m.test(lock ?? '')
  return isModern ? yarn(YARN_VERSION) : yarnClassic(YARN_CLASSIC_VERSION, lock !== null)
}

function yarnClassic(version: string, hasLock: boolean): PackageManager {
  const install = `yarn install ${hasLock ? '--frozen-lockfile' : '--no-lockfile'} --non-interactive --no-progress`
  return {
    name: 'yarn',
    globalPackage: `yarn@${version}`,
    cache: '/root/.yarn-cache',
    install: `${install} --production=false`,
    prune: `${install} --production=true --ignore-scripts --prefer-offline`,
    run: (script) => (script === 'start' ? 'yarn start' : `yarn run ${script}`),
    environment: { YARN_CACHE_FOLDER: '/root/.yarn-cache' },
    files: ['yarn.lock', '.npmrc', '.yarnrc'],
    folders: ['patches'],
  }
}

function yarn(version: string): PackageManager {
  return {
    name: 'yarn',
    globalPackage: `@yarnpkg/cli-dist@${version}`,
    cache: '/root/.yarn/berry',
    install: 'yarn install --immutable',
    // The command came with yarn 4.
    prune:
      semver.major(semver.coerce(version) ?? '4.0.0') >= 4
        ? 'yarn workspaces focus --all --production'
        : null,
    run: (script) => (script === 'start' ? 'yarn start' : `yarn run ${script}`),
    // Plain node_modules, so that the program runs without yarn.
    environment: {
      YARN_NODE_LINKER: 'node-modules',
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_GLOBAL_CACHE: 'true',
    },
    files: ['yarn.lock', '.npmrc', '.yarnrc.yml'],
    folders: ['.yarn'],
  }
}
