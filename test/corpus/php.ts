import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const encoreAlone = (scripts: Record<string, string>): CorpusTree['files'] => ({
  'composer.json': { require: { 'symfony/framework-bundle': '^7' } },
  'public/index.php': '',
  'package.json': manifest(scripts, [], ['@symfony/webpack-encore']),
  ...NPM_LOCK,
})

const symfonyWith = (files: CorpusTree['files']): CorpusTree['files'] => ({
  'composer.json': { require: { 'symfony/framework-bundle': '^7' } },
  'public/index.php': '<?php\n',
  ...files,
})

const ENCORE = ['@symfony/webpack-encore']
const LEGACY = 'NODE_OPTIONS=--openssl-legacy-provider'

const MIX = {
  'composer.json': { require: { php: '^8.1' } },
  'public/index.php': '<?php\n',
  'package.json': manifest(
    { dev: 'npm run development', prod: 'npm run production', production: 'mix --production' },
    [],
    ['laravel-mix@^5.0.1'],
  ),
  'webpack.mix.js': "mix.js('resources/js/app.js', 'js')",
  ...NPM_LOCK,
}

const symfony = (packages: string[], more: CorpusTree['files'] = {}): CorpusTree['files'] => ({
  'composer.json': { require: Object.fromEntries(packages.map((name) => [name, '*'])) },
  'public/index.php': '<?php\n',
  ...more,
})

const FRAMEWORK = 'symfony/framework-bundle'
const CONSOLE = { 'bin/console': '#!/usr/bin/env php\n' }

const SECRET = [
  { key: 'APP_SECRET', generate: 'hex', why: containing('Symfony') },
] as CorpusTree['plan']['env']

const encore = (scripts: Record<string, string>): CorpusTree['files'] =>
  symfony([FRAMEWORK], {
    'package.json': manifest(scripts, [], ['@symfony/webpack-encore']),
    ...NPM_LOCK,
  })

/** Programs and sites of PHP. */
export const PHP: CorpusTree[] = [
  {
    title: 'Laravel',
    files: {
      'composer.json': { require: { php: '^8.2', 'laravel/framework': '^12.0', 'ext-redis': '*' } },
      'composer.lock': { packages: [{ name: 'x/y', require: { 'ext-intl': '*', php: '^8' } }] },
      artisan: '',
      'public/index.php': '',
      'package.json': manifest({ dev: 'vite', build: 'vite build' }, [], ['vite', 'laravel-vite-plugin']),
    },
    plan: {
      runtime: 'php',
      version: '8.4',
      framework: 'laravel',
      startCommand: 'apache2-foreground',
      buildCommand: 'npm run build',
      env: [{ key: 'APP_KEY', generate: 'laravel', why: 'Laravel encrypts its cookies with it' }],
    },
    dockerfile: [
      'DocumentRoot /app/public',
      'composer install --no-dev --no-interaction --no-progress --prefer-dist --no-scripts',
      'pecl install redis',
      'opcache intl',
    ],
  },
  {
    title: 'Symfony with a folder of its own',
    files: {
      'composer.json': { require: { 'symfony/framework-bundle': '7.*' }, extra: { 'public-dir': 'web/' } },
      'web/index.php': '',
    },
    plan: { runtime: 'php', framework: 'symfony', startCommand: 'apache2-foreground' },
    dockerfile: ['DocumentRoot /app/web'],
  },
  {
    title: 'Drupal',
    files: {
      'composer.json': {
        require: { 'drupal/core-recommended': '^11' },
        extra: { 'drupal-scaffold': { locations: { 'web-root': 'web/' } } },
      },
      'web/.gitkeep': '',
    },
    plan: { runtime: 'php', framework: 'drupal' },
    dockerfile: ['DocumentRoot /app/web'],
  },
  {
    title: "a Procfile with Heroku's Apache",
    files: {
      'composer.json': {},
      'index.php': '',
      'public/index.php': '',
      Procfile: 'web: vendor/bin/heroku-php-apache2 -C apache.conf htdocs/\n',
    },
    plan: { runtime: 'php', startCommand: 'apache2-foreground' },
    dockerfile: ['DocumentRoot /app/htdocs'],
  },
  {
    title: 'a plain index.php',
    files: { 'index.php': '<?php echo 1;' },
    plan: { runtime: 'php', startCommand: 'apache2-foreground', packageManager: null },
    dockerfile: ['DocumentRoot /app\\n'],
    without: ['composer'],
  },
  {
    title: 'PHP 8.5, which has OPcache built in',
    files: { 'composer.json': { require: { php: '^8.5' } }, 'index.php': '' },
    plan: { runtime: 'php', version: '8.5' },
    without: ['pcntl opcache'],
  },
  {
    title: 'extensions of PHP, whose headers are gone when they are compiled',
    files: { 'composer.json': { require: { 'ext-intl': '*', 'ext-imagick': '*' } }, 'public/index.php': '' },
    plan: { runtime: 'php' },
    dockerfile: [
      'marked=$(apt-mark showmanual) && apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libpq-dev libzip-dev libicu-dev libmagickwand-dev',
      "apt-mark auto '.*' >/dev/null && apt-mark manual $marked >/dev/null && ldd",
      "apt-get purge -y -qq --auto-remove >/dev/null && ! ldd $(php -r 'echo ini_get(\"extension_dir\");')/*.so | grep 'not found'",
    ],
    without: [
      'RUN apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libpq-dev',
    ],
  },
  {
    title: 'PHP with a package that is named as a script is',
    files: { 'index.php': '', 'package.json': { dependencies: { start: '1' } } },
    plan: { runtime: 'php' },
  },
  {
    title: 'Symfony beside the development server of its styles',
    files: {
      'composer.json': { require: { 'symfony/framework-bundle': '7.*' } },
      'public/index.php': '',
      'package.json': manifest({ start: 'encore dev-server', build: 'encore production' }),
    },
    plan: { runtime: 'php', framework: 'symfony', buildCommand: 'npm run build' },
  },
  {
    title: 'PHP on the release of Debian that its images end with',
    files: { 'composer.json': { require: { php: '^7.2.5' } }, 'index.php': '' },
    plan: { runtime: 'php', version: '7.4' },
    dockerfile: ['FROM php:7.4-apache-bullseye'],
  },
  {
    title: 'WordPress that Composer brings',
    files: {
      'composer.json': {
        require: { 'johnpbloch/wordpress-core-installer': '2', 'johnpbloch/wordpress-core': '6' },
      },
      'wp-config.php': '<?php\n',
    },
    plan: { runtime: 'php', framework: 'wordpress', startCommand: 'apache2-foreground' },
    dockerfile: ['/app/wordpress'],
  },
  {
    title: 'PHP that is served from html',
    files: { 'composer.json': { require: { 'sabre/dav': '^4' } }, 'html/index.php': '' },
    plan: { runtime: 'php', startCommand: 'apache2-foreground' },
    dockerfile: ['DocumentRoot /app/html'],
  },
  {
    title: 'a site of Jigsaw',
    files: {
      'composer.json': { require: { 'tightenco/jigsaw': '^1.7' } },
      'config.php': '',
      'source/index.blade.php': '',
      'package.json': manifest({ build: 'vite build' }, [], ['vite', '@tighten/jigsaw-vite-plugin']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'php',
      framework: 'jigsaw',
      isSite: true,
      buildCommand: 'npm run build && vendor/bin/jigsaw build production',
      publishDirectory: 'build_production',
      obstacle: null,
    },
  },
  {
    title: 'PHP in the root with a folder of pages',
    files: { 'index.php': '<?php', 'html/index.php': '<?php // silence', 'composer.json': '{}' },
    plan: { runtime: 'php' },
    without: ['DocumentRoot /app/html'],
  },
  {
    title: 'Encore whose files the source has',
    files: { ...encoreAlone({ 'build:prod': 'encore production' }), 'public/build/entrypoints.json': '{}' },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Encore for developers alone',
    files: encoreAlone({ watch: 'encore dev --watch', dev: 'encore dev' }),
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Laravel on components of Symfony',
    files: {
      'composer.json': { require: { 'laravel/framework': '^12', 'symfony/console': '^7' } },
      'public/index.php': '',
    },
    plan: { runtime: 'php', framework: 'laravel', env: [] },
    without: ['APP_ENV'],
  },
  {
    title: 'a mapper of assets without the framework',
    files: { 'composer.json': { require: { 'symfony/asset-mapper': '^7' } }, 'public/index.php': '' },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Symfony with AssetMapper, but nothing to call it by',
    files: {
      'composer.json': { require: { 'symfony/framework-bundle': '^7', 'symfony/asset-mapper': '^7' } },
      'public/index.php': '',
    },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Symfony whose .env has a secret',
    files: symfonyWith({ '.env': 'APP_ENV=dev\nAPP_SECRET=0123456789abcdef\n' }),
    plan: { runtime: 'php', framework: 'symfony', env: [] },
  },
  {
    title: 'Symfony whose secret is in its file for production',
    files: symfonyWith({ '.env': 'APP_SECRET=\n', '.env.prod': 'APP_SECRET="0123456789abcdef"\n' }),
    plan: { runtime: 'php', env: [] },
  },
  {
    title: 'Symfony whose secrets are in its vault',
    files: symfonyWith({
      '.env': 'APP_SECRET=\n',
      'config/secrets/prod/prod.list.php': '<?php return [];\n',
    }),
    plan: { runtime: 'php', env: [] },
  },
  {
    title: 'Symfony whose build is more than that of Encore',
    files: symfonyWith({
      'package.json': manifest(
        {
          icons: 'node icons.js',
          'encore:prod': 'encore production',
          build: 'npm run icons && npm run encore:prod',
        },
        [],
        ENCORE,
      ),
      ...NPM_LOCK,
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
  {
    title: 'Symfony whose build is a program of its own beside Encore',
    files: symfonyWith({
      'package.json': manifest({ build: 'gulp', 'encore:prod': 'encore production' }, ['gulp'], ENCORE),
      ...NPM_LOCK,
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
  {
    title: 'Laravel whose pages want what Mix makes',
    files: MIX,
    plan: { runtime: 'php', buildCommand: 'npm run production' },
    dockerfile: [`ENV ${LEGACY}`],
  },
  {
    title: 'Laravel with what Mix made in its source',
    files: { ...MIX, 'public/mix-manifest.json': '{}' },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Laravel with what Mix made in another folder of its source',
    files: {
      ...MIX,
      'webpack.mix.js': "mix.setPublicPath('public/build')",
      'public/build/mix-manifest.json': '{}',
    },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Laravel whose skeleton has scripts of Mix, and nothing for it',
    files: Object.fromEntries(Object.entries(MIX).filter(([name]) => name !== 'webpack.mix.js')),
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Symfony, whose .env is for its developers',
    files: symfony([FRAMEWORK], { '.env': 'APP_ENV=dev\nAPP_SECRET=\n' }),
    plan: { runtime: 'php', framework: 'symfony', buildCommand: null, env: SECRET },
    dockerfile: [
      'ENV APP_ENV=prod\n',
      // For its workers and commands as for its pages.
      'echo variables_order=EGPCS >>/usr/local/etc/php/php.ini',
    ],
  },
  {
    title: 'Symfony as one package',
    files: symfony(['symfony/symfony']),
    plan: { runtime: 'php', framework: 'symfony', env: SECRET },
    dockerfile: ['ENV APP_ENV=prod\n'],
  },
  {
    title: 'Symfony with AssetMapper',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper'], CONSOLE),
    plan: { runtime: 'php', buildCommand: 'php bin/console asset-map:compile' },
  },
  {
    title: 'Symfony with AssetMapper and Tailwind',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper', 'symfonycasts/tailwind-bundle'], CONSOLE),
    plan: {
      runtime: 'php',
      buildCommand: 'php bin/console tailwind:build --minify && php bin/console asset-map:compile',
    },
  },
  {
    title: 'Symfony with AssetMapper and Sass',
    files: symfony([FRAMEWORK, 'symfony/asset-mapper', 'symfonycasts/sass-bundle'], CONSOLE),
    plan: {
      runtime: 'php',
      buildCommand: 'php bin/console sass:build && php bin/console asset-map:compile',
    },
  },
  {
    title: 'Encore by a script of another name',
    files: encore({ 'build:dev': 'encore dev', 'build:prod': 'encore production --progress' }),
    plan: { runtime: 'php', buildCommand: 'npm run build:prod' },
  },
  {
    title: 'Encore by a script for all among those for parts',
    files: encore({
      'build:admin': 'encore production --config-name admin',
      'build:prod': 'encore production',
    }),
    plan: { runtime: 'php', buildCommand: 'npm run build:prod' },
  },
  {
    title: 'Encore by the usual script among others',
    files: encore({ prod: 'encore prod', build: 'encore production' }),
    plan: { runtime: 'php', buildCommand: 'npm run build' },
  },
]
