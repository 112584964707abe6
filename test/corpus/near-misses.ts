import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const withNote = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

const BOOK = { 'book.toml': '[book]\ntitle = "Guide"\n', 'src/SUMMARY.md': '# Summary\n' }
const EXPRESS = { 'package.json': manifest({ start: 'node server.js' }, ['express']), 'server.js': '' }

const PARENT = '<parent><artifactId>spring-boot-starter-parent</artifactId></parent>'
const plugin = (more = ''): string =>
  `<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId>${more}</plugin></plugins></build>`
const modules = (...names: string[]): string =>
  `<artifactId>shop</artifactId><modules>${names.map((name) => `<module>${name}</module>`).join('')}</modules>`
const OF_SHOP = '<parent><artifactId>shop</artifactId></parent>'
const API = {
  'pom.xml': `<project>${PARENT}${modules('api')}</project>`,
  'api/pom.xml': `<project>${OF_SHOP}${plugin()}</project>`,
}
/** The largest jar that any module leaves, as if the modules were not inspected. */
const ANY_JAR = 'ls -S target/*.jar target/*.war target/quarkus-app/*.jar */target/*.jar'
const BOOT_PLUGIN = "plugins { id 'org.springframework.boot' version '3.4.0' }\n"
const ALONE = `${BOOT_PLUGIN}repositories { mavenCentral() }\n`

/** A Gradle library that switches its program off, in different spellings. */
const SWITCHED_OFF: [file: string, text: string][] = [
  ['core/build.gradle', 'bootJar {\n  enabled = false\n}\njar { enabled = true }\n'],
  ['core/build.gradle', "tasks.named('bootJar') {\n  enabled = false\n}\n"],
  ['core/build.gradle.kts', 'tasks.getByName<BootJar>("bootJar") { enabled = false }\n'],
  ['core/build.gradle.kts', 'tasks.named<BootJar>("bootJar") {\n    enabled = false\n}\n'],
  ['core/build.gradle.kts', 'tasks.bootJar { isEnabled = false }\n'],
]

const GO_MAIN = 'package main\n\nfunc main() {}\n'

const encore = (scripts: Record<string, string>): CorpusTree['files'] => ({
  'composer.json': { require: { 'symfony/framework-bundle': '^7' } },
  'public/index.php': '',
  'package.json': manifest(scripts, [], ['@symfony/webpack-encore']),
  ...NPM_LOCK,
})

const together = (scripts: Record<string, string>): CorpusTree['files'] => ({
  'package.json': manifest(scripts, [], ['concurrently']),
  ...NPM_LOCK,
})

const django = (manage: string): CorpusTree['files'] => ({
  'requirements.txt': 'django\nflask\n',
  'manage.py': manage,
  'shop/settings.py': "WSGI_APPLICATION = 'shop.wsgi.application'\n",
})

const CRATES = { 'Cargo.toml': '[workspace]\nmembers = ["*"]\n' }
const crate = (name: string, dependency: string): CorpusTree['files'] => ({
  [`${name}/Cargo.toml`]: `[package]\nname = "${name}"\n[dependencies]\n${dependency} = "1"\n`,
  [`${name}/src/main.rs`]: '',
})

/** Trees that have the sign of a rule, but are something else; an older rule gives the right plan. */
export const NEAR_MISSES: CorpusTree[] = [
  {
    title: 'a server beside a book of its documentation',
    files: { ...EXPRESS, ...BOOK, ...NPM_LOCK },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a program of C++ beside a book',
    files: {
      'CMakeLists.txt': 'project(server)\nadd_executable(server main.cpp)\n',
      'main.cpp': '',
      ...BOOK,
    },
    plan: { runtime: 'cpp' },
  },
  {
    title: 'a program that a script starts, beside a book',
    files: { 'start.sh': '#!/bin/sh\n./serve\n', ...BOOK },
    plan: { runtime: 'shell' },
  },
  {
    title: 'a workspace of Rust beside a book',
    files: {
      'Cargo.toml': '[workspace]\nmembers = ["crates/*"]\n',
      'crates/app/Cargo.toml': '[package]\nname = "app"\n',
      'crates/app/src/main.rs': '',
      ...BOOK,
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/app' },
  },
  {
    title: 'a book whose chapters lie in another folder',
    files: { 'book.toml': '[book]\nsrc = "./chapters/"\n', 'chapters/SUMMARY.md': '' },
    plan: { runtime: 'static', framework: 'mdbook' },
  },
  {
    title: 'a module of Maven whose Procfile names its own folder',
    files: { ...API, 'api/Procfile': 'web: java -Dserver.port=$PORT -jar target/api.jar\n' },
    folder: 'api',
    plan: { runtime: 'java', needsWhole: false, buildCommand: 'mvn -B -ntp -DskipTests package' },
  },
  {
    title: 'a module of Maven with commands of its own',
    files: API,
    folder: 'api',
    settings: { buildCommand: 'mvn package', startCommand: 'java -jar target/api.jar' },
    plan: { runtime: 'java', needsWhole: false, startCommand: 'java -jar target/api.jar' },
  },
  {
    title: 'a module of Maven that pins what the root does not',
    files: { ...API, '.java-version': '21', 'api/system.properties': 'java.runtime.version=17\n' },
    folder: 'api',
    plan: { runtime: 'java', needsWhole: true, version: '17' },
  },
  {
    title: 'a module of Maven that names no other',
    files: {
      ...API,
      'api/pom.xml': `<project>${PARENT}${plugin()}</project>`,
      'api/mvnw': '',
      'api/.java-version': '17',
    },
    folder: 'api',
    plan: {
      runtime: 'java',
      needsWhole: false,
      version: '17',
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
    },
  },
  {
    title: 'a subproject of Gradle with settings of its own',
    files: {
      'settings.gradle': "include ':app'\ninclude ':server'\n",
      'build.gradle': "buildscript { dependencies { classpath 'com.android.tools.build:gradle:8.0' } }\n",
      'app/build.gradle': "apply plugin: 'com.android.application'\n",
      'server/build.gradle': BOOT_PLUGIN,
      'server/settings.gradle': '',
      'server/gradlew': '',
    },
    folder: 'server',
    plan: { runtime: 'java', needsWhole: false, buildCommand: 'sh ./gradlew --no-daemon build -x test' },
  },
  {
    title: 'a subproject of Gradle that says all by itself',
    files: {
      'settings.gradle': "include 'server'\n",
      'build.gradle': '',
      'server/build.gradle': ALONE,
    },
    folder: 'server',
    plan: { runtime: 'java', needsWhole: false, buildCommand: 'gradle --no-daemon build -x test' },
  },
  ...SWITCHED_OFF.map(([file, text], index): CorpusTree => ({
    title: `a library of Gradle that makes no program (${index})`,
    files: {
      'settings.gradle': "include 'api', 'core'\n",
      'build.gradle': '',
      'api/build.gradle': `${BOOT_PLUGIN}bootJar { archiveFileName = 'a.jar' }\njar { enabled = false }\n`,
      [file]: BOOT_PLUGIN + text,
    },
    plan: { runtime: 'java', rootDirectories: [], obstacle: null },
    dockerfile: ['ls -S api/build/libs/*.jar'],
  })),
  {
    title: 'a library of Maven that runs its parent’s plugin in no phase',
    files: {
      'pom.xml': `<project>${PARENT}${modules('core', 'web')}</project>`,
      'core/pom.xml': `<project>${plugin('<executions><execution><id>repackage</id><phase>none</phase></execution></executions>')}</project>`,
      'web/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S web/target/*.jar'],
  },
  {
    title: 'a program of Maven that is skipped by another plugin, beside a sample',
    files: {
      'pom.xml': `<project>${PARENT}${modules('app', 'sample')}</project>`,
      'app/pom.xml': `<project>${plugin('</plugin><plugin><artifactId>maven-deploy-plugin</artifactId><configuration><skip>true</skip></configuration>')}</project>`,
      'sample/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S app/target/*.jar'],
  },
  {
    title: 'a parent among the modules of Maven that manages the plugin',
    files: {
      'pom.xml': `<project>${PARENT}${modules('parent', 'web')}</project>`,
      'parent/pom.xml': `<project><packaging>pom</packaging><build><pluginManagement>${plugin()}</pluginManagement></build></project>`,
      'web/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S web/target/*.jar'],
  },
  {
    title: 'modules of Maven that inherit the plugin, libraries among them',
    files: {
      'pom.xml': `<project>${PARENT}${plugin()}${modules('one', 'library')}</project>`,
      'one/pom.xml': '<project/>',
      'one/src/main/resources/application.yml': '',
      'library/pom.xml': '<project/>',
      'library/src/main/resources/application.yml': '',
    },
    plan: { runtime: 'java', obstacle: null, notes: withNote('the largest that the build leaves is taken') },
    dockerfile: [ANY_JAR],
  },
  {
    title: 'modules of an aggregator that has the plugin',
    files: {
      'pom.xml': `<project>${modules('backend', 'tools')}</project>`,
      'backend/pom.xml': `<project><packaging>pom</packaging>${plugin()}<modules><module>web</module></modules></project>`,
      'backend/web/pom.xml': '<project/>',
      'tools/pom.xml': `<project>${plugin()}</project>`,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: [ANY_JAR],
  },
  {
    title: 'modules of Gradle with a plugin that nobody knows here',
    files: {
      'settings.gradle': "include 'api', 'tools'\n",
      'build.gradle': '',
      'api/build.gradle': "plugins { id 'shop.service' }\n",
      'tools/build.gradle': BOOT_PLUGIN,
    },
    plan: { runtime: 'java', obstacle: null },
    dockerfile: ['ls -S build/libs/*.jar'],
  },
  {
    title: 'programs of Gradle, one by the bare name of its plugin',
    files: {
      'settings.gradle.kts': 'include("server", "worker")\n',
      'server/build.gradle.kts': 'plugins {\n  application\n}\n',
      'worker/build.gradle.kts': 'plugins {\n  id("application")\n}\n',
    },
    plan: { runtime: 'java', rootDirectories: ['server', 'worker'] },
  },
  {
    title: 'the starter of Gradle with a tool beside its program',
    files: {
      'settings.gradle': "include 'app', 'tool'\n",
      'app/build.gradle': "plugins {\n  id 'application'\n}\n",
      'tool/build.gradle': "plugins {\n  id 'application'\n}\n",
    },
    plan: { runtime: 'java', obstacle: null, startCommand: '/app/server' },
  },
  {
    title: 'PHP in the root with a folder of pages',
    files: { 'index.php': '<?php', 'html/index.php': '<?php // silence', 'composer.json': '{}' },
    plan: { runtime: 'php' },
    without: ['DocumentRoot /app/html'],
  },
  ...(['go', 'rust', 'node', 'django'] as const).map((language): CorpusTree => ({
    title: `a list of commands for another host that is empty, of ${language}`,
    files: {
      'nixpacks.toml': '[phases.build]\ncmds = []\n',
      ...{
        go: { 'go.mod': 'module x\n\ngo 1.24\n', 'main.go': 'package main\nfunc main() {}\n' },
        rust: { 'Cargo.toml': '[package]\nname = "x"\n', 'src/main.rs': '' },
        node: {
          'package.json': manifest({ build: 'next build', start: 'next start' }, ['next', 'react']),
          ...NPM_LOCK,
        },
        django: {
          'requirements.txt': 'django\ngunicorn\n',
          'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "m.settings")\n',
          'm/settings.py': 'STATIC_ROOT = "static"\n',
          'm/wsgi.py': '',
        },
      }[language],
    },
    plan: {
      runtime: language === 'django' ? 'python' : language,
      buildCommand: containing(
        { go: 'go build', rust: 'cargo', node: 'build', django: 'collectstatic' }[language],
      ),
    },
  })),
  {
    title: 'Flask that shows what Panel draws',
    files: {
      'requirements.txt': 'panel\nflask\ngunicorn\n',
      'app.py': 'import panel as pn\nfrom flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: 'a program that serves Panel itself',
    files: {
      'requirements.txt': 'panel\n',
      'main.py':
        'import panel as pn\npn.panel("x").servable()\npn.serve(page, port=int(os.environ["PORT"]))\n',
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'Starlette with a part of Shiny',
    files: {
      'requirements.txt': 'shiny\nstarlette\nuvicorn\n',
      'app.py':
        'from starlette.applications import Starlette\nfrom shiny import App\napp = Starlette(routes=[])\n',
    },
    plan: { runtime: 'python', startCommand: 'uvicorn --host 0.0.0.0 --port $PORT app:app' },
  },
  {
    title: 'a program beside a page of Shiny',
    files: {
      'requirements.txt': 'shiny\n',
      'main.py': 'from app import page\npage()\n',
      'app.py': 'from shiny.express import ui\n',
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'a page of Shiny that is no module of a server for Python',
    files: {
      'requirements.txt': 'shiny\n',
      'app.py': 'from shiny import (\n    App,\n    ui,\n)\napp = App(ui.page_fluid(), None)\n',
    },
    plan: { runtime: 'python', framework: 'shiny' },
  },
  {
    title: 'a bot that draws with Panel',
    files: { 'requirements.txt': 'discord.py\npanel\n', 'bot.py': '' },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a server whose `module` is for those that import it',
    files: {
      'package.json': { name: 'x', module: 'lib/index.mjs' },
      'lib/index.mjs': '',
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'npm in commands for an image of node with pnpm',
    files: {
      'package.json': manifest({ 'start:api': 'node api.js' }),
      'pnpm-lock.yaml': 'lockfileVersion: "9.0"\n',
      'railway.json': { deploy: { startCommand: 'npm run start:api -- --all' } },
    },
    plan: { runtime: 'node', startCommand: 'npm run start:api -- --all' },
  },
  {
    title: 'arguments of a script that another package manager runs',
    files: {
      'package.json': manifest({ 'start:api': 'node api.js' }),
      'railway.json': { deploy: { startCommand: 'pnpm start:api --all' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm run start:api -- --all' },
  },
  {
    title: 'a program of Go with tools, beside a list of packages for Python',
    files: {
      'go.mod': 'module shop\n\ntool example.com/gen\n',
      'main.go': GO_MAIN,
      'requirements.txt': 'pytest\n',
    },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a library of Go without tools, beside a list of packages for Python',
    files: { 'go.mod': 'module shop\n', 'shop.go': 'package shop\n', 'requirements.txt': 'pytest\n' },
    plan: { runtime: 'go', startCommand: null },
  },
  {
    title: 'Encore whose files the source has',
    files: { ...encore({ 'build:prod': 'encore production' }), 'public/build/entrypoints.json': '{}' },
    plan: { runtime: 'php', buildCommand: null },
  },
  {
    title: 'Encore for developers alone',
    files: encore({ watch: 'encore dev --watch', dev: 'encore dev' }),
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
    title: 'a build for Nixpacks that copies assets of its own',
    files: {
      'composer.json': { require: {} },
      'public/index.php': '',
      'nixpacks.toml': '[phases.build]\ncmds = ["cp -r assets/ public/assets/"]\n',
    },
    plan: { runtime: 'php', buildCommand: 'cp -r assets/ public/assets/' },
  },
  {
    title: 'a start script that says what it starts',
    files: {
      'package.json': manifest({ start: 'echo Starting && node server.js' }),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'echo Starting && node server.js' },
  },
  {
    title: 'a start script that runs one that says something',
    files: {
      'package.json': manifest({ prestart: 'echo Wait', start: 'node server.js' }),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm start' },
  },
  {
    title: 'a start script for the developers of one package',
    files: together({ start: 'npm run dev -w api' }),
    plan: { runtime: 'node', startCommand: 'npm start', obstacle: null },
  },
  {
    title: 'a start script for several packages as they are for users',
    files: together({ start: 'concurrently "npm start -w api" "npm start -w client"' }),
    plan: { runtime: 'node', startCommand: 'npm start', obstacle: null },
  },
  {
    title: 'Django whose manage.py names its settings among others',
    files: django(
      "# not 'shop.settings.local'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
    ),
    plan: { runtime: 'python', framework: 'django', startCommand: containing('shop.wsgi') },
  },
  {
    title: 'a manage.py of something else that names settings',
    files: {
      ...django("load('other.settings')\n"),
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: "Python's server of files in a folder that a build makes",
    files: {
      'requirements.txt': 'markdown\n',
      'index.html': '',
      Procfile: 'web: python -m http.server $PORT --directory out\n',
    },
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT --directory out' },
  },
  {
    title: "Python's server of files where no page lies",
    files: { 'requirements.txt': 'markdown\n', 'a.md': '', Procfile: 'web: python -m http.server $PORT\n' },
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT' },
  },
  {
    title: 'a factory whose application another module makes',
    files: { 'requirements.txt': 'flask\n', 'app.py': 'def create_app():\n    return made(Starlette)\n' },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of Flask in a module that names others',
    files: {
      'requirements.txt': 'flask\nquart\n',
      'app.py': '# or app = Quart(__name__)\ndef create_app():\n    app = Flask(__name__)\n    return app\n',
    },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of Quart beside a helper of Flask',
    files: {
      'requirements.txt': 'flask\nquart\n',
      'app.py':
        'def create_app(\n    config=None,\n) -> Quart:\n    # By default\n\n    app = Quart(__name__)\n    return app\n\ndef old():\n    return FastAPI()\n',
    },
    plan: { runtime: 'python', framework: 'quart', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'Django whose manage.py chooses its settings, those of its tests last',
    files: django(
      "name = 'shop.settings' if 'SITE' in os.environ else 'tests.settings'\nos.environ['DJANGO_SETTINGS_MODULE'] = name\n",
    ),
    plan: { runtime: 'python', framework: 'django', startCommand: containing('shop.wsgi') },
  },
  {
    title: 'a program that serves its page by a Python that no image has',
    files: {
      'index.html': '',
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': '',
      Procfile: 'web: python -m http.server $PORT\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a workspace of Rust whose server has its framework for some systems alone, in a table',
    files: {
      ...CRATES,
      ...crate('cli', 'clap'),
      'shop/Cargo.toml':
        '[package]\nname = "shop"\n[target.\'cfg(unix)\'.dependencies.axum]\nversion = "0.8"\n[dev-dependencies]\nrocket = "1"\n',
      'shop/src/main.rs': '',
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/shop' },
  },
  {
    title: 'a workspace of Rust of which two programs serve',
    files: { ...CRATES, ...crate('admin', 'axum'), ...crate('shop', 'rocket') },
    plan: { runtime: 'rust', startCommand: null },
  },
  {
    title: 'a workspace of Rust whose server names no framework',
    files: { ...CRATES, ...crate('server', 'tokio'), ...crate('proxy', 'hyper'), ...crate('demo', 'axum') },
    plan: { runtime: 'rust', startCommand: '/app/bin/server' },
  },
  {
    title: 'the documentation of a package that only speaks of an application',
    files: {
      'requirements.txt': 'sphinx\n',
      'shop/__init__.py': '',
      'shop/webapp.py': '# As in: app = Flask(__name__)\n',
      'docs/conf.py': 'project = "shop"\n',
    },
    plan: { runtime: 'python', isSite: true, publishDirectory: 'build/html' },
  },
  {
    title: 'a tool that its developers run again and again',
    files: {
      'package.json': manifest({ dev: 'nodemon tools/make.js' }, [], ['nodemon']),
      'tools/make.js': "require('fs').writeFileSync('out.html', '')\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server for developers that is run anew whenever it changes',
    files: {
      'package.json': manifest({ dev: 'node --watch tools/pages.js', build: 'node make.js' }, ['express']),
      'tools/pages.js': "const bs = require('browser-sync').create()\nbs.init()\nexpress().listen(1)\n",
      'make.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server for developers that has its name',
    files: {
      'package.json': manifest({ dev: 'nodemon tools/dev-server.js' }, ['express']),
      'tools/dev-server.js': "require('express')().listen(1)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a program that its developers start once',
    files: {
      'package.json': manifest({ dev: 'node tools/serve.js' }, ['express']),
      'tools/serve.js': "require('express')().listen(1)\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a server whose developers run more than that',
    files: {
      'package.json': manifest({ dev: 'node watch.js & nodemon tools/serve.js' }, ['express'], ['nodemon']),
      'tools/serve.js': '',
      'watch.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null },
  },
  {
    title: 'a bot that is sent its work',
    files: {
      'requirements.txt': 'aiohttp\naiogram\n',
      'bot.py': 'app = make()\nregister(app, path="/webhooks")\nrun_app(app)\n',
    },
    plan: { runtime: 'python', isWorker: false },
  },
]
