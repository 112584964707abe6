import { isDotnetBot } from './dotnet.ts'
import { readManifest } from './node/manifest.ts'
import { isBot as isNodeBot } from './node/packages.ts'
import { readNames } from './python/requirements.ts'
import { isBot as isPythonBot } from './python/start.ts'
import { BuildFailure } from './source/failure.ts'
import { mayListen } from './source/listening.ts'
import { hasLine } from './source/text.ts'
import type { Tree } from './source/tree.ts'

/**
 * How bots differ from servers in languages whose plans do not distinguish them: by the packages in the manifest, and by
 * calls in the sources that listen without a package.
 */
const OTHERS: { manifests: string[]; bots: RegExp; servers: RegExp; sources: RegExp; listening: RegExp }[] = [
  {
    manifests: ['go.mod'],
    // `// indirect` marks what only its packages require (go.dev/ref/mod, "go.mod files").
    bots: /^(?!.*\/\/ indirect).*\/(?:discordgo|disgo|arikawa\S*|telegram-bot-api\S*|telebot\S*|telego|gotgbot\S*)\b/,
    servers: /\/(?:gin|echo|fiber|chi|mux|fasthttp|httprouter|iris|beego)\b/,
    sources: /\.go$/,
    listening: /\bListenAndServe|\bnet\.Listen\b|\bhttp\.Serve\b/,
  },
  {
    manifests: ['Cargo.toml'],
    bots: /^\s*(?:\[dependencies\.)?(?:serenity|poise|twilight-\w+|teloxide|frankenstein)\b/,
    servers: /^\s*(?:\[dependencies\.)?(?:axum|actix-web|rocket|warp|poem|hyper|tide)\b/,
    sources: /\.rs$/,
    listening: /\bTcpListener\b|\bServer::(?:http|bind)\b/,
  },
  {
    manifests: ['pom.xml', 'build.gradle', 'build.gradle.kts'],
    bots: /\b(?:JDA|discord4j|javacord|telegrambots|kord-core)\b/i,
    servers: /spring-boot-starter-web|ktor-server|javalin|micronaut|quarkus|sparkjava|undertow|jetty/i,
    sources: /\.(?:java|kt|kts)$/,
    listening: /\bHttpServer\b|\bServerSocket\b|\bembeddedServer\b/,
  },
  {
    manifests: ['Gemfile'],
    bots: /^\s*gem\s+["'](?:discordrb|telegram-bot\S*)["']/,
    servers: /^\s*gem\s+["'](?:rails|sinatra|puma|rack|hanami|roda|grape)["']/,
    sources: /\.rb$/,
    listening: /\bWEBrick\b|\bTCPServer\b/,
  },
]

/**
 * Whether a program of any language looks like a bot: its manifest names a package for bots and none for servers. It is also
 * asked about trees that are not built by a plan, so manifests that cannot be read count as no bot.
 */
export async function looksLikeBot(tree: Tree): Promise<boolean> {
  try {
    if (await tree.hasFile('package.json')) return isNodeBot(await readManifest(tree))
    return (
      (await isPythonBot(tree, await readNames(tree))) || (await isOther(tree)) || (await isDotnetBot(tree))
    )
  } catch (error) {
    if (error instanceof BuildFailure) return false
    throw error
  }
}

async function isOther(tree: Tree): Promise<boolean> {
  for (const { manifests, bots, servers, sources, listening } of OTHERS) {
    for (const file of manifests) {
      const text = (await tree.readText(file)) ?? ''
      if (hasLine(text, bots) && !hasLine(text, servers)) return !(await mayListen(tree, sources, listening))
    }
  }
  return false
}
