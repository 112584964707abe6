import { expect } from 'vitest'
import { manifest, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'

const withoutQueries = (): string[] =>
  expect.not.arrayContaining([expect.stringContaining('queries')]) as string[]

const OLDER_PHOENIX = {
  'mix.exs':
    'defmodule Shop.MixProject do\n  def project, do: [app: :shop, aliases: [], deps: deps()]\n  defp deps do\n    [\n      {:phoenix, "~> 1.5.9"},\n    ]\n  end\nend\n',
}

/** Programs in compiled languages, and those of their virtual machines. */
export const COMPILED: CorpusTree[] = [
  {
    title: 'Go with Gin',
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.24\n\nrequire github.com/gin-gonic/gin v1.10.0\n',
      'go.sum': '',
      'main.go': MAIN,
    },
    plan: {
      runtime: 'go',
      version: '1.24',
      framework: 'gin',
      buildCommand: 'go build -trimpath -o /app/bin/server .',
      startCommand: '/app/bin/server',
      installCommand: 'go mod download',
    },
    dockerfile: ['COPY source/go.mod source/go.sum ./', 'GOTOOLCHAIN=auto', 'FROM debian:bookworm-slim'],
  },
  {
    title: 'Go with its program below cmd/',
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.21\n\ntoolchain go1.26.1\n',
      'cmd/server/main.go': MAIN,
      'cmd/tool/main.go': MAIN,
    },
    plan: {
      runtime: 'go',
      version: '1.26',
      buildCommand: 'go build -trimpath -o /app/bin/server ./cmd/server',
    },
  },
  {
    title: 'Go with several programs',
    files: { 'go.mod': 'module x\n', 'cmd/a/main.go': MAIN, 'cmd/b/main.go': MAIN },
    plan: { runtime: 'go', startCommand: null },
  },
  {
    title: 'Rust with Axum',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\nreqwest = "0.12"\n',
      'Cargo.lock': '',
      'src/main.rs': '',
    },
    plan: {
      runtime: 'rust',
      version: '1',
      framework: 'axum',
      startCommand: '/app/bin/shop',
      buildCommand: 'cargo build --release --locked',
    },
    dockerfile: ['target=/app/target', 'libssl3', 'FROM rust:1-bookworm AS build'],
  },
  {
    title: 'Rust with a pinned toolchain and Rocket',
    files: {
      'Cargo.toml': '[package]\nname = "hello"\ndefault-run = "web"\n[dependencies]\nrocket = "0.5"\n',
      'rust-toolchain.toml': '[toolchain]\nchannel = "1.85.0"\n',
    },
    plan: { runtime: 'rust', version: '1.85', framework: 'rocket', startCommand: '/app/bin/web' },
    dockerfile: ['ROCKET_ADDRESS=0.0.0.0'],
  },
  {
    title: 'Spring Boot with the Maven wrapper',
    files: {
      'pom.xml': '<parent>spring-boot-starter-parent</parent><java.version>17</java.version>',
      mvnw: '',
    },
    plan: {
      runtime: 'java',
      version: '17',
      framework: 'spring-boot',
      packageManager: 'maven',
      buildCommand: 'sh ./mvnw -B -ntp -DskipTests package',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
    dockerfile: [
      'FROM eclipse-temurin:17-jdk AS build',
      'FROM eclipse-temurin:17-jre',
      'target=/root/.m2',
      'target=/app/target',
    ],
  },
  {
    title: 'Gradle in Kotlin',
    files: {
      'build.gradle.kts': 'plugins { id("org.springframework.boot") }\nkotlin { jvmToolchain(21) }\n',
    },
    plan: {
      runtime: 'java',
      version: '21',
      packageManager: 'gradle',
      buildCommand: 'gradle --no-daemon build -x test',
    },
    dockerfile: ['FROM gradle:8-jdk21 AS build', 'target=/root/.gradle'],
  },
  {
    title: 'Gradle whose program lies in a folder',
    files: { 'settings.gradle.kts': '', gradlew: '', 'app/build.gradle.kts': '' },
    plan: { runtime: 'java', packageManager: 'gradle' },
  },
  {
    title: 'Java with a Procfile that names the jar',
    files: {
      'pom.xml': '',
      'system.properties': 'java.runtime.version=11\n',
      Procfile: 'web: java -jar target/shop-1.0.jar --port $PORT\n',
    },
    plan: { runtime: 'java', version: '11', startCommand: 'java -jar target/shop-1.0.jar --port $PORT' },
    without: ['target=/app/target'],
  },
  {
    title: 'Quarkus',
    files: {
      'pom.xml': '<groupId>io.quarkus</groupId><maven.compiler.release>21</maven.compiler.release>',
      mvnw: '',
    },
    plan: {
      runtime: 'java',
      framework: 'quarkus',
      startCommand:
        'java -Dquarkus.http.host=0.0.0.0 -Dquarkus.http.port=$PORT -jar /app/quarkus-app/quarkus-run.jar',
    },
  },
  {
    title: 'Scala with Play',
    files: {
      'build.sbt': 'name := "Shop App"\n',
      'project/plugins.sbt': 'addSbtPlugin("org.playframework" % "sbt-plugin" % "3.0.6")\n',
      'project/build.properties': 'sbt.version=1.10.7\n',
      '.sdkmanrc': 'java=21.0.5-tem\n',
    },
    plan: { runtime: 'scala', framework: 'play', buildCommand: 'sbt stage', version: '21' },
    dockerfile: [
      'FROM sbtscala/scala-sbt:eclipse-temurin-21_1.x AS build',
      'target/universal/stage/bin/shop-app',
    ],
  },
  {
    title: 'Scala packed into one jar',
    files: {
      'build.sbt': '',
      'project/plugins.sbt': 'addSbtPlugin("com.eed3si9n" % "sbt-assembly" % "2.2.0")\n',
    },
    plan: {
      runtime: 'scala',
      buildCommand: 'sbt assembly',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
  },
  {
    title: 'Clojure with Leiningen',
    files: { 'project.clj': '(defproject shop "0.1")' },
    plan: {
      runtime: 'clojure',
      packageManager: 'leiningen',
      buildCommand: 'lein uberjar',
      installCommand: 'lein deps',
    },
    dockerfile: ['FROM clojure:temurin-21-lein-bookworm AS build', 'COPY source/project.clj ./'],
  },
  {
    title: 'Clojure with tools.build',
    files: { 'deps.edn': '{:aliases {:build {:ns-default build}}}', 'build.clj': '' },
    plan: {
      runtime: 'clojure',
      buildCommand: 'clojure -T:build uber',
      startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar',
    },
  },
  {
    title: 'ASP.NET',
    files: {
      'Shop.Api.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><PropertyGroup><TargetFramework>net9.0</TargetFramework></PropertyGroup></Project>',
    },
    plan: {
      runtime: 'dotnet',
      version: '9.0',
      framework: 'aspnet',
      // Its appsettings.json and wwwroot are looked for where it is started.
      startCommand: 'cd bin/publish && ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet Shop.Api.dll',
      buildCommand: 'dotnet publish Shop.Api.csproj -c Release -p:PublishDir=bin/publish/',
    },
    dockerfile: [
      'FROM mcr.microsoft.com/dotnet/sdk:9.0 AS build',
      'FROM mcr.microsoft.com/dotnet/aspnet:9.0',
      'COPY source/Shop.Api.csproj',
    ],
  },
  {
    title: 'a solution of .NET, its web project below src/',
    files: {
      'Shop.sln': '',
      'src/Core/Core.csproj': '<Project Sdk="Microsoft.NET.Sdk"></Project>',
      'src/Web/Web.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.Web"><TargetFramework>net8.0</TargetFramework><ProjectReference Include="x"/></Project>',
    },
    plan: {
      runtime: 'dotnet',
      version: '8.0',
      buildCommand: 'dotnet publish src/Web/Web.csproj -c Release -p:PublishDir=bin/publish/',
      startCommand: 'cd src/Web/bin/publish && ASPNETCORE_URLS=http://0.0.0.0:$PORT dotnet Web.dll',
    },
  },
  {
    title: 'Blazor in the browser',
    files: {
      'App.csproj':
        '<Project Sdk="Microsoft.NET.Sdk.BlazorWebAssembly"><TargetFramework>net10.0</TargetFramework></Project>',
    },
    plan: {
      runtime: 'dotnet',
      framework: 'blazor',
      isSite: true,
      singlePage: true,
      publishDirectory: 'bin/publish/wwwroot',
      startCommand: null,
    },
  },
  {
    title: 'Phoenix',
    files: {
      'mix.exs':
        'def project do\n  [app: :shop, elixir: "~> 1.15", aliases: aliases()]\nend\ndefp deps do\n  [\n    {:phoenix, "~> 1.8"}\n  ]\nend\ndefp aliases do\n  ["assets.setup": [], "assets.deploy": []]\nend\n',
      'mix.lock': '',
      'config/config.exs': '',
      '.tool-versions': 'erlang 27.2\nelixir 1.17.3-otp-27\n',
    },
    plan: {
      runtime: 'elixir',
      version: '1.17-otp-27',
      framework: 'phoenix',
      startCommand: '/app/release/bin/shop start',
      env: [{ key: 'SECRET_KEY_BASE', generate: 'hex', why: 'Phoenix signs its cookies with it' }],
    },
    dockerfile: [
      'COPY source/mix.exs source/mix.lock ./',
      'COPY source/config ./config',
      'mix deps.compile',
      'mix assets.setup && mix assets.deploy',
    ],
  },
  {
    title: 'Gleam',
    files: { 'gleam.toml': 'name = "shop"\ngleam = ">= 1.4.0"\n', 'manifest.toml': '' },
    plan: {
      runtime: 'gleam',
      buildCommand: 'gleam export erlang-shipment',
      startCommand: '/app/build/erlang-shipment/entrypoint.sh run',
    },
    dockerfile: ['ghcr.io/gleam-lang/gleam:v'],
  },
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
    title: 'Rust whose queries are checked against a database',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\naxum = "0.8"\nsqlx = "0.8"\n',
      'src/main.rs': 'fn main() {}\n',
      'src/prices.rs': '    let all = sqlx::query_as!(Price, "SELECT * FROM prices")\n',
      '.env': 'DATABASE_URL=postgres://localhost/shop\n',
    },
    plan: {
      runtime: 'rust',
      obstacle: null,
      notes: expect.arrayContaining([
        expect.stringContaining('src/prices.rs has queries that sqlx checks against a database'),
      ]) as string[],
    },
  },
  ...['.sqlx/query-1.json', 'sqlx-data.json'].map((kept): CorpusTree => ({
    title: `Rust whose queries were checked beforehand, by ${kept}`,
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    sqlx::query!("SELECT 1")\n',
      [kept]: '{}',
    },
    plan: {
      runtime: 'rust',
      notes: withoutQueries(),
    },
  })),
  {
    title: 'Rust with queries of sqlx in a comment and in tests',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    // sqlx::query!("SELECT 1")\n',
      'tests/prices.rs': '    sqlx::query!("SELECT 1")\n',
    },
    plan: { runtime: 'rust', notes: withoutQueries() },
  },
  {
    title: 'Rust whose queries are checked against a file of the tree',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n\n[dependencies]\nsqlx = "0.8"\n',
      'src/main.rs': '    sqlx::query!("SELECT 1")\n',
      '.env': 'DATABASE_URL="sqlite:shop.db"\n',
    },
    plan: {
      runtime: 'rust',
      notes: withoutQueries(),
    },
  },
  {
    title: 'an older Phoenix, whose assets webpack makes',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest(
        { deploy: 'webpack --mode production', watch: 'webpack --watch' },
        ['phoenix@file:../deps/phoenix'],
        ['webpack@^4.44.1'],
      ),
      'assets/package-lock.json': { lockfileVersion: 3, packages: {} },
    },
    plan: { runtime: 'elixir', framework: 'phoenix' },
    dockerfile: [
      'FROM node:24-bookworm AS packages',
      'mix compile && (cd assets && npm install --include=dev && npm run deploy && rm -rf node_modules) && mix phx.digest && mix release',
    ],
  },
  {
    title: 'an older Phoenix whose assets are made by what runs no more',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest(
        { deploy: 'webpack --mode production' },
        [],
        ['webpack@^4.44.1', 'node-sass@^4.13.1'],
      ),
    },
    plan: { runtime: 'elixir' },
    without: ['node:', 'phx.digest'],
  },
  {
    title: 'an older Phoenix with its assets in the source',
    files: {
      ...OLDER_PHOENIX,
      'assets/package.json': manifest({ deploy: 'webpack --mode production' }, [], ['webpack@^4.44.1']),
      'priv/static/js/app.js': '',
    },
    plan: { runtime: 'elixir' },
    without: ['node:', 'phx.digest'],
  },
  {
    title: 'a Phoenix with a task for its assets',
    files: {
      ...OLDER_PHOENIX,
      'mix.exs': OLDER_PHOENIX['mix.exs'].replace(
        'aliases: []',
        'aliases: ["assets.deploy": ["phx.digest"]]',
      ),
      'assets/package.json': manifest({ deploy: 'webpack' }, [], ['webpack@^5.0.0']),
    },
    plan: { runtime: 'elixir' },
    dockerfile: ['mix assets.deploy'],
    without: ['node:', ' phx.digest'],
  },
]
