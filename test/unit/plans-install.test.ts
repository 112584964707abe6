import { describe, expect, test } from 'vitest'
import type { PlanSettings } from '#plans/index.ts'
import { plan, type Files } from './plan-of.ts'

/** Whether a command runs before the source is there, after it, or both. */
async function placeOf(command: string, files: Files, settings: Partial<PlanSettings> = {}): Promise<string> {
  const { dockerfile } = await plan(files, settings)
  const source = dockerfile.indexOf('COPY source/ ./')
  const isEarly = dockerfile.slice(0, source).includes(command)
  const isLate = dockerfile.slice(source).includes(command)
  return isEarly && isLate ? 'both' : isEarly ? 'before' : isLate ? 'after' : 'never'
}

describe('requirements are installed before the source exactly if they name nothing of it', () => {
  const order = (text: string, more: Files = {}, settings: Partial<PlanSettings> = {}): Promise<string> =>
    placeOf('pip install -r requirements.txt', { 'main.py': '', 'requirements.txt': text, ...more }, settings)

  test.each([
    'flask\n',
    'flask[async]>=3,<4; python_version >= "3.9"  # a comment / with a path\n',
    'django==5.1 \\\n    --hash=sha256:0a --hash=sha256:0b\n',
    '--index-url https://pypi.acme.test/simple\n--no-binary :all:\n--pre\nflask\n',
    'x @ https://acme.test/x.whl\ngit+https://acme.test/y.git@main#egg=y\n',
  ])('before: %j', async (text) => {
    expect(await order(text)).toBe('before')
  })

  test('before: files that it includes', async () => {
    expect(
      await order('-r base.txt\n-c limits.txt\n', { 'base.txt': 'flask\n', 'limits.txt': 'flask<4\n' }),
    ).toBe('before')
  })

  test.each([
    'wheels/acme-1.0-py3-none-any.whl\n',
    'acme-1.0-py3-none-any.whl ; python_version > "3"\n',
    'acme-1.0.tar.gz\n',
    './lib\n',
    'lib/\n',
    '-e .\n',
    '--editable=lib\n',
    '.\n',
    'x @ file:///app/lib\n',
    'x @ ./lib\n',
    '--find-links wheels\nacme\n',
    '--index-url file:///app/simple\nacme\n',
    '-i https://acme.test/simple --find-links ./wheels\n',
    '${WHEELS}/acme.whl\n',
    '-r missing.txt\n',
    '-r https://acme.test/requirements.txt\n',
  ])('after: %j', async (text) => {
    expect(await order(`flask\n${text}`)).toBe('after')
  })

  test('after: an included file that names something', async () => {
    expect(await order('-c limits.txt\n', { 'limits.txt': 'acme @ file:wheels/a.whl\n' })).toBe('after')
  })

  test('after: a variable that names files for pip', async () => {
    expect(await order('flask\n', {}, { secretNames: ['PIP_EXTRA_INDEX_URL'] })).toBe('before')
    expect(await order('flask\n', {}, { secretNames: ['PIP_CONSTRAINT'] })).toBe('after')
  })
})

describe('packages are installed as by hand', () => {
  const SRC = { 'src/web/__init__.py': '', 'src/web/main.py': 'app = FastAPI()\n' }
  const BUILD = '[build-system]\nrequires = []\n'
  const elixir = (more: string): string =>
    `defmodule Web.MixProject do\n  use Mix.Project\n${more}\n  def project, do: [app: :web, start_permanent: Mix.env() == :prod, deps: deps()]\n  defp deps do\n    [\n      {:plug, "~> 1.0"}\n    ]\n  end\nend\n`
  const composer = (manifest: object, type = 'library'): Files => ({
    'composer.json': { require: { 'acme/lib': '*' }, ...manifest },
    'composer.lock': { packages: [{ name: 'acme/lib', type }] },
    'index.php': '',
  })
  const CONFIG =
    'import Config\nconfig :web, Web.Endpoint, url: [host: "localhost"]\nconfig :esbuild, cd: Path.expand("../assets", __DIR__)\nimport_config "#{config_env()}.exs"\n'

  test.each<[title: string, files: Files, command: string, place: string]>([
    [
      'uv',
      { 'uv.lock': '', 'pyproject.toml': '[project]\n', 'main.py': '' },
      'uv sync --frozen --no-dev',
      'both',
    ],
    [
      'Poetry with a package of its own',
      { 'pyproject.toml': '[tool.poetry]\nname = "web"\n', 'poetry.lock': '', ...SRC },
      'poetry install --only main\n',
      'after',
    ],
    [
      'Poetry without a package',
      { 'pyproject.toml': '[tool.poetry]\nname = "web"\n', 'poetry.lock': '', 'main.py': '' },
      'poetry install --only main --no-root',
      'both',
    ],
    [
      'PDM with a package of its own',
      { 'pyproject.toml': `[project]\nname = "web"\n${BUILD}`, 'pdm.lock': '', ...SRC },
      'pdm sync --prod\n',
      'after',
    ],
    ['Pipenv', { Pipfile: '', 'Pipfile.lock': '{}', 'main.py': '' }, 'pipenv sync', 'both'],
    [
      'a project with a build',
      { 'pyproject.toml': `[project]\nname = "web"\ndependencies = ["flask"]\n${BUILD}`, 'main.py': '' },
      'uv pip install .',
      'after',
    ],
    [
      'a project whose requirements are in a file',
      {
        'pyproject.toml': `[project]\nname = "web"\ndynamic = ["version", "dependencies"]\n${BUILD}`,
        'main.py': '',
      },
      'uv pip install -r pyproject.toml',
      'never',
    ],
    [
      'an environment of conda with packages of the tree',
      { 'environment.yml': 'dependencies:\n  - pip:\n    - -r base.txt\n', 'main.py': '' },
      'micromamba create',
      'after',
    ],
    [
      'mix.exs',
      { 'mix.exs': elixir(''), 'config/config.exs': CONFIG, 'config/prod.exs': '' },
      'mix deps.get',
      'before',
    ],
    [
      'mix.exs that reads a file',
      { 'mix.exs': elixir('  @version File.read!("VERSION")') },
      'mix deps.get',
      'after',
    ],
    [
      'mix.exs that runs a command',
      { 'mix.exs': elixir('  @v System.cmd("git", [])') },
      'mix deps.get',
      'after',
    ],
    [
      'settings that read a file',
      { 'mix.exs': elixir(''), 'config/config.exs': 'config :web, key: File.read!("key.pem")\n' },
      'mix deps.get',
      'after',
    ],
    ['a lock file of Composer', composer({}), '--no-autoloader', 'before'],
    ['a plugin of Composer', composer({}, 'composer-plugin'), '--no-autoloader', 'never'],
    [
      'a folder of Composer',
      composer({ repositories: [{ type: 'path', url: 'lib' }] }),
      '--no-autoloader',
      'never',
    ],
    ['a place of its own', composer({ config: { 'vendor-dir': 'lib' } }), '--no-autoloader', 'never'],
    ['no lock file', { 'composer.json': {}, 'index.php': '' }, '--no-autoloader', 'never'],
  ])('%s', async (_title, files, command, place) => {
    expect(await placeOf(command, files)).toBe(place)
  })

  test('a server that the requirements lack comes after a manager that would remove it', async () => {
    const { dockerfile } = await plan({
      'uv.lock': '',
      'pyproject.toml': '[project]\ndependencies = ["flask"]\n',
      'app.py': 'app = Flask(__name__)\n',
    })
    expect(dockerfile.indexOf('pip install gunicorn')).toBeGreaterThan(dockerfile.lastIndexOf('uv sync'))
  })
})

describe('gems are installed before the source exactly if the Gemfile names nothing of it', () => {
  const order = (text: string, more: Files = {}): Promise<string> =>
    placeOf('bundle install', { Gemfile: text, 'app.rb': '', ...more })

  test.each([
    'source "https://rubygems.org"\nruby "3.4.5"\n\n# Read File.read("x")\ngem "rails", "~> 8.0" # the framework\n',
    'git_source(:github) { |repo| "https://github.com/#{repo}.git" }\ngem "x", github: "acme/x", branch: "main"\n',
    'gem "tzinfo-data", platforms: %i[ windows jruby ]\ngroup :development, :test do\n  gem "debug", require: false\nend\n',
    "gem 'x', '~> 1',\n  :require => false\ngem('y') if ENV['Y']\n",
  ])('before: %j', async (text) => {
    expect(await order(text)).toBe('before')
  })

  test.each([
    'gem "shared", path: "shared"\n',
    'gem "shared", :path => "shared"\n',
    'path "gems" do\n  gem "shared"\nend\n',
    'gemspec\n',
    'ruby file: ".ruby-version"\n',
    'ruby File.read(".ruby-version").strip\n',
    'eval_gemfile "Gemfile.common"\n',
    'gem "x#{File.read(\'v\')}"\n',
    'gem "x", git: "vendor/x"\n',
    'source "file:///app/gems"\n',
    'gem "x", `cat v`\n',
    'load "gems.rb"\n',
  ])('after: %j', async (text) => {
    expect(await order(text)).toBe('after')
  })

  test('after: settings and gems of the tree', async () => {
    expect(await order('gem "x"\n', { '.bundle/config': '' })).toBe('after')
  })
})
