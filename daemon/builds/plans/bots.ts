import type { Tree } from '../../sources/tree.ts'
import { BuildFailure } from '../failure.ts'
import { hasLine } from '../text.ts'
import { readManifest } from './node/manifest.ts'
import { isBot as isNodeBot } from './node/start.ts'
import { readNames } from './python/requirements.ts'
import { isBot as isPythonBot } from './python/start.ts'

/** Bots and servers of languages whose own plans do not tell them apart, by what their manifests name. */
const OTHERS: { manifests: string[]; bots: RegExp; servers: RegExp }[] = [
  {
    manifests: ['go.mod'],
    bots: /\/(?:discordgo|disgo|arikawa\S*|telegram-bot-api\S*|telebot\S*|telego|gotgbot\S*)\b/,
    servers: /\/(?:gin|echo|fiber|chi|mux|fasthttp|httprouter|iris|beego)\b/,
  },
  {
    manifests: ['Cargo.toml'],
    bots: /^\s*(?:serenity|poise|twilight-\w+|teloxide|frankenstein)\b/,
    servers: /^\s*(?:axum|actix-web|rocket|warp|poem|hyper|tide)\b/,
  },
  {
    manifests: ['pom.xml', 'build.gradle', 'build.gradle.kts'],
    bots: /\b(?:JDA|discord4j|javacord|telegrambots|kord-core)\b/i,
    servers: /spring-boot-starter-web|ktor-server|javalin|micronaut|quarkus|sparkjava|undertow|jetty/i,
  },
  {
    manifests: ['Gemfile'],
    bots: /^\s*gem\s+["'](?:discordrb|telegram-bot\S*)["']/,
    servers: /^\s*gem\s+["'](?:rails|sinatra|puma|rack|hanami|roda|grape)["']/,
  },
]

/**
 * Whether a program of any language is a bot by the packages that its tree names, and nothing of them serves. For a tree
 * that something else builds: manifests that cannot be read tell nothing.
 */
export async function seemsBot(tree: Tree): Promise<boolean> {
  try {
    if (await tree.hasFile('package.json')) return isNodeBot(await readManifest(tree))
    return isPythonBot(await readNames(tree)) || (await isOther(tree))
  } catch (error) {
    if (error instanceof BuildFailure) return false
    throw error
  }
}

async function isOther(tree: Tree): Promise<boolean> {
  for (const { manifests, bots, servers } of OTHERS) {
    for (const file of manifests) {
      const text = (await tree.readText(file)) ?? ''
      if (hasLine(text, bots) && !hasLine(text, servers)) return true
    }
  }
  return false
}
