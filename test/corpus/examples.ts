import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'
const gradle = (version: string) => ({
  'build.gradle': "plugins { id 'org.springframework.boot' version '2.7.18' }\n",
  gradlew: '',
  'gradle/wrapper/gradle-wrapper.properties': `distributionUrl=https\\://services.gradle.org/distributions/gradle-${version}-bin.zip\n`,
})

/** Trees in the shape of examples that other hosts deploy as they are, where they differ from a framework's starter. */
export const EXAMPLES: CorpusTree[] = [
  {
    title: 'a workspace of Go without a module in the root',
    files: {
      'go.work': 'go 1.24\n\nuse (\n\t./api\n\t./shared\n)\n',
      'api/go.mod': 'module example.com/api\n',
      'api/main.go': MAIN,
      'shared/go.mod': 'module example.com/shared\n',
      'shared/shared.go': 'package shared\n',
    },
    plan: {
      runtime: 'go',
      version: '1.24',
      buildCommand: 'go build -trimpath -o /app/bin/server ./api',
      startCommand: '/app/bin/server',
    },
    without: ['go mod download'],
  },
  {
    title: 'Hugo with themes that are modules of Go',
    files: {
      'go.mod': 'module example.com/docs\n\ngo 1.24\n',
      'hugo.yaml': 'module:\n  imports:\n    - path: github.com/imfing/hextra\n',
      'content/_index.md': '',
    },
    plan: { runtime: 'static', framework: 'hugo', publishDirectory: 'public', isSite: true },
  },
  {
    title: 'a program of Go beside a site of Hugo',
    files: { 'go.mod': 'module x\n', 'hugo.toml': '', 'cmd/server/main.go': MAIN },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a workspace of Rust with one program',
    files: {
      'Cargo.toml': '[workspace]\nmembers = [\n    "crates/*", # all of them\n]\nresolver = "2"\n',
      'crates/shop/Cargo.toml': '[package]\nname = "shop"\n[dependencies]\naxum.workspace = true\n',
      'crates/shop/src/main.rs': '',
      'crates/words/Cargo.toml': '[package]\nname = "words"\n',
      'crates/words/src/lib.rs': '',
    },
    plan: { runtime: 'rust', framework: 'axum', startCommand: '/app/bin/shop', obstacle: null },
  },
  {
    title: 'a workspace of Rust with several programs',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["a", "b"]\n',
      'a/Cargo.toml': '[package]\nname = "a"\n',
      'a/src/main.rs': '',
      'b/Cargo.toml': '[package]\nname = "b"\n[[bin]]\nname = "c"\npath = "src/main.rs"\n',
      'b/src/main.rs': '',
    },
    plan: {
      runtime: 'rust',
      startCommand: null,
      obstacle:
        'nothing says how to start this service: there are several programs (a, c): add a Procfile with a line "web:", such as /app/bin/a, or set start_command',
    },
  },
  {
    title: 'Scala whose script has a name of its own',
    files: {
      'build.sbt':
        'name := """hello world"""\n\nexecutableScriptName := "main"\n\nlazy val root = (project in file(".")).enablePlugins(PlayScala)\n',
      'project/plugins.sbt': 'addSbtPlugin("org.playframework" % "sbt-plugin" % "3.0.5")\n',
    },
    plan: { runtime: 'scala', framework: 'play', buildCommand: 'sbt stage' },
    dockerfile: ['target/universal/stage/bin/main -Dhttp.port=$PORT'],
  },
  {
    title: 'Scala without a name',
    files: {
      'build.sbt': 'lazy val shopApp = (project in file("."))\n  .enablePlugins(JavaAppPackaging)\n',
      'project/plugins.sbt': 'addSbtPlugin("com.github.sbt" % "sbt-native-packager" % "1.11.1")\n',
    },
    plan: { runtime: 'scala', startCommand: 'target/universal/stage/bin/shopapp' },
  },
  {
    title: 'Scala that nothing packs',
    files: { 'build.sbt': 'scalaVersion := "3.3.4"\n' },
    plan: {
      runtime: 'scala',
      obstacle:
        'nothing says how to start this service: build.sbt names no program: add the plugin sbt-native-packager or sbt-assembly, or a Procfile with a line "web:", or set start_command',
    },
  },
  {
    title: '.NET with the folder of its Procfile as Heroku has it',
    files: {
      'Shop.sln': '',
      'Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net9.0</TargetFramework></Project>',
      Procfile: 'web: cd Web/bin/publish/; ./Web --urls http://*:$PORT\n',
    },
    plan: {
      runtime: 'dotnet',
      buildCommand: 'dotnet publish Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      startCommand: 'cd Web/bin/publish/; ./Web --urls http://*:$PORT',
    },
    dockerfile: ['COPY --from=build --chown=1000:1000 /app /app'],
  },
  {
    title: 'Gradle of 2022, which runs on no newer Java',
    files: gradle('7.4'),
    plan: { runtime: 'java', version: '17', framework: 'spring-boot' },
  },
  {
    title: 'Gradle of 2019',
    files: gradle('5.6.4'),
    plan: { runtime: 'java', version: '11' },
  },
  {
    title: 'Gradle that wants a newer Java than it compiles for',
    files: { ...gradle('9.0.0'), 'build.gradle': "sourceCompatibility = '11'\n" },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Gradle that compiles for another Java than the usual',
    files: { ...gradle('8.13'), 'build.gradle': "sourceCompatibility = '17'\n" },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Gradle as its own starter lays it out, with the Java of the folder',
    files: {
      'settings.gradle': "include('app')\n",
      gradlew: '',
      'app/build.gradle.kts': 'java { toolchain { languageVersion = JavaLanguageVersion.of(17) } }\n',
    },
    plan: { runtime: 'java', version: '17' },
  },
  {
    title: 'Maven with several modules',
    files: { 'pom.xml': '<modules><module>core</module><module>web</module></modules>', mvnw: '' },
    plan: { runtime: 'java', packageManager: 'maven' },
    dockerfile: ['*/target/*.jar'],
  },
  {
    title: 'Nest without its command line, compiled before it starts',
    files: {
      'package.json': manifest(
        { start: 'node index.js', 'prestart:prod': 'tsc', 'start:prod': 'node dist/main.js' },
        ['@nestjs/core'],
        ['typescript'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'nest',
      buildCommand: 'tsc',
      startCommand: 'npm run start:prod',
    },
    // The script before the start runs the compiler.
    dockerfile: ['COPY --from=packages'],
    without: ['--omit=dev'],
  },
  {
    title: 'Nuxt whose start script is its preview',
    files: {
      'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@latest']),
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'node .output/server/index.mjs' },
  },
  {
    title: 'Nuxt 2, built by an older webpack',
    files: {
      'package.json': manifest({ build: 'nuxt build', start: 'nuxt start' }, ['nuxt@^2.15.8']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'nuxt', startCommand: 'nuxt start' },
    dockerfile: ['ENV NODE_OPTIONS=--openssl-legacy-provider'],
  },
  {
    title: 'Create React App 4, built by an older webpack',
    files: {
      'package.json': manifest({ build: 'react-scripts build', start: 'react-scripts start' }, [
        'react-scripts@4.0.3',
      ]),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'create-react-app', isSite: true, publishDirectory: 'build' },
    dockerfile: ['ENV NODE_OPTIONS=--openssl-legacy-provider'],
  },
  {
    title: 'an older webpack on a node that has the older algorithms itself',
    files: {
      'package.json': manifest({ build: 'react-scripts build' }, ['react-scripts@4.0.3']),
      '.nvmrc': '16',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', version: '16' },
    without: ['NODE_OPTIONS'],
  },
  {
    title: 'Puppeteer, which drives a browser',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express', 'puppeteer']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
    dockerfile: [
      'PUPPETEER_EXECUTABLE_PATH=/usr/bin/chromium',
      'PUPPETEER_SKIP_DOWNLOAD=true',
      'chromium fonts-liberation',
    ],
  },
  {
    title: 'Puppeteer for tests alone',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['express'], ['puppeteer']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
    without: ['fonts-liberation'],
  },
  {
    title: 'Next whose starter shows the export as a possibility',
    files: {
      'package.json': manifest({ build: 'next build', start: 'next start' }, ['next']),
      'next.config.mjs':
        "const site = 'https://example.com' // output: 'export'\nexport default {\n  // output: \"export\",\n  /* output: 'standalone', */\n  reactStrictMode: true,\n}\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'next', isSite: false, startCommand: 'next start' },
    without: ['standalone'],
  },
  {
    title: 'TypeScript whose compiler is set up with a folder in a comment',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['express'], ['typescript']),
      'tsconfig.json': '{\n  "compilerOptions": {\n    // "outDir": "./dist",\n    "strict": true\n  }\n}\n',
      'src/index.ts': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node src/index.ts' },
  },
  {
    title: 'Gradle with an older Java in a comment',
    files: { ...gradle('8.13'), 'build.gradle': "// sourceCompatibility = '11'\n" },
    plan: { runtime: 'java', version: '21' },
  },
  {
    title: '.NET with its kind in a comment',
    files: {
      'x.csproj':
        '<!-- <Project Sdk="Microsoft.NET.Sdk.Worker"> -->\n<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net8.0</TargetFramework></Project>',
    },
    plan: { runtime: 'dotnet', framework: 'aspnet' },
  },
  {
    title: 'Flask whose requirements speak of a server that they do not name',
    files: {
      'requirements.txt': 'flask # gunicorn comes later\n# gunicorn\n',
      'app.py': 'app = Flask(__name__)\n',
    },
    plan: { runtime: 'python', startCommand: 'gunicorn --bind 0.0.0.0:$PORT app:app' },
    dockerfile: ['pip install gunicorn'],
  },
  {
    title: 'PHP with a package that is named as a script is',
    files: { 'index.php': '', 'package.json': { dependencies: { start: '1' } } },
    plan: { runtime: 'php' },
  },
  {
    title: 'Vite among the packages of files that it does not build',
    files: { 'package.json': manifest({}, ['vite']), 'site/index.html': '', ...NPM_LOCK },
    plan: { runtime: 'node', framework: null, isSite: false, buildCommand: null },
  },
  {
    title: 'yarn 1, whose cache is not for two at once',
    files: {
      'package.json': manifest({ build: 'tsc', start: 'node dist/x.js' }, ['express'], ['typescript']),
      'yarn.lock': '# yarn lockfile v1\n',
    },
    plan: { runtime: 'node', packageManager: 'yarn' },
    dockerfile: ['id=/root/.yarn-cache,target=/root/.yarn-cache,sharing=locked'],
    without: ['target=/root/.yarn-cache \\'],
  },
  {
    title: 'Django beside the development server of its styles',
    files: {
      'package.json': manifest({ start: 'webpack --watch', build: 'webpack' }, [], ['webpack']),
      'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
      'requirements.txt': 'django\n',
      'shop/settings.py': '',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'python',
      framework: 'django',
      buildCommand: 'npm run build',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
    },
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
    dockerfile: ['COPY source/vendor/cache ./vendor/cache'],
  },
  {
    title: 'Deno of an older standard library, below src/',
    files: {
      'src/index.ts':
        'import { serve } from "https://deno.land/std@0.176.0/http/server.ts"\nserve(() => new Response("x"), { port: Number(Deno.env.get("PORT")) })\n',
    },
    plan: { runtime: 'deno', startCommand: 'deno run --allow-all src/index.ts' },
  },
  {
    title: 'Bun with a range of versions',
    files: {
      'package.json': { ...manifest({ start: 'bun index.ts' }), engines: { bun: '>=1.1' } },
      'bun.lock': '',
      'index.ts': '',
    },
    plan: { runtime: 'bun', version: null, notes: ['bun with bun', 'starting with: bun run start'] },
  },
  {
    title: 'a workspace of pnpm whose patterns stand in one line',
    files: {
      'package.json': manifest({}),
      'pnpm-workspace.yaml': 'packages: ["apps/*", \'packages/*\']\n',
      'apps/web/package.json': { ...manifest({ start: 'node server.js' }), name: 'web' },
      'apps/web/server.js': '',
      'packages/words/package.json': { name: 'words' },
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
    dockerfile: ['WORKDIR /app/apps/web'],
  },
]
