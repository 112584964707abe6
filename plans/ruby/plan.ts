import semver from 'semver'
import { debianOfRuby } from '../base-images.ts'
import { choose, inOrder } from '../choices.ts'
import { readAssets, type Assets } from '../node/assets.ts'
import { hasScript } from '../node/manifest.ts'
import { choosePlace, EVERY_LINE, type Place, type Reach } from '../place.ts'
import type {
  LanguagePlan,
  PlanFacts,
  PlannedBuild,
  PlannedVariable,
  PlanSettings,
  WholeSource,
} from '../plan.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Proposal } from '../start.ts'
import {
  baseImage,
  buildCommandSteps,
  buildStage,
  installPackages,
  lastStage,
  step,
  takeApp,
  textOf,
} from '../steps.ts'
import { readGemfile, type Gemfile } from './gemfile.ts'
import { asksGit } from './gemspecs.ts'
import { findJekyll } from './jekyll.ts'
import { systemPackages } from './system-packages.ts'
import { bundlerFor, chooseRubyVersion, railsOf } from './version.ts'

/** Ruby programs with Bundler: Rails, Rack, Jekyll. A node program may have a Gemfile for its tools. */
export const ruby: LanguagePlan = {
  name: 'ruby',
  lookedFor: 'Gemfile',
  detect: async (tree) => {
    if (!(await tree.hasFile('Gemfile'))) return (await findJekyll(tree, await readGemfile(tree))) !== null
    return (await tree.hasFile('config.ru')) || !(await hasScript(tree, 'start'))
  },
  plan: planRuby,
}

/** The official image's folder for gems. */
const GEMS = '/usr/local/bundle'
/** What Bundler and RubyGems download, and gems compiled before. */
const CACHES = ['/root/.bundle/cache']
const ENVIRONMENT = `BUNDLE_PATH=${GEMS} BUNDLE_WITHOUT=development:test RAILS_ENV=production RACK_ENV=production`

/** Rails' asset pipelines. */
const PIPELINES = [
  'sprockets',
  'sprockets-rails',
  'propshaft',
  'vite_rails',
  'vite_ruby',
  'shakapacker',
  'webpacker',
]

const REACH: Reach = { manifests: { Gemfile: EVERY_LINE }, hasAssets: true }

async function planRuby(
  tree: Tree,
  settings: PlanSettings,
  whole: WholeSource | null,
): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, REACH)
  const version = await chooseRubyVersion(tree, notes)
  const debian = debianOfRuby(version)
  const gemfile = await readGemfile(tree)
  const isRails = gemfile.has('rails') && (await tree.hasFile('config/application.rb'))
  const jekyll = isRails ? null : await findJekyll(tree, gemfile)
  const generator = jekyll !== null ? 'jekyll' : gemfile.has('middleman') ? 'middleman' : null
  const proposal = await propose(tree, { gemfile, isRails, isSite: generator !== null, version })
  const lock = (await tree.readText('Gemfile.lock')) ?? ''
  const bundler = bundlerFor(version, lock)
  if (bundler !== null) notes.push(`installing Bundler ${bundler}, which accepts Gemfile.lock`)
  const assets = await readAssets(tree, settings, notes)
  const { facts, aptPackages } = await choose(tree, settings, notes, {
    proposal,
    advice: ADVICE,
    build: ({ isSite }) =>
      ownBuild(isRails ? railsRunner(lock) : null, gemfile, isSite ? generator : null, assets),
  })
  noteForeignPlatforms(gemfile, notes)
  const system = systemPackages(gemfile, debian)
  const [root, folder] = place.needsWhole && whole !== null ? [whole.tree, whole.folder] : [tree, '']
  const git = !gemfile.isPlain && (await asksGit(root, folder)) ? ['git'] : []
  const caches = [...CACHES, `${place.directory}/tmp/cache/assets`, ...assets.mounts]
  const dockerfile = [
    ...assets.stages,
    ...buildStage(baseImage(settings, `ruby:${version}-${debian}`)),
    ...installPackages([...system.build, ...aptPackages]),
    ...(bundler === null ? [] : [step(`gem install bundler:${bundler}`, settings, CACHES)]),
    ...installSteps(gemfile, jekyll?.gems ?? [], place, settings),
    ...assets.lines,
    ...buildCommandSteps(facts.buildCommand, settings, caches),
    ...rubyStage(facts, settings, `ruby:${version}-slim-${debian}`, place, [
      ...system.run,
      ...git,
      ...aptPackages,
    ]),
  ]
  return {
    ...facts,
    version,
    framework: isRails ? 'rails' : (generator ?? (gemfile.has('sinatra') ? 'sinatra' : null)),
    packageManager: 'bundler',
    installCommand: gemfile.exists ? 'bundle install' : `gem install ${(jekyll?.gems ?? []).join(' ')}`,
    publishDirectory: jekyll?.publishDirectory ?? (generator === 'middleman' ? 'build' : null),
    healthCheckPath: isRails ? await healthCheck(tree) : null,
    env: isRails ? await railsVariables(tree) : [],
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: place.needsWhole,
    ignore: ['.git', '**/node_modules', 'vendor/bundle', 'log', 'tmp', '_site'],
    notes: [`ruby ${version} with Bundler`, ...notes],
  }
}

function rubyStage(
  facts: PlanFacts,
  settings: PlanSettings,
  image: string,
  place: Place,
  packages: string[],
): string[] {
  return lastStage(facts, {
    image: baseImage(settings, image),
    packages,
    workdir: place.directory,
    content: [
      `COPY --from=build ${GEMS} ${GEMS}`,
      takeApp(),
      `ENV ${ENVIRONMENT} RAILS_LOG_TO_STDOUT=1 RAILS_SERVE_STATIC_FILES=1`,
    ],
  })
}

/** How many platforms a note names. */
const SHOWN_PLATFORMS = 5

function noteForeignPlatforms({ platforms }: Gemfile, notes: string[]): void {
  if (platforms.length === 0 || platforms.some((each) => each.endsWith('-linux'))) return
  notes.push(
    `Gemfile.lock is for ${platforms.slice(0, SHOWN_PLATFORMS).join(', ')}: the build adds its own platform, as "bundle lock --add-platform x86_64-linux" does permanently`,
  )
}

const NO_SERVER =
  'Gemfile.lock has no web server, and Ruby has none of its own since 3.0: run "bundle add puma" and commit both files, or set start_command'

const ADVICE = 'add a Procfile with a line "web:", or a config.ru'

/** Servers that Rack starts by itself, or that start it by a command of their own (rack/rackup, "Handler"). */
const RACK_SERVERS = [
  'puma',
  'falcon',
  'thin',
  'webrick',
  'unicorn',
  'iodine',
  'passenger',
  'agoo',
  'pitchfork',
  'itsi-server',
]

/** What is known about a tree when its start command is searched for. */
interface StartSearch {
  gemfile: Gemfile
  isRails: boolean
  isSite: boolean
  version: string
}

async function propose(tree: Tree, { gemfile, isRails, isSite, version }: StartSearch): Promise<Proposal> {
  if (isRails) return { command: 'bundle exec rails server -b 0.0.0.0 -p $PORT' }
  if (isSite) return { site: true }
  if (await tree.hasFile('config.ru')) {
    const hasServer = RACK_SERVERS.some(gemfile.has) || version.startsWith('2.')
    if (gemfile.hasLock && gemfile.has('rack') && !hasServer) return { obstacle: NO_SERVER }
    return {
      command: gemfile.has('puma')
        ? 'bundle exec puma -b tcp://0.0.0.0:$PORT'
        : 'bundle exec rackup --host 0.0.0.0 --port $PORT',
    }
  }
  for (const file of ['app.rb', 'main.rb', 'server.rb']) {
    if (!(await tree.hasFile(file))) continue
    const options = gemfile.has('sinatra') ? ' -o 0.0.0.0 -p $PORT' : ''
    return { command: `bundle exec ruby ${file}${options}` }
  }
  return null
}

/** Returns the program that runs Rails' tasks: its own command since version 5 (Rails 5.0 release notes, "Railties"). */
function railsRunner(lock: string): string {
  const rails = railsOf(lock)
  return rails !== null && semver.lt(rails, '5.0.0') ? 'rake' : 'rails'
}

function ownBuild(
  rails: string | null,
  { has, exists }: Gemfile,
  generator: string | null,
  assets: Assets,
): string | null {
  const runner = exists ? 'bundle exec ' : ''
  // Rails needs a key to load; the build has no real one (Rails guides, "Precompiling assets"; before 7.1 any text works).
  const key = 'SECRET_KEY_BASE_DUMMY=1 SECRET_KEY_BASE=${SECRET_KEY_BASE:-dummy}'
  const hasPipeline = rails !== null && PIPELINES.some(has)
  const commands = [
    // The pipeline runs the scripts of package.json itself.
    ...(hasPipeline ? [] : assets.commands),
    ...(generator === null ? [] : [`${runner}${generator} build`]),
    ...(rails !== null && has('bootsnap') ? ['bundle exec bootsnap precompile --gemfile app/ lib/'] : []),
    ...(hasPipeline ? [`${key} bundle exec ${rails} assets:precompile`] : []),
  ]
  return inOrder(commands)
}

function installSteps(gemfile: Gemfile, gems: string[], place: Place, settings: PlanSettings): string[] {
  const environment = `ENV ${ENVIRONMENT} JEKYLL_ENV=production BUNDLE_GLOBAL_GEM_CACHE=true BUNDLE_SILENCE_ROOT_WARNING=true${gemfile.hasLock ? ' BUNDLE_DEPLOYMENT=true' : ''}`
  if (!gemfile.exists) {
    return [
      'ENV JEKYLL_ENV=production',
      step(`gem install ${gems.join(' ')}`, settings, CACHES),
      ...place.source,
    ]
  }
  const isLacking = gemfile.platforms.length > 0
  const install = step(isLacking ? `${ADD_PLATFORM} && bundle install` : 'bundle install', settings, CACHES)
  const isOther = settings.secretNames.some((name) => BUNDLER_VARIABLE.test(name))
  if (!gemfile.isPlain || isOther || place.needsWhole) return [environment, ...place.source, install]
  return [
    environment,
    `COPY source/Gemfile${gemfile.hasLock ? ' source/Gemfile.lock' : ''} ./`,
    install,
    ...(isLacking ? ['RUN cp Gemfile.lock /opt/'] : []),
    ...place.source,
    ...(isLacking ? ['RUN cp /opt/Gemfile.lock ./'] : []),
  ]
}

/** Variables with which Bundler reads other files; those with two underscores are passwords for a host. */
const BUNDLER_VARIABLE = /^BUNDLE_(?!\w*__)/

/**
 * Bundler installs nothing from a lock file made only on other platforms; it asks to add the one it runs on (Bundler,
 * "bundle lock").
 */
const ADD_PLATFORM =
  '(grep -qxE " *$(uname -m)-linux(-gnu)?" Gemfile.lock || BUNDLE_DEPLOYMENT=false BUNDLE_FROZEN=false bundle lock --add-platform "$(uname -m)-linux")'

/** Rails' health check page, where the routes name it (Rails guides, "Rails::HealthController"). */
async function healthCheck(tree: Tree): Promise<string | null> {
  const routes = (await tree.readText('config/routes.rb')) ?? ''
  return hasLine(routes, /^\s*get ["']\/?up["'].*rails\/health#show/) ? '/up' : null
}

async function railsVariables(tree: Tree): Promise<PlannedVariable[]> {
  const own: PlannedVariable = {
    key: 'SECRET_KEY_BASE',
    generate: 'hex',
    why: 'Rails signs its cookies with it',
  }
  if (!(await tree.hasFile('config/credentials.yml.enc'))) return [own]
  return [
    own,
    {
      key: 'RAILS_MASTER_KEY',
      generate: null,
      why: 'Rails reads config/credentials.yml.enc with it; it is in config/master.key, which is not in the repository',
    },
  ]
}
