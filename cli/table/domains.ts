import type { Command, Flag, Word } from '../command.ts'
import { SERVICE } from './services.ts'

const DOMAIN: Word = { name: 'domain' }
const SERVER: Flag = {
  name: 'server',
  summary: "the server's own domains, under which every service has a host",
}

/** Domains and their certificates. */
export const DOMAINS: readonly Command[] = [
  {
    name: 'domains',
    aliases: ['domains list'],
    group: 'Domains',
    summary: 'list the domains of a service, and their certificates',
    words: [SERVICE],
    flags: [SERVER],
    examples: ['domains web', 'domains --server'],
    load: async () => (await import('../client/commands/domains.ts')).list,
  },
  {
    name: 'domains add',
    group: 'Domains',
    summary: 'add a domain to a service',
    words: [DOMAIN, SERVICE],
    flags: [SERVER],
    more: 'Point its DNS at the server; it gets its certificate soon after.',
    examples: ['domains add www.example.org web', 'domains add example.com --server'],
    load: async () => (await import('../client/commands/domains.ts')).add,
  },
  {
    name: 'domains remove',
    group: 'Domains',
    summary: 'remove a domain from a service, which is no longer served there',
    words: [DOMAIN, SERVICE],
    flags: [SERVER],
    examples: ['domains remove www.example.org web', 'domains remove example.com --server --yes'],
    load: async () => (await import('../client/commands/domains.ts')).remove,
  },
  {
    name: 'domains verify',
    group: 'Domains',
    summary: 'check now whether a domain leads to the server, and tell the DNS records that it needs',
    words: [DOMAIN, SERVICE],
    flags: [SERVER],
    examples: ['domains verify www.example.org web', 'domains verify example.com --server'],
    exits: { 1: 'it does not lead to the server' },
    load: async () => (await import('../client/commands/domains.ts')).verify,
  },
  {
    name: 'certs',
    group: 'Domains',
    summary: 'list the certificates of all hosts that are served',
    examples: ['certs', 'certs --json'],
    load: async () => (await import('../client/commands/domains.ts')).certificates,
  },
]
