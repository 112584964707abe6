import { expect } from 'vitest'
import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

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

const bundledWith = (gems: string[], bundler: string): string =>
  `GEM\n  specs:\n${gems.map((gem) => `    ${gem}\n`).join('')}\nBUNDLED WITH\n   ${bundler}\n`

/** A Bundler lock file. */
const locked = (gems: string[], bundler?: string): string =>
  `GEM\n  remote: https://rubygems.org/\n  specs:\n${gems.map((gem) => `    ${gem}\n`).join('')}\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rack\n${bundler === undefined ? '' : `\nBUNDLED WITH\n   ${bundler}\n`}`

const RACK = { Gemfile: "gem 'sinatra'\n", 'config.ru': 'run App\n' }
const OLDER_RAILS = { Gemfile: "gem 'rails'\n", 'config.ru': '', 'config/application.rb': '' }
const LEGACY = 'NODE_OPTIONS=--openssl-legacy-provider'

const rails = (version: string): CorpusTree['files'] => ({
  Gemfile: "gem 'rails'\n",
  'Gemfile.lock': `GEM\n  remote: https://rubygems.org/\n  specs:\n    rails (${version})\n    sprockets (3.7.2)\n\nPLATFORMS\n  ruby\n\nDEPENDENCIES\n  rails\n`,
  'config.ru': '',
  'config/application.rb': '',
})

/** Programs and sites of Ruby. */
export const RUBY: CorpusTree[] = [
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
  {
    title: 'a gem that looks for a program which runs JavaScript',
    files: {
      Gemfile: 'source "https://rubygems.org"\ngem "execjs"\n',
      'app.rb': '',
    },
    plan: { runtime: 'ruby', startCommand: 'bundle exec ruby app.rb' },
    dockerfile: ['--no-install-recommends nodejs'],
  },
  {
    title: 'gems that lie in the tree',
    files: {
      Gemfile: 'source "https://rubygems.org"\ngem "rack"\n',
      'Gemfile.lock': '',
      'vendor/cache/rack-3.1.0.gem': '',
      'config.ru': '',
    },
    plan: { runtime: 'ruby', installCommand: 'bundle install' },
    without: ['COPY source/Gemfile'],
  },
  {
    title: 'Ruby on the release of Debian that its images end with',
    files: { Gemfile: 'ruby "3.0.6"\ngem "sinatra"\ngem "charlock_holmes"\n', 'config.ru': '' },
    plan: { runtime: 'ruby', version: '3.0.6' },
    dockerfile: ['FROM ruby:3.0.6-bullseye', 'FROM ruby:3.0.6-slim-bullseye', 'libicu67'],
    without: ['bookworm'],
  },
  {
    title: 'a program of Rack without a server whose Procfile has a console',
    files: {
      Gemfile: "gem 'sinatra'\n",
      'config.ru': 'run App\n',
      'Gemfile.lock': bundledWith(['rack (2.2.9)'], '2.5.6'),
      Procfile: 'console: irb\n',
    },
    plan: { runtime: 'ruby', startCommand: null, obstacle: containing('bundle add puma') },
  },
  {
    title: 'an application of Rails 6.1 with an older Bundler',
    files: {
      Gemfile: "gem 'rails'\n",
      'config.ru': '',
      'config/application.rb': '',
      'Gemfile.lock': bundledWith(['rails (6.1.7)'], '2.1.4'),
    },
    plan: { runtime: 'ruby', version: '3.1' },
    without: ['gem install bundler'],
  },
  {
    title: 'a program of Sinatra with an older Bundler',
    files: {
      Gemfile: "gem 'sinatra'\n",
      'config.ru': 'run App\n',
      'Gemfile.lock': bundledWith(['puma (6.4.0)', 'rack (2.2.9)'], '2.1.4'),
    },
    plan: { runtime: 'ruby', version: '3.1', startCommand: containing('puma') },
    without: ['gem install bundler'],
  },
  {
    title: 'a program of Rack from the time of Ruby 2, without a server of its own',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.0.4)', 'sinatra (2.0.1)'], '1.17.3') },
    plan: { runtime: 'ruby', version: '2.7', startCommand: containing('rackup'), obstacle: null },
    dockerfile: ['gem install bundler:1.17.3'],
  },
  {
    title: 'a program of Rack without a server of its own',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.2.9)', 'sinatra (3.1.0)'], '2.5.6') },
    plan: { runtime: 'ruby', startCommand: null, obstacle: containing('bundle add puma') },
  },
  {
    title: 'a program of Rack with the server that Ruby had',
    files: { ...RACK, 'Gemfile.lock': locked(['rack (2.2.9)', 'webrick (1.8.1)'], '2.5.6') },
    plan: { runtime: 'ruby', version: '3.4', startCommand: containing('rackup'), obstacle: null },
    without: ['gem install bundler'],
  },
  {
    title: 'an application of Rails 5 that names no Ruby',
    files: { ...OLDER_RAILS, 'Gemfile.lock': locked(['rails (5.2.4)'], '2.1.4') },
    plan: { runtime: 'ruby', framework: 'rails', version: '2.7' },
    without: ['gem install bundler'],
  },
  {
    title: 'an application of Rails 7.0 that names no Ruby',
    files: { ...OLDER_RAILS, 'Gemfile.lock': locked(['rails (7.0.8)'], '2.4.19') },
    plan: { runtime: 'ruby', version: '3.2' },
  },
  {
    title: 'an older application of Rails whose lock file a newer Ruby wrote',
    files: { ...OLDER_RAILS, 'Gemfile.lock': locked(['rails (5.2.8)'], '2.5.6') },
    plan: { runtime: 'ruby', version: '3.4' },
  },
  {
    title: 'an application of Ruby 2.6 whose lock file its own Bundler does not take',
    files: {
      ...OLDER_RAILS,
      Gemfile: "ruby '2.6.10'\ngem 'rails'\n",
      'Gemfile.lock': locked(['rails (5.2.8)'], '2.4.1'),
    },
    plan: { runtime: 'ruby', version: '2.6.10' },
    dockerfile: ['gem install bundler:2.3.27'],
  },
  {
    title: 'Rails with a webpacker that has an older webpack',
    files: { ...rails('6.1.7'), 'package.json': manifest({}, ['@rails/webpacker@5.4.4']), ...NPM_LOCK },
    plan: { runtime: 'ruby', framework: 'rails' },
    dockerfile: [`ENV ${LEGACY}`, 'bundle exec rails assets:precompile'],
  },
  {
    title: 'Rails with a newer bundler of scripts',
    files: { ...rails('7.1.3'), 'package.json': manifest({ build: 'esbuild app' }, ['esbuild@0.20.0']) },
    plan: { runtime: 'ruby', framework: 'rails' },
    dockerfile: ['bundle exec rails assets:precompile'],
    without: [LEGACY],
  },
  {
    title: 'a Rails whose own command runs no tasks yet',
    files: rails('4.2.6'),
    plan: { runtime: 'ruby', framework: 'rails', version: '2.6' },
    dockerfile: ['bundle exec rake assets:precompile'],
  },
  {
    title: 'Rails with assets by Bun, in the newest version whatever package.json says',
    files: {
      Gemfile: "source 'https://rubygems.org'\ngem 'rails'\n",
      'Gemfile.lock': 'GEM\n  specs:\n    rails (8.0.1)\n',
      'config/application.rb': '',
      'package.json': manifest({ build: 'bun bun.config.js' }, ['@hotwired/turbo-rails'], [], {
        packageManager: 'bun@1.1.0',
      }),
      'bun.lock': '',
    },
    plan: { runtime: 'ruby' },
    dockerfile: ['npm install --global --force --allow-scripts=bun bun\n'],
  },
]
