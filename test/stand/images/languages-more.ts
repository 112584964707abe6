import { chmodSync, copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { run } from '../run.ts'
import { base } from './base.ts'
import type { Recipe } from './index.ts'
import { build } from './languages.ts'

/** Debian's Ruby with Bundler, laid out like the official image: gems below /usr/local/bundle. */
export const ruby: Recipe = {
  tags: ['ruby:3.4-bookworm'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq ruby bundler >/dev/null && rm -rf /var/lib/apt/lists/*
ENV GEM_HOME=/usr/local/bundle BUNDLE_SILENCE_ROOT_WARNING=1 BUNDLE_APP_CONFIG=/usr/local/bundle PATH=/usr/local/bundle/bin:$PATH
RUN mkdir /usr/local/bundle && chmod 1777 /usr/local/bundle
CMD ["irb"]
`,
  make: (folder, text) => build(folder, text, ruby.tags[0]!),
}

/** Debian's Apache with PHP. Its extensions are packages, so the program that compiles them has nothing to do. */
export const php: Recipe = {
  tags: ['php:8.4-apache-bookworm'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq apache2 libapache2-mod-php php-cli php-mysql >/dev/null \\
 && rm -rf /var/lib/apt/lists/* \\
 && printf '#!/bin/sh\\nexit 0\\n' >/usr/local/bin/docker-php-ext-install \\
 && printf '#!/bin/sh\\n. /etc/apache2/envvars\\nexec apache2 -DFOREGROUND "$@"\\n' >/usr/local/bin/apache2-foreground \\
 && mkdir -p /usr/local/etc/php && ln -s /etc/php/*/apache2/php.ini /usr/local/etc/php/php.ini-production \\
 && chmod 755 /usr/local/bin/* && chmod 1777 /var/run/apache2 /var/lock /var/log/apache2 \\
 && ln -sf /dev/stdout /var/log/apache2/other_vhosts_access.log && ln -sf /dev/stderr /var/log/apache2/error.log && ln -sf /dev/stdout /var/log/apache2/access.log
STOPSIGNAL SIGWINCH
CMD ["apache2-foreground"]
`,
  make: (folder, text) => build(folder, text, php.tags[0]!),
}

/** Bun from its npm package. */
export const bun: Recipe = {
  tags: ['oven/bun:1'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN groupadd --gid 1000 bun && useradd --uid 1000 --gid bun --shell /bin/sh --create-home bun
COPY bun /usr/local/bin/bun
RUN ln -s bun /usr/local/bin/bunx
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
WORKDIR /home/bun/app
CMD ["/usr/local/bin/bun"]
`,
  make: (folder, text) =>
    buildWithProgram(folder, text, bun.tags[0]!, `@oven/bun-linux-${process.arch}@1`, 'bin/bun'),
}

const DENO_ARCHITECTURE = process.arch === 'arm64' ? 'arm64' : 'x64'

/** Deno from its npm package. */
export const deno: Recipe = {
  tags: ['denoland/deno:debian'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN useradd --uid 1993 --user-group deno && mkdir /deno-dir && chown deno:deno /deno-dir
COPY deno /usr/bin/deno
ENV DENO_DIR=/deno-dir DENO_TLS_CA_STORE=system
CMD ["deno"]
`,
  make: (folder, text) =>
    buildWithProgram(folder, text, deno.tags[0]!, `@deno/linux-${DENO_ARCHITECTURE}-glibc@2`, 'deno'),
}

/** Debian's Rust. */
export const rust: Recipe = {
  tags: ['rust:1-bookworm'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq cargo >/dev/null && rm -rf /var/lib/apt/lists/*
ENV CARGO_HOME=/usr/local/cargo PATH=/usr/local/cargo/bin:$PATH
CMD ["bash"]
`,
  make: (folder, text) => build(folder, text, rust.tags[0]!),
}

/** Debian's Elixir. */
export const elixir: Recipe = {
  tags: ['elixir:1.18-slim'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq elixir erlang-dev >/dev/null && rm -rf /var/lib/apt/lists/*
ENV LANG=C.UTF-8
CMD ["iex"]
`,
  make: (folder, text) => build(folder, text, elixir.tags[0]!),
}

async function buildWithProgram(
  folder: string,
  dockerfile: string,
  tag: string,
  npmPackage: string,
  program: string,
): Promise<void> {
  const file = (await run('npm', ['pack', '--silent', npmPackage], { cwd: folder })).trim()
  await run('tar', ['xzf', file], { cwd: folder })
  const name = program.split('/').at(-1)!
  copyFileSync(join(folder, 'package', program), join(folder, name))
  chmodSync(join(folder, name), 0o755)
  await build(folder, dockerfile, tag)
}
