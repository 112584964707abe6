import semver from 'semver'
import type { Mount } from '../steps.ts'
import type { LockState } from './locks/read.ts'

/** How a package manager is used in a build. */
export interface PackageManager {
  name: 'npm' | 'pnpm' | 'yarn' | 'bun'
  /** The npm package that installs it, with its version and after options for npm; null for what the image has. */
  globalPackage: string | null
  /** The folder that keeps downloads between builds. */
  cache: Mount
  /** Installs including development dependencies, which the build needs, whatever NODE_ENV the variables set. */
  install: string
  /**
   * The same over what `install` made of the manifests alone: adds what it lacked, links the programs of the project's own
   * packages and runs their scripts.
   */
  reinstall: string
  /** Installs without development dependencies; null where that is not possible. */
  installProduction: string | null
  /** Whether that may put packages into other folders than `install` does. */
  movesPackages: boolean
  run(script: string): string
  /** The command for a script of a workspace's package. */
  runIn(packageName: string, script: string): string
  environment: Record<string, string>
  /** Files and folders with which an installation from the manifests alone usually succeeds. */
  files: string[]
  folders: string[]
  /** Files with which an installation may read any other. */
  hooks: string[]
  /** Files of settings, which may name files of the tree. */
  settings: string[]
}

/** The folder of npm's downloads, which its commands use whatever home folder the build has. */
const NPM_CACHE = '/root/.npm'

/** Set once for all of npm's commands, and for pnpm's, which reads them too. */
const NPM_ENVIRONMENT = {
  npm_config_update_notifier: 'false',
  npm_config_audit: 'false',
  // The plan has chosen the manager by this very field.
  npm_config_engine_strict: 'false',
  npm_config_fund: 'false',
  npm_config_cache: NPM_CACHE,
}

/** How npm treats its lock file: enforces it, adds what is missing, ignores it. */
const NPM_INSTALL: Record<LockState, string> = {
  whole: 'npm ci',
  'without-peers': 'npm ci',
  lacking: 'npm install',
  none: 'npm install',
}

/**
 * The same over what is installed already, so never `npm ci`, which would begin by removing everything. With a whole lock
 * file conflicts of peers are accepted, as by `npm ci`. Without one, npm wrote one that knows the manifests alone.
 */
const NPM_REINSTALL: Record<LockState, string> = {
  whole: 'npm install --include=dev --no-save --force',
  'without-peers': 'npm install --include=dev --no-save --force',
  lacking: 'npm install --include=dev',
  none: 'rm -f package-lock.json && npm install --include=dev',
}

/** npm, which comes with node. */
export function npm(lock: LockState): PackageManager {
  const install = NPM_INSTALL[lock]
  return {
    name: 'npm',
    globalPackage: null,
    cache: NPM_CACHE,
    install: `${install} --include=dev`,
    reinstall: NPM_REINSTALL[lock],
    installProduction: `${install} --omit=dev`,
    movesPackages: false,
    run: (script) => (script === 'start' ? 'npm start' : `npm run ${script}`),
    runIn: (name, script) => `npm run ${script} --workspace=${name}`,
    // For every command: one that prunes would resolve the peers again.
    environment:
      lock === 'without-peers'
        ? { ...NPM_ENVIRONMENT, npm_config_legacy_peer_deps: 'true' }
        : NPM_ENVIRONMENT,
    files: ['package-lock.json', 'npm-shrinkwrap.json', '.npmrc'],
    folders: [],
    // Without a script for it npm compiles that (npm-scripts, "Life Cycle Operation Order").
    hooks: ['binding.gyp'],
    settings: ['.npmrc'],
  }
}

/** pnpm in a version, or the newest of a major version. */
export function pnpm(version: string, lock: LockState): PackageManager {
  const install = `pnpm install ${lock === 'whole' ? '--frozen-lockfile' : '--no-frozen-lockfile'}`
  return {
    name: 'pnpm',
    globalPackage: `pnpm@${version}`,
    cache: '/root/.pnpm-store',
    install: `${install} --prod=false`,
    reinstall: `${install} --prod=false`,
    installProduction: `${install} --prod`,
    movesPackages: false,
    run: (script) => (script === 'start' ? 'pnpm start' : `pnpm run ${script}`),
    runIn: (name, script) => `pnpm --filter ${name} run ${script}`,
    environment: { ...NPM_ENVIRONMENT, ...pnpmSettings() },
    files: ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc'],
    folders: [],
    hooks: ['.pnpmfile.cjs', '.pnpmfile.mjs', 'pnpmfile.cjs', 'pnpm-workspace.yaml'],
    settings: ['.npmrc'],
  }
}

const PNPM_SETTINGS = {
  store_dir: '/root/.pnpm-store',
  cache_dir: '/root/.pnpm-store/.metadata',
  // Without a terminal pnpm cannot ask before it removes node_modules, so it is told not to ask.
  confirm_modules_purge: 'false',
  // They were installed in an earlier step.
  verify_deps_before_run: 'false',
  // What scripts wrote elsewhere, such as a browser, would be missing.
  side_effects_cache: 'false',
  // It compares times of files, which the layers of an image do not keep.
  optimistic_repeat_install: 'false',
}

/** pnpm reads variables of npm until version 10, and its own from version 11 on (pnpm.io, "Settings"). */
function pnpmSettings(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(PNPM_SETTINGS).flatMap(([key, value]) => [
      [`npm_config_${key}`, value],
      [`pnpm_config_${key}`, value],
    ]),
  )
}

/** How yarn 1 treats its lock file: enforces it, reads it without writing, ignores it. */
const CLASSIC_LOCK: Record<LockState, string> = {
  whole: '--frozen-lockfile',
  'without-peers': '--frozen-lockfile',
  lacking: '--pure-lockfile',
  none: '--no-lockfile',
}

/** Yarn 1. */
export function yarnClassic(version: string, lock: LockState): PackageManager {
  // It accepts only the node that `engines` names, not even a newer patch.
  const install = `yarn install ${CLASSIC_LOCK[lock]} --ignore-engines --non-interactive --no-progress`
  return {
    name: 'yarn',
    globalPackage: `yarn@${version}`,
    // Two processes that unpack into it at once break each other's packages.
    cache: { inTurns: '/root/.yarn-cache' },
    install: `${install} --production=false`,
    // Where this file says that all is there, yarn neither links programs nor runs scripts of the project's packages.
    reinstall: `rm -f node_modules/.yarn-integrity && ${install} --production=false`,
    installProduction: `${install} --production=true`,
    movesPackages: true,
    run: (script) => (script === 'start' ? 'yarn start' : `yarn run ${script}`),
    runIn: (name, script) => `yarn workspace ${name} run ${script}`,
    environment: { ...NPM_ENVIRONMENT, YARN_CACHE_FOLDER: '/root/.yarn-cache' },
    files: ['yarn.lock', '.npmrc', '.yarnrc'],
    folders: ['.yarn'],
    hooks: [],
    settings: ['.npmrc', '.yarnrc'],
  }
}

/** Yarn from version 2 on. */
export function yarn(version: string, lock: LockState): PackageManager {
  // The command exists since yarn 4.
  const production =
    semver.major(semver.coerce(version) ?? '4.0.0') >= 4 ? 'yarn workspaces focus --all --production' : null
  return {
    name: 'yarn',
    globalPackage: `@yarnpkg/cli-dist@${version}`,
    cache: '/root/.yarn/berry',
    install: lock === 'whole' ? 'yarn install --immutable' : 'yarn install --no-immutable',
    reinstall: lock === 'whole' ? 'yarn install --immutable' : 'yarn install --no-immutable',
    installProduction: production,
    movesPackages: true,
    run: (script) => (script === 'start' ? 'yarn start' : `yarn run ${script}`),
    runIn: (name, script) => `yarn workspace ${name} run ${script}`,
    // A plain node_modules folder, so that the program runs without yarn.
    environment: {
      ...NPM_ENVIRONMENT,
      YARN_NODE_LINKER: 'node-modules',
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_GLOBAL_CACHE: 'true',
      YARN_GLOBAL_FOLDER: '/root/.yarn/berry',
    },
    files: ['yarn.lock', '.npmrc', '.yarnrc.yml'],
    folders: ['.yarn'],
    // It runs no script while the lock file of the source lacks something.
    hooks: ['.yarn/plugins', 'yarn.config.cjs', ...(lock === 'whole' ? [] : ['yarn.lock'])],
    settings: ['.yarnrc.yml'],
  }
}

/** Installs Bun, whose program is fetched by an installation script; npm 12 runs none that is not allowed. */
export const BUN_PACKAGE = '--allow-scripts=bun bun'

/** Bun; the npm package that installs it is null where Bun's own image has it. */
export function bunManager(lock: LockState, globalPackage: string | null): PackageManager {
  const install = `bun install${lock === 'whole' ? ' --frozen-lockfile' : ''}`
  return {
    name: 'bun',
    globalPackage,
    cache: '/root/.bun/install/cache',
    install,
    reinstall: install,
    // Otherwise it would not add what the file lacks.
    installProduction: lock === 'lacking' ? null : `${install} --production`,
    movesPackages: true,
    run: (script) => `bun run ${script}`,
    runIn: (name, script) => `bun run --filter ${name} ${script}`,
    environment: { BUN_INSTALL_CACHE_DIR: '/root/.bun/install/cache' },
    // A lock file that exists nevertheless cannot be used.
    files: [...(lock === 'none' ? [] : ['bun.lock', 'bun.lockb']), 'bunfig.toml', '.npmrc'],
    folders: [],
    hooks: [],
    settings: ['bunfig.toml', '.npmrc'],
  }
}
