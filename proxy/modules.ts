/**
 * Modules of node that are loaded on first use: each costs a worker some MiB, and many workers never need them. The modules
 * that are imported at the top of files are needed by every worker that listens.
 */

export const crypto = () => process.getBuiltinModule('node:crypto')
export const tls = () => process.getBuiltinModule('node:tls')
export const zlib = () => process.getBuiltinModule('node:zlib')
