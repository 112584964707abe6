import { fileURLToPath } from 'node:url'

/** The checkout that this file is part of. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
