import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { base, newerBase } from './base.ts'
import type { Recipe } from './index.ts'
import { build } from './languages.ts'

/** What the official image's entry point does with its variables and arguments, as far as its page promises it. */
const POSTGRES_ENTRYPOINT = String.raw`#!/bin/bash
set -Eeuo pipefail
if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA"
  chown -R postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid postgres --regid postgres --init-groups "$0" "$@"
fi
: "${'$'}{POSTGRES_USER:=postgres}" "${'$'}{POSTGRES_DB:=$POSTGRES_USER}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -z "${'$'}{POSTGRES_PASSWORD:-}" ]; then
    echo 'Error: Database is uninitialized and superuser password is not specified.' >&2
    exit 1
  fi
  initdb -U "$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") -D "$PGDATA" >/dev/null
  printf 'local all all trust\nhost all all 127.0.0.1/32 trust\nhost all all all scram-sha-256\n' >"$PGDATA/pg_hba.conf"
  printf "listen_addresses = '*'\njit = off\n" >>"$PGDATA/postgresql.conf"
  pg_ctl -D "$PGDATA" -o "-c listen_addresses=''" -w start >/dev/null
  if [ "$POSTGRES_DB" != postgres ]; then
    psql -v ON_ERROR_STOP=1 --no-psqlrc -U "$POSTGRES_USER" -d postgres -v db="$POSTGRES_DB" <<<'CREATE DATABASE :"db"' >/dev/null
  fi
  pg_ctl -D "$PGDATA" -m fast -w stop >/dev/null
fi
exec "$@"
`

/** Debian's PostgreSQL; it also stands in for the current major version. */
export const relational = postgres('15', base, ['postgres:15', 'postgres:18'])
/** The version of the next Debian release, to upgrade to. */
export const newerRelational = postgres('17', newerBase, ['postgres:17'])

function postgres(major: string, from: Recipe, tags: string[]): Recipe {
  return {
    tags,
    from,
    text: `FROM ${from.tags[0]!}
RUN apt-get update -qq && mkdir -p /etc/postgresql-common \\
 && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \\
 && apt-get install -y -qq postgresql-${major} >/dev/null && rm -rf /var/lib/apt/lists/* /usr/lib/*-linux-gnu/libLLVM* \\
 && install -d -o postgres -g postgres -m 2775 /var/run/postgresql
ENV PATH=/usr/lib/postgresql/${major}/bin:$PATH PGDATA=/var/lib/postgresql/data LANG=C.UTF-8
COPY entrypoint /usr/local/bin/docker-entrypoint.sh
VOLUME /var/lib/postgresql/data
STOPSIGNAL SIGINT
EXPOSE 5432
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["postgres"]
# ${JSON.stringify(POSTGRES_ENTRYPOINT)}
`,
    make: (folder, text) => buildWithEntrypoint(folder, text, POSTGRES_ENTRYPOINT, tags[0]!),
  }
}

const KEYVALUE_ENTRYPOINT = String.raw`#!/bin/sh
set -e
if [ "${'$'}{1#-}" != "$1" ] || [ "${'$'}{1%.conf}" != "$1" ]; then
  set -- redis-server "$@"
fi
if [ "$1" = redis-server ] && [ "$(id -u)" = 0 ]; then
  find . \! -user redis -exec chown redis '{}' +
  exec setpriv --reuid redis --regid redis --init-groups "$0" "$@"
fi
if [ "$1" = redis-server ] && [ "${'$'}{2%.conf}" != "$2" ]; then
  config=$2
  shift 2
  exec redis-server "$config" --protected-mode no "$@"
fi
exec "$@"
`

/** Debian's Redis; it stands in for Valkey, whose programs have its names. */
export const keyvalue: Recipe = {
  tags: ['redis:7', 'valkey/valkey:9'],
  from: base,
  text: `FROM debian:bookworm-slim
RUN apt-get update -qq && apt-get install -y -qq redis-server >/dev/null && rm -rf /var/lib/apt/lists/* \\
 && install -d -o redis -g redis /data && ln -s redis-server /usr/bin/valkey-server && ln -s redis-cli /usr/bin/valkey-cli
COPY entrypoint /usr/local/bin/docker-entrypoint.sh
VOLUME /data
WORKDIR /data
EXPOSE 6379
ENTRYPOINT ["docker-entrypoint.sh"]
CMD ["redis-server"]
# ${JSON.stringify(KEYVALUE_ENTRYPOINT)}
`,
  make: (folder, text) => buildWithEntrypoint(folder, text, KEYVALUE_ENTRYPOINT, 'redis:7'),
}

async function buildWithEntrypoint(
  folder: string,
  dockerfile: string,
  entrypoint: string,
  tag: string,
): Promise<void> {
  writeFileSync(join(folder, 'entrypoint'), entrypoint, { mode: 0o755 })
  await build(folder, dockerfile, tag)
}
