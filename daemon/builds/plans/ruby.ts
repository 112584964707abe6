import type { Tree } from '../../sources/tree.ts'
import { findInLines, linesOf } from '../text.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { nodeTools } from './node-tools.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** Ruby programs with Bundler: Rails, Rack, Jekyll. A node program may have a Gemfile for its tools. */
export const ruby: LanguagePlan = {
  name: 'ruby',
  lookedFor: 'Gemfile',
  detect: async (tree) =>
    (await tree.hasFile('Gemfile')) &&
    ((await tree.hasFile('config.ru')) || !/"start"\s*:/.test((await tree.readText('package.json')) ?? '')),
  plan: makePlan,
}

const DEFAULT_VERSION = '3.4'
/** The official image's folder of gems. */
const GEMS = '/usr/local/bundle'
const CACHES = ['/root/.bundle/cache']

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const version = await versionOf(tree)
  const gems = await gemsOf(tree)
  const hasGem = (name: string): boolean => gems.has(name)
  const isRails = hasGem('rails') && (await tree.hasFile('config/application.rb'))
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    await ownStart(tree, isRails, hasGem('puma')),
    'add a Procfile with a line "web:", or a config.ru',
  )
  const build = settings.buildCommand ?? ownBuild(isRails, hasGem, settings)
  if (build !== null) notes.push(`building with: ${build}`)
  const environment = `BUNDLE_PATH=${GEMS} BUNDLE_WITHOUT=development:test RAILS_ENV=production RACK_ENV=production`
  // The full image: gems link against libraries, such as those of databases, which the slim one lacks.
  const image = baseImage(settings, `ruby:${version}-bookworm`)
  const hasLock = await tree.hasFile('Gemfile.lock')
  const dockerfile = [
    ...buildStage(image),
    `ENV ${environment} BUNDLE_GLOBAL_GEM_CACHE=true${hasLock ? ' BUNDLE_DEPLOYMENT=true' : ''}`,
    // A Gemfile is a program that may read any file of the tree.
    'COPY source/ ./',
    step('bundle install', settings, CACHES),
    ...(await nodeTools(tree, settings, notes)),
    ...(build === null ? [] : buildCommandSteps(build, settings, CACHES)),
    ...finalStage(
      image,
      [
        `COPY --from=build ${GEMS} ${GEMS}`,
        takeApp(),
        `ENV ${environment} RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1`,
      ],
      startCommand,
    ),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    framework: isRails ? 'rails' : hasGem('jekyll') ? 'jekyll' : null,
    packageManager: 'bundler',
    installCommand: 'bundle install',
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: hasGem('jekyll') ? '_site' : null,
    ignore: ['.git', '**/node_modules', 'vendor/bundle', 'log', 'tmp'],
    notes: [`ruby ${version} with Bundler`, ...notes],
  }
}

/** The gems that the Gemfile names, and those of its lock file. */
async function gemsOf(tree: Tree): Promise<Set<string>> {
  const gems = new Set<string>()
  for (const file of ['Gemfile', 'Gemfile.lock']) {
    for (const line of linesOf((await tree.readText(file)) ?? '')) {
      const named = /^gem[\s(]*["']([\w.-]+)["']/.exec(line.trim()) ?? /^([\w.-]+) \(/.exec(line.trim())
      if (named) gems.add(named[1]!)
    }
  }
  return gems
}

/** By .ruby-version, the Gemfile or what Bundler wrote into the lock file. */
async function versionOf(tree: Tree): Promise<string> {
  const sources: [file: string, pattern: RegExp][] = [
    ['.ruby-version', /^(?:ruby-)?(\d+\.\d+(?:\.\d+)?)\s*$/],
    ['Gemfile', /^\s*ruby[\s(]*["'](?:(?:~>|>=)\s*)?(\d+\.\d+)(?:\.\d+)?["']/],
    // Bundler writes it in a line of its own, below "RUBY VERSION".
    ['Gemfile.lock', /^\s+ruby (\d+\.\d+)/],
  ]
  for (const [file, pattern] of sources) {
    const version = findInLines((await tree.readText(file)) ?? '', pattern)
    if (version !== undefined) return version
  }
  return DEFAULT_VERSION
}

async function ownStart(tree: Tree, isRails: boolean, hasPuma: boolean): Promise<string | null> {
  if (isRails) return 'bundle exec rails server -b 0.0.0.0 -p $PORT'
  if (!(await tree.hasFile('config.ru'))) return null
  return hasPuma
    ? 'bundle exec puma -b tcp://0.0.0.0:$PORT'
    : 'bundle exec rackup --host 0.0.0.0 --port $PORT'
}

function ownBuild(
  isRails: boolean,
  hasGem: (name: string) => boolean,
  settings: PlanSettings,
): string | null {
  if (hasGem('jekyll') && settings.processType === 'static') return 'bundle exec jekyll build'
  const hasAssets = ['sprockets', 'sprockets-rails', 'propshaft', 'vite_rails', 'shakapacker'].some(hasGem)
  // Rails wants a key to load; the build has none to keep (Rails guides, "Precompiling assets").
  return isRails && hasAssets ? 'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile' : null
}
