import type { Manifest } from './manifest.ts'

/** Packages with which a program itself serves, whatever front end is next to it. */
export const SERVER_PACKAGES = [
  'express',
  'fastify',
  'koa',
  'hono',
  '@hono/node-server',
  '@hapi/hapi',
  'hapi',
  'polka',
  'restify',
  'h3',
]

/** With these a program answers requests as well, whatever else it does. */
const OTHER_SERVERS = [
  '@nestjs/core',
  'socket.io',
  'ws',
  '@slack/bolt',
  'elysia',
  'micro',
  'serve',
  'http-server',
]

/** Packages for bots, which poll for their work or receive it over a connection that they open. */
const BOTS = [
  'discord.js',
  'discordeno',
  '@discordeno/bot',
  'seyfert',
  'eris',
  'oceanic.js',
  'telegraf',
  'grammy',
  'gramio',
  'node-telegram-bot-api',
  'telegram',
  'whatsapp-web.js',
  '@whiskeysockets/baileys',
  'tmi.js',
  'twitch-js',
  'matrix-bot-sdk',
]

/** Whether a program is a bot by its packages, and none of them serves. */
export function isBot({ dependencies }: Manifest): boolean {
  const has = (names: string[]): boolean => names.some((name) => name in dependencies)
  return has(BOTS) && !has(SERVER_PACKAGES) && !has(OTHER_SERVERS)
}
