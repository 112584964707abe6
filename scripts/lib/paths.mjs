import { fileURLToPath } from 'node:url'

/** The checkout that contains this file. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
