import { manifest, noted, unnoted, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'
const SERVE = { 'apps/web/main.py': '' }
const WEB = '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>'

/** A tree below `apps/web` that is built there, in the whole source. */
const inside = (
  title: string,
  runtime: string,
  files: CorpusTree['files'],
  note: string,
  dockerfile: string[] = [],
): CorpusTree => ({
  title,
  files,
  folder: 'apps/web',
  plan: { runtime, needsWhole: true, notes: noted(note) },
  dockerfile: ['COPY source/ ./\nWORKDIR /app/apps/web\n', ...dockerfile],
})

/** Programs in a folder of a source, with files of theirs that are outside of it. */
export const OUTSIDE: CorpusTree[] = [
  inside(
    'Go with a replacement outside of root_dir',
    'go',
    {
      'apps/web/go.mod': 'module x\n\nreplace example.com/lib => ../../lib\n',
      'apps/web/main.go': MAIN,
      'lib/go.mod': 'module example.com/lib\n',
    },
    'go.mod names ../../lib, outside of root_dir',
    [
      'go build -trimpath -o /app/apps/web/bin/server .',
      'ENV PATH=/app/apps/web/bin:$PATH\nWORKDIR /app/apps/web\n',
    ],
  ),
  inside(
    'Go with its workspace above',
    'go',
    {
      'go.work': 'go 1.24\n\nuse (\n\t./apps/web\n\t./lib\n)\n',
      'apps/web/go.mod': 'module x\n',
      'apps/web/main.go': MAIN,
    },
    'go.work is above root_dir',
  ),
  inside(
    'requirements above',
    'python',
    { ...SERVE, 'apps/web/requirements.txt': '-r ../requirements.txt\n', 'apps/requirements.txt': 'flask\n' },
    'requirements.txt names ../requirements.txt',
    ['pip install -r requirements.txt'],
  ),
  inside(
    'Poetry with a package beside it',
    'python',
    {
      ...SERVE,
      'apps/web/pyproject.toml':
        '[tool.poetry]\nname = "web"\n[tool.poetry.dependencies]\nlib = { path = "../lib" }\n',
      'apps/web/poetry.lock': '',
      'apps/lib/pyproject.toml': '',
    },
    'pyproject.toml names ../lib',
    ['poetry install --only main --no-root'],
  ),
  inside(
    'a member of a workspace of uv',
    'python',
    {
      ...SERVE,
      'pyproject.toml':
        '[project]\nname = "all"\n[tool.uv.workspace]\nmembers = ["apps/*", "libs/*"]\nexclude = ["apps/old"]\n',
      'uv.lock': '',
      'apps/web/pyproject.toml': '[project]\nname = "web"\n',
    },
    'pyproject.toml is above root_dir',
    ['uv sync --frozen --no-dev'],
  ),
  inside(
    '.NET with a reference and settings above',
    'dotnet',
    {
      'apps/web/Web.csproj': WEB.replace(
        '</Project>',
        '<ProjectReference Include="..\\lib\\Lib.csproj"/></Project>',
      ),
      'apps/lib/Lib.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
    },
    'Web.csproj names ../lib/Lib.csproj',
    ['COPY --from=build --chown=1000:1000 /app/apps/web/bin/publish /app/apps/web/bin/publish'],
  ),
  inside(
    '.NET whose version is above',
    'dotnet',
    {
      'Directory.Build.props': '<Project><TargetFramework>net8.0</TargetFramework></Project>',
      'apps/web/Web.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
    },
    '.NET 8.0',
  ),
  inside(
    'a crate of a workspace',
    'rust',
    {
      'Cargo.toml': '[workspace]\nmembers = ["apps/*"]\n',
      'Cargo.lock': '',
      'apps/web/Cargo.toml': '[package]\nname = "web"\n[dependencies]\naxum.workspace = true\n',
      'apps/web/src/main.rs': '',
    },
    'Cargo.toml is above root_dir',
    ['ENV CARGO_TARGET_DIR=/app/target', '(cd /app && find .', 'cargo build --release --locked'],
  ),
  inside(
    'gems beside it',
    'ruby',
    { 'apps/web/Gemfile': 'gem "lib", path: "../lib"\n', 'apps/web/app.rb': '', 'apps/lib/lib.gemspec': '' },
    'Gemfile names ../lib',
  ),
  inside(
    'packages of PHP beside it',
    'php',
    {
      'apps/web/composer.json': { repositories: [{ type: 'path', url: '../lib' }] },
      'apps/web/public/index.php': '',
      'apps/lib/composer.json': {},
    },
    'composer.json names ../lib',
    ['DocumentRoot /app/apps/web/public'],
  ),
  inside(
    'an application of an umbrella',
    'elixir',
    {
      'mix.exs': '',
      'mix.lock': '',
      'apps/web/mix.exs':
        'def project, do: [app: :web, lockfile: "../../mix.lock", deps_path: "../../deps"]\n  {:lib, in_umbrella: true}\n',
    },
    'mix.exs names ../../mix.lock',
    ['mix deps.get'],
  ),
  inside(
    'Clojure with a local root',
    'clojure',
    { 'apps/web/deps.edn': '{:deps {lib/lib {:local/root "../lib"}}}', 'apps/lib/deps.edn': '{}' },
    'deps.edn names ../lib',
  ),
  inside(
    'Gleam with a package beside it',
    'gleam',
    {
      'apps/web/gleam.toml': 'name = "web"\n[dependencies]\nlib = { path = "../lib" }\n',
      'apps/lib/gleam.toml': '',
    },
    'gleam.toml names ../lib',
  ),
  inside(
    'a member of a workspace of Deno',
    'deno',
    { 'deno.json': '{ "workspace": ["./apps/*"] }', 'apps/web/deno.json': '{}', 'apps/web/main.ts': '' },
    'deno.json is above root_dir',
  ),
  inside(
    'C with a library beside it',
    'cpp',
    {
      'apps/web/CMakeLists.txt':
        'add_subdirectory(${CMAKE_SOURCE_DIR}/../lib lib)\nadd_executable(web main.c)\n',
      'apps/lib/CMakeLists.txt': '',
    },
    'CMakeLists.txt names ../lib',
    ['LD_LIBRARY_PATH=/app/apps/web/lib'],
  ),
  {
    ...inside(
      'a subproject of Gradle with commands of its own',
      'java',
      {
        'settings.gradle': "include 'lib', 'apps:web'\n",
        'apps/web/build.gradle': "dependencies { implementation project(':lib') }\n",
      },
      'settings.gradle is above root_dir',
    ),
    settings: { buildCommand: 'gradle installDist', startCommand: 'build/install/web/bin/web' },
  },
  inside(
    'a gem beside it that asks git for its files',
    'ruby',
    {
      'apps/web/Gemfile': 'path "../lib" do\n  gem "lib"\nend\n',
      'apps/web/app.rb': '',
      'apps/lib/gem/lib.gemspec': 's.files = `git ls-files`.split\n',
    },
    'Gemfile names ../lib',
    ['--no-install-recommends git >/dev/null'],
  ),
  {
    title: 'Go with a replacement that is nowhere',
    files: { 'apps/web/go.mod': 'module x\n\nreplace a.b/c => ../c\n', 'apps/web/main.go': MAIN },
    folder: 'apps/web',
    plan: {
      runtime: 'go',
      needsWhole: false,
      notes: noted('go.mod names ../c, outside of root_dir: the build does not see it'),
    },
  },
  {
    title: 'Go with a replacement outside of the source',
    files: { 'go.mod': 'module x\n\nreplace a.b/c => ../c\n', 'main.go': MAIN },
    plan: {
      runtime: 'go',
      needsWhole: false,
      notes: noted('go.mod names ../c, outside of the source: the build does not see it'),
    },
  },
  {
    title: 'Go below a workspace of others',
    files: {
      'go.work': 'use ./apps/api\n',
      'apps/web/go.mod': 'module x\n\n// replace a.b/c => ../c\nreplace a.b/d => ./sub/../d\n',
      'apps/web/main.go': MAIN,
    },
    folder: 'apps/web',
    plan: { runtime: 'go', needsWhole: false, notes: unnoted('outside') },
  },
  {
    title: 'Ruby with assets and a gem beside it',
    files: {
      'apps/web/Gemfile': 'gem "lib", path: "../lib"\n',
      'apps/web/app.rb': '',
      'apps/web/package.json': manifest({ build: 'vite build' }, ['vite']),
      'apps/lib/lib.gemspec': '',
    },
    folder: 'apps/web',
    plan: { runtime: 'ruby', needsWhole: false, notes: noted('Gemfile names ../lib, outside of root_dir') },
  },
  {
    title: '.NET below a version of its tools',
    files: { 'global.json': '{ "sdk": { "version": "9.0.100" } }', 'apps/web/Web.csproj': WEB },
    folder: 'apps/web',
    plan: { runtime: 'dotnet', needsWhole: false },
  },
]
