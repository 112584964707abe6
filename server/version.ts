import manifest from '../package.json' with { type: 'json' }

/** The version of the server, its data plane and its command. */
export const VERSION: string = manifest.version
