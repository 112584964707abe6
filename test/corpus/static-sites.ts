import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const BOOK = { 'book.toml': '[book]\ntitle = "Guide"\n', 'src/SUMMARY.md': '# Summary\n' }
const EXPRESS = { 'package.json': manifest({ start: 'node server.js' }, ['express']), 'server.js': '' }

const HUGO_SITE = {
  'config/_default/params.toml': 'colorScheme = "blue"\n',
  'content/_index.md': '# Hello\n',
  'themes/blowfish/go.mod': 'module github.com/nunocoracao/blowfish/v2\n',
}

/** Sites and books that Hugo, Zola and mdBook build, and what lies beside them. */
export const STATIC_SITES: CorpusTree[] = [
  {
    title: 'Hugo',
    files: {
      'hugo.toml': "baseURL = 'https://example.org/'\n",
      'content/_index.md': '',
      'netlify.toml': '[build.environment]\n  HUGO_VERSION = "0.140.1"\n',
    },
    plan: {
      runtime: 'static',
      framework: 'hugo',
      version: '0.140.1',
      isSite: true,
      publishDirectory: 'public',
      buildCommand: 'hugo --gc --minify',
    },
  },
  {
    title: 'Hugo with an older name of its configuration and styles made by node',
    files: {
      'config.yaml': 'publishDir: dist\n',
      'content/x.md': '',
      'themes/x/theme.toml': '',
      'package.json': manifest({}, [], ['postcss-cli']),
    },
    plan: { runtime: 'static', framework: 'hugo', publishDirectory: 'dist' },
    dockerfile: ['AS packages'],
  },
  {
    title: 'Zola',
    files: {
      'config.toml': 'base_url = "https://example.org"\n',
      'content/_index.md': '',
      'templates/index.html': '',
    },
    plan: {
      runtime: 'static',
      framework: 'zola',
      isSite: true,
      publishDirectory: 'public',
      buildCommand: 'zola build',
    },
    dockerfile: ['COPY --from=ghcr.io/getzola/zola:v'],
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
    title: 'Hugo with a theme and no page yet',
    files: {
      'config.yaml': 'baseURL: https://example.com/\ntheme: blank\n',
      'themes/blank/theme.toml': '',
      'archetypes/default.md': '',
      'package.json': manifest({}, [], ['cypress']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'static', framework: 'hugo', isSite: true, publishDirectory: 'public' },
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
    title: 'a site of Hugo whose configuration is a folder, with a script for its developer',
    files: {
      ...HUGO_SITE,
      'package.json': manifest({ dev: 'hugo server --minify -D -E -F' }),
      'config/_default/hugo.toml': 'theme = "blowfish"\nbaseUrl = "https://example.com"\n',
    },
    plan: { runtime: 'static', framework: 'hugo', isSite: true, publishDirectory: 'public' },
  },
  {
    title: 'a site of Hugo whose folder of configuration names its own output, in a module of Go',
    files: {
      ...HUGO_SITE,
      'go.mod': 'module example.com/site\n',
      'config/_default/config.yaml': 'baseURL: https://example.com/\npublishDir: docs\n',
    },
    plan: { runtime: 'static', framework: 'hugo', publishDirectory: 'docs' },
  },
  {
    title: 'a folder config/_default of a program in node',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'config/_default/config.yaml': 'port: 3000\n',
      'server.js': '',
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
]
