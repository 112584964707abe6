import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const containing = (text: string): string => expect.stringContaining(text) as string
const noted = (text: string): string[] => expect.arrayContaining([containing(text)]) as string[]

const astro = (
  adapter: string,
  settings: string,
  pages: CorpusTree['files'] = {},
  dependencies: string[] = [],
): CorpusTree['files'] => ({
  'package.json': manifest({ build: 'astro build' }, ['astro', `@astrojs/${adapter}`, ...dependencies]),
  ...NPM_LOCK,
  'astro.config.mjs': `import adapter from '@astrojs/${adapter}'\nexport default { adapter: adapter(), ${settings} }\n`,
  'src/pages/index.astro': '<h1>Home</h1>\n',
  ...pages,
})
const ON_DEMAND = { 'src/pages/api/contact.ts': 'export const prerender = false;\n' }
const SITE = { runtime: 'node', framework: 'astro', isSite: true, publishDirectory: 'dist', obstacle: null }

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

/** Programs and sites that are set up for another host, and those whose manifests and files say different things. */
export const ADAPTERS: CorpusTree[] = [
  {
    title: 'Astro on demand for Vercel, with the adapter for node left among its packages',
    files: astro('vercel', "output: 'server'", {}, ['@astrojs/node']),
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: 'Astro is set up with vercel, whose output no server here runs: use @astrojs/node',
    },
  },
  {
    title: 'Astro for Vercel with a page on demand',
    files: astro('vercel', '', ON_DEMAND),
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('src/pages/api/contact.ts is made on demand (prerender = false)'),
    },
  },
  {
    title: 'Astro for Netlify with a page on demand, whose others are files as before',
    files: astro('netlify', '', ON_DEMAND),
    plan: { ...SITE, notes: noted('src/pages/api/contact.ts is made on demand') },
  },
  {
    title: 'Astro for Vercel whose pages are all made once',
    files: astro('vercel', '', { 'src/pages/feed.ts': 'export const prerender = true\n' }),
    plan: SITE,
  },
  {
    title: 'Astro that takes the adapter for node where it is not at Vercel',
    files: {
      ...astro('vercel', "output: 'server'", {}, ['@astrojs/node']),
      'astro.config.mjs':
        "import node from '@astrojs/node'\nimport vercel from '@astrojs/vercel'\nexport default { output: 'server', adapter: process.env.VERCEL ? vercel() : node({ mode: 'standalone' }) }\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/server/entry.mjs', obstacle: null },
  },
  {
    title: 'Astro on demand with an adapter that nobody knows here',
    files: {
      'package.json': manifest({ build: 'astro build' }, ['astro', 'astro-bun-adapter']),
      ...NPM_LOCK,
      'astro.config.mjs':
        "import bun from 'astro-bun-adapter'\nexport default { output: 'server', adapter: bun() }\n",
    },
    plan: { runtime: 'node', startCommand: null, obstacle: containing('an adapter that is not known here') },
  },
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
    title: 'Remix for Cloudflare Pages, whose start is for developers',
    files: {
      'package.json': manifest(
        { build: 'remix vite:build', start: 'wrangler pages dev ./build/client' },
        ['@remix-run/cloudflare', '@remix-run/react'],
        ['@remix-run/dev', 'wrangler'],
      ),
      ...NPM_LOCK,
      'vite.config.ts': "import { vitePlugin } from '@remix-run/dev'\n",
    },
    plan: {
      runtime: 'node',
      obstacle: 'Remix is set up with cloudflare, whose output no server here runs: use @remix-run/serve',
    },
  },
  {
    title: 'functions for AWS Lambda that serverless starts for developers',
    files: {
      'package.json': manifest(
        { start: 'sls offline start --stage local', deploy: 'sls deploy' },
        ['telegraf'],
        ['serverless', 'serverless-offline'],
      ),
      ...NPM_LOCK,
      'serverless.yml': 'service: bot\n',
      'src/index.js': "const { Telegraf } = require('telegraf')\nexports.handler = async () => {}\n",
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      obstacle: containing('serverless builds it for AWS Lambda'),
    },
  },
  {
    title: 'a server that serverless deploys for its authors, and that starts itself',
    files: {
      'package.json': manifest(
        { start: 'node server.js', deploy: 'serverless deploy' },
        ['express'],
        ['serverless'],
      ),
      ...NPM_LOCK,
      'server.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  {
    title: 'a bot whose script starts its containers',
    files: {
      'package.json': manifest(
        { build: 'tsc', start: 'docker compose up -d', dev: 'tsx watch src/index.ts' },
        ['discord.js'],
        ['typescript', 'tsx'],
      ),
      ...NPM_LOCK,
      'tsconfig.json': '{ "compilerOptions": { "outDir": "dist" } }',
      'src/index.ts': "import { Client } from 'discord.js'\n",
    },
    plan: { runtime: 'node', startCommand: 'node dist/index.js', isWorker: true },
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
]
