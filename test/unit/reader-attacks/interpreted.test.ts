import { describe } from 'vitest'
import { attackEach } from './attacks.ts'

describe('a tree of Python, Ruby, PHP, Elixir or Gleam that was written to take long', () => {
  attackEach([
    ['requirements.txt', ['-r', '@', 'flask', 'a[', 'git+', '--pre', '.tar'], { 'main.py': '' }],
    ['pyproject.toml', ['requires-python = "', '[tool.'], { 'main.py': '' }],
    ['.python-version', ['3.'], { 'main.py': '' }],
    ['main.py', ['app', 'app:', 'app = Flask', 'def'], { 'requirements.txt': '' }],
    ['manage.py', ['DJANGO_SETTINGS_MODULE",'], { 'requirements.txt': '' }],
    [
      'shop/settings.py',
      ['STATIC_ROOT', 'WSGI_APPLICATION = "'],
      {
        'manage.py': "setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
      },
    ],
    ['Gemfile', ['gem', 'gem "', 'ruby "', '%w[', 'git_source(:a) {', 'path:', ':a'], { 'config.ru': '' }],
    ['Gemfile.lock', ['RUBY VERSION', '  rails'], { Gemfile: '', 'config.ru': '' }],
    ['.ruby-version', ['3.', 'ruby-'], { Gemfile: '', 'config.ru': '' }],
    [
      'config/routes.rb',
      ['get "up"', 'get "/up" =>'],
      {
        Gemfile: 'gem "rails"',
        'config/application.rb': '',
      },
    ],
    ['mix.exs', ['app:', 'releases: [', '{:', 'import_config', 'A.', 'Path.join'], {}],
    ['.tool-versions', ['elixir '], { 'mix.exs': 'app: :x' }],
    ['gleam.toml', ['gleam = "', 'gleam'], {}],
    ['composer.json', ['{"require":{"php":"'], {}],
  ])
})
