import { expect } from 'vitest'
import { manifest, type CorpusTree } from './tree.ts'

const RAILS = {
  Gemfile:
    'source "https://rubygems.org"\ngem "rails", "~> 8.0"\ngem "propshaft"\ngem "pg"\ngem "puma"\ngem "bootsnap", require: false\n',
  'Gemfile.lock':
    'GEM\n  specs:\n    rails (8.0.1)\n\nRUBY VERSION\n   ruby 3.4.5p100\n\nBUNDLED WITH\n   2.6.2\n',
  'config.ru': '',
  'config/application.rb': '',
  'config/routes.rb':
    'Rails.application.routes.draw do\n  get "up" => "rails/health#show", as: :rails_health_check\nend\n',
}
const KEY = { key: 'SECRET_KEY_BASE', generate: 'hex' as const, why: 'Rails signs its cookies with it' }

/** Programs in Ruby and PHP. */
export const RUBY_AND_PHP: CorpusTree[] = [
  {
    title: 'Rails',
    files: RAILS,
    plan: {
      runtime: 'ruby',
      version: '3.4.5',
      framework: 'rails',
      startCommand: 'bundle exec rails server -b 0.0.0.0 -p $PORT',
      healthCheckPath: '/up',
      env: [KEY],
    },
    dockerfile: [
      'bundle exec rails assets:precompile',
      'COPY source/Gemfile source/Gemfile.lock ./',
      'libpq5',
      'FROM ruby:3.4.5-slim-bookworm',
      'bootsnap precompile',
    ],
  },
  {
    title: 'Rails without assets, with credentials',
    files: {
      ...RAILS,
      Gemfile: 'gem "rails"\n',
      'Gemfile.lock': '',
      'config/credentials.yml.enc': 'x',
      'config/routes.rb': '',
    },
    plan: { runtime: 'ruby', framework: 'rails', buildCommand: null, healthCheckPath: null },
    without: ['assets:precompile'],
  },
  {
    title: 'Rails with styles made by node',
    files: {
      ...RAILS,
      'package.json': manifest({ build: 'esbuild app/javascript/*.*' }, ['esbuild']),
      'yarn.lock': '# yarn lockfile v1\n',
    },
    plan: { runtime: 'ruby', framework: 'rails' },
    dockerfile: ['yarn@1.22.22', '--mount=type=bind,from=packages,source=/app/node_modules'],
  },
  {
    title: 'Rack with Puma',
    files: { Gemfile: 'ruby "3.3.5"\ngem "puma"\n', 'config.ru': '' },
    plan: { runtime: 'ruby', version: '3.3.5', startCommand: 'bundle exec puma -b tcp://0.0.0.0:$PORT' },
  },
  {
    title: 'Sinatra',
    files: { Gemfile: 'gem "sinatra"\n', 'app.rb': '' },
    plan: {
      runtime: 'ruby',
      framework: 'sinatra',
      startCommand: 'bundle exec ruby app.rb -o 0.0.0.0 -p $PORT',
    },
  },
  {
    title: 'a Gemfile that reads other files',
    files: { Gemfile: 'gem "shared", path: "shared"\n', 'config.ru': '' },
    plan: { runtime: 'ruby' },
    without: ['COPY source/Gemfile'],
  },
  {
    title: 'Jekyll',
    files: { Gemfile: 'gem "jekyll"\n', '_config.yml': 'title: x\n', 'index.md': '' },
    plan: {
      runtime: 'ruby',
      framework: 'jekyll',
      isSite: true,
      publishDirectory: '_site',
      startCommand: null,
      buildCommand: 'bundle exec jekyll build',
    },
  },
  {
    title: 'Jekyll without a Gemfile, as hosts for pages take it',
    files: {
      '_config.yml': 'theme: minima\nplugins:\n  - jekyll-feed\ndestination: ./public\n',
      '_posts/x.md': '',
    },
    plan: {
      runtime: 'ruby',
      framework: 'jekyll',
      isSite: true,
      publishDirectory: 'public',
      buildCommand: 'jekyll build',
    },
    dockerfile: ['gem install jekyll webrick kramdown-parser-gfm minima jekyll-feed'],
  },
  {
    title: 'Middleman',
    files: { Gemfile: 'gem "middleman"\n', 'config.rb': '' },
    plan: { runtime: 'ruby', framework: 'middleman', isSite: true, publishDirectory: 'build' },
  },
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
    title: 'a lock file that was made on a Mac alone',
    files: {
      Gemfile: 'source "https://rubygems.org"\ngem "rackup"\n',
      'Gemfile.lock':
        'GEM\n  specs:\n    rackup (2.2.1)\n\nPLATFORMS\n  arm64-darwin-23\n\nDEPENDENCIES\n  rackup\n',
      'config.ru': '',
    },
    plan: {
      runtime: 'ruby',
      notes: expect.arrayContaining([
        expect.stringContaining('Gemfile.lock is for arm64-darwin-23') as string,
      ]) as string[],
    },
    dockerfile: ['bundle lock --add-platform', 'RUN cp /opt/Gemfile.lock ./\n'],
  },
  {
    title: 'a lock file for the machines of builds',
    files: {
      Gemfile: 'source "https://rubygems.org"\ngem "rackup"\n',
      'Gemfile.lock':
        'PLATFORMS\n  aarch64-linux\n  arm64-darwin-23\n  x86_64-linux\n\nDEPENDENCIES\n  rackup\n',
      'config.ru': '',
    },
    plan: { runtime: 'ruby' },
    without: ['--add-platform'],
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
    title: 'a theme of Jekyll that shows itself',
    files: {
      Gemfile: "source 'https://rubygems.org'\ngemspec\n",
      'shop.gemspec':
        'Gem::Specification.new do |spec|\n  spec.add_runtime_dependency "jekyll", "> 3.5"\nend\n',
      '_config.yml': 'title: Blog\n',
      '_layouts/home.html': '',
      'index.html': '---\nlayout: home\n---\n',
    },
    plan: { runtime: 'ruby', framework: 'jekyll', isSite: true, publishDirectory: '_site' },
  },
  {
    title: 'a gem that documents itself by pages of its own',
    files: {
      Gemfile: "source 'https://rubygems.org'\ngemspec\n",
      'shop.gemspec': 'Gem::Specification.new do |spec|\n  spec.add_dependency "rack"\nend\n',
      '_config.yml': 'title: Docs\n',
      '_layouts/home.html': '',
    },
    plan: { runtime: 'ruby', isSite: false },
  },
]
