import { posix } from 'node:path'
import { debianOfPhp } from '../base-images.ts'
import { choose, inOrder } from '../choices.ts'
import { readAssets } from '../node/assets.ts'
import { hasScript } from '../node/manifest.ts'
import { choosePlace, EVERY_LINE, type Place, type Reach } from '../place.ts'
import type { LanguagePlan, PlannedBuild, PlannedVariable, PlanSettings, WholeSource } from '../plan.ts'
import { hasLine } from '../source/text.ts'
import type { Tree } from '../source/tree.ts'
import type { Start } from '../start.ts'
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
import { readComposer, type Composer } from './composer.ts'
import { findDocroot, herokuFolder, isHerokuCommand } from './docroot.ts'
import { encoreScripts } from './encore.ts'
import { extensionSteps } from './extensions.ts'
import { MIX_SCRIPTS, wantsMix } from './mix.ts'
import { choosePhpVersion } from './version.ts'

/** PHP behind Apache: Laravel, Symfony, a plain index.php. */
export const php: LanguagePlan = {
  name: 'php',
  lookedFor: 'composer.json or index.php',
  detect: async (tree) => {
    const hasComposer = await tree.hasFile('composer.json')
    const hasPages = (await findDocroot(tree, null)) !== undefined
    // With both, the start script of package.json is for the styles of the pages.
    if (hasComposer && hasPages) return true
    return (hasComposer || hasPages) && !(await hasScript(tree, 'start'))
  },
  plan: planPhp,
}

/** It builds a site from the templates in `source`, after its assets (jigsaw.tighten.com, "Deploying Your Site"). */
const JIGSAW = 'tightenco/jigsaw'
const JIGSAW_SCRIPTS = ['prod', 'production', 'build']

/** In production, mapped assets have to be written out first (symfony.com, "AssetMapper", "Serving Assets"). */
const ASSET_MAPPER = 'symfony/asset-mapper'
const MAP_ASSETS = 'php bin/console asset-map:compile'

/** Assets from these packages have to be built before they are mapped (symfony.com, TailwindBundle, SassBundle). */
const STYLES: Record<string, string> = {
  'symfonycasts/tailwind-bundle': 'php bin/console tailwind:build --minify',
  'symfonycasts/sass-bundle': 'php bin/console sass:build',
}

const CACHES = ['/root/.composer/cache']
const COMPOSER = 'composer install --no-dev --no-interaction --no-progress --prefer-dist'

/** Apache reads `${PORT}` from the environment when it starts. */
function siteOf(folder: string): string {
  return [
    'ServerName localhost',
    'Listen ${PORT}',
    '<VirtualHost *:${PORT}>',
    `  DocumentRoot ${folder}`,
    // Programs also find the service's variables in $_ENV, which the production settings leave empty.
    '  php_value variables_order EGPCS',
    `  <Directory ${folder}>`,
    '    AllowOverride All',
    '    Require all granted',
    '    FallbackResource /index.php',
    '  </Directory>',
    '  <FilesMatch "^[.]">',
    '    Require all denied',
    '  </FilesMatch>',
    '</VirtualHost>',
  ].join('\\n')
}

async function planPhp(tree: Tree, settings: PlanSettings, whole: WholeSource | null): Promise<PlannedBuild> {
  const notes: string[] = []
  const place = await choosePlace(tree, whole, notes, REACH)
  const composer = await readComposer(tree)
  const version = await choosePhpVersion(tree, composer, notes)
  const found = await findDocroot(tree, composer)
  const isJigsaw = found === undefined && composer !== null && JIGSAW in composer.requires
  const proposal = isJigsaw
    ? { site: true as const }
    : found === undefined
      ? null
      : { command: 'apache2-foreground' }
  const framework = isJigsaw ? 'jigsaw' : await frameworkOf(tree, composer)
  const isSymfony = framework === 'symfony'
  const mixed = (await wantsMix(tree)) ? MIX_SCRIPTS : [...(await encoreScripts(tree)), 'build']
  const mapped = isSymfony ? await mappingOf(tree, composer!) : []
  const assets = await readAssets(tree, settings, notes, isJigsaw ? JIGSAW_SCRIPTS : mixed)
  const build = ({ isSite }: Start): string | null =>
    inOrder([
      ...assets.commands,
      ...mapped,
      ...(isJigsaw && isSite ? ['vendor/bin/jigsaw build production'] : []),
    ])
  const { facts, aptPackages } = await choose(tree, settings, notes, { proposal, advice: ADVICE, build })
  const { startCommand, docroot } = understood(facts.startCommand, found ?? null, notes)
  const site = siteOf(posix.join(place.directory, docroot ?? ''))
  const dockerfile = [
    `FROM ${baseImage(settings, `php:${version}-apache-${debianOfPhp(version)}`)} AS php`,
    ...extensionSteps(composer?.extensions ?? [], version),
    // The end of this line does for the command line what the virtual host above does for pages.
    `RUN a2enmod -q rewrite && printf '${site}\\n' >/etc/apache2/sites-available/000-default.conf && : >/etc/apache2/ports.conf && cp /usr/local/etc/php/php.ini-production /usr/local/etc/php/php.ini && echo variables_order=EGPCS >>/usr/local/etc/php/php.ini`,
    // Its .env sets the environment dev, which needs the packages for development (symfony.com, "Deployment").
    ...(isSymfony ? ['ENV APP_ENV=prod'] : []),
    ...assets.stages,
    ...buildStage('php'),
    ...installPackages([...(composer === null ? [] : ['git', 'unzip']), ...aptPackages]),
    ...installSteps(composer, place, settings),
    ...assets.lines,
    ...buildCommandSteps(facts.buildCommand, settings, [...CACHES, ...assets.mounts]),
    ...lastStage(
      { ...facts, startCommand },
      { image: 'php', packages: aptPackages, workdir: place.directory, content: [takeApp()] },
    ),
  ]
  return {
    ...facts,
    startCommand,
    version,
    framework,
    publishDirectory: isJigsaw ? 'build_production' : null,
    packageManager: composer === null ? null : 'composer',
    installCommand: composer === null ? null : COMPOSER,
    env: await variablesOf(tree, framework),
    dockerfile: textOf(dockerfile),
    manifests: assets.manifests,
    needsWhole: place.needsWhole,
    // Without Composer, its packages are part of the source.
    ignore: ['.git', '**/node_modules', ...(composer === null ? [] : ['vendor'])],
    notes: [`php ${version} with Apache`, ...notes],
  }
}

const ADVICE = 'add an index.php in the root or in public/'

/** Heroku's commands start a web server of its own; here Apache serves the folder that they name. */
function understood(
  startCommand: string | null,
  found: string | null,
  notes: string[],
): { startCommand: string | null; docroot: string | null } {
  if (startCommand === null || !isHerokuCommand(startCommand)) return { startCommand, docroot: found }
  const docroot = herokuFolder(startCommand)
  notes.push(`serving ${docroot ?? 'the root'} with Apache in place of ${startCommand}`)
  return { startCommand: 'apache2-foreground', docroot }
}

const REACH: Reach = { manifests: { 'composer.json': EVERY_LINE }, hasAssets: true }

/** Packages that need nothing of the tree are there before it; the whole installation then finds them. */
function installSteps(composer: Composer | null, place: Place, settings: PlanSettings): string[] {
  if (composer === null) return place.source
  const early =
    composer.readsTree || place.needsWhole
      ? []
      : [
          'COPY source/composer.json source/composer.lock ./',
          step(`${COMPOSER} --no-scripts --no-autoloader`, settings, CACHES),
        ]
  return [
    `COPY --from=${baseImage(settings, 'composer:2')} /usr/bin/composer /usr/local/bin/composer`,
    'ENV COMPOSER_ALLOW_SUPERUSER=1 COMPOSER_CACHE_DIR=/root/.composer/cache',
    ...early,
    ...place.source,
    step(`${COMPOSER} --optimize-autoloader`, settings, CACHES),
  ]
}

/** Frameworks by the package that identifies them. */
const FRAMEWORKS: Record<string, string> = {
  'laravel/framework': 'laravel',
  'laravel/lumen-framework': 'lumen',
  'symfony/framework-bundle': 'symfony',
  'symfony/symfony': 'symfony',
  'cakephp/cakephp': 'cakephp',
  'codeigniter4/framework': 'codeigniter',
  'slim/slim': 'slim',
  'drupal/core-recommended': 'drupal',
  'roots/wordpress': 'wordpress',
  'johnpbloch/wordpress': 'wordpress',
  'johnpbloch/wordpress-core': 'wordpress',
}

async function frameworkOf(tree: Tree, composer: Composer | null): Promise<string | null> {
  for (const [name, framework] of Object.entries(FRAMEWORKS)) {
    if (composer !== null && name in composer.requires) return framework
  }
  return (await tree.hasFile('wp-config-sample.php')) ? 'wordpress' : null
}

/** Returns the command that writes out Symfony's assets; nothing without AssetMapper, or without a console to call it. */
async function mappingOf(tree: Tree, { requires }: Composer): Promise<string[]> {
  if (!(ASSET_MAPPER in requires) || !(await tree.hasFile('bin/console'))) return []
  const styles = Object.keys(STYLES).filter((name) => name in requires)
  return [...styles.map((name) => STYLES[name]!), MAP_ASSETS]
}

/**
 * Places where Symfony finds its secret without a variable of the service (symfony.com, "Configuration Based on Environment
 * Variables").
 */
const SECRET_FILES = ['.env', '.env.local', '.env.prod', '.env.prod.local']
const SECRET_VAULT = 'config/secrets/prod'

async function hasSecret(tree: Tree): Promise<boolean> {
  for (const file of SECRET_FILES)
    if (hasLine((await tree.readHead(file)) ?? '', /^\s*(?:export\s+)?APP_SECRET=["']?[^\s"'#]/)) return true
  return await tree.hasFolder(SECRET_VAULT)
}

/** Laravel signs and encrypts with a key of 32 bytes (laravel.com, "Encryption"); Symfony accepts any text. */
async function variablesOf(tree: Tree, framework: string | null): Promise<PlannedVariable[]> {
  if (framework === 'symfony' && (await hasSecret(tree))) return []
  if (framework === 'symfony')
    return [{ key: 'APP_SECRET', generate: 'hex', why: 'Symfony signs its links and forms with it' }]
  if (!(await tree.hasFile('artisan'))) return []
  return [{ key: 'APP_KEY', generate: 'laravel', why: 'Laravel encrypts its cookies with it' }]
}
