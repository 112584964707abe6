import semver from 'semver'
import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { isRecord, textsOf } from './json.ts'
import { assetsCommand, nodeTools } from './node-tools.ts'
import { NOTHING_KNOWN, type LanguagePlan, type PlannedBuild, type PlanSettings } from './plan.ts'
import { chooseCommand, runOf } from './start.ts'
import { baseImage, buildCommandSteps, buildStage, finalStage, step, takeApp } from './steps.ts'

/** PHP behind Apache: Laravel, Symfony, a plain index.php. */
export const php: LanguagePlan = {
  name: 'php',
  lookedFor: 'composer.json or index.php',
  detect: async (tree) =>
    !/"start"\s*:/.test((await tree.readText('package.json')) ?? '') &&
    ((await tree.hasFile('composer.json')) ||
      (await tree.hasFile('index.php')) ||
      (await tree.hasFile('public/index.php'))),
  plan: makePlan,
}

/** In the order of preference for a requirement that several suit. */
const VERSIONS = ['8.4', '8.3', '8.2', '8.5', '8.1']
const CACHES = ['/root/.composer/cache']

/** Extensions that the official image can compile, with the packages this takes (docker-php-ext-install). */
const EXTENSIONS: Record<string, string[]> = {
  bcmath: [],
  calendar: [],
  exif: [],
  gd: ['libfreetype-dev', 'libjpeg62-turbo-dev', 'libpng-dev'],
  gettext: [],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  mysqli: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
}

/** Apache's own words; `${PORT}` is read from the environment when it starts. */
function siteOf(folder: string): string {
  return [
    'ServerName localhost',
    'Listen ${PORT}',
    '<VirtualHost *:${PORT}>',
    `  DocumentRoot ${folder}`,
    `  <Directory ${folder}>`,
    '    AllowOverride All',
    '    Require all granted',
    '    FallbackResource /index.php',
    '  </Directory>',
    '</VirtualHost>',
  ].join('\\n')
}

async function makePlan(tree: Tree, settings: PlanSettings): Promise<PlannedBuild> {
  const notes: string[] = []
  const composer = await readComposer(tree)
  const version = versionOf(composer)
  const isPublic = await tree.hasFile('public/index.php')
  const startCommand = await chooseCommand(
    tree,
    settings,
    notes,
    isPublic || (await tree.hasFile('index.php')) ? 'apache2-foreground' : null,
    'add an index.php in the root or in public/',
  )
  const image = baseImage(settings, `php:${version}-apache-bookworm`)
  const build = settings.buildCommand ?? (await assetsCommand(tree))
  if (build !== null) notes.push(`building with: ${build}`)
  const site = siteOf(isPublic ? '/app/public' : '/app')
  const dockerfile = [
    `FROM ${image} AS php`,
    ...extensionSteps(composer),
    `RUN a2enmod -q rewrite && printf '${site}\\n' >/etc/apache2/sites-available/000-default.conf && : >/etc/apache2/ports.conf && cp /usr/local/etc/php/php.ini-production /usr/local/etc/php/php.ini`,
    ...buildStage('php'),
    ...(composer === null
      ? []
      : [
          'RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends git unzip >/dev/null && rm -rf /var/lib/apt/lists/*',
          `COPY --from=${baseImage(settings, 'composer:2')} /usr/bin/composer /usr/local/bin/composer`,
          'ENV COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_CACHE_DIR=/root/.composer/cache',
        ]),
    'COPY source/ ./',
    ...(composer === null
      ? []
      : [
          step(
            'composer install --no-dev --no-interaction --prefer-dist --optimize-autoloader',
            settings,
            CACHES,
          ),
        ]),
    ...(await nodeTools(tree, settings, notes)),
    ...(build === null ? [] : buildCommandSteps(build, settings, CACHES)),
    ...finalStage('php', [takeApp()], startCommand),
  ]
  return {
    ...NOTHING_KNOWN,
    ...runOf(settings, startCommand),
    version,
    packageManager: composer === null ? null : 'composer',
    installCommand: composer === null ? null : 'composer install --no-dev',
    buildCommand: build,
    dockerfile: `${dockerfile.join('\n')}\n`,
    needsWhole: false,
    publishDirectory: null,
    ignore: ['.git', '**/node_modules', 'vendor'],
    notes: [`php ${version} with Apache`, ...notes],
  }
}

type Requirements = Record<string, string>

/** What composer.json requires; null without one. */
async function readComposer(tree: Tree): Promise<Requirements | null> {
  const text = await tree.readText('composer.json')
  if (text === null) return null
  let manifest: unknown
  try {
    manifest = JSON.parse(text)
  } catch (cause) {
    throw new BuildFailure('composer.json is not a valid JSON object: correct it', { cause })
  }
  if (!isRecord(manifest)) throw new BuildFailure('composer.json is not a valid JSON object: correct it')
  return textsOf(manifest.require)
}

/** Telling whether two ranges meet takes the square of their lengths. */
const MAX_CONSTRAINT_CHARACTERS = 200

/** Composer's constraints are semver's, but for the signs between alternatives and between parts. */
function versionOf(composer: Requirements | null): string {
  const constraint = (composer?.php ?? '').slice(0, MAX_CONSTRAINT_CHARACTERS)
  const range = semver.validRange(constraint.replaceAll(',', ' ').replaceAll(/\|+/g, '||'))
  const suiting = VERSIONS.find((version) => range !== null && semver.intersects(range, `${version}.x`))
  return suiting ?? VERSIONS[0]!
}

function extensionSteps(composer: Requirements | null): string[] {
  const wanted = Object.keys(composer ?? {})
    .map((name) => name.replace(/^ext-/, ''))
    .filter((name) => name in EXTENSIONS)
  const names = [...new Set(['mysqli', 'pdo_mysql', 'pdo_pgsql', ...wanted])]
  const packages = [...new Set(names.flatMap((name) => EXTENSIONS[name]!))]
  // Without these it reads neither photographs nor fonts.
  const configure = names.includes('gd') ? 'docker-php-ext-configure gd --with-freetype --with-jpeg && ' : ''
  return [
    `RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends ${packages.join(' ')} >/dev/null && rm -rf /var/lib/apt/lists/* && ${configure}docker-php-ext-install ${names.join(' ')}`,
  ]
}
