/**
 * Modules of node's that are loaded by the first who needs them: each costs a worker some MiB, and many serve without.
 * The others are loaded by whoever listens.
 */

export const crypto = () => process.getBuiltinModule('node:crypto')
export const tls = () => process.getBuiltinModule('node:tls')
export const zlib = () => process.getBuiltinModule('node:zlib')
