import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

/** A shop of Maven, whose parent makes programs of all modules. */
const shop = (...applications: string[]): CorpusTree['files'] => ({
  'pom.xml':
    '<project><artifactId>shop</artifactId><packaging>pom</packaging><modules><module>common</module><module>orders</module><module>catalog</module></modules><build><plugins><plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin></plugins></build></project>',
  ...Object.fromEntries(
    ['common', 'orders', 'catalog'].map((name) => [
      `${name}/pom.xml`,
      `<project><parent><artifactId>shop</artifactId></parent><artifactId>${name}</artifactId></project>`,
    ]),
  ),
  'common/src/main/java/shop/Money.java': 'package shop;\n\nclass Money {}\n',
  ...Object.fromEntries(
    applications.map((name) => [
      `${name}/src/main/java/shop/${name}/Application.java`,
      'package shop;\n\n@SpringBootApplication\nclass Application {}\n',
    ]),
  ),
})

/** Trees of which one program, one file or one version is the right one, and manifests alone do not say which. */
export const PROGRAMS: CorpusTree[] = [
  {
    title: 'TypeScript compiled to dist, whose main npm init wrote',
    files: {
      'package.json': manifest({ build: 'tsc', dev: 'nodemon dist/index.js' }, ['telegraf'], ['typescript'], {
        main: 'index.js',
      }),
      ...NPM_LOCK,
      'tsconfig.json':
        '{ "compilerOptions": { "rootDir": "./src", "outDir": "./dist" /* all emitted files */ } }',
      'src/index.ts': "import { Telegraf } from 'telegraf'\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/index.js' },
  },
  {
    title: 'TypeScript compiled beside its sources, whose main npm init wrote',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['express'], ['typescript'], { main: 'index.js' }),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "strict": true } }',
      'index.ts': "import express from 'express'\n",
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
  },
  {
    title: 'TypeScript compiled to a folder, from which its build takes the main',
    files: {
      'package.json': manifest({ build: 'tsc && cp dist/index.js .' }, ['express'], ['typescript'], {
        main: 'index.js',
      }),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/index.ts': "import express from 'express'\n",
    },
    plan: { runtime: 'node', startCommand: 'node index.js' },
  },
  {
    title: 'PHP whose composer.json says its version only as the platform',
    files: {
      'composer.json': { require: { 'monolog/monolog': '^2' }, config: { platform: { php: '7.4.33' } } },
      'index.php': '<?php\n',
    },
    plan: {
      runtime: 'php',
      version: '7.4',
      notes: noted('php 7.4 by config.platform of composer.json (7.4.33)'),
    },
  },
  {
    title: 'PHP for a platform that no image has',
    files: {
      'composer.json': { require: { 'monolog/monolog': '^1' }, config: { platform: { php: '5.6.40' } } },
      'index.php': '<?php\n',
    },
    plan: { runtime: 'php', version: '8.4', obstacle: null },
  },
  {
    title: 'PHP that asks for one version, and installs for an older',
    files: {
      'composer.json': { require: { php: '>=8.2' }, config: { platform: { php: '8.2.0' } } },
      'index.php': '<?php\n',
    },
    plan: { runtime: 'php', version: '8.4' },
  },
  {
    title: 'a shop of Maven whose parent has the plugin for several programs',
    files: shop('orders', 'catalog'),
    plan: {
      runtime: 'java',
      obstacle: containing('this is a project of several programs (orders, catalog): set root_dir'),
      rootDirectories: ['orders', 'catalog'],
    },
  },
  {
    title: 'a program of a shop of Maven whose parent has the plugin',
    files: shop('orders', 'catalog'),
    folder: 'catalog',
    plan: {
      runtime: 'java',
      needsWhole: true,
      obstacle: null,
      buildCommand: 'mvn -B -ntp -DskipTests -pl catalog -am package',
    },
  },
  {
    title: 'a shop of Maven whose parent has the plugin, and one of whose modules is a program',
    files: shop('orders'),
    plan: { runtime: 'java', obstacle: null, notes: noted('the largest that the build leaves is taken') },
  },
  {
    title: 'a shop of Gradle whose root applies the plugin to its programs',
    files: {
      'settings.gradle.kts': 'include("common")\ninclude("orders", "catalog")\n',
      'build.gradle.kts': 'subprojects { apply(plugin = "org.springframework.boot") }\n',
      'common/build.gradle.kts': 'plugins { `java-library` }\n',
      'orders/build.gradle.kts': '',
      'orders/src/main/kotlin/shop/Orders.kt':
        'fun main(args: Array<String>) { runApplication<Orders>(*args) }\n',
      'catalog/build.gradle.kts': '',
      'catalog/src/main/kotlin/shop/Catalog.kt': '@SpringBootApplication\nclass Catalog\n',
    },
    plan: { runtime: 'java', rootDirectories: ['orders', 'catalog'] },
  },
  {
    title: 'a bot in Python that is a package which python runs',
    files: {
      'pyproject.toml': '[project]\nname = "bot"\ndependencies = ["aiogram", "fastapi"]\n',
      'bot/__init__.py': '',
      'bot/__main__.py': 'from .core import main\n\nmain()\n',
      'tests/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: 'python -m bot', obstacle: null },
  },
  {
    title: 'a bot in Python with two packages that python runs',
    files: {
      'requirements.txt': 'aiogram\n',
      'bot/__main__.py': '',
      'importer/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'a library in Python that python runs as a command',
    files: {
      'pyproject.toml': '[project]\nname = "tidy"\ndependencies = ["click"]\n',
      'tidy/__init__.py': '',
      'tidy/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'a bot of Discordeno',
    files: {
      'package.json': manifest({ start: 'node index.js' }, ['@discordeno/bot']),
      ...NPM_LOCK,
      'index.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node index.js', isWorker: true },
  },
  {
    title: 'an Aptfile for Ubuntu 24.04, where names end with t64',
    files: {
      'requirements.txt': 'flask\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
      Aptfile: 'libasound2t64\nlibcurl3t64-gnutls\ntnat64\n',
    },
    plan: {
      runtime: 'python',
      aptPackages: ['libasound2', 'libcurl3-gnutls', 'tnat64'],
      notes: noted('libasound2t64, libcurl3t64-gnutls of the Aptfile'),
    },
  },
  {
    title: 'Go with a program and one that fills its database',
    files: {
      'go.mod': 'module example.com/blog\n\ngo 1.25\n',
      'cmd/conduit/main.go': 'package main\n\nfunc main() {}\n',
      'cmd/seed/main.go': 'package main\n\nfunc main() {}\n',
    },
    plan: {
      runtime: 'go',
      obstacle: null,
      buildCommand: 'go build -trimpath -o /app/bin/server ./cmd/conduit',
    },
  },
  {
    title: 'Go with two programs beside one that changes their database',
    files: {
      'go.mod': 'module example.com/blog\n\ngo 1.25\n',
      'cmd/mailer/main.go': 'package main\n\nfunc main() {}\n',
      'cmd/conduit/main.go': 'package main\n\nfunc main() {}\n',
      'cmd/migrate/main.go': 'package main\n\nfunc main() {}\n',
    },
    plan: { runtime: 'go', startCommand: null, obstacle: containing('there are several programs') },
  },
]
