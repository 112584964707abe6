import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string

const POM = '<project><parent><artifactId>spring-boot-starter-parent</artifactId></parent>'
const BOOT =
  '<build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build>'
const SHOP = {
  'pom.xml': `${POM}<artifactId>shop</artifactId><packaging>pom</packaging><modules><module>common</module><module>catalog</module><module>services/orders</module></modules></project>`,
  'common/pom.xml': '<project><artifactId>common</artifactId></project>',
  'catalog/pom.xml': `<project>${BOOT}</project>`,
  'services/orders/pom.xml': `<project><parent><artifactId>shop</artifactId></parent>${BOOT}</project>`,
}
const GRADLE_SHOP = {
  'settings.gradle':
    "rootProject.name = 'shop'\ninclude 'common',\n  ':catalog'\ninclude(':services:orders')\n",
  'build.gradle': "plugins { id 'org.springframework.boot' version '3.4.0' apply false }\n",
  'common/build.gradle': "plugins { id 'java-library' }\n",
  'catalog/build.gradle': "plugins { id 'org.springframework.boot' }\n",
  'services/orders/build.gradle': "plugins { id 'org.springframework.boot' }\n",
}

/** Trees in the shape of examples, templates and applications that people paste from elsewhere. */
export const PASTED: CorpusTree[] = [
  {
    title: 'an API whose project links to its chat',
    files: {
      'pyproject.toml':
        '[project]\nname = "api"\nrequires-python = ">=3.12"\nkeywords = ["telegram"]\ndependencies = [\n  "litestar",\n  "uvicorn",\n]\n\n[project.urls]\nDiscord = "https://discord.gg/example"\n',
      'app.py': 'from litestar import Litestar\napp = Litestar([])\n',
    },
    plan: {
      runtime: 'python',
      framework: 'litestar',
      isWorker: false,
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT app:app',
    },
  },
  {
    title: 'a bot whose package is in a group of Poetry',
    files: {
      'pyproject.toml':
        '[tool.poetry]\nname = "bot"\n\n[tool.poetry.dependencies]\npython = "^3.12"\n"discord.py" = "^2.4"\n',
      'bot.py': '',
    },
    plan: { runtime: 'python', isWorker: true, startCommand: 'python bot.py' },
  },
  {
    title: 'a project of Python whose manifest is no TOML',
    files: {
      'pyproject.toml': '[project]\ndependencies = ["flask"\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: 'Brunch, whose start script watches',
    files: {
      'package.json': manifest(
        { start: 'brunch watch --server', build: 'brunch build --production' },
        [],
        ['brunch'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'brunch',
      isSite: true,
      startCommand: null,
      publishDirectory: 'public',
    },
  },
  {
    title: 'Polymer, whose start script serves its sources',
    files: {
      'package.json': manifest({ start: 'polymer serve', build: 'polymer build' }, [], ['polymer-cli']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'polymer', isSite: true, startCommand: null },
  },
  {
    title: 'Sapper, exported as files',
    files: {
      'package.json': manifest({ start: 'sapper dev', build: 'sapper export' }, ['polka'], ['sapper']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'sapper',
      isSite: true,
      startCommand: null,
      publishDirectory: '__sapper__/export',
    },
  },
  {
    title: 'Sapper, whose start script is for development',
    files: {
      'package.json': manifest({ start: 'sapper dev', build: 'sapper build' }, ['polka'], ['sapper']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'sapper', isSite: false, startCommand: 'node __sapper__/build' },
  },
  {
    title: 'Docusaurus 1',
    files: {
      'package.json': manifest(
        { start: 'docusaurus-start', build: 'docusaurus-build' },
        [],
        ['docusaurus@^1.14.0'],
      ),
      'siteConfig.js': "const siteConfig = {\n  title: 'Site',\n  projectName: 'test-site',\n};\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'docusaurus', isSite: true, publishDirectory: 'build/test-site' },
  },
  {
    title: 'Sanity 2',
    files: {
      'package.json': manifest(
        { start: 'sanity start', build: 'sanity build' },
        ['@sanity/core'],
        ['@sanity/cli'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'sanity', isSite: true, publishDirectory: 'dist', singlePage: true },
  },
  {
    title: 'a report of Evidence',
    files: {
      'package.json': manifest(
        { build: 'evidence build', sources: 'evidence sources', dev: 'evidence dev' },
        ['@evidence-dev/evidence'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'evidence',
      isSite: true,
      buildCommand: 'npm run sources && npm run build',
      publishDirectory: 'build',
    },
  },
  {
    title: 'a dashboard of Observable Framework',
    files: {
      'package.json': manifest({ build: 'observable build', dev: 'observable preview' }, [
        '@observablehq/framework',
      ]),
      'observablehq.config.js': 'export default {\n  root: "src",\n  output: "site",\n};\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'observable', isSite: true, publishDirectory: 'site' },
  },
  {
    title: 'webpack that writes beside the page',
    files: {
      'package.json': manifest({ build: 'webpack' }, [], ['webpack-cli', 'svelte']),
      'webpack.config.js': "output: {\n  path: path.join(__dirname, '/public'),\n},\n",
      'src/main.js': '',
      'public/index.html': '',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: 'webpack',
      isSite: true,
      startCommand: null,
      publishDirectory: 'public',
    },
  },
  {
    title: 'VuePress that builds to a folder of its own',
    files: {
      'package.json': manifest({ build: 'vuepress build src -d docs' }, ['vuepress']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'vuepress', isSite: true, publishDirectory: 'docs' },
  },
  {
    title: 'a program of Bun that `module` names',
    files: {
      'package.json': {
        name: 'http',
        module: 'http.ts',
        type: 'module',
        devDependencies: { '@types/bun': '*' },
      },
      'http.ts': 'Bun.serve({})\n',
    },
    plan: { runtime: 'bun', startCommand: 'bun run http.ts' },
  },
  {
    title: 'a library whose `module` is what its build makes',
    files: {
      'package.json': { name: 'library', module: 'dist/index.mjs', scripts: { build: 'tsc' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('nothing says how to start') },
  },
  {
    title: 'PHP that is served from html',
    files: { 'composer.json': { require: { 'sabre/dav': '^4' } }, 'html/index.php': '' },
    plan: { runtime: 'php', startCommand: 'apache2-foreground' },
    dockerfile: ['DocumentRoot /app/html'],
  },
  {
    title: 'Gradio that a program starts from its parts',
    files: { 'requirements.txt': 'gradio\n', 'main.py': 'from parts import build\nbuild().launch()\n' },
    plan: {
      runtime: 'python',
      startCommand: 'GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python main.py',
    },
  },
  {
    title: 'Shiny for Python',
    files: { 'requirements.txt': 'shiny\n', 'app.py': 'from shiny.express import ui\n' },
    plan: {
      runtime: 'python',
      framework: 'shiny',
      startCommand: 'shiny run --host 0.0.0.0 --port $PORT app.py',
    },
  },
  {
    title: 'Panel',
    files: { 'requirements.txt': 'panel\n', 'app.py': 'import panel as pn\npn.panel("x").servable()\n' },
    plan: {
      runtime: 'python',
      framework: 'panel',
      startCommand: "panel serve app.py --address 0.0.0.0 --port $PORT --allow-websocket-origin='*'",
    },
  },
  {
    title: 'Solara',
    files: { 'requirements.txt': 'solara\n', 'app.py': 'import solara\n' },
    plan: {
      runtime: 'python',
      framework: 'solara',
      startCommand: 'solara run app.py --host 0.0.0.0 --port $PORT --production --no-open',
    },
  },
  {
    title: 'a book of mdBook',
    files: { 'book.toml': '[book]\ntitle = "Guide"\n', 'src/SUMMARY.md': '# Summary\n' },
    plan: {
      runtime: 'static',
      framework: 'mdbook',
      isSite: true,
      buildCommand: 'mdbook build',
      publishDirectory: 'book',
    },
  },
  {
    title: 'a program of Rust with a book',
    files: {
      'book.toml': '[book]\n',
      'Cargo.toml': '[package]\nname = "app"\n',
      'src/main.rs': '',
      'src/SUMMARY.md': '',
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/app' },
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
    title: 'a Maven project of several programs',
    files: SHOP,
    plan: {
      runtime: 'java',
      framework: 'spring-boot',
      rootDirectories: ['catalog', 'services/orders'],
      obstacle: containing('several programs (catalog, services/orders): set root_dir to the folder of one'),
    },
  },
  {
    title: 'a module of a Maven project',
    files: SHOP,
    folder: 'services/orders',
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'mvn -B -ntp -DskipTests -pl services/orders -am package',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
    dockerfile: ['services/orders/target/*.jar'],
  },
  {
    title: 'a Maven project with one program among its modules',
    files: { ...SHOP, 'services/orders/pom.xml': '<project/>', mvnw: '' },
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
    },
    dockerfile: ['ls -S catalog/target/*.jar'],
  },
  {
    title: 'a Gradle project of several programs',
    files: GRADLE_SHOP,
    plan: { runtime: 'java', rootDirectories: ['catalog', 'services/orders'] },
  },
  {
    title: 'a subproject of Gradle',
    files: { ...GRADLE_SHOP, gradlew: '' },
    folder: 'services/orders',
    plan: {
      runtime: 'java',
      obstacle: null,
      buildCommand: 'sh ./gradlew --no-daemon :services:orders:build -x test',
    },
    dockerfile: ['services/orders/build/libs/*.jar'],
  },
  {
    title: 'a bot of Rust whose package is a table',
    files: {
      'Cargo.toml': '[package]\nname = "bot"\n\n[dependencies.serenity]\nversion = "0.12"\n',
      'src/main.rs': 'fn main() {}\n',
    },
    plan: { runtime: 'rust', isWorker: true },
  },
  {
    title: 'commands of another package manager than that of the lock file',
    files: {
      'package.json': manifest(
        { 'build:prod': 'tsc', 'start:api': 'node dist/api.js', build: 'tsc' },
        [],
        ['typescript'],
      ),
      'railway.json': {
        build: { buildCommand: 'npm i -g pnpm && pnpm install && pnpm build:prod' },
        deploy: { startCommand: 'yarn run start:api' },
      },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', buildCommand: 'npm run build:prod', startCommand: 'npm run start:api' },
  },
  {
    title: 'an application that is exported for functions, and listens nowhere',
    files: {
      'package.json': manifest({}, ['hono']),
      'src/index.ts': "import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n",
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('src/index.ts exports its application'),
    },
  },
  {
    title: 'an application that is exported, and listens',
    files: {
      'package.json': manifest({}, ['express']),
      'index.js':
        "import express from 'express'\nconst app = express()\napp.listen(process.env.PORT)\nexport default app\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node index.js', obstacle: null },
  },
  {
    title: 'an application that is exported for Bun, which serves it',
    files: {
      'package.json': manifest({}, ['hono'], ['@types/bun']),
      'src/index.ts': "import { Hono } from 'hono'\nconst app = new Hono()\nexport default app\n",
    },
    plan: { runtime: 'bun', startCommand: 'bun run src/index.ts', obstacle: null },
  },
]
