import manifest from '../package.json' with { type: 'json' }

/** The version of this server, of its data plane and of its command. */
export const VERSION: string = manifest.version
